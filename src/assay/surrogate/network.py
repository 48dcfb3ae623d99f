"""What the network surrogates share: scaling, training, prediction, saving."""

import copy
import dataclasses
import time
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from assay.data import Scaler, as_matrix, map_rows
from assay.errors import DataError, StudyError
from assay.models import save_model
from assay.nn import from_arrays, n_parameters, to_arrays
from assay.splits import holdout
from assay.surrogate.base import Surrogate
from assay.surrogate.choices import check_choices
from assay.surrogate.decay import CHOSEN, DecaySearch, search_decay
from assay.surrogate.domain import Domain, check_bounds
from assay.surrogate.prior import weight_decay_of
from assay.train import FitSpec, Hyper, epochs_to_steps, predict
from assay.train import fit as train
from assay.train.fitted import fit_state, history_from, history_to, numbers, text
from assay.train.losses import squared_error, squared_error_columns

AUTO_STEPS = 10_000  # where the error on tables of some hundred runs has flattened
AUTO_EPOCHS = 40  # at least so many passes over larger tables
AUTO_NOISE = 0.05  # over the prior standard deviation of the weights, in scaled units
FULL_BATCH = 2**31 - 1  # one value for all tables, so that they share a program
FEWEST_VALIDATION = 4  # rows; fewer say nothing about when to stop
SCALED_LIMIT = 1e15  # the square of an absurd reading must stay finite in float32


class Prepared(NamedTuple):
    """What `assay.train.fit` and `fit_many` are called with."""

    spec: FitSpec
    hyper: Hyper
    x: np.ndarray
    y: np.ndarray
    validation: tuple[np.ndarray, np.ndarray] | None
    patience: int | None


