"""From a declared problem to rows, and from rows to trained weights."""

import dataclasses
import functools as ft
from typing import Any

import jax
import numpy as np

from assay.errors import StudyError
from assay.physics import series
from assay.physics.ansatz import NetworkSpec, arrays_of, fresh
from assay.physics.choose import plan_conditions
from assay.physics.faces import Bound
from assay.physics.hard import Frame, value_of
from assay.physics.points import in_box, on_face
from assay.physics.residuals import (
    ConditionTerm,
    EquationTerm,
    ReadingTerm,
    Shared,
    System,
    lift_at,
    raw_value,
)
from assay.physics.scaling import Scales
from assay.train import program
from assay.train.rows import RowData, even_weights

WEIGHTS = ("residual", "condition", "reading")
TRUST = 0.1  # the equation is held this much more tightly than the noise of a reading
NOISE_GUESS = 0.01  # of the size of the field, where the standard deviation is not given


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a fit works with.

    Attributes
    ----------
    system : System
    shared : Shared
    scales : Scales
    soft : tuple of (Bound, reason)
    weights : dict of str to float
        Of ``residual``, ``condition`` and ``reading``: multiply mean squares.
    """

    system: System
    shared: Shared
    scales: Scales
    soft: tuple[tuple[Bound, str], ...]
    weights: dict[str, float]

    @property
    def terms(self) -> tuple:
        """The terms of the loss, in order: equation, conditions, readings."""
        conditions = tuple(ConditionTerm(self.system, bound) for bound, _ in self.soft)
        readings = tuple(ReadingTerm(self.system, r.name) for r in self.system.problem.readings)
        return (EquationTerm(self.system), *conditions, *readings)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each term is: ``residual``, ``condition`` or ``reading``."""
        n = len(self.system.problem.readings)
        return ("residual", *["condition"] * len(self.soft), *["reading"] * n)


def set_up(problem, scales: Scales, network: dict, conditions: str, weights: dict) -> Setup:
    """Work out networks, built-in conditions and shared numbers.

    Parameters
    ----------
    problem : Problem
    scales : Scales
    network : dict
        Of `NetworkSpec`, without ``inputs``, ``periodic`` and ``out``.
    conditions : {"auto", "hard", "soft"}
    weights : dict
    """
    frame = frame_of(problem.box, scales)
    plans, soft = plan_conditions(problem, frame, scales.fields, conditions)
    periodic = () if conditions == "soft" else problem.periodic
    spec = NetworkSpec(problem.space.variables, periodic, len(problem.fields), **network)
    extra = {"features": None}
    coefficients = tuple(
        (name, NetworkSpec(c.of, tuple(v for v in c.of if v in problem.periodic), 1,
                           **(network | extra)))
        for name, c in problem.coefficients.items()
    )  # fmt: skip
    known = {k: v for k, v in problem.known.items() if k not in problem.unknown}
    shared = Shared(
        frame=frame,
        sizes=np.array([scales.fields[name] for name in problem.fields]),
        residuals=np.array(scales.residuals),
        known={name: np.array(value) for name, value in known.items()},
    )
    system = System(problem, spec, coefficients, plans, scales.scaled)
    return Setup(system, shared, scales, soft, dict(weights))


def frame_of(box: dict, scales: Scales, tables: dict | None = None) -> Frame:
    """Return the box and the natural lengths as arrays."""
    low, high = (np.array([ends[i] for ends in box.values()]) for i in (0, 1))
    lengths = np.array([scales.lengths[name] for name in box])
    pace = lengths / (high - low) if scales.scaled else np.full(len(low), 1e3)
    return Frame(low, high, pace, tables or {})


def initial_params(setup: Setup, seed: int, rule: str) -> dict:
    """Draw weights on the host, in JAX's default precision."""
    rng = np.random.default_rng(seed)
    problem, system = setup.system.problem, setup.system
    start = {name: raw_value(u, u.start) for name, u in problem.unknown.items()}
    dtype = jax.dtypes.canonicalize_dtype(float)
    return {
        "net": arrays_of(fresh(system.network, rng, rule=rule)),
        "coefficients": {n: arrays_of(fresh(s, rng, rule=rule)) for n, s in system.coefficients},
        "unknown": {name: np.asarray(value, dtype) for name, value in start.items()},
    }


def cast(tree: Any) -> Any:
    """Return a tree of arrays in JAX's default precision."""
    dtype = jax.dtypes.canonicalize_dtype(float)
    return jax.tree.map(lambda leaf: np.asarray(leaf, dtype), tree)


@ft.partial(jax.jit, static_argnames=("system", "keys", "bounds"))
def _prepared(system, keys, bounds, shared, places):
    """Return the parts of G at all places, and the targets of the conditions."""
    program._TRACES[0] += 1
    lifts = tuple(lift_at(system, shared, at, k) for at, k in zip(places, keys, strict=True))
    variables, targets = system.problem.space.variables, []
    for bound, at in zip(bounds, places, strict=True):
        if bound is None or bound.name is None:
            targets.append(None)
        else:
            one = ft.partial(value_of, bound, variables, shared.frame)
            targets.append(jax.vmap(one)(at))
    return lifts, tuple(targets)


def places_of(setup: Setup, points: np.ndarray, n_face: int, seed: int) -> tuple:
    """Return the points of each term: given ones for the equation, then faces, then readings."""
    problem, frame = setup.system.problem, setup.shared.frame
    box = {n: (frame.low[i], frame.high[i]) for i, n in enumerate(problem.box)}
    places = [points]
    for bound, _ in setup.soft:
        place = list(box).index(bound.along)
        at = {"low": frame.low[place], "high": frame.high[place]}.get(bound.end, bound.at)
        places.append(on_face(box, bound.along, float(at), n_face, seed=seed))
    for reading in problem.readings:
        places.append(np.stack([reading.at[name] for name in problem.box], axis=1))
    return tuple(places)


