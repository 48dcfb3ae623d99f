"""What a declaration says when its values are tried: corners, contradictions, sizes of terms.

Each function yields (code, severity, sentence, cure); `assay.physics.posed` makes notes of them.
"""

from typing import Any

import numpy as np

from assay.physics.space import Point

# Differences of values where faces meet, relative to the size of the field.
CORNER = 1e-6
# One term this many times below the largest does not act; a highest derivative still earlier noted.
MIXED, INACTIVE = 1e-6, 1e-7


def contradictions(problem: Any, parameters: dict[str, float]):
    """Try conditions at the same end against each other, as linear equations."""
    groups: dict = {}
    for face in problem.faces:
        groups.setdefault((face.along, face.at), []).append(face)
    for (along, at), faces in groups.items():
        if len(faces) < 2:
            continue
        keys = sorted({key for face in faces for key in face.keys})
        place = _places(problem, {along: at}, 1)[0]
        constant = np.array(
            [_face_at(problem, face, keys, None, place, parameters) for face in faces]
        )
        rows = np.array(
            [
                [
                    _face_at(problem, face, keys, key, place, parameters) - constant[i]
                    for key in keys
                ]
                for i, face in enumerate(faces)
            ]
        )
        rank = np.linalg.matrix_rank(rows, tol=1e-9 * max(1.0, float(np.abs(rows).max())))
        if rank == len(faces):
            continue
        whole = np.column_stack([rows, constant])
        open_end = np.linalg.matrix_rank(whole, tol=1e-9 * max(1.0, float(np.abs(whole).max())))
        labels = "; ".join(face.label for face in faces)
        if open_end > rank:
            yield (
                "contradiction",
                "fail",
                f"The conditions at {along} = {at:g} contradict each other: {labels}.",
                "Take one of them out.",
            )
        else:
            yield (
                "boundary-extra",
                "fail",
                f"The conditions at {along} = {at:g} say the same thing twice: {labels}.",
                "Take one of them out, and look for the one that is missing.",
            )


def _face_at(problem, face, keys, one, place, parameters):
    """Return the equation of a face with all derivatives at 0, but `one` of them at 1."""
    known = {key: (1.0 if key == one else 0.0) for key in keys}
    return float(face.equation(Point(problem.space, known, {**place, **parameters})))


def corners(problem: Any, parameters: dict[str, float]):
    """Compare conditions where two faces meet, by putting the value of one into the other."""
    size = field_sizes(problem, parameters)
    values = [face for face in problem.faces if face.name in problem.fields]
    said = set()
    for given in values:
        for other in problem.faces:
            if other.along == given.along or {key[0] for key in other.keys} != {given.name}:
                continue
            if (other.label, given.label) in said:
                continue
            said.add((given.label, other.label))
            worst = _mismatch(problem, given, other, parameters)
            if worst > CORNER * max(size[given.name], 1e-300):
                yield (
                    "corner",
                    "warn",
                    f"{given.label} and {other.label} do not agree where they meet (they differ by "
                    f"{worst:.3g}): the solution jumps there.",
                    "Make them agree, or expect a layer and slow convergence at that corner.",
                )
        for along in problem.periodic:
            for order, what in ((0, "value"), (1, "slope")):
                worst = _ring(problem, given, along, order)
                length = problem.box[along][1] - problem.box[along][0]
                if worst * length**order > 1e-2 * size[given.name] and problem.highest(
                    given.name, along
                ):
                    yield (
                        "corner",
                        "warn" if order == 0 else "info",
                        f"{given.label} does not close on the ring of {along}: its {what} differs "
                        f"by {worst:.3g} between the ends.",
                        "Start from a function of that period, or expect a layer at the seam.",
                    )


def _function(given):
    """Return the value of a condition as a function of a dictionary of all variables."""
    import jax.numpy as jnp

    return lambda place: jnp.asarray(given.value(place), float)


def _derived(function, names):
    import jax

    for name in names:
        inner = function

        def function(place, inner=inner, name=name):
            return jax.grad(lambda v: inner({**place, name: v}))(place[name])

    return function


def _mismatch(problem, given, other, parameters):
    """Return by how much `other` is broken by the value of `given`, where both hold."""
    function, worst = _function(given), 0.0
    names = problem.space.variables
    for place in _places(problem, {given.along: given.at, other.along: other.at}, 5):
        known = {}
        for key in other.keys:
            if key[1][names.index(given.along)]:
                return 0.0  # across the face that gives the value: it says nothing about it
            names_of = [n for n, order in zip(names, key[1], strict=True) for _ in range(order)]
            known[key] = float(_derived(function, names_of)(place))
        found = other.equation(Point(problem.space, known, {**place, **parameters}))
        worst = max(worst, abs(float(found)))
    return worst if np.isfinite(worst) else 0.0