class NetworkSurrogate(Surrogate):
    """A network from inputs to outputs: the part that does not depend on its kind.

    A kind has `name`, `about`, `family`, its parameters, and `_network() -> (build, build_args)`.
    """

    by_columns: ClassVar[bool] = False  # whether the network also takes its rows as columns

    def fit(self, X, Y, *, validation=None, checkpoint=None):
        """Train on the runs of the true model.

        Parameters
        ----------
        X : array of shape (n, d), n >= 2 [units of the inputs]
        Y : array of shape (n, m) or (n,) [units of the outputs]
        validation : (X, Y), optional
            Further runs; the weights with the smallest error on them are kept. They take the
            place of the share `validation_fraction` of the runs.
        checkpoint : path, optional
            An interrupted fit goes on from this file; what a search for the weight decay keeps
            is in a folder beside it, with ``.decays`` after its name.

        Raises
        ------
        DataError
            If an array is not finite, or rows do not fit together.
        StudyError
            If a parameter is out of range, or there are fewer than 2 runs.
        """
        clock = time.perf_counter()
        ready = self.prepare(X, Y, validation, checkpoint=checkpoint)
        with self.precise():
            done = train(
                ready.spec, ready.hyper, ready.x, ready.y, seed=self.random_state,
                validation=ready.validation, patience=ready.patience, checkpoint=checkpoint,
            ).unless_interrupted()  # fmt: skip
        self.take(done)
        self.fit_seconds_ = max(self.fit_seconds_, time.perf_counter() - clock)
        return self

    def predict(self, X, *, return_valid=False):
        """Return the outputs (n, m), or (n,) if `Y` was (n,), of inputs `X` (n, d).

        Parameters
        ----------
        X : array of shape (n, d) [units of the inputs]
        return_valid : bool, default False
            Also return which rows are inside the validity domain: (n,) bool, see `Domain`.
        """
        X = self.checked(X)
        Y = map_rows(self._outputs, X)
        Y = Y[:, 0] if self.one_output_ else Y
        return (Y, self.domain_.inside(X)) if return_valid else Y

    @property
    def untrained_(self):
        """The same estimator with the weights before training, or None for a loaded one."""
        if self.initial_ is None:
            return None
        twin = copy.copy(self)
        twin.model_, twin.status_ = self.initial_, "Not trained."
        return twin

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        used = plain_params(self)
        used |= {"steps": int(self.steps_), "weight_decay": self.weight_decay_}
        if self.decay_search_ is not None:
            used["decay_search"] = self.decay_search_.to_dict()
        return used

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        domain, rows = self.domain_.to_saved()
        config = {
            "params": plain_params(self),
            "scaler": self.scaler_.to_dict(),
            "output_scaler": self.output_scaler_.to_dict(),
            "one_output": self.one_output_,
            "domain": domain,
            "status": self.status_,
            "steps": int(self.steps_),
            "weight_decay": self.weight_decay_,
        }
        if self.decay_search_ is not None:
            config["decay_search"] = self.decay_search_.to_dict()
        return config, to_arrays(self.model_, "net.") | history_to(self.history_) | rows

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        params = config["params"]
        if "hidden" in params:
            params = params | {"hidden": tuple(params["hidden"])}
        model = cls(**params)
        check_choices(model)
        model.scaler_ = Scaler.from_dict(config["scaler"])
        model.output_scaler_ = Scaler.from_dict(config["output_scaler"])
        model.n_features_in_ = len(model.scaler_.centre)
        model.n_outputs_ = len(model.output_scaler_.centre)
        model.one_output_ = bool(config["one_output"]) and model.n_outputs_ == 1
        model.domain_ = Domain.from_saved(config["domain"], arrays)
        if len(model.domain_.low) != model.n_features_in_:
            raise ValueError("the validity domain has other inputs than the network")
        model.steps_ = numbers(config, "steps")
        model.weight_decay_ = float(config["weight_decay"])
        searched = config.get("decay_search")
        model.decay_search_ = None if searched is None else DecaySearch.from_dict(searched)
        model.status_ = text(config, "status")
        weights, model.history_ = history_from(arrays)
        with model.precise():
            model.model_ = from_arrays(*model._network(), weights, "net.")
        model.n_parameters_ = n_parameters(model.model_)
        model.initial_ = None
        return model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    # --- what `DeepEnsemble` uses too --------------------------------------------------------

    def prepare(self, X, Y, validation=None, *, checkpoint=None) -> Prepared:
        """Check runs, fit scaling and domain on them, and return what training is called with.

        The weight decay is chosen here, where it is to be.
        """
        check_choices(self)
        X, Y, self.one_output_ = check_runs(X, Y)
        self.n_features_in_, self.n_outputs_ = X.shape[1], Y.shape[1]
        self.scaler_ = input_scaler(X, self.input_scaling, self.bounds)
        self.output_scaler_ = output_scaler(Y, self.output_scaling)
        self.domain_ = Domain.fit(X, bounds=self.bounds)
        x, y = self._scaled(X), self._scaled(Y, self.output_scaler_)
        held = self._held_out(x, y, validation)
        if held is not None and validation is None:
            first, second = holdout(len(x), self.validation_fraction, self.random_state)
            held, x, y = (x[second], y[second]), x[first], y[first]
        batch = FULL_BATCH if self.batch is None else self.batch
        self.decay_search_ = None
        self.weight_decay_ = 0.0 if self.weight_decay == CHOSEN else self._decay(len(x))
        spec = FitSpec(
            build=self._network()[0], build_args=self._network()[1], loss=squared_error,
            columns=squared_error_columns if self.by_columns else None,
            optimiser=self.optimiser, schedule=self.schedule, batch=batch,
            init=self.initialisation,
        )  # fmt: skip
        hyper = Hyper(
            steps=self._steps(len(x), batch), learning_rate=self.learning_rate,
            weight_decay=self.weight_decay_, init_scale=float(self.init_scale),
        )  # fmt: skip
        ready = Prepared(spec, hyper, x, y, held, None if held is None else self.patience)
        return self._with_decay(ready, checkpoint) if self.weight_decay == CHOSEN else ready

    def take(self, done) -> None:
        """Set what a fit has brought."""
        fit_state(self, done)
        if self.decay_search_ is not None:
            self.status_ += " " + self.decay_search_.sentence

    def precise(self):
        """Return the context of the network's precision, whatever the caller's is."""
        import jax

        return jax.enable_x64(self.precision == "float64")

    def checked(self, X):
        """Return `X` as a matrix of as many columns as there are inputs."""
        self._require_fit()
        return as_matrix(X, name="X", n_columns=self.n_features_in_)

    # --- what the public methods are made of -------------------------------------------------

    def _outputs(self, X):
        with self.precise():
            scaled = predict(self.model_, self._scaled(X))
        return self.output_scaler_.inverse(scaled)

    def _scaled(self, X, scaler=None):
        rows = (scaler or self.scaler_).forward(X, dtype=np.dtype(self.precision))
        return np.clip(rows, -SCALED_LIMIT, SCALED_LIMIT, out=rows)

    def _held_out(self, x, y, validation):
        """Return the validation part; None without one (the rows of a share are drawn later)."""
        if validation is None:
            few = round(len(x) * self.validation_fraction) < FEWEST_VALIDATION
            return None if few else (x, y)
        X, Y, _ = check_runs(*validation, fewest=1)
        if (X.shape[1], Y.shape[1]) != (x.shape[1], y.shape[1]):
            raise DataError(
                f"The validation runs must have {x.shape[1]} inputs and {y.shape[1]} outputs, got "
                f"{X.shape[1]} and {Y.shape[1]}.",
                hint="Pass the same columns as in the training runs.",
            )
        return self._scaled(X), self._scaled(Y, self.output_scaler_)

    def _with_decay(self, ready, checkpoint):
        place = None if checkpoint is None else Path(f"{checkpoint}.decays")
        with self.precise():
            found = search_decay(ready, seed=self.random_state, checkpoint=place)
        self.decay_search_ = found
        self.weight_decay_ = found.weight_decay(*ready.y.shape)
        hyper = dataclasses.replace(ready.hyper, weight_decay=self.weight_decay_)
        return ready._replace(hyper=hyper)

    def _decay(self, n_rows):
        if self.weight_decay is not None and self.prior_sd is None:
            return float(self.weight_decay)
        prior, noise = 1.0, AUTO_NOISE
        if self.prior_sd is not None:
            prior = self.prior_sd
            noise = float(np.sqrt(np.mean((self.noise_sd / self.output_scaler_.scale) ** 2)))
        return weight_decay_of(prior, noise_sd=noise, n_rows=n_rows, n_outputs=self.n_outputs_)

    def _steps(self, n_rows, batch):
        if self.steps is not None:
            return self.steps
        epochs = AUTO_EPOCHS if self.epochs is None else self.epochs
        steps = epochs_to_steps(n_rows, batch, epochs)
        return max(AUTO_STEPS, steps) if self.epochs is None else steps


