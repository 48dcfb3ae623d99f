"""A neural differential equation in place of an expensive model."""

from typing import ClassVar

from assay.nn import ODENet
from assay.surrogate.network import NetworkSurrogate


class NeuralODE(NetworkSurrogate):
    r"""A network whose hidden state follows a differential equation, as a scikit-learn regressor.

    See `assay.nn.ODENet`: a linear lift, :math:`dh/dt = W_2 \varphi(W_1 h + b_1) + b_2` for t from
    0 to 1, and a linear read-out. It is the limit of a residual network with ever more blocks that
    share their weights.

    Parameters
    ----------
    width : int >= 1, default 64
        Size of the state :math:`h`.
    inner : int >= 1, default 64
        Rows of :math:`W_1`.
    activation : str, default "gelu"
        :math:`\varphi`, see `assay.nn.ACTIVATIONS`.
    solver : {"euler", "tsit5"}, default "euler"
        "tsit5" is a Runge-Kutta method of order 5.
    solver_steps : int >= 1 or None, default 8
        Equal steps of the solver; None, for "tsit5" only, adapts them to `tolerance`.
    tolerance : float, default 1e-4
        Relative, and absolute, error of an adaptive step.
    timed : bool, default False
        Whether the equation depends on time.
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
    model_ : ODENet
    n_features_in_, n_outputs_, n_parameters_, status_, history_, scaler_, output_scaler_, domain_
        See `MLPSurrogate`.
    untrained_, weight_decay_, decay_search_, fit_seconds_, compile_seconds_
        See `MLPSurrogate`.

    Notes
    -----
    It is here to be compared, not to be preferred: with the defaults a step of training takes seven
    times as long as one of `MLPSurrogate`, because each row passes eight times through two layers.
    On the Ishigami function (400 runs, five seeds, median error over the spread) 10,000 steps give
    6.4 %, as an MLP does in 20,000; an MLP of 40,000 steps, still faster, gives 4.6 %.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 100)[:, None]
    >>> model = NeuralODE(width=8, inner=16, solver_steps=4, steps=1000)
    >>> model = model.fit(X, np.sin(3.0 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(1.5)) < 0.05)
    True
    """

    name: ClassVar[str] = "Neural ODE"
    about: ClassVar[str] = "A network whose state follows a differential equation."
    family: ClassVar[str] = "surrogate.neural_ode"

    def __init__(
        self,
        *,
        width=64,
        inner=64,
        activation="gelu",
        solver="euler",
        solver_steps=8,
        tolerance=1e-4,
        timed=False,
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
        self.inner = inner
        self.activation = activation
        self.solver = solver
        self.solver_steps = solver_steps
        self.tolerance = tolerance
        self.timed = timed
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
        sizes = (self.n_features_in_, self.n_outputs_, self.width, self.inner)
        solving = (self.activation, self.solver, self.solver_steps, self.tolerance)
        return ode_net, (*sizes, *solving, bool(self.timed))


def ode_net(in_size, out_size, width, inner, activation, solver, steps, tolerance, timed):
    """Return the network; all arguments by position, as a saved model gives them."""
    return ODENet(
        in_size, out_size, width, inner, activation, solver, steps, tolerance, timed=timed
    )
