"""The course of a training: windows in time, values of a curriculum, rounds of points."""

import dataclasses
import functools as ft
import itertools
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from assay.errors import StudyError
from assay.physics.fitting import (
    Setup,
    cast,
    frame_of,
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
from assay.physics.pieces import Piece
from assay.physics.points import in_box, resampled
from assay.physics.residuals import lift_at, values_at
from assay.physics.tables import coefficients, grid
from assay.train.adam import Rate, adam
from assay.train.descent import Descent, Limits, Stop, resumed
from assay.train.lbfgs import lbfgs
from assay.train.least_squares import least_squares
from assay.train.rows import all_rows, slope_norms

DENSE = 20_000  # parameters up to which the dense least-squares method is used
STEPS = {"gauss_newton": 500, "lbfgs": 5_000, "adam": 10_000}
FINAL = (Stop.NONFINITE, Stop.INTERRUPTED, Stop.SECONDS, Stop.TARGET, Stop.GRADIENT)
KINDS = ("residual", "condition", "reading")
CANDIDATES = 20  # times as many points are looked at as are drawn again
BROKEN = (Stop.NONFINITE, Stop.INTERRUPTED, Stop.SECONDS, Stop.TARGET)
EVEN_SHARE = 0.2  # of them; more leaves too few for a shock (Burgers: 2e-4 with 1, 9e-5 with 0.2)


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
    resample : int or None
        Steps between two draws of points where the residual is large.
    balance : int or None
        Steps between two adjustments of the weights of conditions and readings.
    seed : int
    tolerance : float
        The loss to stop at.
    """

    optimisers: tuple[tuple[str, int], ...]
    seconds: float
    rate: Rate
    points: int | None
    face_points: int
    sampling: str
    resample: int | None
    balance: int | None
    seed: int
    tolerance: float = 0.0


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

    def train(self, setup: Setup, params: Any) -> Any:
        """Train on one setup; return the weights."""
        recipe = self.recipe
        self.factors, self.hold = np.ones(len(setup.terms)), False
        points = points_for(
            setup.system.problem, recipe.points, recipe.sampling, recipe.seed, setup.shared.frame
        )
        self._place(setup, points)
        self._open(setup, params)
        params, optimisers = self._lead(setup, params)
        for name, steps in optimisers:
            if self.stop in BROKEN:
                break
            params = self._rounds(setup, params, name, steps)
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

    def _rounds(self, setup, params, name, steps):
        """Train by one optimiser, with new points or weights every so many steps."""
        recipe = self.recipe
        period = min(recipe.resample or steps, recipe.balance or steps)
        state, done = None, 0
        while done < steps:
            if done or recipe.balance:
                self._adjust(setup, params, again=done > 0)
            before = 0 if state is None else int(state["step"])
            until = before + min(period, steps - done)
            found = self._run(setup, params, name, until, steps, state)
            params, self.stop = found.params, found.stop
            self._keep(setup, found)
            done += max(found.steps - before, 1)
            if period >= steps or self.stop in FINAL:
                break
            # A method that could not go on starts afresh on the new points.
            carried = self.stop in (Stop.BUDGET, Stop.STALLED)
            state = resumed(found.state) if carried else None
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

    def _adjust(self, setup, params, *, again):
        recipe = self.recipe
        if recipe.resample and again:
            self._place(setup, self._drawn(setup, params))
        if recipe.balance:
            norms = np.asarray(slope_norms(setup.terms, params, self.data), float)
            bare_norms = norms / self.factors
            wanted = np.where(norms > 0, bare_norms[0] / np.maximum(bare_norms, 1e-300), 1.0)
            wanted = np.clip(wanted, 1e-4, 1e6)
            self.factors = wanted if not again else 0.5 * self.factors + 0.5 * wanted
            self.factors[0] = 1.0
            self._refresh(setup)

    def _drawn(self, setup, params):
        frame, n = setup.shared.frame, len(self.places[0])
        box = {v: (frame.low[i], frame.high[i]) for i, v in enumerate(setup.system.problem.box)}
        # As many every time, and the number of steps as seed: a round never repeats the last one.
        many = in_box(box, CANDIDATES * n, "latin", seed=self.recipe.seed + 1 + self.steps)
        size = []
        for start in range(0, len(many), n):
            places = (many[start : start + n], *self.places[1:])
            rows = all_rows(setup.terms, params, row_data(setup, places))[0]
            size.append(np.linalg.norm(np.asarray(rows), axis=1))
        seed = self.recipe.seed + 1 + self.steps
        new = resampled(many, np.concatenate(size), n - n // 2, share=EVEN_SHARE, seed=seed)
        # Half of the points stay: with all of them new, the weights swing between two sets.
        stay = np.random.default_rng(seed).choice(n, n // 2, replace=False)
        return np.concatenate([new, self.places[0][np.sort(stay)]])

    def history(self) -> dict[str, np.ndarray]:
        """Return the curves of all runs together."""
        keys = ("step", "loss", *KINDS, "seconds")
        return {key: np.concatenate([log[key] for log in self.logs]) for key in keys}


def windows_of(setup: Setup, count: int) -> list[tuple[float, float]]:
    """Return the ranges of time of equal windows.

    Raises
    ------
    StudyError
        If the problem cannot be marched.
    """
    problem = setup.system.problem
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise StudyError(
            f"`windows` must be a whole number of at least 1, got {count!r}.", hint="Leave it out."
        )
    if count == 1:
        return [(np.nan, np.nan)]
    if problem.time is None:
        raise StudyError("Windows in time need a time.", hint="windows=1")
    if problem.readings or problem.unknown or problem.coefficients:
        raise StudyError(
            "Windows cannot be used with readings or unknowns, which all windows share.",
            hint="windows=1",
        )
    if any(f.along == problem.time and (f.name is None or f.end != "low") for f in problem.faces):
        raise StudyError(
            "Windows need a problem whose conditions in time are all at its start.",
            hint="windows=1",
        )
    edges = np.linspace(*problem.box[problem.time], count + 1)
    return list(itertools.pairwise(edges.tolist()))


def window(setup: Setup, low: float, high: float, before: Piece | None) -> Setup:
    """Return the setup of one window; it starts where the window before ends."""
    problem = setup.system.problem
    if problem.time is None or np.isnan(low):
        return setup
    tables = {} if before is None else handed_on(before)
    box = problem.box | {problem.time: (low, high)}
    shared = dataclasses.replace(setup.shared, frame=frame_of(box, setup.scales, tables))
    return dataclasses.replace(setup, shared=shared)


def handed_on(piece: Piece) -> dict[str, np.ndarray]:
    """Return tables of the initial conditions for the next window: the end of this one."""
    system, shared = piece.setup.system, piece.setup.shared
    problem, frame = system.problem, shared.frame
    place = list(problem.box).index(problem.time)
    others = [i for i in range(len(problem.box)) if i != place]
    unit = grid(len(others))
    points = np.empty((len(unit), len(problem.box)))
    points[:, others] = frame.low[others] + (unit + 1) / 2 * (frame.high - frame.low)[others]
    points[:, place] = frame.high[place]
    initial = [face for face in problem.faces if face.along == problem.time]
    keys = tuple(dict.fromkeys(face.keys[0] for face in initial))
    values = np.asarray(key_values(piece, points, keys), np.float64)
    return {
        face.label: coefficients(values[:, keys.index(face.keys[0])], len(others))
        for face in initial
    }


def key_values(piece: Piece, points: np.ndarray, keys: tuple):
    """Return the derivatives `keys` of a network at points (n, n_variables): (n, n_keys)."""
    setup = piece.setup
    return _key_values(setup.system, keys, piece.params, cast(setup.shared), cast(points))


@ft.partial(jax.jit, static_argnames=("system", "keys"))
def _key_values(system, keys, params, shared, points):
    lifts = lift_at(system, shared, points, keys)

    def one(point, part):
        found = values_at(system, params, shared, {"x": point, "lift": part}, keys)
        return jax.numpy.stack([found[key] for key in keys])

    return jax.vmap(one)(points, lifts)


def with_known(setup: Setup, values: dict[str, float]) -> Setup:
    """Return the setup with other values of known parameters: nothing compiles again."""
    known = setup.shared.known | {name: np.array(float(v)) for name, v in values.items()}
    return dataclasses.replace(setup, shared=dataclasses.replace(setup.shared, known=known))


def lessons(problem, curriculum: dict | None) -> list[dict[str, float]]:
    """Return the values of the known parameters of each lesson; the problem's own come last.

    Raises
    ------
    StudyError
        For a parameter that is not known, or lists of different lengths.
    """
    if not curriculum:
        return [{}]
    lengths = {name: len(tuple(values)) for name, values in curriculum.items()}
    for name in curriculum:
        if name not in problem.parameters or name in problem.unknown:
            raise StudyError(
                f"A curriculum in {name!r}, which is no known parameter of the problem.",
                hint="Known: " + ", ".join(sorted(set(problem.parameters) - set(problem.unknown))),
            )
    if len(set(lengths.values())) != 1 or not next(iter(lengths.values())):
        raise StudyError(
            f"The lists of a curriculum must have one length, got {lengths}.",
            hint="{'beta': (5.0, 15.0, 30.0)}",
        )
    own = {name: problem.known[name] for name in curriculum}
    made = [
        {name: float(values[i]) for name, values in curriculum.items()}
        for i in range(next(iter(lengths.values())))
    ]
    return made if made[-1] == own else [*made, own]
