"""Many outputs through their principal components: time series, fields on a grid."""

import inspect
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from assay.data import as_matrix
from assay.errors import ModelError, StudyError
from assay.models import rebuild, save_model
from assay.surrogate.base import Surrogate
from assay.surrogate.choices import is_number
from assay.surrogate.modes import folds_of, truncation, truncation_rms
from assay.surrogate.network import check_runs
from assay.train import checkpoint

SHARE_OF_NOISE = 0.1  # truncation that adds half a percent to a noise in quadrature
SHARE_OF_SPREAD = 0.001
MOST_MODES = 50  # that the rule takes: noise in the outputs would ask for all
_ARRAYS = ("mean_", "components_", "truncation_variance_")  # what `fit` finds before the model's
_NUMBERS = ("scale_", "explained_")


class PCAOutputs(MetaEstimatorMixin, Surrogate):
    r"""A model of the leading principal components of many outputs, instead of the outputs.

    .. math:: y(x) = \bar y + s \sum_{k=1}^{K} c_k(x)\, v_k + e

    The model learns the coefficients :math:`c`, all divided by one scale :math:`s`, the standard
    deviation of the first: so that its squared error stays that of the outputs, up to the
    truncation :math:`e`. The variance of a prediction is that of the model plus that of the
    truncation, output by output [1]_.

    Parameters
    ----------
    model : estimator
        ``fit(X, C)`` and ``predict(X)``; a scaling of the outputs of its own is switched off. A
        deep ensemble and whatever has ``predict(X, return_std=True)`` also gives error bars.
    modes : int >= 1, float in (0, 1) or None, default None
        Number of modes :math:`K`; or the share of the variance that they must explain; or None:
        as few as bring the root-mean-square truncation error, by five-fold cross-validation, to
        a tenth of `sigma`, or, where `sigma` is not given, to 0.1 % of the outputs' spread; but at
        most 50.
    sigma : float > 0, optional [unit of the outputs]
        Standard deviation of the noise that predictions are to be compared with.

    Attributes
    ----------
    model_ : estimator
    n_modes_, n_features_in_, n_outputs_ : int
    mean_ : array of shape (m,) [units of the outputs]
    components_ : array of shape (K, m) [-]
        Orthonormal rows.
    scale_ : float [units of the outputs]
    truncation_variance_ : array of shape (m,) [units of the outputs squared]
        Cross-validated mean square of the truncation error of each output.
    truncation_rms_ : float [units of the outputs]
        Root of its mean: no model of the coefficients has a smaller error than about this.
    explained_ : float
        Share of the variance of the training outputs.

    References
    ----------
    .. [1] D. Higdon et al., Computer model calibration using high-dimensional output, JASA 103
       (2008) 570-583, sec. 2.2.

    Examples
    --------
    >>> from assay.surrogate.mlp import MLPSurrogate
    >>> X = np.random.default_rng(0).uniform(0.5, 1.5, (100, 1))
    >>> Y = np.exp(-X * np.linspace(0.0, 2.0, 50))
    >>> model = PCAOutputs(MLPSurrogate(steps=1000)).fit(X, Y)
    >>> model.n_modes_, model.predict(X).shape
    (3, (100, 50))
    """

    name: ClassVar[str] = "PCA of outputs"
    about: ClassVar[str] = "A model of the outputs' principal components."
    family: ClassVar[str] = "surrogate.pca_outputs"

    def __init__(self, model, *, modes=None, sigma=None):
        self.model = model
        self.modes = modes
        self.sigma = sigma

    def fit(self, X, Y, *, validation=None, checkpoint=None):
        """Find the modes of `Y` (n, m), and train the model on their coefficients.

        Parameters
        ----------
        X : array of shape (n, d), n >= 2 [units of the inputs]
        Y : array of shape (n, m) or (n,) [units of the outputs]
        validation : (X, Y), optional
            Passed on to the model, in coefficients.
        checkpoint : path, optional
            Folder that an interrupted fit goes on from, where the model's `fit` has checkpoints:
            ``model`` is the model's own, ``modes`` keeps what it learns from.

        Raises
        ------
        DataError, StudyError
            As the model's `fit` does; StudyError if `modes` or `sigma` is out of range.
        """
        X, Y, self.one_output_ = check_runs(X, Y)
        self._check_choices(Y)
        self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        model, known = self._fresh(), {}
        resumable = "checkpoint" in inspect.signature(model.fit).parameters
        folder = Path(checkpoint) if checkpoint is not None and resumable else None
        rows = None if validation is None else check_runs(*validation, fewest=1)[:2]
        learned, held = self._learned(X, Y, rows, folder)
        if rows is not None:
            known["validation"] = (rows[0], held)
        if folder is not None:
            known["checkpoint"] = folder / "model"
        self.model_ = model.fit(X, learned, **known)
        return self

    def predict(self, X, *, return_std=False, return_valid=False):
        """Return the outputs (n, m), or (n,) if `Y` was (n,) [units of the outputs].

        Parameters
        ----------
        X : array of shape (n, d) [units of the inputs]
        return_std : bool, default False
            Also return their standard deviation, truncation included; the model must have one.
        return_valid : bool, default False
            Also return which rows are inside the model's validity domain: (n,) bool.

        Raises
        ------
        StudyError
            If the model gives no standard deviation, or has no validity domain.
        """
        self._require_fit()
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        mean, std, valid = self._coefficients_of(X, std=return_std, valid=return_valid)
        out = [self._shaped(self.mean_ + self.scale_ * mean @ self.components_)]
        if return_std:
            variance = self._model_variance(X, std) + self.truncation_variance_
            out.append(self._shaped(np.sqrt(variance)))
        if return_valid:
            out.append(valid)
        return out[0] if len(out) == 1 else tuple(out)

    def coefficients(self, Y):
        """Return the scaled coefficients (n, K) [-] of outputs `Y` (n, m)."""
        self._require_fit()
        return self._coefficients(Y)

    @property
    def domain_(self):
        """The model's validity domain."""
        return self.model_.domain_

    @property
    def status_(self):
        """How the training of the model ended, in a sentence."""
        return getattr(self.model_, "status_", "")

    @property
    def n_parameters_(self):
        """Parameters of the model, without the modes; None where it does not count them."""
        return getattr(self.model_, "n_parameters_", None)

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        used = {"modes": self.n_modes_, "modes_asked": self.modes, "sigma": self.sigma}
        inner = getattr(self.model_, "settings", None)
        return used | ({"model": inner()} if inner else {})

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        if not hasattr(self.model_, "to_saved"):
            raise ModelError(
                f"A {type(self.model_).__name__} cannot be saved.",
                hint="Use a model of Assay's inside PCAOutputs.",
            )
        inner, arrays = self.model_.to_saved()
        config = {
            "family": self.model_.family,
            "model": inner,
            "modes": self.modes,
            "sigma": self.sigma,
            "scale": self.scale_,
            "explained": self.explained_,
            "one_output": self.one_output_,
        }
        own = {
            "modes.mean": self.mean_,
            "modes.components": self.components_,
            "modes.truncation": self.truncation_variance_,
        }
        return config, own | {f"model.{name}": array for name, array in arrays.items()}

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        inner = {
            name.removeprefix("model."): arrays[name]
            for name in arrays
            if name.startswith("model.")
        }
        fitted = rebuild(config["family"], config["model"], inner)
        model = cls(clone(fitted), modes=config["modes"], sigma=config["sigma"])
        model.model_ = fitted
        model.mean_ = arrays["modes.mean"]
        model.components_ = arrays["modes.components"]
        model.truncation_variance_ = arrays["modes.truncation"]
        model.scale_, model.explained_ = float(config["scale"]), float(config["explained"])
        model.one_output_ = bool(config["one_output"])
        model.n_features_in_ = fitted.n_features_in_
        model.n_modes_, model.n_outputs_ = model.components_.shape
        sizes = {len(model.mean_), len(model.truncation_variance_), model.n_outputs_}
        fits = len(sizes) == 1 and model.truncation_variance_.min() >= 0 and model.scale_ > 0
        if not fits or getattr(fitted, "n_outputs_", model.n_modes_) != model.n_modes_:
            raise ModelError(
                "The saved modes are inconsistent: sizes or values do not fit.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        return model

    @property
    def truncation_rms_(self):
        """Root-mean-square truncation error over the outputs [units of the outputs]."""
        return float(np.sqrt(self.truncation_variance_.mean()))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    # --- what the public methods are made of -------------------------------------------------

    def _fresh(self):
        """Return an unfitted model that leaves the coefficients as they are."""
        model = clone(self.model)
        own = [name for name in model.get_params() if name.split("__")[-1] == "output_scaling"]
        model.set_params(**dict.fromkeys(own, "none"))
        if getattr(model, "member", 0) is None:  # an ensemble of default members
            from assay.surrogate.mlp import MLPSurrogate

            model.set_params(member=MLPSurrogate(output_scaling="none"))
        return model

    def _learned(self, X, Y, validation, folder):
        """Find the modes; return the coefficients of the outputs, and of those of `validation`.

        They are kept in `folder`: a decomposition need not give the same bits again, and a
        network's checkpoint belongs to the bits that it learned from.
        """
        if folder is None:
            self._find_modes(Y)
            return self._both(Y, validation)
        held = (None, None) if validation is None else validation
        marks = checkpoint.fingerprint(
            {"X": X, "Y": Y, "validation X": held[0], "validation Y": held[1]}
            | {"modes": self.modes, "sigma": self.sigma}
        )
        found = checkpoint.load(folder / "modes", marks)
        if found is None:
            self._find_modes(Y)
            learned, held = self._both(Y, validation)
            arrays = {name: getattr(self, name) for name in (*_ARRAYS, *_NUMBERS)}
            kept = arrays | {"learned": learned} | ({} if held is None else {"held": held})
            checkpoint.save(folder / "modes", kept, {}, marks)
            return learned, held
        for name in _ARRAYS:
            setattr(self, name, found[0][name])
        for name in _NUMBERS:
            setattr(self, name, float(found[0][name]))
        self.n_modes_ = len(self.components_)
        return found[0]["learned"], found[0].get("held")

    def _both(self, Y, validation):
        held = None if validation is None else self._coefficients(validation[1])
        return self._coefficients(Y), held

    def _coefficients(self, Y):
        Y = np.asarray(Y)
        Y = as_matrix(Y[:, None] if Y.ndim == 1 else Y, name="Y", n_columns=len(self.mean_))
        return (Y - self.mean_) @ self.components_.T / self.scale_

    def _find_modes(self, Y):
        self.mean_ = Y.mean(axis=0)
        _, sizes, axes = np.linalg.svd(Y - self.mean_, full_matrices=False)
        folds = folds_of(Y)
        self.n_modes_ = self._count(sizes, folds, Y)
        self.components_ = axes[: self.n_modes_]
        energy = sizes**2
        total = energy.sum()
        self.explained_ = float(energy[: self.n_modes_].sum() / total) if total else 1.0
        first = sizes[0] / np.sqrt(len(Y))
        self.scale_ = float(first) if first > 0 else 1.0
        self.truncation_variance_ = truncation(folds, self.n_modes_)

    def _check_choices(self, Y):
        most, modes = min(len(Y), Y.shape[1]), self.modes
        whole = isinstance(modes, int | np.integer) and not isinstance(modes, bool)
        share = isinstance(modes, float) and 0.0 < modes < 1.0
        if not (modes is None or share or (whole and 1 <= modes <= most)):
            raise StudyError(
                f"`modes` must be a whole number from 1 to {most} (the smaller of runs and "
                f"outputs), a share of the variance between 0 and 1, or None, got {modes!r}.",
                hint="Leave it out for as many as the truncation error asks for.",
            )
        if self.sigma is not None and not (is_number(self.sigma) and 0.0 < self.sigma < np.inf):
            raise StudyError(
                f"`sigma` must be positive and finite, got {self.sigma!r}.",
                hint="Give the standard deviation of the noise, in the unit of the outputs.",
            )

    def _count(self, sizes, folds, Y):
        """Return the number of modes, by the rule that `modes` names."""
        if isinstance(self.modes, int | np.integer):
            return int(self.modes)
        if self.modes is not None:
            explained = np.cumsum(sizes**2) / max((sizes**2).sum(), np.finfo(float).tiny)
            return min(int(np.searchsorted(explained, self.modes)) + 1, len(sizes))
        spread = np.sqrt(np.mean((Y - Y.mean(axis=0)) ** 2))
        wanted = SHARE_OF_SPREAD * spread if self.sigma is None else SHARE_OF_NOISE * self.sigma
        left = truncation_rms(folds)
        enough = np.flatnonzero(left <= wanted)
        return min(int(enough[0]) + 1 if len(enough) else len(left), MOST_MODES)

    def _coefficients_of(self, X, *, std, valid):
        asked = {"return_std": std, "return_valid": valid}
        asked = {name: True for name, wanted in asked.items() if wanted}
        try:
            found = self.model_.predict(X, **asked)
        except TypeError as error:
            if not asked or "return_" not in str(error):
                raise
            raise StudyError(
                f"A {type(self.model_).__name__} inside PCAOutputs has no "
                f"{' and no '.join(asked)}.",
                hint="Use a DeepEnsemble or a Gaussian process inside.",
            ) from None
        parts = iter(found if asked else (found,))
        mean = next(parts).reshape(len(X), -1)
        return mean, next(parts) if std else None, next(parts) if valid else None

    def _model_variance(self, X, std):
        """Return the variance (n, m) of the model's outputs.

        Of an ensemble it is that of its members' outputs; else coefficients count as independent.
        """
        if hasattr(self.model_, "predict_members"):
            each = self.model_.predict_members(X).reshape(-1, len(X), self.n_modes_)
            apart = each - each.mean(axis=0)
            total = sum((one @ self.components_) ** 2 for one in apart)
            return self.scale_**2 * total / (len(each) - 1)
        return (self.scale_ * std.reshape(len(X), -1)) ** 2 @ self.components_**2

    def _shaped(self, Y):
        return Y[:, 0] if self.one_output_ else Y
