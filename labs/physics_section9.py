"""Section 9: the equation, derivatives of networks, and the comparison with a classical solver."""

import functools as ft
import time

import numpy as np
from physics_forward import LONG, SHORT, natural_units, no_weight, unit_weight, weight_100
from physics_shared import END, TIMES, W0, ZETA, at, middle, natural, relative, together, train
from scipy.integrate import solve_ivp

from assay.nn import MLP, initialise
from assay.physics.known import oscillator_exact

REPEATS = 5  # of the solver, whose shortest time counts


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    together([unit_weight, no_weight, weight_100, natural_units])
    return {**the_equation(), **derivatives(), **repairs(), **against_solver()}


def the_equation():
    """Look at the frequency, the envelope and the start of the exact solution."""
    damped = W0 * np.sqrt(1.0 - ZETA**2)
    decay = ZETA * W0
    return {
        "004-s9-wd": {"rad per s": damped, "exponent": decay},
        "004-s9-exact-ic": {
            "u": abs(float(oscillator_exact(np.zeros(1))[0]) - 1.0),
            # An imaginary step, too small to be seen in the value, carries the slope.
            "slope": abs(oscillator_exact(np.array([1e-30j]))[0].imag / 1e-30),
        },
        "004-s9-w0sq": {"square": W0**2, "fourth power": W0**4},
    }  # fmt: skip


def derivatives():
    """Differentiate networks twice: with ReLU, with tanh, and with the path cut after once."""
    import jax
    import jax.numpy as jnp

    points = np.linspace(0.0, 1.0, 200, dtype="f4")

    def fresh(activation):
        return initialise(MLP(1, 1, (32, 32, 32), activation), np.random.default_rng(0))

    def second(model, t, *, cut=False):
        once = jax.grad(lambda at: model(at[None])[0])
        return jax.grad(lambda at: jax.lax.stop_gradient(once(at)) if cut else once(at))(t)

    def largest(model, **how):
        return float(jnp.abs(jax.vmap(lambda t: second(model, t, **how))(points)).max())

    def slope(model, *, cut):
        size = lambda m: jnp.mean(jax.vmap(lambda t: second(m, t, cut=cut))(points) ** 2)
        leaves = jax.tree.leaves(jax.grad(size)(model))
        return float(max(jnp.abs(leaf).max() for leaf in leaves))

    relu, tanh = (jax.tree.map(jnp.asarray, fresh(name)) for name in ("relu", "tanh"))
    net, step = train(natural(), LONG).net, 0.2
    times = np.linspace(1.0, 12.0, 50)[:, None]
    # Central and of fourth order: a wider step, so that rounding in single precision stays small.
    weights = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * step**2)
    difference = sum(
        w * net.predict(times + k * step) for w, k in zip(weights, range(-2, 3), strict=True)
    )
    return {
        "004-s9-relu-uu": {"relu": largest(relu), "tanh": largest(tanh)},
        "004-s9-create-graph": {
            "cut": largest(tanh, cut=True), "gradient cut": slope(tanh, cut=True),
            "gradient": slope(tanh, cut=False),
            "central difference": np.abs(net.derivatives(times, "u_ss") - difference).max(),
        },
    }  # fmt: skip


def repairs():
    """Collect the trivial solution and what repairs it."""
    raw, heavy, units = unit_weight(), weight_100(), natural_units()
    residual, condition = (
        at(raw, "residual", 0),
        at(raw, "condition", 0),
    )
    trivial = middle(raw, lambda r: r.errors[-1])
    best = middle(units, lambda r: r.best)
    jump = lambda errors: errors.max() / errors.min()
    return {
        "004-s9-init-losses": {
            "residual": residual, "condition": condition,
            "ratio": middle(raw, lambda r: r.residual[0] / r.condition[0]),
        },
        "004-s9-trivial": {
            "residual": at(raw, "residual", SHORT),
            "condition": at(raw, "condition", SHORT), "error": trivial,
        },
        "004-s9-trivial-noic": {"error": no_weight().errors[-1]},
        "004-s9-weight100": {
            "at 5000": at(heavy, "errors", 5000),
            "at 10000": at(heavy, "errors", LONG),
            "best": middle(heavy, lambda r: r.best),
        },
        "004-s9-nd": {
            "initial residual": at(units, "residual", 0), "best": best,
            "at 7500": at(units, "errors", 7500),
            "at 10000": at(units, "errors", LONG),
            "jumps": middle(units, lambda r: jump(r.after(6000))),
        },
        "004-s14-pinn-zero": {"trivial": trivial, "units": best},
    }  # fmt: skip


@ft.cache
def solver():
    """Solve the oscillator as the chapter does: the relative error and the shortest time [s]."""
    t = np.linspace(0.0, END, TIMES)
    slope = lambda _, y: [y[1], -2.0 * ZETA * W0 * y[1] - W0**2 * y[0]]
    seconds = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        run = solve_ivp(slope, (0.0, END), [1.0, 0.0], rtol=1e-8, atol=1e-10, t_eval=t)
        seconds.append(time.perf_counter() - begun)
    return relative(run.y[0], oscillator_exact(t)), min(seconds)


def against_solver():
    """Hold the network in natural units against the solver."""
    error, seconds = solver()
    runs = natural_units()
    compiling = lambda r: r.net.compile_seconds_
    spent = middle(runs, lambda r: r.net.history_["seconds"][7500] - compiling(r))
    best, later = middle(runs, lambda r: r.best), at(runs, "errors", 7500)
    return {
        "004-s9-ivp": {"error": error},
        "004-s9-ivp-time": {"s": seconds},
        "004-s9-pinn-time": {"times": spent / seconds, "error over solver": later / error},
        "004-s9-ivp-beats": {
            "error over network": error / best,
            "time over network": seconds / spent,
        },
        "004-lab4-time": {"s": sum(r.net.fit_seconds_ for r in everything())},
    }


def everything():
    """Return all runs of the forward problem."""
    return [*unit_weight(), no_weight(), *weight_100(), *natural_units()]
