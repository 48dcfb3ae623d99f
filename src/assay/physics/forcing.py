"""Where an equation jumps or flares in time: a march must not step over it."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from assay.physics.explicit import compiled
from assay.physics.space import Point

# Places in time that are looked at, by the number of variables, and draws of everything else.
SAMPLES = {1: 2**17, 2: 2**14, 3: 2**13}
BLOCKS, DRAWS = (512, 4096, 2**15, 2**17), {1: 2, 2: 12, 3: 24}
# In a block where this part of the samples or less holds all the movement, it is an event.
CROWDED = 1.0 / 16.0
LEAST = 1e-8  # relative to the largest value: below it is rounding
MOST_EVENTS = 200
STEPS_IN_EVENT = 24


class Stretch(NamedTuple):
    """A part of the time in which the equation is smooth, or flares.

    `first` and `last` are the times of its ends as the equation shall see them: where it jumps at
    an end, the side that belongs to this part. `longest` is the longest step allowed.
    """

    begin: float
    end: float
    first: float
    last: float
    longest: float


def whole(span: tuple[float, float]) -> tuple[Stretch, ...]:
    """Return one stretch, of a rising span."""
    return (Stretch(*span, *span, math.inf),)


def stretches_of(problem: Any, variable: str, parameters: dict) -> tuple[Stretch, ...]:
    """Cut the time (rising) where the equation or a condition jumps or flares by itself.

    The equation and the conditions are tried at very many times, with the fields held still. What
    is narrower than the distance of these times is not seen: about 1e-5 of the span for ordinary
    equations.

    Parameters
    ----------
    problem : Problem
    variable : str
        The one that is marched in.
    parameters : dict of str to float

    Returns
    -------
    tuple of Stretch
        Only one where nothing happens, or where too much does to cut it all.
    """
    span = problem.box[variable]
    look = compiled(problem, ("forcing", variable), lambda: _look(problem, variable))
    if look is None:
        return whole(span)
    low, high = span
    count = SAMPLES[len(problem.box)]
    times = np.linspace(low, high, count + 1)
    found = np.nan_to_num(np.asarray(look(times, parameters)))
    events = _events(np.abs(np.diff(found, axis=0)), np.abs(found).max(axis=0))
    if not events or len(events) > MOST_EVENTS:
        return whole(span)
    cuts = [_cut(look, parameters, times, i, j, component) for i, j, component in events]
    return _between_cuts(span, cuts)


def _look(problem, variable):
    """Return a function (times, parameters) -> (n, n_components), or None where time is unseen."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    faces = [f for f in problem.faces if f.along != variable]
    keys = {*problem.keys, *(key for face in faces for key in face.keys)}
    draws = DRAWS[len(problem.box)]
    fields = {key: jnp.asarray(rng.normal(size=draws)) for key in keys}
    place = {
        name: jnp.asarray(rng.uniform(*ends, size=draws))
        for name, ends in problem.box.items()
        if name != variable
    }

    def at(t, parameters):
        def one(fields, place):
            numbers = {**place, variable: t}
            parts = [problem.residual(fields, numbers, parameters)]
            for face in faces:
                point = Point(problem.space, fields, {**numbers, face.along: face.at, **parameters})
                parts.append(jnp.asarray(face.equation(point), float)[None])
            return jnp.concatenate(parts)

        return jax.vmap(one)(fields, place).ravel()

    program = jax.make_jaxpr(at)(0.5, problem.known).jaxpr
    t = program.invars[0]
    if not any(t is used for equation in program.eqns for used in equation.invars):
        return None
    return jax.jit(jax.vmap(at, in_axes=(0, None)))


def _events(moves, size):
    """Return (first, last, component) of samples between which a component moves in a crowd."""
    found = []
    for component, block in itertools.product(range(moves.shape[1]), BLOCKS):
        if block > len(moves):
            continue
        blocks = moves[:, component].reshape(-1, block)
        peak = blocks.max(axis=1, keepdims=True)
        fast = (blocks > 0.01 * peak) & (peak > LEAST * size[component])
        crowded = fast.sum(axis=1) <= CROWDED * block
        index = np.flatnonzero((fast & crowded[:, None]).ravel())
        if len(index):
            parts = np.split(index, np.flatnonzero(np.diff(index) > 8) + 1)
            found += [(part[0], part[-1] + 1, component) for part in parts]
    merged = []
    for first, last, component in sorted(found):
        if merged and first <= merged[-1][1] + 1:
            begin, end, other = merged[-1]
            same = (first, last) == (begin, end)
            merged[-1] = (begin, max(last, end), other if same else -1)
        else:
            merged.append((first, last, component))
    return merged


def _cut(look, parameters, times, i, j, component):
    """Return (begin, end, jump): the times around an event; for a jump its two sides."""
    low, high = times[i], times[j]
    if j == i + 1 and component >= 0:
        ends = np.asarray(look(np.linspace(low, high, 65), parameters))[[0, -1], component]
        a, b = low, high
        for _ in range(8):
            inner = np.linspace(a, b, 65)
            values = np.asarray(look(inner, parameters))[:, component]
            k = int(np.argmax(np.abs(np.diff(values))))
            a, b = inner[k], inner[k + 1]
            step = abs(values[k + 1] - values[k])
        if step > 0.5 * abs(ends[1] - ends[0]):
            return a, b, True
    apart = times[1] - times[0]
    return max(low - 2 * apart, times[0]), min(high + 2 * apart, times[-1]), False


def _between_cuts(span, cuts):
    """Return the stretches between the cuts and inside them."""
    made, begin, first = [], span[0], span[0]
    for a, b, jump in cuts:
        if jump and begin < b < span[1]:
            made.append(Stretch(begin, b, first, min(a, b), math.inf))
            begin = first = b
        elif not jump:
            if a > begin:
                made.append(Stretch(begin, a, first, a, math.inf))
                begin = first = a
            if b > begin:
                made.append(Stretch(begin, b, first, b, (b - begin) / STEPS_IN_EVENT))
                begin = first = b
    if begin < span[1]:
        made.append(Stretch(begin, span[1], first, span[1], math.inf))
    return tuple(made)
