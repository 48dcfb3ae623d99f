"""A network whose hidden state follows a differential equation: the limit of a residual network."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.errors import StudyError, did_you_mean
from assay.nn.activations import activation as _activation
from assay.nn.mlp import Linear

SOLVERS = ("euler", "tsit5")
MOST_STEPS = 10_000
MOST_ADAPTIVE = 4096  # steps, after which the state is what it is


class ODENet(eqx.Module):
    r"""A linear lift, a differential equation for the state, and a linear read-out [1]_.

    .. math::

        h(0) = W_\mathrm{in} x + b_\mathrm{in}, \quad
        \frac{dh}{dt} = W_2\, \varphi(W_1 h + b_1) + b_2, \quad
        y = W_\mathrm{out} h(1) + b_\mathrm{out}

    With :math:`n` steps of Euler it is a residual network of :math:`n` blocks that share their
    weights and add :math:`1/n` of what they compute.

    Parameters
    ----------
    in_size, out_size : int
        Sizes of a row of input and of output, at least 1.
    width : int
        Size of the state :math:`h`, at least 1.
    inner : int
        Rows of :math:`W_1`, at least 1.
    activation : str
        Name of :math:`\varphi`, see `assay.nn.ACTIVATIONS`.
    solver : {"euler", "tsit5"}
        "tsit5" is a Runge-Kutta method of order 5 [2]_.
    steps : int or None
        Equal steps from 0 to 1; None, for "tsit5" only, adapts them to `tolerance`.
    tolerance : float
        Relative, and absolute, error of an adaptive step.
    timed : bool
        Whether :math:`W_1` also sees the time.

    Raises
    ------
    StudyError
        If a size or the number of steps is below 1, a name is unknown, or Euler has no steps.

    References
    ----------
    .. [1] R. T. Q. Chen et al., Neural ordinary differential equations, NeurIPS 2018, eq. 2.
    .. [2] C. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column
       simplifying assumption, Computers & Mathematics with Applications 62 (2011) 770-775.

    Examples
    --------
    >>> import numpy as np
    >>> ODENet(4, 2, width=8, inner=8, steps=4)(np.ones(4, "f4")).shape
    (2,)
    """

    lift: Linear
    first: Linear
    second: Linear
    read_out: Linear
    activation: str = eqx.field(static=True)
    solver: str = eqx.field(static=True)
    steps: int | None = eqx.field(static=True)
    tolerance: float = eqx.field(static=True)
    timed: bool = eqx.field(static=True)

    def __init__(
        self,
        in_size: int,
        out_size: int,
        width: int = 32,
        inner: int = 64,
        activation: str = "tanh",
        solver: str = "euler",
        steps: int | None = 16,
        tolerance: float = 1e-4,
        *,
        timed: bool = False,
    ):
        _check(solver, steps, tolerance)
        _activation(activation)  # an unknown name fails here, not while tracing
        self.lift = Linear(in_size, width)
        self.first = Linear(width + 1 if timed else width, inner)
        self.second = Linear(inner, width)
        self.read_out = Linear(width, out_size)
        self.activation, self.solver = activation, solver
        self.steps, self.tolerance, self.timed = steps, tolerance, timed

    def field(self, t, h):
        """Return the rate of change of the state `h` (width,) at time `t`."""
        if self.timed:
            h = jnp.append(h, jnp.asarray(t, h.dtype))
        return self.second(_activation(self.activation)(self.first(h)))

    def __call__(self, x):
        """Map one row of shape (in_size,) to shape (out_size,)."""
        return self.read_out(self.flow(self.lift(x)))

    def flow(self, h):
        """Return the state (width,) at time 1 of a state `h` (width,) at time 0."""
        return self._euler(h) if self.solver == "euler" else self._runge_kutta(h)

    def _euler(self, h):
        # A plain scan: inside Diffrax, whose steps may be refused, a step of training takes two to
        # five times as long.
        step = jnp.asarray(1.0 / self.steps, h.dtype)
        times = np.arange(self.steps) / self.steps

        def one(h, t):
            return h + step * self.field(t, h), None

        return jax.lax.scan(one, h, times.astype(h.dtype))[0]

    def _runge_kutta(self, h):
        import diffrax

        if self.steps is None:
            control = diffrax.PIDController(rtol=self.tolerance, atol=self.tolerance)
            # The number of steps is not known beforehand: memory stays within a few checkpoints.
            adjoint, most = diffrax.RecursiveCheckpointAdjoint(), MOST_ADAPTIVE
        else:
            # Exact ends of the steps; a step size of 1/49 times 49 is not 1.
            control = diffrax.StepTo(ts=np.linspace(0.0, 1.0, self.steps + 1).astype(h.dtype))
            # Every state is kept: a few kB a row, and a half to a third of the time a step of
            # training takes with checkpoints.
            adjoint, most = diffrax.DirectAdjoint(), self.steps
        # Inside, Diffrax mixes numbers of different kinds, which strict settings would refuse.
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(_rate), diffrax.Tsit5(), jnp.zeros((), h.dtype),
                jnp.ones((), h.dtype), None, h, args=self, stepsize_controller=control,
                adjoint=adjoint, max_steps=most, throw=False,
            )  # fmt: skip
        return solution.ys[0]


def _rate(t, h, net):
    return net.field(t, h)


def _check(solver, steps, tolerance):
    if solver not in SOLVERS:
        raise StudyError(
            f"Unknown solver {solver!r} of an ODENet.", hint=did_you_mean(str(solver), SOLVERS)
        )
    whole = isinstance(steps, int | np.integer) and not isinstance(steps, bool)
    if not (whole and 1 <= steps <= MOST_STEPS) and not (steps is None and solver == "tsit5"):
        raise StudyError(
            f"The number of solver steps of an ODENet must be a whole number from 1 to "
            f"{MOST_STEPS}, or None for adaptive steps of 'tsit5', got {steps!r}.",
            hint="16 steps of Euler are a good start.",
        )
    if not 1e-12 <= tolerance < 1.0:
        raise StudyError(
            f"`tolerance` of an ODENet must be from 1e-12 to 1, got {tolerance!r}.",
            hint="1e-4 is a good start.",
        )
