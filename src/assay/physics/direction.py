"""Which way an evolution can be run: forwards, backwards in time, or both."""

from typing import Any

import numpy as np

DRAWS = 6
CERTAIN = 1e-9  # of the largest eigenvalue: below it an equation is neither


def direction(problem: Any, parameters: dict[str, float]) -> str | None:
    r"""Return in which direction of time an equation keeps short waves from growing without bound.

    With the highest derivatives in time (order p) and in space (order 2 m) alone, the equation is
    :math:`\partial_t^p u = D \partial_x^{2m} u`. A wave of number k grows like
    :math:`\exp(k^{2m/p} t)` where :math:`(-1)^{m+1} D` is negative: the shorter, the faster.

    Parameters
    ----------
    problem : Problem
        With time and variables of space.
    parameters : dict of str to float

    Returns
    -------
    {"forwards", "backwards", "across"} or None
        "forwards": from a start only, as diffusion. "backwards": from the end only. "across":
        in no direction of time, as the equation of Laplace. None: either direction will do, or it
        is not the same everywhere.
    """
    time, fields = problem.time, problem.fields
    orders = {problem.highest(field, time) for field in fields}
    if time is None or len(orders) != 1 or orders - {1, 2}:
        return None
    (order,) = orders
    said = set()
    for name in problem.box:
        highest = max(problem.highest(field, name) for field in fields)
        if name != time and highest and highest % 2 == 0:
            said.add(_along(problem, parameters, order, name, highest))
    said.discard(0)
    if len(said) != 1:
        return None
    if said == {1}:
        return "forwards" if order == 1 else None
    return "backwards" if order == 1 else "across"


def _along(problem, parameters, order, name, highest):
    """Return 1 where space damps, -1 where it drives, 0 where it does neither or not everywhere."""
    import jax
    import jax.numpy as jnp

    def keys(variable, k):
        at = [0] * len(problem.box)
        at[problem.space.variables.index(variable)] = k
        return [(field, tuple(at)) for field in problem.fields]

    pairs = [*keys(problem.time, order), *keys(name, highest)]
    n, rng, signs = len(problem.fields), np.random.default_rng(0), set()
    for _ in range(DRAWS):
        place = {v: float(rng.uniform(*ends)) for v, ends in problem.box.items()}
        lower = {key: abs(rng.normal()) for key in problem.keys}

        def residual(row, lower=lower, place=place):
            values = lower | dict(zip(pairs, row, strict=True))
            return problem.residual(values, place, parameters)

        slope = np.asarray(jax.jacfwd(residual)(jnp.asarray(rng.normal(size=2 * n))), float)
        if not np.isfinite(slope).all() or abs(np.linalg.det(slope[:, :n])) < 1e-300:
            return 0
        found = -np.linalg.solve(slope[:, :n], slope[:, n:])
        if highest % 4 == 0:
            found = -found
        values = np.linalg.eigvals(found)
        size = np.abs(values).max()
        if order == 2 and np.abs(values.imag).max() > CERTAIN * size:
            return 0
        low, high = values.real.min(), values.real.max()
        signs.add(-1 if low < -CERTAIN * size else 1 if high > CERTAIN * size else 0)
        if low < -CERTAIN * size and high > CERTAIN * size:
            return 0
    return signs.pop() if len(signs) == 1 else 0


def runs_away(problem: Any, parameters: dict[str, float]) -> tuple[str, str] | None:
    """Return (sentence, cure) where a start is given to an equation that grows without bound."""
    if problem.time is None or len(problem.box) < 2:
        return None
    place = problem.space.variables.index(problem.time)
    started = [
        face
        for face in problem.faces
        if face.along == problem.time
        and face.end == "low"
        and any(sum(key[1]) == key[1][place] for key in face.keys)
    ]
    way = direction(problem, parameters) if started else None
    ends = any(face.along == problem.time and face.end == "high" for face in problem.faces)
    if way == "backwards":
        return (
            "The diffusion has the wrong sign: from a start the shortest waves grow without bound, "
            "the shorter the faster, and nothing can be solved or fitted stably.",
            f"Turn the sign of the highest derivative in space (or of {problem.fields[0]}_"
            f"{problem.time}); if it is meant so, give the condition at the end of time.",
        )
    if way == "across" and not ends:
        return (
            f"The highest derivatives in {problem.time} and in space have the same sign, as in the "
            "equation of Laplace: from a start the shortest waves grow without bound.",
            f"Turn the sign of one of them for a wave, or give conditions at both ends of "
            f"{problem.time} and declare the problem with time=None.",
        )
    return None


def final_says(problem: Any, parameters: dict[str, float], field: str) -> set[int]:
    """Return the derivatives in time of a field that conditions at the end of time may stand for.

    Empty where diffusion cannot be run backwards from them.
    """
    place = problem.space.variables.index(problem.time)
    said = {
        key[1][place]
        for face in problem.faces
        if face.along == problem.time and face.end == "high"
        for key in face.keys
        if key[0] == field and sum(key[1]) == key[1][place]
    }
    if not said:
        return said
    way = direction(problem, parameters)
    return set() if way == "forwards" else said


def fieldless(problem: Any):
    """Yield conditions that contain no field (as notes)."""
    for face in problem.faces:
        if not face.keys:
            yield (
                "contradiction",
                "fail",
                f"{face.label} contains no field: it says nothing about the solution.",
                "Write it with the field, such as lambda d: d.u_x + d.u.",
            )
