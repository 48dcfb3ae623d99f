"""What an equation looks at, found by running it once on abstract values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import AssayError, StudyError
from assay.physics.space import Point, Space


def seen_by(equations: tuple[Callable, ...], space: Space, what: str) -> tuple[set, int]:
    """Return the derivatives (keys) and other names (str) in equations, and how many values.

    Raises
    ------
    StudyError
        If an equation cannot be run, branches on a value, or returns anything but scalars.
    """
    import jax
    import jax.numpy as jnp

    seen: set = set()
    names = (*space.variables, *space.parameters)

    def run(one):
        found = []
        for equation in equations:
            value = equation(Point(space, {}, dict.fromkeys((*names, ""), one), seen))
            found += list(value) if isinstance(value, tuple | list) else [value]
        return found

    for equation in equations:
        if not callable(equation):
            raise StudyError(f"{what} must be a function, got {equation!r}.", hint="lambda d: ...")
    try:
        shapes = jax.eval_shape(run, jax.ShapeDtypeStruct((), jnp.float32))
    except AssayError:
        raise
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise StudyError(
            f"{what} decides something by a value (`if`, `while`, `float`), or takes a NumPy "
            f"function: {str(error).splitlines()[0]}",
            hint="Use jax.numpy: jnp.where(condition, a, b), jnp.sin.",
        ) from error
    except Exception as error:
        raise StudyError(
            f"{what} fails: {type(error).__name__}: {error}",
            hint="It is called with an object of scalars: d.u, d.u_x, d.x; use jax.numpy.",
        ) from error
    for shape in shapes:
        if getattr(shape, "shape", None) != ():
            raise StudyError(
                f"{what} returns {getattr(shape, 'shape', shape)!r}; each residual is one number.",
                hint="Everything in d is a scalar: no arrays of points belong in the equation.",
            )
    return seen, len(shapes)


def require_effect(problem: Any, *, draws: int = 16) -> None:
    """Require that each parameter changes the equation or a condition.

    Raises
    ------
    StudyError
        Names the parameter that cancels or is not used.
    """
    if not problem.parameters:
        return
    import jax

    draws = max(draws, 8 * len(problem.parameters))  # a node acts in a part of the box only
    moved = dict.fromkeys(problem.parameters, 0.0)
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):  # noqa: FBT003
        slope = jax.jit(jax.jacfwd(_everything(problem)))
        for _ in range(draws):
            values = {key: rng.normal() for key in _all_keys(problem)}
            place = {name: rng.uniform(*ends) for name, ends in problem.box.items()}
            found = slope(_scattered(problem, rng), values, place)
            for name, column in found.items():
                size = float(np.max(np.abs(np.nan_to_num(np.asarray(column)))))
                moved[name] = max(moved[name], size)
    for name, size in moved.items():
        if size <= 1e-12:
            raise StudyError(
                f"The parameter {name!r} changes neither the equation nor a condition: it cancels "
                "or is not used.",
                hint="Correct the equation, or take the parameter out.",
            )


def _all_keys(problem):
    return {*problem.keys, *(key for face in problem.faces for key in face.keys)}


def _scattered(problem, rng):
    """Return parameters away from special values such as 0, where a slope may vanish."""
    return {name: value * (1.0 + 0.1 * rng.uniform()) for name, value in problem.known.items()}


def _everything(problem):
    import jax.numpy as jnp

    def run(parameters, values, place):
        parts = [problem.residual(values, place, parameters)]
        point = Point(problem.space, values, {**place, **parameters})
        parts += [jnp.asarray(face.equation(point), float)[None] for face in problem.faces]
        return jnp.concatenate(parts)

    return run
