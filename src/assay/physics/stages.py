"""The course of a training: optimisers one after another, rounds of points and weights."""

import dataclasses
import functools as ft
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.fitting import (
    Setup,
    places_of,
    points_for,
    row_data,
)
from assay.physics.journal import Journal, marks_of
from assay.physics.leading import (
    PARTS,
    SHARE,
    last_factor,
    lead_factors,
    noise_shown,
    noise_unsaid,
    without_fifth,
)
from assay.physics.redrawing import drawn_again, many_drawn, may_draw, overfitted
from assay.train.adam import Rate, adam
from assay.train.descent import Descent, Limits, Stop, resumed
from assay.train.lbfgs import lbfgs
from assay.train.least_squares import least_squares
from assay.train.rows import slope_norms

DENSE = 20_000  # parameters up to which the dense least-squares method is used
STEPS = {"gauss_newton": 500, "lbfgs": 5_000, "adam": 10_000}
FINAL = (Stop.NONFINITE, Stop.INTERRUPTED, Stop.SECONDS, Stop.TARGET, Stop.GRADIENT)
KINDS = ("residual", "condition", "reading")
LOOKS = {"gauss_newton": 30, "lbfgs": 300, "adam": 1000}  # steps between two looks of "auto"
BROKEN = (Stop.NONFINITE, Stop.INTERRUPTED, Stop.SECONDS, Stop.TARGET)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to train.

    Parameters
    ----------
    optimisers : tuple of (name, steps)
        One after the other.
    seconds : float
        For all together.
    rate : Rate
        Of Adam.
    points, face_points : int or None, int
    sampling : str
    resample : int, "auto" or None
        Steps between two draws of points where the residual is large.
    balance : int or None
        Steps between two adjustments of the weights of conditions and readings.
    seed : int
    tolerance : float
        The loss to stop at.
    extends : bool
        Whether Gauss-Newton may take twice its steps where points are drawn again by "auto".
    """

    optimisers: tuple[tuple[str, int], ...]
    seconds: float
    rate: Rate
    points: int | None
    face_points: int
    sampling: str
    resample: int | str | None
    balance: int | None
    seed: int
    tolerance: float = 0.0
    extends: bool = False


def optimisers_of(chosen, steps: int | None, n_parameters: int) -> tuple[tuple[str, int], ...]:
    """Return the optimisers with their steps.

    Raises
    ------
    StudyError
        If one is unknown.
    """
    if chosen == "auto":
        chosen = "gauss_newton" if n_parameters <= DENSE else "lbfgs"
    names = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    for name in names:
        if name not in STEPS:
            raise StudyError(
                f"Unknown optimiser {name!r}.", hint=f"'auto', {', '.join(map(repr, STEPS))}."
            )
    counts = steps if isinstance(steps, list | tuple) else (steps,) * len(names)
    if len(counts) != len(names):
        raise StudyError(
            f"{len(names)} optimisers need as many numbers of steps, got {len(counts)}.",
            hint="optimiser=('adam', 'lbfgs'), steps=(1000, 5000)",
        )
    return tuple((n, STEPS[n] if c is None else c) for n, c in zip(names, counts, strict=True))


class Course:
    """Runs a recipe on one setup after another, and keeps the history.

    Parameters
    ----------
    recipe : Recipe
    watch : function (step, setup, params), optional
        Called after every chunk of steps with the last weights.
    folder : path, optional
        Where the training is kept, to go on from.
    settings : dict, optional
        Of the estimator: those of another one are refused there.
    """

    def __init__(
        self, recipe: Recipe, watch: Callable | None = None, folder=None, settings: Any = None
    ):
        self.recipe, self.watch = recipe, watch
        self.folder, self.settings, self.journal = folder, settings or {}, Journal(None, {})
        self.clock = time.perf_counter()
        self.steps, self.compile_seconds, self.stop = 0, 0.0, Stop.RUNNING
        self.logs: list[dict] = []
        self.places = self.data = self.factors = None
        self.hold = False  # whether some readings are held back
        self.drawing = False  # whether points are drawn again

    def train(self, setup: Setup, params: Any) -> Any:
        """Train on one setup; return the weights."""
        recipe = self.recipe
        self.factors, self.hold = np.ones(len(setup.terms)), False
        self.drawing = False
        points = points_for(
            setup.system.problem, recipe.points, recipe.sampling, recipe.seed, setup.shared.frame
        )
        self._place(setup, points)
        self._open(setup, params)
        params, optimisers = self._lead(setup, params)
        for place, (name, steps) in enumerate(optimisers, 1):
            if self.stop in BROKEN:
                break
            params = self._rounds(setup, params, name, steps, ends=place == len(optimisers))
        return params

    def _lead(self, setup, params):
        """Let the readings lead at first; return the weights, and the steps that are left."""
        (name, steps), *others = self.recipe.optimisers
        factors = () if self.recipe.balance else lead_factors(setup)
        each = steps // (SHARE * PARTS)
        if not factors or not each:
            return params, self.recipe.optimisers
        self.hold = noise_unsaid(setup)
        for factor in factors:
            self._weigh(setup, factor)
            params = self._rounds(setup, params, name, each)
            if self.stop in BROKEN:
                return params, ()
        sigma = noise_shown(setup, params, self.data) if self.hold else 1.0
        self.hold = False
        self._weigh(setup, last_factor(setup, sigma))
        return params, ((name, steps - PARTS * each), *others)

    def _weigh(self, setup, factor):
        self.factors[np.array(setup.kinds) == "reading"] = factor
        self._refresh(setup)

    def _refresh(self, setup):
        data = row_data(setup, self.places, self.factors)
        self.data = without_fifth(setup, data) if self.hold else data

    @property
    def seconds_left(self):
        """Of the budget."""
        return self.recipe.seconds - (time.perf_counter() - self.clock)

    def _place(self, setup, points):
        recipe = self.recipe
        self.places = places_of(setup, points, recipe.face_points, recipe.seed)
        self._refresh(setup)

    def _rounds(self, setup, params, name, steps, *, ends=False):
        """Train by one optimiser, with new points or weights every so many steps."""
        recipe, state, found, done = self.recipe, None, None, 0
        looks = recipe.resample == "auto" and may_draw(setup)
        every = LOOKS[name] if looks else None if recipe.resample == "auto" else recipe.resample
        period, most = min(every or steps, recipe.balance or steps), steps
        while done < most:
            changed = done == 0 and self._balanced(setup, params, again=False)
            if done:
                changed = self._adjust(setup, params, last=most - done <= period, ends=ends)
                if not changed and self.stop is not Stop.BUDGET:
                    break
                # A method that could not go on starts afresh on the new points.
                carried = self.stop in (Stop.BUDGET, Stop.STALLED)
                state = resumed(found.state, anew=changed) if carried else None
            before = 0 if state is None else int(state["step"])
            found = self._run(setup, params, name, before + min(period, most - done), steps, state)
            params, self.stop = found.params, found.stop
            self._keep(setup, found)
            done += max(found.steps - before, 1)
            if period >= steps or self.stop in FINAL:
                break
            if self.drawing and recipe.extends and name == "gauss_newton":
                most = 2 * steps
        return params

    def _run(self, setup, params, name, until, steps, state) -> Descent:
        recipe = self.recipe
        seconds = max(self.seconds_left, 0.0)
        ask = {"steps": until, "seconds": seconds, "target": recipe.tolerance}
        offset = self.steps - (0 if state is None else int(state["step"]))
        progress = None
        if self.watch is not None:
            progress = lambda step, _, __, now: self.watch(offset + step, setup, now)
        given = {"progress": progress, "state": state}
        terms, data = setup.terms, self.data
        if name == "adam":
            given["rate"] = dataclasses.replace(recipe.rate, steps=steps)
            limits, method = Limits(**ask, stall=0.0, chunk=100), adam
        elif name == "lbfgs":
            limits, method = Limits(**ask, patience=200), lbfgs
        else:
            limits, method = Limits(**ask), least_squares
        run = ft.partial(method, terms, params, data, limits=limits, **given)
        return self.journal.descend(lambda keep: run(keep=keep), params)

    def _open(self, setup, params):
        """Open what was kept of this very training, before its first descent."""
        if self.folder is not None and self.journal.path is None:
            marks = marks_of(self.settings, setup.terms, params, self.data)
            self.journal = Journal(self.folder, marks)
            self.clock -= self.journal.spent

    def _keep(self, setup, found):
        parts, kinds = found.history["parts"], np.array(setup.kinds)
        log = {kind: parts[:, kinds == kind].sum(axis=1) for kind in KINDS}
        log["loss"] = found.history["loss"]
        log["step"] = self.steps + found.history["step"] - found.history["step"][0]
        log["seconds"] = self.journal.began + found.history["seconds"]
        self.logs.append(log)
        self.steps = int(log["step"][-1])
        self.compile_seconds += found.compile_seconds

    def _adjust(self, setup, params, *, last, ends):
        """Draw new points and weigh the terms anew where that is due; return whether it was."""
        recipe, draw = self.recipe, None
        if recipe.resample == "auto" and may_draw(setup):
            self.drawing = self.drawing or (not last and overfitted(
                setup, params, self.data, self.places, recipe.seed + self.steps
            ))  # fmt: skip
            # The end is held by more points: on few the error swings with each draw.
            draw = (many_drawn if ends else None) if last else drawn_again
            draw = draw if self.drawing else None
        elif recipe.resample and recipe.resample != "auto":
            draw = drawn_again
        if draw is not None:
            self._place(setup, draw(setup, params, self.places, recipe.seed + 1 + self.steps))
        return self._balanced(setup, params, again=True) or draw is not None

    def _balanced(self, setup, params, *, again):
        if not self.recipe.balance:
            return False
        norms = np.asarray(slope_norms(setup.terms, params, self.data), float)
        bare_norms = norms / self.factors
        wanted = np.where(norms > 0, bare_norms[0] / np.maximum(bare_norms, 1e-300), 1.0)
        wanted = np.clip(wanted, 1e-4, 1e6)
        self.factors = wanted if not again else 0.5 * self.factors + 0.5 * wanted
        self.factors[0] = 1.0
        self._refresh(setup)
        return True

    def history(self) -> dict[str, np.ndarray]:
        """Return the curves of all runs together."""
        keys = ("step", "loss", *KINDS, "seconds")
        return {key: np.concatenate([log[key] for log in self.logs]) for key in keys}
