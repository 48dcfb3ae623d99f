"""Response surfaces: the mean, a plane and a quadratic, by least squares."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.data import Scaler, as_matrix, map_rows
from assay.models import save_model
from assay.surrogate.base import Surrogate
from assay.surrogate.network import check_runs, input_scaler, plain_params
from assay.train.fitted import numbers

# Ridge, as a share of the largest eigenvalue of the normal equations; the first is as good as none.
RIDGES = (1e-14, *np.logspace(-10.0, 1.0, 23).tolist())
# With more inputs, their products would be more terms than anyone has runs for.
MOST_CROSSED = 60


class MeanOutput(Surrogate):
    """The mean of the training outputs for every row: the floor.

    Attributes
    ----------
    mean_ : (m,) array [units of the outputs]

    Examples
    --------
    >>> MeanOutput().fit([[0.0], [1.0]], [1.0, 3.0]).predict([[9.0]]).tolist()
    [2.0]
    """

    name: ClassVar[str] = "Mean"
    about: ClassVar[str] = "The mean of the training outputs: the floor."
    family: ClassVar[str] = "surrogate.mean"

    def fit(self, X, Y):
        """Find the mean of `Y` (n, m) or (n,)."""
        X, Y, self.one_output_ = check_runs(X, Y)
        self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        self.mean_ = Y.mean(axis=0)
        self.n_parameters_ = self.n_outputs_
        self.status_ = "Closed form."
        return self

    def predict(self, X):
        """Return the mean for every row of `X` (n, d): (n, m), or (n,) if `Y` was (n,)."""
        self._require_fit()
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        out = np.tile(self.mean_, (len(X), 1))
        return out[:, 0] if self.one_output_ else out

    def settings(self) -> dict[str, Any]:
        """Return nothing: there is nothing to set."""
        return {}

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        config = {"inputs": self.n_features_in_, "one_output": self.one_output_}
        return config, {"mean": self.mean_}

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        model = cls()
        model.mean_, model.n_features_in_ = arrays["mean"], numbers(config, "inputs")
        (model.n_outputs_,) = model.mean_.shape
        model.one_output_ = bool(config["one_output"]) and model.n_outputs_ == 1
        model.n_parameters_, model.status_ = model.n_outputs_, "Closed form."
        return model

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class ResponseSurface(Surrogate):
    r"""A polynomial of first or second degree, by ridge regression.

    The ridge is the one with the smallest leave-one-out error, in closed form, from least squares
    without any (see `RIDGES`) to a nearly flat surface; each output has its own.

    Parameters
    ----------
    degree : {1, 2}, default 2
        2 adds all squares, and all products of two inputs where there are at most 60.
    bounds : array of shape (d, 2), optional [units of the inputs]
        Lower and upper end of every input, if they are known.

    Attributes
    ----------
    coefficients_ : (p, m) array
        Of the terms, in scaled inputs.
    ridge_ : (m,) array [-]
        Chosen from `RIDGES`.
    loo_rms_ : (m,) array [units of the outputs]
        Root of the mean leave-one-out squared error.

    References
    ----------
    .. [1] R. H. Myers, D. C. Montgomery, C. M. Anderson-Cook, Response Surface Methodology, 4th
       ed., Wiley 2016, ch. 6.
    .. [2] G. H. Golub, M. Heath, G. Wahba, Generalized cross-validation as a method for choosing a
       good ridge parameter, Technometrics 21 (1979) 215-223, eq. 2.1.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((30, 2))
    >>> surface = ResponseSurface(degree=2).fit(X, X[:, 0] * X[:, 1])
    >>> bool(abs(surface.predict([[0.5, 0.5]])[0] - 0.25) < 1e-6)
    True
    """

    def __init__(self, *, degree=2, bounds=None):
        self.degree = degree
        self.bounds = bounds

    @property
    def name(self) -> str:
        """Return the name in tables."""
        return "Linear surface" if self.degree == 1 else "Quadratic surface"

    about: ClassVar[str] = "A polynomial, by ridge regression with leave-one-out."
    family: ClassVar[str] = "surrogate.response_surface"

    def fit(self, X, Y):
        """Fit the coefficients.

        Parameters
        ----------
        X : array of shape (n, d), n >= 2 [units of the inputs]
        Y : array of shape (n, m) or (n,) [units of the outputs]

        Raises
        ------
        DataError, StudyError
            If they are not finite arrays that belong together, or `degree` is neither 1 nor 2.
        """
        from assay.errors import StudyError

        if self.degree not in (1, 2):
            raise StudyError(
                f"`degree` must be 1 or 2, got {self.degree!r}.",
                hint="Use a Gaussian process for anything more curved.",
            )
        X, Y, self.one_output_ = check_runs(X, Y)
        self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        self.scaler_ = input_scaler(X, "standard", self.bounds)
        terms = self._terms(X)
        self.terms_ = Scaler.fit(terms, "standard")
        scaled = self.terms_.forward(terms, dtype=np.float64)
        self.centre_ = Y.mean(axis=0)
        self.coefficients_, self.ridge_, self.loo_rms_ = ridge_by_loo(scaled, Y - self.centre_)
        self.n_parameters_ = self.coefficients_.size + self.n_outputs_
        self.status_ = "Closed form."
        return self

    def predict(self, X):
        """Return the outputs (n, m), or (n,) if `Y` was (n,) [units of the outputs]."""
        self._require_fit()
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)

        def block(rows):
            scaled = self.terms_.forward(self._terms(rows), dtype=np.float64)
            return self.centre_ + scaled @ self.coefficients_

        out = map_rows(block, X, chunk=max(1, 4_000_000 // len(self.coefficients_)))
        return out[:, 0] if self.one_output_ else out

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        return {
            "degree": self.degree,
            "terms": len(self.coefficients_) + 1,
            "products": self.degree == 2 and self.n_features_in_ <= MOST_CROSSED,
            "ridge": self.ridge_.tolist(),
            "leave_one_out_rms": self.loo_rms_.tolist(),
        }

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        config = {
            "params": plain_params(self),
            "scaler": self.scaler_.to_dict(),
            "terms": self.terms_.to_dict(),
            "one_output": self.one_output_,
        }
        # An infinite error (a run that alone holds a direction) has no place in a file: -1.
        loo = np.where(np.isfinite(self.loo_rms_), self.loo_rms_, -1.0)
        arrays = {"centre": self.centre_, "coefficients": self.coefficients_}
        return config, arrays | {"ridge": self.ridge_, "loo_rms": loo}

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        model = cls(**config["params"])
        model.scaler_ = Scaler.from_dict(config["scaler"])
        model.terms_ = Scaler.from_dict(config["terms"])
        model.centre_, model.coefficients_ = arrays["centre"], arrays["coefficients"]
        model.ridge_, loo = arrays["ridge"], arrays["loo_rms"]
        model.loo_rms_ = np.where(loo < 0.0, np.inf, loo)
        model.n_features_in_ = len(model.scaler_.centre)
        (model.n_outputs_,) = model.centre_.shape
        model.one_output_ = bool(config["one_output"]) and model.n_outputs_ == 1
        p = model._terms(np.zeros((1, model.n_features_in_))).shape[1]
        sizes = {len(model.terms_.centre), p}, {loo.shape, model.ridge_.shape, (model.n_outputs_,)}
        if any(len(one) > 1 for one in sizes) or model.coefficients_.shape != (p, model.n_outputs_):
            raise ValueError("the sizes of the arrays do not fit")
        model.n_parameters_ = model.coefficients_.size + model.n_outputs_
        model.status_ = "Closed form."
        return model

    def _terms(self, X):
        """Return the terms (n, p) of rows `X`, without the constant."""
        Z = self.scaler_.forward(X, dtype=np.float64)
        if self.degree == 1:
            return Z
        if Z.shape[1] > MOST_CROSSED:
            return np.hstack([Z, Z * Z])
        first, second = np.triu_indices(Z.shape[1])
        return np.hstack([Z, Z[:, first] * Z[:, second]])


def ridge_by_loo(terms, Y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coefficients (p, m), ridge (m,) and leave-one-out error (m,) of centred columns.

    The constant is left out with each row, unpenalised; the errors follow from one decomposition.

    Parameters
    ----------
    terms : (n, p) array, columns with mean 0
    Y : (n, m) array, columns with mean 0
    """
    n = len(terms)
    U, sizes, axes = np.linalg.svd(terms, full_matrices=False)
    top = sizes[0] if sizes[0] > 0.0 else 1.0
    inside, energy = U.T @ Y, (sizes / top) ** 2
    errors = np.empty((len(RIDGES), Y.shape[1]))
    for i, ridge in enumerate(RIDGES):
        shrink = energy / (energy + ridge)
        leverage = 1.0 / n + (U * U) @ shrink
        left = Y - U @ (shrink[:, None] * inside)
        # A row that alone holds a direction cannot be predicted without it.
        with np.errstate(divide="ignore", invalid="ignore"):
            out = left / (1.0 - leverage)[:, None]
        out[leverage > 1.0 - 1e-10] = np.inf
        errors[i] = np.mean(out**2, axis=0)
    chosen = errors.argmin(axis=0)
    ridges = np.array(RIDGES)[chosen]
    gain = (sizes / top)[:, None] / (energy[:, None] + ridges) / top
    coefficients = axes.T @ (gain * inside)
    return coefficients, ridges, np.sqrt(errors[chosen, np.arange(Y.shape[1])])
