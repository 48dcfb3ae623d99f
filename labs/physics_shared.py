"""What the labs on physics-informed networks share: the oscillator, the chapter's network, runs."""

import dataclasses
import functools as ft
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from assay.physics import PINN, Boundary, Initial, Problem
from assay.physics.gallery import oscillator
from assay.physics.known import oscillator_exact

W0, ZETA, END = 2.0 * np.pi, 0.1, 2.0  # rad/s, -, s
STARTS = (0, 1, 2)  # seeds of the initial weights
TIMES = 1000  # at which an error is measured
LOOKED = ("errors", "largest")  # what is not known at every step


@ft.cache
def natural(periods=2) -> Problem:
    """Return the oscillator with time in units of one over its frequency: s = w0 t."""
    return Problem(
        lambda d: d.u_ss + 2.0 * d.zeta * d.u_s + d.u,
        {"s": (0.0, 2.0 * np.pi * periods)},
        conditions=(Initial("u", 1.0), Initial("u_s", 0.0)),
        parameters={"zeta": ZETA},
        exact=lambda s: oscillator_exact(s, ZETA, 1.0),
        time="s",
    )


@ft.cache
def built_in() -> Problem:
    """Return the oscillator in seconds for u = 1 + (t / end)^2 N(t).

    The time is declared as any other variable: the factor of what Assay knows to be a time levels
    off, and the chapter's does not.
    """
    swing = oscillator()
    sides = (Boundary("u", "t", 1.0, side="low"), Boundary("u_t", "t", 0.0, side="low"))
    return swing.replace(conditions=sides, time=None)


def network(steps, *, start=0, condition=1.0, reading=1.0, **other) -> PINN:
    """Return the chapter's network and training: 1-32-32-32-1, raw units, Adam, float32."""
    chosen = {
        "hidden": (32, 32, 32), "conditions": "soft", "optimiser": "adam", "points": 200,
        "scaling": "none", "initialisation": "torch", "precision": "float32",
    }  # fmt: skip
    weights = {"condition": condition, "reading": reading}
    return PINN(weights=weights, steps=steps, random_state=start, **(chosen | other))


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """One training, looked at every hundred steps or so.

    Attributes
    ----------
    net : PINN
        It has the weights of the smallest loss; everything but `kept` is of the last ones.
    kept : float
        The error of the weights of the smallest loss.
    looks, errors, largest : (n,)
        The step of a look, the relative L2 error there, and the largest size of the solution.
    residual, condition : (steps + 1,)
        Mean squared residual, and the squares of the conditions without their weight.
    """

    net: PINN
    kept: float
    looks: np.ndarray
    errors: np.ndarray
    largest: np.ndarray
    residual: np.ndarray
    condition: np.ndarray

    def value(self, name, step) -> float:
        """Return "residual" or "condition" at a step, "errors" or "largest" at the look near it."""
        return float(getattr(self, name)[self.look(step) if name in LOOKED else step])

    def look(self, step) -> int:
        """Return which look is nearest to a step; one at most fifty steps away is required."""
        nearest = int(np.abs(self.looks - step).argmin())
        if abs(self.looks[nearest] - step) > 50:
            raise ValueError(f"No look near step {step}.")
        return nearest

    def after(self, step) -> np.ndarray:
        """Return the errors of all looks after a step."""
        return self.errors[self.looks > step]

    @property
    def best(self) -> float:
        """The smallest error of all looks."""
        return float(self.errors.min())


@ft.cache
def train(problem, steps, **other) -> Run:
    """Train the chapter's network; a problem of the same identity compiles once."""
    times = np.linspace(*next(iter(problem.box.values())), TIMES)[:, None]
    exact, seen = problem.exact_at(times), []

    def look(step, predict):
        u = predict(times)
        seen.append((step, relative(u, exact), np.abs(u).max()))

    # The best weights of a single step are those before it.
    look(0, network(1, **other).fit(problem).predict)
    net = network(steps, **other).fit(problem, watch=look)
    looks, errors, largest = np.array(seen).T
    weight = other.get("condition", 1.0)
    condition = net.history_["condition"] / (weight or np.nan)
    kept = relative(net.predict(times), exact)
    return Run(net, kept, looks, errors, largest, net.history_["residual"], condition)


def starts(problem, steps, **other) -> list[Run]:
    """Train from several initial weights."""
    return [train(problem, steps, start=start, **other) for start in STARTS]


def together(tasks) -> list:
    """Return the results of functions without arguments, two at a time."""
    with ThreadPoolExecutor(2) as pool:  # one network keeps one core busy
        return [task.result() for task in [pool.submit(one) for one in tasks]]


def relative(u, exact) -> float:
    """Return the relative L2 error."""
    return float(np.linalg.norm(u - exact) / np.linalg.norm(exact))


def middle(runs, number) -> float:
    """Return the median over runs of a number of each."""
    return float(np.median([number(run) for run in runs]))


def at(runs, name, step) -> float:
    """Return the median over runs of a value at a step, see `Run.value`."""
    return middle(runs, lambda run: run.value(name, step))
