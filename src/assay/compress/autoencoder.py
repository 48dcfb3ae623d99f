"""The autoencoder as a scikit-learn estimator."""

import copy
from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from assay.compress.baselines import principal_axes
from assay.compress.choices import check_choices, check_output
from assay.compress.network import Codec, decode, encode, gaussian_denoising, masked_denoising
from assay.data import Scaler, as_matrix, map_rows
from assay.errors import StudyError
from assay.models import save_model
from assay.nn import from_arrays, n_parameters, to_arrays
from assay.splits import holdout
from assay.train import FitSpec, Hyper, epochs_to_steps, predict
from assay.train import fit as train
from assay.train.fitted import fit_state, history_from, history_to, numbers, text
from assay.train.losses import squared_error

AUTO_STEPS = 5_000  # where the loss of tables of some thousand rows has flattened
MOST_EPOCHS = 1_000
FEWEST_VALIDATION = 8  # rows; fewer say nothing about when to stop


class Autoencoder(TransformerMixin, BaseEstimator):
    r"""Two networks trained as one: an encoder to a short code, and a decoder back.

    Minimises the mean squared error of reconstruction over the rows,

    .. math:: \frac{1}{n d} \sum_i \lVert g(f(\tilde x_i)) - x_i \rVert^2,

    with :math:`\tilde x = x`, or, as a denoising autoencoder [2]_, a corrupted copy of it. A
    linear one with squared error finds the subspace of the leading principal components [1]_.

    Parameters
    ----------
    code_size : int >= 1, or float in (0, 1), default 0.9
        Numbers in a code; or the share of the variance that PCA must explain with as many (fewer
        than the columns then). From the number of columns on, the network can copy its input.
    hidden : tuple of int, default (128,)
        Widths of the encoder's hidden layers; the decoder mirrors them.
    activation : str, default "gelu"
        Of the hidden layers, see `assay.nn.ACTIVATIONS`.
    output : {"identity", "sigmoid"}, default "identity"
        "sigmoid" keeps reconstructions in (0, 1); the scaled rows must lie in [0, 1] then.
    linear : bool, default False
        Leave out activations and hidden layers.
    noise : float >= 0, default 0.0
        Corruption in training: standard deviation [scaled units], or for "mask" the share of
        values in [0, 1) that are set to 0.
    noise_kind : {"gaussian", "mask"}, default "gaussian"
    scaling : {"standard", "none", "unit"}, default "standard"
        How columns are scaled before; errors are in scaled units.
    epochs : int >= 1 or None, default None
        Passes over the rows; None makes about 5,000 steps of them, from 1 to 1,000 passes.
    batch : int >= 1, default 64
        Rows a step.
    learning_rate : float > 0, default 1e-3
        Of Adam.
    schedule : {"constant", "cosine"}, default "cosine"
        "cosine" lets the rate fall to zero.
    weight_decay : float >= 0, default 0.0
        Decoupled.
    validation_fraction : float in [0, 0.5], default 0.1
        Share of the rows that are held out; the weights with the smallest error on them are kept.
        0 trains on all rows and keeps the last weights.
    patience : int >= 1 or None, default None
        Stop after so many looks at the held-out rows (one every 100 steps) without progress.
    initialisation : {"torch", "glorot", "he", "lecun", "orthogonal"}, default "torch"
        Of the weights, see `assay.nn.initialise`.
    precision : {"float32", "float64"}, default "float32"
        Of the training and of predictions.
    random_state : int in [0, 2**32), default 0
        Of the weights, the held-out rows, the order of rows and the noise.

    Attributes
    ----------
    code_size_ : int
    n_features_in_ : int
    n_parameters_ : int
    status_ : str
        How training ended, in a sentence.
    history_ : dict of arrays
        ``step``, ``train`` and ``validation`` [mean squared error in scaled units].
    scaler_ : Scaler
    model_ : Codec
    fit_seconds_, compile_seconds_ : float [s]

    References
    ----------
    .. [1] P. Baldi, K. Hornik, Neural networks and principal component analysis, Neural Networks 2
       (1989) 53-58.
    .. [2] P. Vincent et al., Stacked denoising autoencoders, JMLR 11 (2010) 3371-3408, sec. 3.

    Examples
    --------
    >>> t = np.linspace(-1.0, 1.0, 200)
    >>> X = np.c_[t, t**2, t**3]
    >>> model = Autoencoder(code_size=1, hidden=(16,), epochs=300, learning_rate=1e-2).fit(X)
    >>> model.transform(X).shape
    (200, 1)
    >>> model.score(X) > -0.05  # minus the mean squared error in standard deviations
    True
    """

    name: ClassVar[str] = "Autoencoder"
    about: ClassVar[str] = "A network with a bottleneck, trained to give back what it was given."
    family: ClassVar[str] = "compress.autoencoder"

    def __init__(
        self,
        *,
        code_size=0.9,
        hidden=(128,),
        activation="gelu",
        output="identity",
        linear=False,
        noise=0.0,
        noise_kind="gaussian",
        scaling="standard",
        epochs=None,
        batch=64,
        learning_rate=1e-3,
        schedule="cosine",
        weight_decay=0.0,
        validation_fraction=0.1,
        patience=None,
        initialisation="torch",
        precision="float32",
        random_state=0,
    ):
        self.code_size = code_size
        self.hidden = hidden
        self.activation = activation
        self.output = output
        self.linear = linear
        self.noise = noise
        self.noise_kind = noise_kind
        self.scaling = scaling
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.initialisation = initialisation
        self.precision = precision
        self.random_state = random_state

    def fit(self, X, y=None, *, checkpoint=None):
        """Train on rows `X` (n, d); `y` is ignored, for scikit-learn's pipelines.

        Parameters
        ----------
        X : array of shape (n, d), n >= 2 [columns' units]
        y : ignored
        checkpoint : path, optional
            An interrupted fit goes on from this file.

        Raises
        ------
        DataError
            If `X` is not a finite matrix.
        StudyError
            If a parameter is out of range, or there are fewer than 2 rows.
        """
        del y
        check_choices(self)
        X = as_matrix(X, name="X")
        if len(X) < 2:
            raise StudyError(
                f"An autoencoder needs at least 2 rows to learn from, got n_samples={len(X)}.",
                hint="Give more rows.",
            )
        self.n_features_in_ = X.shape[1]
        self.scaler_ = Scaler.fit(X, self.scaling)
        self.code_size_ = self._count(X)
        rows = self._scaled(X)
        check_output(self.output, rows)
        first, second = self._held_out(len(rows))
        steps = epochs_to_steps(len(first), self.batch, self._passes(len(first)))
        hyper = Hyper(
            steps=steps, learning_rate=self.learning_rate, weight_decay=self.weight_decay,
            extra=self.noise if self.noise else (),
        )  # fmt: skip
        held = None if second is None else (rows[second], None)
        with self._precise():
            done = train(
                self._spec(), hyper, rows if second is None else rows[first],
                seed=self.random_state, validation=held, checkpoint=checkpoint,
                patience=None if held is None else self.patience,
            ).unless_interrupted()  # fmt: skip
        fit_state(self, done)
        return self

    def transform(self, X):
        """Return the codes (n, code_size_) [-] of rows `X` (n, d)."""
        X = self._checked(X)
        return map_rows(lambda rows: self._run(self._scaled(rows), encode), X)

    def inverse_transform(self, codes):
        """Return rows (n, d) [columns' units] from codes (n, code_size_)."""
        self._require_fit()
        codes = as_matrix(codes, name="codes", n_columns=self.code_size_)
        return map_rows(lambda rows: self.scaler_.inverse(self._run(rows, decode)), codes)

    def reconstruct(self, X):
        """Return rows (n, d) [columns' units], coded and decoded again."""
        X = self._checked(X)
        return map_rows(lambda rows: self.scaler_.inverse(self._run(self._scaled(rows))), X)

    def squared_errors(self, X):
        """Return the squared error of each value (n, d) [scaled units squared]."""
        X = self._checked(X)

        def block(rows):
            scaled = self._scaled(rows)
            with np.errstate(over="ignore"):
                return (scaled.astype(np.float64) - self._run(scaled)) ** 2

        return map_rows(block, X)

    def errors(self, X):
        """Return the mean squared error over the columns of each row (n,) [scaled squared]."""
        X = self._checked(X)
        return map_rows(lambda rows: self.squared_errors(rows).mean(axis=1), X)

    def score(self, X, y=None):
        """Return minus the mean of `errors(X)` [scaled squared]: higher is better.

        On the scale of `PCA.score`, so that the two compare directly.
        """
        del y
        return -float(np.mean(self.errors(X)))

    def outside(self, X):
        """Return which rows `X` (n, d) leave the training range in a column: (n,) bool."""
        X = self._checked(X)
        return ((X < self.scaler_.low) | (X > self.scaler_.high)).any(axis=1)

    @property
    def training_range_(self):
        """Smallest and largest training value of each column: (2, d) [columns' units]."""
        return np.array([self.scaler_.low, self.scaler_.high])

    @property
    def untrained_(self):
        """The same estimator with the weights before training, or None for a loaded one."""
        if self.initial_ is None:
            return None
        twin = copy.copy(self)
        twin.model_, twin.status_ = self.initial_, "Not trained."
        return twin

    def settings(self):
        """Return what was used, as plain values."""
        used = self.get_params(deep=False) | {"code_size": self.code_size_}
        used["hidden"] = [] if self.linear else list(self.hidden)
        return used | {"steps": int(self.steps_), "code_size_asked": self.code_size}

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        config = {
            "params": self.get_params(deep=False) | {"hidden": list(self.hidden)},
            "code_size": self.code_size_,
            "scaler": self.scaler_.to_dict(),
            "status": self.status_,
            "steps": int(self.steps_),
        }
        return config, to_arrays(self.model_, "net.") | history_to(self.history_)

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        model = cls(**config["params"] | {"hidden": tuple(config["params"]["hidden"])})
        check_choices(model)
        model.scaler_ = Scaler.from_dict(config["scaler"])
        model.n_features_in_ = len(model.scaler_.centre)
        model.code_size_ = numbers(config, "code_size")
        model.steps_ = numbers(config, "steps")
        model.status_ = text(config, "status")
        weights, model.history_ = history_from(arrays)
        with model._precise():
            model.model_ = from_arrays(Codec, model._build_args(), weights, "net.")
        model.n_parameters_ = n_parameters(model.model_)
        model.initial_ = None
        return model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # computed in `precision`, returned as float64
        return tags

    # --- what the public methods are made of -------------------------------------------------

    def _spec(self):
        loss = squared_error
        if self.noise:
            loss = gaussian_denoising if self.noise_kind == "gaussian" else masked_denoising
        return FitSpec(
            build=Codec, build_args=self._build_args(), loss=loss,
            optimiser="adamw" if self.weight_decay else "adam", schedule=self.schedule,
            batch=self.batch, needs_key=bool(self.noise), init=self.initialisation,
        )  # fmt: skip

    def _build_args(self):
        hidden = () if self.linear else tuple(self.hidden)
        activation = "identity" if self.linear else self.activation
        return (self.n_features_in_, self.code_size_, hidden, activation, self.output)

    def _precise(self):
        import jax

        # Set either way, so that a caller's float64 context does not change a float32 network.
        return jax.enable_x64(self.precision == "float64")

    def _scaled(self, X):
        rows = self.scaler_.forward(X, dtype=np.dtype(self.precision))
        # The squared error of an absurd reading must stay finite in float32.
        return np.clip(rows, -1e15, 1e15, out=rows)

    def _run(self, rows, apply=None):
        with self._precise():
            return predict(self.model_, rows, apply=apply).astype(np.float64)

    def _checked(self, X):
        self._require_fit()
        return as_matrix(X, name="X", n_columns=self.n_features_in_)

    def _require_fit(self):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    def _count(self, X):
        size = self.code_size
        if isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 1:
            return int(size)
        if not isinstance(size, float) or not 0.0 < size < 1.0:
            raise StudyError(
                f"`code_size` must be a whole number from 1 or a share of the variance between 0 "
                f"and 1, got {size!r}.",
                hint="Use 8 for codes of eight numbers, or 0.9 for as many as PCA needs for 90 %.",
            )
        return max(1, min(principal_axes(X, self.scaler_).count(size), X.shape[1] - 1))

    def _held_out(self, n):
        """Return row numbers to train on and to keep the best weights by (None: none of them)."""
        if round(n * self.validation_fraction) < FEWEST_VALIDATION:
            return np.arange(n), None
        return holdout(n, self.validation_fraction, self.random_state)

    def _passes(self, n):
        if self.epochs is not None:
            return self.epochs
        return int(np.clip(-(-AUTO_STEPS // -(-n // self.batch)), 1, MOST_EPOCHS))