def check_runs(X, Y, fewest: int = 2) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return (X, Y of shape (n, m), whether Y was (n,)), or say what is wrong."""
    X = as_matrix(X, name="X")
    if Y is None:
        raise DataError("`Y` is missing: it requires y to be passed, but the target y is None.")
    array = np.asarray(Y)
    one = array.ndim == 1
    Y = as_matrix(array[:, None] if one else Y, name="Y")
    if len(X) != len(Y):
        raise DataError(
            f"`Y` must have one row per row of `X`: expected {len(X)}, got {len(Y)}.",
            hint="Pass the inputs and outputs of the same runs.",
        )
    if len(X) < fewest:
        raise StudyError(
            f"A surrogate needs at least {fewest} runs to learn from, got n_samples={len(X)}.",
            hint="Give more runs.",
        )
    return X, Y, one


def input_scaler(X, kind: str, bounds=None) -> Scaler:
    """Return the scaling of inputs, from the data or from known bounds.

    With bounds, "standard" is by mean and standard deviation of the uniform distribution between
    them, and "unit" maps them to 0 and 1.
    """
    scaler = Scaler.fit(X, kind)
    if bounds is None or kind == "none":
        return scaler
    low, high = check_bounds(bounds, X.shape[1])
    if kind == "unit":
        centre, scale = low, high - low
    else:
        centre, scale = (low + high) / 2.0, (high - low) / np.sqrt(12.0)
    return dataclasses.replace(scaler, centre=centre, scale=scale, constant=())


def output_scaler(Y, kind: str) -> Scaler:
    """Return the scaling of outputs.

    "common" divides all by one root-mean-square spread, so that their relative sizes stay.
    """
    if kind != "common":
        return Scaler.fit(Y, kind)
    scaler = Scaler.fit(Y, "standard")
    varies = np.delete(scaler.scale, list(scaler.constant))
    one = float(np.sqrt(np.mean(varies**2))) if len(varies) else 1.0
    return dataclasses.replace(scaler, scale=np.full_like(scaler.scale, one))


def plain_params(estimator) -> dict[str, Any]:
    """Return the parameters of an estimator as values that JSON has."""
    plain = estimator.get_params(deep=False)
    for name in ("hidden", "bounds"):
        if plain.get(name) is not None:
            plain[name] = np.asarray(plain[name]).tolist()
    return plain
