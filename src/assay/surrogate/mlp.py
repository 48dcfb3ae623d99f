"""A multilayer perceptron in place of an expensive model."""

from typing import ClassVar

from assay.nn import MLP
from assay.surrogate.network import NetworkSurrogate


class MLPSurrogate(NetworkSurrogate):
    r"""A multilayer perceptron from inputs to outputs, as a scikit-learn regressor.

    Minimises the mean squared error over the n runs and m outputs, in scaled units,

    .. math:: \frac{1}{n m} \sum_i \lVert y_i - f(x_i; w) \rVert^2
              + \tfrac12 \lambda \lVert w \rVert^2 .

    Parameters
    ----------
    hidden : tuple of int, default (64, 64)
        Widths of the hidden layers.
    activation : str, default "gelu"
        Of the hidden layers, see `assay.nn.ACTIVATIONS`.
    batch : int >= 1 or None, default 64
        Runs a step; None takes all of them in every step.
    optimiser : {"adam", "momentum", "sgd"}, default "adam"
        "momentum" is gradient descent with a momentum of 0.9, "sgd" without.
    learning_rate : float > 0, default 3e-3
    schedule : {"cosine", "constant"}, default "cosine"
        "cosine" lets the rate fall to zero.
    steps : int >= 1 or None, default None
        Steps of the optimiser; None makes 10,000, or 40 passes over the runs where those are more.
    epochs : int >= 1 or None, default None
        Passes over the runs, instead of `steps`.
    weight_decay : float >= 0, "validation" or None, default None
        :math:`\lambda`: the MAP estimate under a normal prior on the weights and biases, see
        `weight_decay_of`; None is that of a prior of standard deviation 1 and a noise of 0.05
        scaled units, 0.005 / (n m). 0 switches it off. "validation" tries
        :math:`\lambda n m = 2 \sigma^2 / s_w^2` of 0, 0.0005, 0.005, ... 5 with one compiled
        program and takes the one with the smallest error on held-out runs: those of early
        stopping where there are any; else a fifth of the runs in turn, until 200 runs have judged
        but at most five times, after which the network is trained on all runs. That costs 6 to
        30 more fits.
    prior_sd, noise_sd : float > 0, optional
        Instead of `weight_decay`: standard deviation of that prior [-], and of the noise of the
        outputs [units of the outputs]. With outputs of different scales the noise is their
        root mean square in scaled units.
    validation_fraction : float in [0, 0.5], default 0.0
        Share of the runs that are held out; the weights with the smallest error on them are kept:
        early stopping. 0 trains on all runs and keeps the last weights.
    patience : int >= 1 or None, default None
        Stop after so many looks at the held-out runs (one every 100 steps) without progress.
    initialisation : {"torch", "glorot", "he", "lecun", "orthogonal"}, default "torch"
        Of the weights, see `assay.nn.initialise`.
    init_scale : float > 0, default 1.0
        Multiplies the initial weights.
    input_scaling : {"standard", "unit", "none"}, default "standard"
        How inputs are scaled before: by their data, or by `bounds` where those are given.
    bounds : array of shape (d, 2), optional [units of the inputs]
        Lower and upper end of every input; also the box of the validity domain.
    output_scaling : {"standard", "common", "none"}, default "standard"
        How outputs are scaled: each by its spread, all by one, or not at all (training on unscaled
        outputs fails in most cases, which is what this is for).
    precision : {"float32", "float64"}, default "float32"
        Of the training and of predictions.
    random_state : int in [0, 2**32), default 0
        Of the weights, the held-out runs and the order of runs.

    Attributes
    ----------
    n_features_in_, n_outputs_, n_parameters_ : int
    status_ : str
        How training ended, in a sentence.
    history_ : dict of arrays
        ``step``, ``train`` and ``validation`` [mean squared error in scaled units].
    scaler_, output_scaler_ : Scaler
    domain_ : Domain
    model_ : MLP
    untrained_ : MLPSurrogate or None
        With the weights before training.
    weight_decay_ : float
    decay_search_ : DecaySearch or None
        What "validation" tried and found: ``strengths``, ``errors``, ``folds``.
    fit_seconds_, compile_seconds_ : float [s]

    Notes
    -----
    The defaults were chosen on four splits each of the UCI sets energy, concrete and yacht, and,
    for the weight decay, on 40 to 100 runs of the Borehole, OTL, piston and wing weight functions:
    without it the errors there are up to three times as large.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 100)[:, None]
    >>> model = MLPSurrogate(steps=1000).fit(X, 100.0 + np.sin(3.0 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - 100.0 - np.sin(1.5)) < 0.02)
    True
    >>> model.predict([[0.5], [2.0]], return_valid=True)[1].tolist()
    [True, False]
    >>> noisy = np.sin(3.0 * X[:, 0]) + np.random.default_rng(0).normal(size=100)
    >>> chosen = MLPSurrogate(steps=500, weight_decay="validation").fit(X, noisy)
    >>> bool(chosen.weight_decay_ > model.weight_decay_)
    True
    """

    name: ClassVar[str] = "MLP"
    about: ClassVar[str] = "A multilayer perceptron from inputs to outputs."
    family: ClassVar[str] = "surrogate.mlp"
    by_columns: ClassVar[bool] = True

    def __init__(
        self,
        *,
        hidden=(64, 64),
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
        self.hidden = hidden
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
        sizes = (self.n_features_in_, self.n_outputs_, tuple(self.hidden))
        return MLP, (*sizes, self.activation)
