"""The equation solved for its highest derivatives, and its compiled form, once a problem."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import StudyError

NEWTON_STEPS = 12


class Unsuited(StudyError):
    """The problem is posed, but not for this method."""


_COMPILED: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def compiled(problem: Any, what: Any, build: Callable) -> Any:
    """Return ``build()`` for a problem, made once: later solves reuse the compiled program."""
    known = _COMPILED.setdefault(problem, {})
    if what not in known:
        known[what] = build()
    return known[what]


def leading_keys(problem: Any, variable: str) -> tuple:
    """Return the key of the highest derivative of each field in one variable."""
    place = problem.space.variables.index(variable)
    keys = []
    for field in problem.fields:
        order = problem.highest(field, variable)
        if not order:
            raise Unsuited(
                f"The equations contain no derivative of {field!r} in {variable}: they do not say "
                "how it changes.",
                hint="The classical solver marches fields that each have one.",
            )
        orders = [0] * len(problem.box)
        orders[place] = order
        keys.append((field, tuple(orders)))
    for name, orders in problem.keys:
        if name in problem.fields and sum(orders) > orders[place]:
            if orders[place] >= problem.highest(name, variable):
                raise Unsuited(
                    f"The highest derivative of {name!r} in {variable} is differentiated again "
                    f"({problem.space.name((name, orders))}).",
                    hint="The classical solver takes equations that give the highest derivative "
                    "in time at each point by itself.",
                )
    return tuple(keys)


def for_highest(problem: Any, leading: tuple, *, affine: bool) -> Callable:
    """Return a function (lower derivatives, place, parameters) -> highest derivatives.

    One Newton step is exact where the equation is affine in them; else a fixed number is taken.
    """
    import jax
    import jax.numpy as jnp

    def solve(lower, place, parameters):
        def residual(top):
            given = {key: top[i] for i, key in enumerate(leading)}
            return problem.residual({**lower, **given}, place, parameters)

        def step(_, top):
            slope = jax.jacfwd(residual)(top)
            return top - solved(slope, residual(top))

        top = jnp.zeros(len(leading))
        return step(0, top) if affine else jax.lax.fori_loop(0, NEWTON_STEPS, step, top)

    return solve


def solved(matrix: Any, right: Any) -> Any:
    """Return the solution of a small system; one and two rows without a call to LAPACK."""
    import jax.numpy as jnp

    if len(right) == 1:
        return right / matrix[0]
    if len(right) == 2:
        (a, b), (c, d) = matrix
        return jnp.stack([d * right[0] - b * right[1], a * right[1] - c * right[0]]) / (
            a * d - b * c
        )
    return jnp.linalg.solve(matrix, right)


def is_affine(problem: Any, leading: tuple) -> bool:
    """Whether the equations are affine in their highest derivatives, tried at scattered values.

    Raises
    ------
    StudyError
        Where the equations do not determine the highest derivatives at all.
    """
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    slopes, everywhere_singular = [], True
    parameters = problem.known

    @jax.jit
    def slope(top, values, place):
        def residual(top):
            given = {key: top[i] for i, key in enumerate(leading)}
            return problem.residual({**values, **given}, place, parameters)

        return jax.jacfwd(residual)(top)

    for _ in range(3):
        values = {key: rng.normal() for key in problem.keys}
        place = {name: rng.uniform(*ends) for name, ends in problem.box.items()}
        pair = [
            np.asarray(slope(jnp.asarray(rng.normal(size=len(leading))), values, place))
            for _ in range(2)
        ]
        slopes.append(np.abs(pair[1] - pair[0]).max() / (np.abs(pair[0]).max() or 1.0))
        everywhere_singular &= not np.linalg.cond(pair[0]) < 1e12
    if everywhere_singular:
        names = ", ".join(problem.space.name(key) for key in leading)
        raise StudyError(
            f"The equations do not determine {names}.",
            hint="Each field needs an equation with its highest derivative in it.",
        )
    return bool(np.nanmax(slopes) < 1e-9)


def require_known_coefficients(problem: Any) -> None:
    """Require that no coefficient field is to be found: the solver needs all of them.

    Raises
    ------
    StudyError
    """
    if problem.coefficients:
        raise StudyError(
            f"The coefficient {next(iter(problem.coefficients))!r} is an unknown field, and the "
            "classical solver needs a known one.",
            hint="Write the estimate into the equation as a function of the variables.",
        )