def _ring(problem, given, along, order):
    """Return the largest difference of value or slope between the ends of a periodic variable."""
    function, worst = _derived(_function(given), [along] * order), 0.0
    if given.along == along:
        return 0.0
    low, high = problem.box[along]
    for place in _places(problem, {given.along: given.at}, 5):
        ends = [float(function({**place, along: end})) for end in (low, high)]
        worst = max(worst, abs(ends[1] - ends[0]))
    return worst


def _places(problem, fixed, count):
    """Return dictionaries of variables, fixed ones at their value, others spread over the box."""
    rng = np.random.default_rng(0)
    spread = rng.uniform(0.1, 0.9, (count, len(problem.box)))
    return [
        {
            name: fixed.get(name, low + row[i] * (high - low))
            for i, (name, (low, high)) in enumerate(problem.box.items())
        }
        for row in spread
    ]


def field_sizes(problem: Any, parameters: dict[str, float]) -> dict[str, float]:
    """Return how large each field is, from its conditions and readings; 1 where nothing says it."""
    found = dict.fromkeys(problem.fields, 0.0)
    for face in problem.faces:
        if face.name in problem.fields:
            values = [abs(float(face.value(p))) for p in _places(problem, {face.along: face.at}, 9)]
            found[face.name] = max(found[face.name], *values)
    for reading in problem.readings:
        if reading.name in problem.fields:
            found[reading.name] = max(found[reading.name], float(np.abs(reading.values).max()))
    return {name: value or 1.0 for name, value in found.items()}


def zero_solution(problem: Any, parameters: dict[str, float]):
    """Put zero into the equation and the conditions."""
    places = _places(problem, {}, 7)
    zero = dict.fromkeys(problem.keys, 0.0)
    left = [np.abs(np.asarray(problem.residual(zero, p, parameters))).max() for p in places]
    field = field_sizes(problem, parameters)
    typical = {key: field.get(key[0], 1.0) for key in problem.keys}
    right = [np.abs(np.asarray(problem.residual(typical, p, parameters))).max() for p in places]
    if not max(left) <= 1e-12 * max(np.nan_to_num(right)):
        return
    worst, size = 0.0, max(field.values())
    for face in problem.faces:
        for place in _places(problem, {face.along: face.at}, 5):
            none = dict.fromkeys(face.keys, 0.0)
            found = face.equation(Point(problem.space, none, {**place, **parameters}))
            worst = max(worst, abs(float(found)))
    if worst < 1e-12 * size:
        yield (
            "zero-solution",
            "fail",
            "Zero fulfils the equation and every condition: it is a solution, and the only one if "
            "the problem is posed.",
            "Give a start, a boundary value or a load that is not zero.",
        )
    else:
        yield (
            "zero-solves-equation",
            "info",
            "Zero fulfils the equation; only the conditions rule it out.",
            "A network finds zero when the conditions weigh too little: build them in, or scale.",
        )


def sizes(problem: Any, parameters: dict[str, float]):
    """Compare the terms of each equation: slope in each derivative times its typical size."""
    import jax
    import jax.numpy as jnp

    field = field_sizes(problem, parameters)
    lengths = [high - low for low, high in problem.box.values()]
    typical = {
        key: field.get(key[0], 1.0) / float(np.prod(np.power(lengths, key[1])))
        for key in problem.keys
    }
    keys = list(problem.keys)

    def residual(row, place):
        return problem.residual(dict(zip(keys, row, strict=True)), place, parameters)

    slope = jax.jit(jax.jacfwd(residual))
    rng, scale = np.random.default_rng(1), np.array([typical[key] for key in keys])
    terms = np.zeros((problem.n_equations, len(keys)))
    for place in _places(problem, {}, 7):
        row = jnp.asarray(scale * rng.normal(size=len(keys)))
        found = np.abs(np.nan_to_num(np.asarray(slope(row, place)))) * scale
        terms = np.maximum(terms, found)
    for equation in terms:
        yield from _compared(problem, keys, equation)


def _compared(problem, keys, equation):
    largest = int(np.argmax(equation))
    if not equation[largest] > 0:
        return
    written = {i for i in range(len(keys)) if equation[i] > 0}
    name = problem.space.name
    for i, key in enumerate(keys):
        ratio = equation[i] / equation[largest]
        leads = [
            v
            for v, order in zip(problem.space.variables, key[1], strict=True)
            if order >= 2 and order == problem.highest(key[0], v)
        ]
        alone = len(problem.fields) == 1
        if leads and ratio < INACTIVE and (i in written or alone):
            yield (
                "inactive-derivative",
                "warn",
                f"The term with {name(key)} is {ratio:.0e} times the one with "
                f"{name(keys[largest])}: the highest derivative in {leads[0]} hardly acts, and "
                "conditions that need it make layers thinner than anything resolves.",
                "Look at its coefficient and units; without it fewer conditions are needed.",
            )
        elif i in written and ratio < MIXED:
            yield (
                "units-mixed",
                "warn",
                f"The term with {name(keys[largest])} is {1 / ratio:.0e} times the one with "
                f"{name(key)}: units may be mixed.",
                "Give all quantities in one system of units, or write the equation without them.",
            )
