"""A residual network in place of an expensive model."""

from typing import ClassVar

from assay.nn import ResNet
from assay.surrogate.network import NetworkSurrogate


class ResNetSurrogate(NetworkSurrogate):
    r"""A residual network from inputs to outputs, as a scikit-learn regressor.

    See `assay.nn.ResNet`: a linear lift, blocks :math:`h + \varphi(W h + b)/\sqrt{L}` and a linear
    read-out.

    Parameters
    ----------
    width : int >= 1, default 64
        Size of the states between the blocks.
    depth : int >= 1, default 4
        Number of blocks :math:`L`.
    activation : str, default "gelu"
        Of the blocks, see `assay.nn.ACTIVATIONS`.
    batch, optimiser, learning_rate, schedule, steps, epochs, weight_decay, prior_sd, noise_sd
        Of the training, see `MLPSurrogate`.
    validation_fraction, patience
        Of early stopping, see `MLPSurrogate`.
    initialisation, init_scale
        Of the weights, see `MLPSurrogate`.
    input_scaling, bounds, output_scaling, precision, random_state
        See `MLPSurrogate`.

    Attributes
    ----------
    model_ : ResNet
    n_features_in_, n_outputs_, n_parameters_, status_, history_, scaler_, output_scaler_, domain_
        See `MLPSurrogate`.
    untrained_, weight_decay_, decay_search_, fit_seconds_, compile_seconds_
        See `MLPSurrogate`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 100)[:, None]
    >>> model = ResNetSurrogate(width=16, steps=1000).fit(X, np.sin(3.0 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(1.5)) < 0.02)
    True
    """

    name: ClassVar[str] = "ResNet"
    about: ClassVar[str] = "A residual network from inputs to outputs."
    family: ClassVar[str] = "surrogate.resnet"
    by_columns: ClassVar[bool] = True

    def __init__(
        self,
        *,
        width=64,
        depth=4,
        activation="gelu",
        batch=64,
        optimiser="adam",
        learning_rate=3e-3,
        schedule="cosine",
        steps=None,
        epochs=None,
        weight_decay=None,
        prior_sd=None,
        noise_sd=None,
        validation_fraction=0.0,
        patience=None,
        initialisation="torch",
        init_scale=1.0,
        input_scaling="standard",
        bounds=None,
        output_scaling="standard",
        precision="float32",
        random_state=0,
    ):
        self.width = width
        self.depth = depth
        self.activation = activation
        self.batch = batch
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.steps = steps
        self.epochs = epochs
        self.weight_decay = weight_decay
        self.prior_sd = prior_sd
        self.noise_sd = noise_sd
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.initialisation = initialisation
        self.init_scale = init_scale
        self.input_scaling = input_scaling
        self.bounds = bounds
        self.output_scaling = output_scaling
        self.precision = precision
        self.random_state = random_state

    def _network(self):
        sizes = (self.n_features_in_, self.n_outputs_, self.width, self.depth)
        return ResNet, (*sizes, self.activation)
