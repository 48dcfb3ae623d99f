"""Anomaly detection in time series: what a network did not see coming is abnormal."""

from pathlib import Path
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from sklearn.base import BaseEstimator

from assay.anomaly.scoring import LARGEST, begin_fit
from assay.data import Scaler, as_matrix, map_rows
from assay.errors import ModelError, StudyError
from assay.models import save_model
from assay.nn import MLP, from_arrays, n_parameters, to_arrays
from assay.train import FitSpec, Hyper, epochs_to_steps, predict
from assay.train import fit as train
from assay.train.fitted import fit_state, history_from, history_to, numbers, text
from assay.train.losses import squared_error

AUTO_STEPS = 5_000
MOST_EPOCHS = 1_000
HELD_OUT = 0.2  # last share of the windows: chooses the weights, and says how large errors are
FEWEST_HELD_OUT = 8
FLOOR = 1e-3  # smallest scale of an error [standard deviations of the column]


class Forecaster(eqx.Module):
    """The last sample of a window, foreseen as the one before plus what the network adds.

    Parameters
    ----------
    past_size : int
        Numbers in the samples before.
    size : int
        Numbers in a sample.
    hidden : tuple of int
    activation : str
    """

    net: MLP
    size: int = eqx.field(static=True)

    def __init__(self, past_size: int, size: int, hidden: tuple[int, ...], activation: str):
        self.net = MLP(past_size, size, hidden, activation)
        self.size = size

    def __call__(self, past):
        """Return the sample (size,) that follows the samples `past` (past_size,)."""
        # Bounded inputs, so that a forecast from a past far outside the training rows stays near
        # the last sample.
        return past[-self.size :] + self.net(10.0 * jnp.tanh(past / 10.0))


