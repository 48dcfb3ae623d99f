"""What an equation looks at, found by running it once on abstract values."""

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import AssayError, StudyError
from assay.physics.space import Point, Space

MOVED = 1e-6  # by which places and values are moved, as a share of themselves
COPIES = 8  # of each place: rounding hardly ever comes out alike so often
ENOUGH = 3  # places with an effect, where rounding is left elsewhere, as far from a spline's node


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
        for one_of_them in found:
            _require_numeric(one_of_them, what)
        return found

    for equation in equations:
        if not callable(equation):
            raise StudyError(f"{what} must be a function, got {equation!r}.", hint="lambda d: ...")
    try:
        traced, shapes = jax.make_jaxpr(run, return_shape=True)(
            jax.ShapeDtypeStruct((), jnp.float32)
        )
    except AssayError:
        raise
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise StudyError(
            f"{what} decides something by a value (`if`, `while`, `float`), or takes a NumPy "
            f"function: {str(error).splitlines()[0]}",
            hint="Use jax.numpy: jnp.where(condition, a, b), jnp.sin.",
        ) from error
    except (Exception, SystemExit) as error:
        raise StudyError(
            f"{what} fails: {type(error).__name__}: {error}",
            hint="It is called with an object of scalars: d.u, d.u_x, d.x; use jax.numpy.",
        ) from error
    for shape in shapes:
        _require_scalar(shape, what)
    if any(_divides_by_zero(step) for step in traced.jaxpr.eqns):
        raise StudyError(
            f"{what} divides by a plain 0.",
            hint="Look for a constant that is zero.",
        )
    return seen, len(shapes)


def _require_numeric(value, what):
    """Require a number or an array, traced or not."""
    plain = isinstance(value, Point) or not hasattr(value, "dtype")
    if plain and not isinstance(value, numbers.Number):
        told = "None" if value is None else f"an object of type {type(value).__name__}"
        raise StudyError(
            f"{what} returns {told}; each residual is one number.",
            hint="lambda d: left - right; a tuple of such for several fields.",
        )


def _require_scalar(shape, what):
    """Require that an equation returned one real number."""
    if shape.shape != ():
        raise StudyError(
            f"{what} returns an array of shape {shape.shape}; each residual is one number.",
            hint="Everything in d is a scalar: no arrays of points belong in the equation.",
        )
    if shape.dtype == bool:
        raise StudyError(
            f"{what} returns True or False; each residual is one number, zero where it holds.",
            hint="Write left - right in place of left == right.",
        )
    if shape.dtype.kind == "c":
        raise StudyError(
            f"{what} returns a complex number; each residual is a real one.",
            hint="Write it as two fields, the real part and the imaginary one.",
        )


def _divides_by_zero(step):
    """Return whether a step of a traced equation divides by zero, whatever the values."""
    if step.primitive.name != "div":
        return False
    divisor = getattr(step.invars[1], "val", None)  # of a literal; variables have none
    return divisor is not None and not np.any(divisor)


def require_effect(problem: Any, *, draws: int = 64) -> None:
    """Require that each parameter changes the equation or a condition.

    An effect may be as small as the units make it, so that no size tells it from terms that cancel
    up to rounding. What tells it: moved by a millionth, a slope stays what it is, and rounding
    becomes another number.

    Raises
    ------
    StudyError
        Names the parameter that cancels or is not used.
    """
    if not problem.parameters:
        return
    import jax

    draws = max(draws, 8 * len(problem.parameters))  # a node acts in a part of the box only
    rng = np.random.default_rng(0)

    def drawn(low, high):
        at = rng.uniform(low, high, (draws, 1))
        return (at * (1.0 + MOVED * rng.normal(size=(draws, COPIES)))).ravel()

    # Half of the fields are of order 1; a threshold may lie at hundreds of kelvins.
    size = np.where(np.arange(draws) % 2, 10.0 ** rng.uniform(-3.0, 5.0, draws), 1.0)[:, None]
    values = {}
    for key in sorted(_all_keys(problem)):
        at = size * rng.normal(size=(draws, 1))
        values[key] = (at * (1.0 + MOVED * rng.normal(size=(draws, COPIES)))).ravel()
    place = {name: drawn(*ends) for name, ends in problem.box.items()}
    # Away from special values such as 0, where a slope may vanish.
    parameters = {
        name: drawn(*(sorted((value, 1.1 * value)) if value else (0.5, 1.5)))
        for name, value in problem.known.items()
    }
    with jax.enable_x64(True):  # noqa: FBT003
        slopes = jax.jit(jax.vmap(jax.jacfwd(_everything(problem))))(parameters, values, place)
    for name, column in slopes.items():
        if not _acts(np.asarray(column).reshape(draws, COPIES, -1)):
            raise StudyError(
                f"The parameter {name!r} changes neither the equation nor a condition: it cancels "
                "or is not used.",
                hint="Correct the equation, or take the parameter out.",
            )


def _acts(slopes):
    """Return whether slopes (draws, copies, rows) are an effect, not rounding or nothing."""
    known = ~np.isnan(slopes).any(axis=1)
    endless = np.isinf(slopes).any(axis=1) & known
    with np.errstate(invalid="ignore"):
        reach = np.abs(slopes).max(axis=1)
        same = np.ptp(slopes, axis=1) <= 0.1 * reach
    moves = known & (reach > 0)
    fine = endless | (moves & same)
    effects, noise = fine.sum(axis=0), (moves & ~fine).sum(axis=0)
    return bool((effects > np.minimum(noise, ENOUGH - 1)).any())


def _all_keys(problem):
    return {*problem.keys, *(key for face in problem.faces for key in face.keys)}


def _everything(problem):
    import jax.numpy as jnp

    def run(parameters, values, place):
        parts = [problem.residual(values, place, parameters)]
        point = Point(problem.space, values, {**place, **parameters})
        parts += [jnp.asarray(face.equation(point), float)[None] for face in problem.faces]
        return jnp.concatenate(parts)

    return run
