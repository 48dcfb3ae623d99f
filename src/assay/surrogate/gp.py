"""The Gaussian process: the classical surrogate that a network must beat."""

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from assay.data import Scaler, as_matrix, map_rows
from assay.errors import StudyError
from assay.models import save_model
from assay.surrogate.base import Surrogate
from assay.surrogate.domain import Domain
from assay.surrogate.gp_choices import check_gp
from assay.surrogate.likelihood import Likelihood, Posterior, matern52
from assay.surrogate.network import check_runs, input_scaler, plain_params
from assay.surrogate.search import best_of, first_points, search, sentence
from assay.surrogate.threads import one_thread
from assay.surrogate.transforms import NAMES, possible, transform_named

_CHUNK_VALUES = 4_000_000  # correlations at once in a prediction
_ROUNDS = 6  # of the last search, while it has not converged


class GaussianProcess(Surrogate):
    r"""Regression with a Matern-5/2 process, one length scale per input, and a nugget.

    Constant mean and process variance are those of largest likelihood, per output; length scales
    and nugget, common to all outputs, maximise the marginal likelihood by L-BFGS from several
    starts (see `Likelihood`). Exact copies of a run count once.

    Parameters
    ----------
    bounds : array of shape (d, 2), optional [units of the inputs]
        Lower and upper end of every input, if they are known.
    scaling : {"unit", "standard", "none"}, default "unit"
        Of the inputs, by `bounds` where given, else by the runs.
    transform : {"auto", "identity", "sqrt", "log"}, default "auto"
        Scale of the outputs; "auto" takes the likeliest that they allow.
    mean : {"fitted", "average"}, default "fitted"
        "average" keeps the mean of the runs instead of the likeliest one.
    variance : {"own", "shared"}, default "own"
        "shared" gives all (standardised) outputs one process variance.
    starts : int >= 1, or array of shape (k, d + 1), default 5
        Number of starts, or the starts: length scales [scaled] and nugget (variance of the noise
        over that of the process).
    search_rows : int >= 10, default 400
        With more runs, the starts search on so many of them, and the best goes on with more.
    final_rows : int >= 10 or None, default None
        So many; None takes all. Predictions use all runs in any case.
    most_steps : int >= 1, default 200
        Of a search; the last one, on more than `search_rows` runs, is given an eighth, and as much
        again up to six times while it has not converged.
    nugget_floor : float > 0, default 1e-9
        Smallest nugget.
    random_state : int, default 0
        Of the starts, and of the runs that the search is on.

    Attributes
    ----------
    lengths_ : (d,) array [units of the inputs]
    nugget_ : float [-]
    noise_ : (m,) array [units of the outputs, on the scale of `transform_`]
        Standard deviation that the nugget stands for.
    transform_ : str
    likelihood_ : float [nats]
        Log marginal likelihood of all runs, on the scale of the outputs.
    restarts_ : tuple of Restart
        How each start ended; infinite values are failures.
    final_ : Restart
        The search that gave the result.
    spread_ : float [nats]
        Worst end of a start above the best.
    jitter_ : float [-]
        What had to be added to the diagonal, as a share of it; 0 is healthy.
    converged_ : bool
    status_ : str
    domain_ : Domain
    n_features_in_, n_outputs_, n_parameters_ : int

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press
       2006, chapters 2, 4 and 5.

    Examples
    --------
    >>> X = np.linspace(0.0, 6.0, 20)[:, None]
    >>> gp = GaussianProcess().fit(X, np.sin(X[:, 0]))
    >>> mean, std = gp.predict([[1.55]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.55)) < 0.01), bool(std[0] < 0.05)
    (True, True)
    """

    name: ClassVar[str] = "Gaussian process"
    about: ClassVar[str] = "Matern-5/2, one length scale per input, by marginal likelihood."
    family: ClassVar[str] = "surrogate.gp"

    def __init__(
        self,
        *,
        bounds=None,
        scaling="unit",
        transform="auto",
        mean="fitted",
        variance="own",
        starts=5,
        search_rows=400,
        final_rows=None,
        most_steps=200,
        nugget_floor=1e-9,
        random_state=0,
    ):
        self.bounds = bounds
        self.scaling = scaling
        self.transform = transform
        self.mean = mean
        self.variance = variance
        self.starts = starts
        self.search_rows = search_rows
        self.final_rows = final_rows
        self.most_steps = most_steps
        self.nugget_floor = nugget_floor
        self.random_state = random_state

    def fit(self, X, Y):
        """Find length scales and nugget, and condition on the runs.

        Parameters
        ----------
        X : array of shape (n, d), n >= 2 [units of the inputs]
        Y : array of shape (n, m) or (n,) [units of the outputs]

        Raises
        ------
        DataError
            If they are not finite arrays that belong together.
        StudyError
            If a parameter is out of range, the transform does not fit the outputs, or no covariance
            has a Cholesky factor.
        """
        X, Y, self.one_output_ = check_runs(X, Y)
        check_gp(self, Y)
        self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        self.scaler_ = input_scaler(X, self.scaling, self.bounds)
        self.domain_ = Domain.fit(X, bounds=self.bounds)
        # A copy of a run says nothing new, but the likelihood takes it for proof of no noise.
        kept = np.sort(np.unique(np.hstack([X, Y]), axis=0, return_index=True)[1])
        X, Y = X[kept], Y[kept]
        self.inputs_ = self.scaler_.forward(X, dtype=np.float64)
        with one_thread():
            self.transform_ = self._choose_scale(Y)
            self._search(Y)
            self._condition(Y)
        self.status_ = sentence(self.restarts_, self.final_, self.jitter_)
        return self

    def predict(self, X, *, return_std=False, return_valid=False):
        """Return the mean of the outputs: (n, m), or (n,) if `Y` was (n,) [units of the outputs].

        Parameters
        ----------
        X : array of shape (n, d) [units of the inputs]
        return_std : bool, default False
            Also return the standard deviation of a further run, nugget included, same shape.
        return_valid : bool, default False
            Also return which rows are inside the validity domain: (n,) bool, see `Domain`.

        Returns
        -------
        array, or tuple of mean, std (if asked for) and valid (if asked for)
        """
        self._require_fit()
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        chunk = max(1, _CHUNK_VALUES // len(self.inputs_))
        # The mean on the outputs' scale needs the variance wherever they are not the scale itself.
        wide = return_std or self.transform_ != "identity"
        both = map_rows(lambda rows: self._moments(rows, wide=wide), X, chunk=chunk)
        m = self.n_outputs_
        out = [self._shaped(both[:, :m])]
        if return_std:
            out.append(self._shaped(np.sqrt(both[:, m:])))
        if return_valid:
            out.append(self.domain_.inside(X))
        return out[0] if len(out) == 1 else tuple(out)

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        return plain_params(self) | {
            "starts": np.asarray(self.starts).tolist(),
            "transform": self.transform_,
            "lengths": self.lengths_.tolist(),
            "nugget": self.nugget_,
            "jitter": self.jitter_,
            "converged": self.converged_,
            "evaluations": self._evaluations(),
        }

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        domain, domain_arrays = self.domain_.to_saved()
        config = {
            "params": plain_params(self) | {"starts": np.asarray(self.starts).tolist()},
            "scaler": self.scaler_.to_dict(),
            "domain": domain,
            "transform": self.transform_,
            "nugget": self.nugget_,
            "jitter": self.jitter_,
            "likelihood": self.likelihood_,
            "spread": self.spread_ if np.isfinite(self.spread_) else None,
            "converged": self.converged_,
            "status": self.status_,
            "one_output": self.one_output_,
        }
        arrays = {
            "inputs": self.inputs_,
            "lengths": self.scaled_lengths_,
            "centre": self.centre_,
            "scale": self.scale_,
            "mean": self.posterior_.mean,
            "weights": self.posterior_.weights,
            "variance": self.posterior_.variance,
            "factor": self.posterior_.factor,
        }
        return config, arrays | {f"domain.{k}": v for k, v in domain_arrays.items()}

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        model = cls(**config["params"])
        model.scaler_ = Scaler.from_dict(config["scaler"])
        inputs, weights, factor = arrays["inputs"], arrays["weights"], arrays["factor"]
        n, d = inputs.shape
        sizes = {"lengths": (d,), "weights": (n, weights.shape[1]), "factor": (n, n)}
        sizes |= {k: weights.shape[1:] for k in ("centre", "scale", "mean", "variance")}
        if any(arrays[k].shape != size for k, size in sizes.items()):
            raise ValueError("the sizes of the arrays do not fit")
        if len(model.scaler_.centre) != d or config["transform"] not in NAMES:
            raise ValueError("scaling or transform do not fit")
        kept = {k[7:]: v for k, v in arrays.items() if k.startswith("domain.")}
        model.domain_ = Domain.from_saved(config["domain"], kept)
        model.n_features_in_, model.n_outputs_ = d, weights.shape[1]
        model.inputs_, model.scaled_lengths_ = inputs, arrays["lengths"]
        model.centre_, model.scale_ = arrays["centre"], arrays["scale"]
        for key in ("transform", "nugget", "jitter", "likelihood", "spread"):
            setattr(model, f"{key}_", config[key])
        model.converged_, model.status_ = bool(config["converged"]), str(config["status"])
        model.one_output_ = bool(config["one_output"])
        model.restarts_, model.final_ = (), None
        # Column by column, as LAPACK left them: the same sums in the same order, bit for bit.
        factor, weights = np.asfortranarray(factor), np.asfortranarray(weights)
        model.posterior_ = Posterior(
            factor, model.jitter_, arrays["mean"], weights, arrays["variance"], -model.likelihood_
        )
        model._take_over()
        return model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "posterior_")

    # --- what the public methods are made of -------------------------------------------------

    def _standardised(self, Y, name):
        """Return outputs on the scale `name`, centred and divided by their spread."""
        Z = transform_named(name).forward(Y)
        centre, scale = Z.mean(axis=0), Z.std(axis=0)
        flat = scale <= 1e-13 * np.maximum(np.abs(centre), np.finfo(float).tiny)
        return (Z - centre) / np.where(flat, 1.0, scale), centre, np.where(flat, 1.0, scale)

    def _likelihood(self, Y, name, rows):
        Z = self._standardised(Y, name)[0][rows]
        varies = Z.std(axis=0) > 0.0
        Z = Z[:, varies] if varies.any() else Z
        return Likelihood(
            self.inputs_[rows], Z, shared_variance=self.variance == "shared",
            zero_mean=self.mean == "average",
        )  # fmt: skip

    def _evaluations(self):
        """Return how often the likelihood was computed; None for a loaded process."""
        if self.final_ is None:
            return None
        return sum(r.evaluations for r in self.restarts_) + self.final_.evaluations

    def _some(self, n, most):
        if most is None or n <= most:
            return np.arange(n)
        return np.sort(np.random.default_rng(self.random_state).choice(n, most, replace=False))

    def _starts(self):
        return first_points(self.starts, self.n_features_in_, self.nugget_floor, self.random_state)

    def _choose_scale(self, Y):
        """Return the name of the likeliest scale, judged from one start."""
        if self.transform != "auto":
            return self.transform
        allowed = possible(Y)
        if len(allowed) == 1 or not (Y.std(axis=0) > 0.0).all():
            return "identity"
        rows, values = self._some(len(Y), self.search_rows), {}
        for scale in allowed:
            one = self._likelihood(Y, scale.name, rows)
            end = search(one, self._starts()[0], self.nugget_floor, self.most_steps)
            spread = self._standardised(Y, scale.name)[2]
            slopes = scale.log_slope(Y[rows]) - np.log(spread)
            values[scale.name] = end.value - slopes.sum()
        return min(values, key=values.get)

    def _search(self, Y):
        n = len(Y)
        if not (np.ptp(Y, axis=0) > 0.0).any():
            raise StudyError(
                "Every output is the same in all runs: there is nothing to learn.",
                hint="Look whether the right columns were taken as outputs.",
            )
        rows = self._some(n, self.search_rows)
        first = self._likelihood(Y, self.transform_, rows)
        self.restarts_ = tuple(
            search(first, start, self.nugget_floor, self.most_steps) for start in self._starts()
        )
        best = best_of(self.restarts_)
        finite = [r.value for r in self.restarts_ if np.isfinite(r.value)]
        self.spread_ = float(max(finite) - best.value)
        more = self._some(n, self.final_rows)
        if len(more) > len(rows):
            whole, used = self._likelihood(Y, self.transform_, more), 0
            # From a good start few steps are enough mostly; with many inputs they are not.
            for _ in range(_ROUNDS):
                best = search(whole, best.logs, self.nugget_floor, max(1, self.most_steps // 8))
                best_of((best,))
                used += best.evaluations
                if best.converged:
                    break
            best = dataclasses.replace(best, evaluations=used)
        self.final_, self.converged_ = best, best.converged

    def _condition(self, Y):
        Z, self.centre_, self.scale_ = self._standardised(Y, self.transform_)
        self.scaled_lengths_ = np.array(self.final_.lengths)
        self.nugget_ = self.final_.nugget
        whole = Likelihood(
            self.inputs_, Z, shared_variance=self.variance == "shared",
            zero_mean=self.mean == "average",
        )  # fmt: skip
        self.posterior_ = whole.posterior(self.scaled_lengths_, self.nugget_)
        self.jitter_ = self.posterior_.jitter
        slopes = transform_named(self.transform_).log_slope(Y) - np.log(self.scale_)
        self.likelihood_ = float(slopes.sum() - self.posterior_.value)
        self._take_over()

    def _take_over(self):
        self.lengths_ = self.scaled_lengths_ * self.scaler_.scale
        self.noise_ = self.scale_ * np.sqrt(self.nugget_ * self.posterior_.variance)
        self.n_parameters_ = self.posterior_.weights.size + self.n_features_in_ + 1

    def _moments(self, X, *, wide):
        """Return mean and variance side by side, (n, 2 m); variances are 0 if not `wide`."""
        found = self.posterior_
        across = matern52(
            self.scaler_.forward(X, dtype=np.float64), self.inputs_, self.scaled_lengths_
        )
        mean = self.centre_ + self.scale_ * (found.mean + across @ found.weights)
        variance = np.zeros_like(mean)
        if wide:
            part = self._variance(across)
            variance = part[:, None] * found.variance * self.scale_**2
        return np.hstack(transform_named(self.transform_).moments(mean, variance))

    def _variance(self, across):
        """Return the variance (n,) of a further run over that of the process."""
        factor = self.posterior_.factor
        left = solve_triangular(factor, across.T, lower=True, check_finite=False)
        known = np.einsum("ij,ij->j", left, left)
        free = np.maximum(1.0 - known, 0.0) + self.nugget_
        if self.mean == "average":
            return free
        # The mean is not known either, only fitted.
        ones = solve_triangular(factor, np.ones(len(factor)), lower=True, check_finite=False)
        return free + (1.0 - ones @ left) ** 2 / (ones @ ones)

    def _shaped(self, Y):
        return Y[:, 0] if self.one_output_ else Y
