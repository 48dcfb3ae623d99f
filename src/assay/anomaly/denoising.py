"""Anomaly detection by restoring rows from noise at several levels."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.anomaly.noise import LEVELS, Filter, Restorer, energies, residuals, restoring_loss
from assay.anomaly.scoring import LARGEST, begin_fit, sample_rows
from assay.compress.baselines import principal_axes
from assay.data import Scaler, as_matrix, map_rows
from assay.errors import ModelError, StudyError
from assay.models import save_model
from assay.nn import from_arrays, n_parameters, to_arrays
from assay.train import FitSpec, Hyper, predict
from assay.train import fit as train
from assay.train.fitted import fit_state, history_from, history_to, numbers, text

MOST_AXES = 256  # that the network sees; directions beyond are left to the residual
MOST_ROWS = 262_144  # that the network is trained on; the axes are found from all
BLOCK_VALUES = 2**23


class DenoisingDetector(BaseEstimator):
    r"""Distance to normal rows, as the correction that a denoiser would make.

    A network is trained to restore normal rows :math:`u` from :math:`\tilde u = u + \sigma\epsilon`
    at many noise levels. A perfect one returns :math:`E[u \mid \tilde u]`, and its correction is
    :math:`\sigma^2 \nabla \log p_\sigma(\tilde u)` [1]_: it pulls a row towards where normal rows
    are dense, the harder the farther out the row lies. So a clean row is scored by the squared
    correction it gets at several levels, each in units of its mean over normal rows:

    .. math:: s(u) = \frac{1}{L} \sum_l \frac{c_l(u)}{\overline{c_l}}, \qquad
              c_l(u) = \lVert u - r(u, \sigma_l) \rVert^2

    The network only corrects the Wiener filter, the best linear denoiser (`assay.anomaly.noise`),
    which is PCA with soft edges. The basic level is the standard deviation of the strongest
    component that PCA monitoring would leave out; the levels are 0.5, 1, 2 and 4 times that: from
    the distance to the nearest normal rows to the norm of the row.

    Parameters
    ----------
    components : int >= 1, or float in (0, 1), default 0.9
        Components that stand out of the noise at the basic level: their number, or the share of
        the variance that they must exceed.
    hidden : tuple of int, default (256, 256)
    activation : str, default "gelu"
    scaling : {"standard", "none", "unit"}, default "standard"
    steps : int >= 1 or None, default None
        Steps of the optimiser; None: four a row between 500 and 1,000 rows, else 2,000 and 4,000.
        With under 126 rows as many as their number squared over eight, so that a few dozen rows
        are not learnt by heart; with over 64,000 one for every 16 rows, up to 8,000.
    batch : int >= 1, default 64
        Rows a step, each with fresh noise.
    learning_rate : float > 0, default 2e-3
        Of Adam, falling to zero along a cosine.
    weight_decay : float >= 0, default 1e-4
    random_state : int in [0, 2**32), default 0

    Attributes
    ----------
    components_ : int
    level_ : float
        The basic noise level [scaled units].
    level_norms_ : (4,) array
        Mean squared correction of the normal rows at each level [scaled squared].
    axes_, variances_, mean_ : arrays of shape (k, d), (k,), (d,)
    scaler_, n_features_in_, n_parameters_, status_, history_
        `history_` in units of the Wiener filter's error: below 1 the network earns something.

    Notes
    -----
    The correction is a slope of the density, and so vanishes where opposite pulls cancel: in the
    very middle of a ring, or halfway between two clusters. Several levels make such points rare,
    not impossible.

    References
    ----------
    .. [1] P. Vincent, A connection between score matching and denoising autoencoders, Neural
       Computation 23 (2011) 1661-1674; K. Miyasawa, Bull. Inst. Internat. Statist. 38 (1961).
    .. [2] The score summed over noise levels: A. Mahmood et al., Multiscale score matching for
       out-of-distribution detection, ICLR 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0.0, 6.28, 500)
    >>> ring = np.c_[np.cos(angle), np.sin(angle)] + 0.05 * rng.normal(size=(500, 2))
    >>> detector = DenoisingDetector(steps=1000).fit(ring)
    >>> within, on = detector.anomaly_score([[0.4, 0.0], [1.0, 0.0]])
    >>> bool(within > on)  # nearer to the mean of the rows than any of them, and yet abnormal
    True
    """

    name: ClassVar[str] = "Denoising network"
    about: ClassVar[str] = "Pull back to normal rows, by a network that restores them from noise."
    family: ClassVar[str] = "anomaly.denoising"

    def __init__(
        self,
        *,
        components=0.9,
        hidden=(256, 256),
        activation="gelu",
        scaling="standard",
        steps=None,
        batch=64,
        learning_rate=2e-3,
        weight_decay=1e-4,
        random_state=0,
    ):
        self.components = components
        self.hidden = hidden
        self.activation = activation
        self.scaling = scaling
        self.steps = steps
        self.batch = batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.random_state = random_state

    def fit(self, X, y=None, *, checkpoint=None):
        """Learn from normal rows `X` (n, d), n >= 2 [columns' units]; `y` is ignored.

        Parameters
        ----------
        X : array of shape (n, d)
        y : ignored
        checkpoint : path, optional
            An interrupted fit goes on from this file.
        """
        del y
        X = begin_fit(self, X)
        self._find_axes(X)
        kept = sample_rows(X, MOST_ROWS, self.random_state)
        u, _ = self._coordinates(self._scaled(kept))
        self.n_trained_ = len(kept)
        steps = self._count_steps(len(u))
        spec = FitSpec(
            build=Restorer, build_args=self._build_args(), loss=restoring_loss, optimiser="adamw",
            schedule="cosine", batch=self.batch, needs_key=True,
        )  # fmt: skip
        hyper = Hyper(
            steps=steps, learning_rate=self.learning_rate, weight_decay=self.weight_decay,
            extra=(self.variances_.astype(np.float32), np.float32(self.level_)),
        )  # fmt: skip
        done = train(spec, hyper, u, seed=self.random_state, checkpoint=checkpoint)
        fit_state(self, done.unless_interrupted())
        sample = sample_rows(X, 20_000, self.random_state)
        self.level_norms_ = self._norms(self.model_, sample)
        self.initial_norms_ = self._norms(self.initial_, sample)
        return self

    def anomaly_score(self, X):
        """Return the scores (n,) [-] of rows `X` (n, d): 1 is the mean of the normal rows."""
        return self._score(self.model_, self.level_norms_, X)

    def untrained_score(self, X):
        """Return the scores (n,) [-] that the network gave before it was trained.

        Its weights are small then, so that this is nearly the score of the Wiener filter alone:
        what the same method would do without having learned.
        """
        self._require_training("untrained_score")
        return self._score(self.initial_, self.initial_norms_, X)

    def column_scores(self, X):
        """Return each column's part of the score: (n, d) [-], which add up to it."""

        def block(rows):
            u, rest = self._coordinates(rows)
            moved = predict(self._filter(self.model_), u, apply=residuals).astype(np.float64)
            moved = moved @ self.axes_
            if rest is not None:
                moved += rest[:, None, :]
            return np.mean(moved**2 / self.level_norms_[:, None], axis=1)

        return self._over_blocks(block, X)

    def reconstruct(self, X):
        """Return rows (n, d) [columns' units] as restored at the basic level."""
        at = LEVELS.index(1.0)

        def block(rows):
            u, _ = self._coordinates(rows)
            moved = predict(self._filter(self.model_), u, apply=residuals)[:, at]
            return self.scaler_.inverse((u - moved) @ self.axes_ + self.mean_)

        return self._over_blocks(block, X)

    def outside(self, X):
        """Return which rows `X` (n, d) leave the training range in a column: (n,) bool."""
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        return ((X < self.scaler_.low) | (X > self.scaler_.high)).any(axis=1)

    @property
    def training_range_(self):
        """Smallest and largest training value of each column: (2, d) [columns' units]."""
        return np.array([self.scaler_.low, self.scaler_.high])

    def settings(self):
        """Return what was used, as plain values."""
        return {
            "components": self.components_,
            "asked": self.components,
            "basic_level": self.level_,
            "levels": list(LEVELS),
            "axes_seen": len(self.variances_),
            "hidden": list(self.hidden),
            "activation": self.activation,
            "scaling": self.scaling,
            "steps": int(self.steps_),
            "batch": self.batch,
            "learning_rate": self.learning_rate,
            "weight_decay": self.weight_decay,
            "rows_trained_on": self.n_trained_,
            "random_state": self.random_state,
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
            "components": self.components_,
            "steps": int(self.steps_),
            "rows": self.n_trained_,
            "status": self.status_,
        }
        own = {name: np.asarray(getattr(self, f"{name}_"), np.float64) for name in _ARRAYS}
        return config, to_arrays(self.model_, "net.") | own | history_to(self.history_)

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted detector from what `to_saved` returned."""
        model = cls(**config["params"] | {"hidden": tuple(config["params"]["hidden"])})
        weights, model.history_ = history_from(arrays)
        model.scaler_ = Scaler.from_dict(config["scaler"])
        model.n_features_in_ = len(model.scaler_.centre)
        for name in _ARRAYS:
            setattr(model, f"{name}_", weights.pop(name))
        k, d = len(model.variances_), model.n_features_in_
        shapes = {"axes": (k, d), "variances": (k,), "mean": (d,), "level": ()}
        shapes["level_norms"] = (len(LEVELS),)
        positive = (model.level_, *model.level_norms_)
        fits = all(getattr(model, f"{name}_").shape == shape for name, shape in shapes.items())
        if not fits or k < 1 or (model.variances_ < 0).any() or not all(v > 0 for v in positive):
            raise ModelError(
                "The saved axes, variances and levels do not fit together.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        model.level_ = float(model.level_)
        model.components_ = numbers(config, "components")
        model.steps_, model.n_trained_ = numbers(config, "steps"), numbers(config, "rows")
        model.status_ = text(config, "status")
        model.model_ = from_arrays(Restorer, model._build_args(), weights, "net.")
        model.n_parameters_ = n_parameters(model.model_)
        model.initial_ = None
        return model

    # --- what the public methods are made of -------------------------------------------------

    def _find_axes(self, X):
        """Set the axes that the network sees, and the basic noise level."""
        found = principal_axes(X, self.scaler_)
        self.components_ = min(found.count(self.components), MOST_AXES)
        variances = found.variances
        if self.components_ < found.rank:
            level = np.sqrt(variances[self.components_])
        else:
            # No component is left out: as much noise as hides a tenth of the weakest.
            level = np.sqrt(0.1 * variances[found.rank - 1])
        self.level_ = float(level) if level > 0.0 else 1.0
        kept = max(1, min(found.rank, MOST_AXES))
        self.axes_, self.variances_ = found.axes[:kept], variances[:kept]
        self.mean_ = found.mean

    def _count_steps(self, n):
        if self.steps is None:
            most = max(2_000, min(4 * n, 4_000), min(n // 16, 8_000))
            return int(np.clip(n * n // 8, 50, most))
        return self.steps

    def _build_args(self):
        return (len(self.variances_), tuple(self.hidden), self.activation)

    def _filter(self, restorer):
        sigmas = self.level_ * np.array(LEVELS)
        as_float32 = [np.asarray(a, np.float32) for a in (self.variances_, sigmas, self.level_)]
        return Filter(restorer, *as_float32)

    def _scaled(self, X):
        rows = self.scaler_.forward(X, dtype=np.float64)
        # An absurd reading must stay the most anomalous row, not overflow in the first square.
        return np.clip(rows, -LARGEST, LARGEST, out=rows)

    def _coordinates(self, rows):
        """Return coordinates (n, k) float32 along the axes, and the rest of the rows (n, d).

        The rest is None where the axes span all columns.
        """
        centred = rows - self.mean_
        u = centred @ self.axes_.T
        rest = centred - u @ self.axes_ if len(self.axes_) < centred.shape[1] else None
        return u.astype(np.float32), rest

    def _energies(self, restorer, rows):
        """Return the squared correction of scaled rows at each level: (n, n_levels)."""
        u, rest = self._coordinates(rows)
        inside = predict(self._filter(restorer), u, apply=energies).astype(np.float64)
        return inside if rest is None else inside + np.einsum("ij,ij->i", rest, rest)[:, None]

    def _norms(self, restorer, X):
        mean = self._energies(restorer, self._scaled(X)).mean(axis=0)
        # Normal rows that are all alike get no correction: any other is then measured as it is.
        return np.where(mean > 0.0, mean, 1.0)

    def _score(self, restorer, norms, X):
        return self._over_blocks(lambda rows: (self._energies(restorer, rows) / norms).mean(1), X)

    def _over_blocks(self, function, X):
        """Apply `function` to scaled blocks of rows."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        X = as_matrix(X, name="X", n_columns=self.n_features_in_)
        chunk = max(256, BLOCK_VALUES // (len(LEVELS) * self.n_features_in_))
        return map_rows(lambda rows: function(self._scaled(rows)), X, chunk=chunk)

    def _require_training(self, what):
        if self.initial_ is None:
            raise StudyError(
                f"`{what}` needs the weights before training, which a loaded model does not have.",
                hint="Fit the detector again.",
            )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")


_ARRAYS = ("axes", "variances", "mean", "level", "level_norms")