class ForecastDetector(BaseEstimator):
    r"""Error of a network that foresees the last sample of each window from those before it.

    .. math:: s = \frac{1}{d} \sum_j \left( \frac{x_j - \hat x_j}{e_j} \right)^2

    with :math:`e_j` the root mean squared error of column j on the last fifth of the normal
    windows, which the weights were not fitted to (a window's length before it is left out, so that
    no sample is in both parts).

    Parameters
    ----------
    window : int >= 2
        Samples in a window: rows of `X` are windows laid flat, first sample first.
    hidden : tuple of int, default (128,)
    activation : str, default "gelu"
    scaling : {"standard", "none", "unit"}, default "standard"
    epochs : int >= 1 or None, default None
        Passes over the windows; None makes about 5,000 steps of them, from 1 to 1,000 passes.
    batch : int >= 1, default 64
    learning_rate : float > 0, default 1e-3
        Of Adam, falling to zero along a cosine.
    weight_decay : float >= 0, default 1e-4
    random_state : int in [0, 2**32), default 0

    Attributes
    ----------
    error_scale_ : (d,) array [scaled units]
        The scale of the errors in the score.
    scaler_, n_features_in_, n_parameters_, status_, history_

    References
    ----------
    .. [1] P. Malhotra et al., Long short term memory networks for anomaly detection in time
       series, ESANN 2015, section 2.

    Examples
    --------
    >>> wave = np.sin(0.3 * np.arange(400))
    >>> windows = np.lib.stride_tricks.sliding_window_view(wave, 8)
    >>> detector = ForecastDetector(window=8, hidden=(16,), epochs=100).fit(windows)
    >>> broken = windows[:1] + np.eye(8)[-1:]  # the last sample is off by 1
    >>> bool(detector.anomaly_score(broken)[0] > detector.anomaly_score(windows).max())
    True
    """

    name: ClassVar[str] = "Forecast network"
    about: ClassVar[str] = "Error of a network that foresees the next sample of the series."
    family: ClassVar[str] = "anomaly.forecast"

    def __init__(
        self,
        *,
        window=16,
        hidden=(128,),
        activation="gelu",
        scaling="standard",
        epochs=None,
        batch=64,
        learning_rate=1e-3,
        weight_decay=1e-4,
        random_state=0,
    ):
        self.window = window
        self.hidden = hidden
        self.activation = activation
        self.scaling = scaling
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.random_state = random_state

    def fit(self, X, y=None, *, checkpoint=None):
        """Learn from normal windows `X` (n, window * d), in the order of time; `y` is ignored.

        Parameters
        ----------
        X : array of shape (n, window * d), n >= 2 [columns' units]
        y : ignored
        checkpoint : path, optional
            An interrupted fit goes on from this file.

        Raises
        ------
        StudyError
            If rows are not windows of that length.
        """
        del y
        X = begin_fit(self, X)
        self.size_ = self._sample_size()
        past, last = self._cut(self._scaled(X))
        first, second = self._held_out(len(past))
        spec = FitSpec(
            build=Forecaster, build_args=self._build_args(), loss=squared_error, optimiser="adamw",
            schedule="cosine", batch=self.batch,
        )  # fmt: skip
        steps_per_epoch = -(-(first.stop) // self.batch)
        epochs = self.epochs or int(np.clip(-(-AUTO_STEPS // steps_per_epoch), 1, MOST_EPOCHS))
        hyper = Hyper(
            steps=epochs_to_steps(first.stop, self.batch, epochs),
            learning_rate=self.learning_rate, weight_decay=self.weight_decay,
        )  # fmt: skip
        held = None if second is None else (past[second], last[second])
        done = train(
            spec, hyper, past[first], last[first], seed=self.random_state, validation=held,
            checkpoint=checkpoint,
        )  # fmt: skip
        fit_state(self, done.unless_interrupted())
        measured = X[first if second is None else second]
        self.error_scale_ = self._scale(self.model_, measured)
        self.initial_scale_ = self._scale(self.initial_, measured)
        return self

    def anomaly_score(self, X):
        """Return the scores (n,) [-] of windows `X`: about 1 for normal ones."""
        return self._score(self.model_, self.error_scale_, X).mean(axis=1)

    def untrained_score(self, X):
        """Return the scores (n,) [-] that the same network gave before it was trained."""
        if self.initial_ is None:
            raise StudyError(
                "`untrained_score` needs the weights before training, which a loaded model does "
                "not have.",
                hint="Fit the detector again.",
            )
        return self._score(self.initial_, self.initial_scale_, X).mean(axis=1)

    def column_scores(self, X):
        """Return each value's part of the score: (n, window * d) [-], adding up to it.

        Only the last sample of a window has a part in it.
        """
        parts = self._score(self.model_, self.error_scale_, X) / self.size_
        return np.concatenate(
            [np.zeros((len(parts), self.n_features_in_ - self.size_)), parts], axis=1
        )

    def forecast(self, X):
        """Return the last samples (n, d) [columns' units] that were to be expected in `X`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)

        def block(rows):
            scaled = self._scaled(rows)
            past, _ = self._cut(scaled)
            scaled[:, -self.size_ :] = predict(self.model_, past)
            return self.scaler_.inverse(scaled)[:, -self.size_ :]

        return map_rows(block, X)

    def outside(self, X):
        """Return which windows leave the training range in a column: (n,) bool."""
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        return ((X < self.scaler_.low) | (X > self.scaler_.high)).any(axis=1)

    @property
    def training_range_(self):
        """Smallest and largest training value of each column: (2, window * d)."""
        return np.array([self.scaler_.low, self.scaler_.high])

    def settings(self):
        """Return what was used, as plain values."""
        return self.get_params(deep=False) | {
            "hidden": list(self.hidden),
            "steps": int(self.steps_),
        }

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        config = {
            "params": self.get_params(deep=False) | {"hidden": list(self.hidden)},
            "scaler": self.scaler_.to_dict(),
            "status": self.status_,
            "steps": int(self.steps_),
        }
        own = {"error_scale": self.error_scale_}
        return config, to_arrays(self.model_, "net.") | own | history_to(self.history_)

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted detector from what `to_saved` returned."""
        model = cls(**config["params"] | {"hidden": tuple(config["params"]["hidden"])})
        weights, model.history_ = history_from(arrays)
        model.scaler_ = Scaler.from_dict(config["scaler"])
        model.n_features_in_ = len(model.scaler_.centre)
        model.size_ = model._sample_size()
        model.error_scale_ = weights.pop("error_scale")
        if model.error_scale_.shape != (model.size_,) or not (model.error_scale_ > 0).all():
            raise ModelError(
                f"The saved error scales must be {model.size_} positive numbers.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        model.steps_, model.status_ = numbers(config, "steps"), text(config, "status")
        model.model_ = from_arrays(Forecaster, model._build_args(), weights, "net.")
        model.n_parameters_ = n_parameters(model.model_)
        model.initial_ = None
        return model

    # --- what the public methods are made of -------------------------------------------------

    def _sample_size(self):
        window, width = self.window, self.n_features_in_
        if isinstance(window, bool) or not isinstance(window, int | np.integer) or window < 2:
            raise StudyError(
                f"A forecast needs windows of at least 2 samples, got window={window!r}.",
                hint="Ask for windows, e.g. of 16 samples: there must be something to forecast "
                "from.",
            )
        if width % window:
            raise StudyError(
                f"Rows of `X` must be windows of {window} samples laid flat, but {width} columns "
                f"are no multiple of {window}.",
                hint="Cut the series with `assay.data.windows(X, times, window=..., step=...)`.",
            )
        return width // window

    def _held_out(self, n):
        """Return slices: windows to train on, and the last ones (None if there are too few)."""
        count, gap = round(n * HELD_OUT), self.window
        if count < FEWEST_HELD_OUT or n - count - gap < count:
            return slice(0, n), None
        return slice(0, n - count - gap), slice(n - count, n)

    def _build_args(self):
        past = self.n_features_in_ - self.size_
        return (past, self.size_, tuple(self.hidden), self.activation)

    def _scaled(self, X):
        rows = self.scaler_.forward(X)
        return np.clip(rows, -LARGEST, LARGEST, out=rows)

    def _cut(self, scaled):
        return scaled[:, : -self.size_], scaled[:, -self.size_ :]

    def _errors(self, model, X):
        past, last = self._cut(self._scaled(X))
        return last.astype(np.float64) - predict(model, past)

    def _scale(self, model, X):
        squared = map_rows(lambda rows: self._errors(model, rows) ** 2, X)
        return np.maximum(np.sqrt(squared.mean(axis=0)), FLOOR)

    def _score(self, model, scale, X):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        return map_rows(lambda rows: (self._errors(model, rows) / scale) ** 2, X)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")
