"""Anomaly detection by reconstruction: what an autoencoder cannot give back is abnormal."""

from pathlib import Path
from typing import ClassVar

from sklearn.base import BaseEstimator

from assay.compress.autoencoder import Autoencoder
from assay.data import as_matrix
from assay.errors import StudyError
from assay.models import save_model


class AutoencoderDetector(BaseEstimator):
    r"""Reconstruction error of an autoencoder that was trained on normal rows.

    .. math:: s(x) = \frac{1}{d} \lVert x - g(f(x)) \rVert^2 \quad \text{[scaled squared]}

    With `noise` it is a denoising autoencoder; rows are scored without noise.

    Parameters
    ----------
    components : int >= 1, or float in (0, 1), default 0.9
        Code size, or the share of the variance that PCA must explain with as many numbers.
    hidden, activation, output, noise, noise_kind, scaling, epochs, batch, learning_rate
        See `assay.compress.Autoencoder`.
    schedule, weight_decay, validation_fraction, patience, initialisation, random_state
        See there too.

    Attributes
    ----------
    autoencoder_ : Autoencoder
    components_ : int
        The code size.
    scaler_, n_features_in_, n_parameters_, status_, history_

    References
    ----------
    .. [1] N. Japkowicz, C. Myers, M. Gluck, A novelty detection approach to classification, IJCAI
       1995, 518-523.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(-1.0, 1.0, 300)
    >>> curve = np.c_[t, t**2]
    >>> detector = AutoencoderDetector(components=1, hidden=(16,), learning_rate=1e-2, epochs=200)
    >>> on, off = detector.fit(curve).anomaly_score([[0.5, 0.25], [0.5, 1.5]])
    >>> bool(off > on)
    True
    """

    name: ClassVar[str] = "Autoencoder"
    about: ClassVar[str] = "Error of a network that was trained to give back normal rows."
    family: ClassVar[str] = "anomaly.autoencoder"

    def __init__(
        self,
        *,
        components=0.9,
        hidden=(128,),
        activation="gelu",
        output="identity",
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
        random_state=0,
    ):
        self.components = components
        self.hidden = hidden
        self.activation = activation
        self.output = output
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
        self.random_state = random_state

    def fit(self, X, y=None, *, checkpoint=None):
        """Train on normal rows `X` (n, d), n >= 2; `y` is ignored.

        `checkpoint` is a file that an interrupted fit goes on from.
        """
        del y
        given = self.get_params(deep=False)
        made = Autoencoder(code_size=given.pop("components"), **given)
        return self._take(made.fit(as_matrix(X, name="X"), checkpoint=checkpoint))

    def anomaly_score(self, X):
        """Return the mean squared errors (n,) [scaled squared] of rows `X` (n, d)."""
        return self._fitted().errors(X)

    def untrained_score(self, X):
        """Return the scores (n,) that the same network gave before it was trained."""
        untrained = self._fitted().untrained_
        if untrained is None:
            raise StudyError(
                "`untrained_score` needs the weights before training, which a loaded model does "
                "not have.",
                hint="Fit the detector again.",
            )
        return untrained.errors(X)

    def column_scores(self, X):
        """Return each column's part of the score: (n, d) [scaled squared], adding up to it."""
        return self._fitted().squared_errors(X) / self.n_features_in_

    def reconstruct(self, X):
        """Return rows (n, d) [columns' units], coded and decoded again."""
        return self._fitted().reconstruct(X)

    def outside(self, X):
        """Return which rows `X` (n, d) leave the training range in a column: (n,) bool."""
        return self._fitted().outside(X)

    @property
    def training_range_(self):
        """Smallest and largest training value of each column: (2, d) [columns' units]."""
        return self._fitted().training_range_

    def settings(self):
        """Return what was used, as plain values."""
        used = self._fitted().settings()
        asked = used.pop("code_size_asked")
        return {"components": used.pop("code_size"), "asked": asked} | used

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        return self._fitted().to_saved()

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted detector from what `to_saved` returned."""
        made = Autoencoder.from_saved(config, arrays)
        given = made.get_params(deep=False)
        given["components"] = given.pop("code_size")
        for only_there in ("linear", "precision"):
            del given[only_there]
        return cls(**given)._take(made)

    def _take(self, made: Autoencoder):
        self.autoencoder_ = made
        self.components_ = made.code_size_
        self.scaler_, self.n_features_in_ = made.scaler_, made.n_features_in_
        self.n_parameters_, self.status_ = made.n_parameters_, made.status_
        self.history_ = made.history_
        return self

    def _fitted(self) -> Autoencoder:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "autoencoder_")
        return self.autoencoder_