def row_data(setup: Setup, places: tuple, factors: np.ndarray | None = None) -> RowData:
    """Return the items and weights of all terms at their points, in JAX's default precision.

    Parameters
    ----------
    setup : Setup
    places : tuple of arrays, from `places_of`
    factors : array of shape (n_terms,), optional
        Further weights of the mean squares.
    """
    problem, terms = setup.system.problem, setup.terms
    n_soft = len(setup.soft)
    bounds = (None, *(b for b, _ in setup.soft), *[None] * len(problem.readings))
    keys = tuple(term.keys for term in terms)
    with jax.enable_x64(True):  # noqa: FBT003
        # Once a fit and cheap: in float64 whatever the fit uses.
        lifts, targets = _prepared(setup.system, keys, bounds, setup.shared, places)
        columns = None
        if series.supported(terms):
            groups = series.groups_of(terms, tuple(len(at) for at in places))
            columns = series.columns_of(terms, groups, setup.shared, places)
    items, weights = [], []
    sigmas = [_sigma(setup, reading) for reading in problem.readings]
    trust = _reading_weight(setup, sigmas)
    n_readings = sum(len(reading.values) for reading in problem.readings)
    for i, (at, part) in enumerate(zip(places, lifts, strict=True)):
        item = {"x": at, "lift": np.asarray(part)}
        weight = even_weights(len(at), setup.weights[setup.kinds[i]])
        if 1 <= i <= n_soft:
            item["size"] = np.full(len(at), setup.scales.conditions[bounds[i].label])
            if targets[i] is not None:
                item["target"] = np.asarray(targets[i])
        elif i > n_soft:
            j = i - 1 - n_soft
            item["size"] = np.full(len(at), sigmas[j])
            item["target"] = problem.readings[j].values
            if setup.scales.scaled:
                # Readings of all kinds count alike: one over the variance each.
                weight = np.full(len(at), np.sqrt(trust / n_readings))
        items.append(item)
        weights.append(weight if factors is None else weight * np.sqrt(factors[i]))
    return RowData(
        items=cast(tuple(items)),
        weights=cast(tuple(weights)),
        shared=cast(bare(setup.shared)),
        columns=cast(columns),
    )


def bare(shared: Shared) -> Shared:
    """Return the shared numbers without tables, which only G needs: all windows look alike."""
    return dataclasses.replace(shared, frame=dataclasses.replace(shared.frame, tables={}))


def _size(setup, reading):
    field, orders = setup.system.problem.space.key(reading.name)
    size = setup.scales.fields.get(field, 1.0)
    lengths = setup.scales.lengths
    return size / np.prod([lengths[v] ** n for v, n in zip(lengths, orders, strict=True)])


def _sigma(setup, reading):
    if not setup.scales.scaled:
        return 1.0
    return reading.sigma or NOISE_GUESS * _size(setup, reading)


def _reading_weight(setup, sigmas):
    """Return what multiplies the mean of the squares of (misfit / sigma)."""
    readings = setup.system.problem.readings
    if not readings:
        return 1.0
    return setup.weights["reading"] * (TRUST * _relative(setup, sigmas)) ** 2


def _relative(setup, sigmas):
    """Return the smallest noise of a reading over the size of what was read."""
    readings = setup.system.problem.readings
    return min(s / _size(setup, r) for s, r in zip(sigmas, readings, strict=True))


def slack_of(setup: Setup, sigma: float | None = None) -> float | None:
    """Return how far the equation may be missed beside a misfit of one standard deviation [-].

    In sizes of the equation's terms; None where nothing is to be found from readings, or weights
    are in raw units.

    Parameters
    ----------
    setup : Setup
    sigma : float, optional
        What the noise is, over that which the weights assume.
    """
    problem, weight = setup.system.problem, setup.weights["reading"]
    wanted = problem.readings and (problem.unknown or problem.coefficients)
    if not wanted or not setup.scales.scaled or not weight > 0:
        return None
    sigmas = [_sigma(setup, reading) for reading in problem.readings]
    return float(np.sqrt(weight) * TRUST * _relative(setup, sigmas) * (sigma or 1.0))


def points_for(problem, points: int | None, kind: str, seed: int, frame: Frame) -> np.ndarray:
    """Return the points for the equation, in the box of a frame."""
    n = points or (200, 2000, 4000)[len(problem.box) - 1]
    kind = ("even" if len(problem.box) == 1 else "sobol") if kind == "auto" else kind
    box = {name: (frame.low[i], frame.high[i]) for i, name in enumerate(problem.box)}
    return in_box(box, n, kind, seed=seed)


def require_finite(setup: Setup, rows: tuple, places: tuple) -> None:
    """Require finite rows at the start, and name the term and the place where they are not.

    Raises
    ------
    StudyError
    """
    labels = ["the equation", *(b.label for b, _ in setup.soft)]
    labels += [f"the readings of {r.name}" for r in setup.system.problem.readings]
    for label, values, at in zip(labels, rows, places, strict=True):
        bad = ~np.isfinite(np.asarray(values)).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            names = setup.system.problem.space.variables
            where = ", ".join(f"{n} = {v:g}" for n, v in zip(names, at[row], strict=True))
            raise StudyError(
                f"The loss is not finite from the start: {label} at {where} "
                f"({int(bad.sum())} of {len(bad)} points).",
                hint="Look there for a division by zero, a root or a logarithm of a negative "
                "number, or an overflow; `precision='float64'` helps against the last.",
            )
