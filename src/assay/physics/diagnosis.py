"""What a trained network is asked after the fit, and whether zero or a constant solves it all."""

from typing import Any

import numpy as np

from assay.physics.points import on_face
from assay.physics.scaling import scales_of
from assay.physics.space import Point

HOLD = 100  # steps; unlucky starts pass through zero for a handful, and leave it again


def conditions_at(pinn: Any, *, n: int = 100) -> dict[str, float]:
    """Return how far each condition that is not built in is missed [-].

    Root mean square over points of its face, in sizes of the condition, also where the network was
    trained in raw units.

    Parameters
    ----------
    pinn : PINN
        Fitted.
    n : int
        Points on each face.
    """
    import jax

    problem, missed = pinn.problem_, {}
    soft = {label for label, _ in pinn.soft_}
    sizes = scales_of(problem).conditions
    numbers = {**problem.known, **getattr(pinn, "parameters_", {})}
    for bound in (*problem.faces, *problem.joints):
        if bound.label not in soft:
            continue
        points = on_face(problem.box, bound.along, bound.at, n, seed=1)
        names = [problem.space.name(key) for key in bound.keys]
        found = pinn.derivatives(points, *names)
        if bound.far is not None:
            points[:, problem.space.variables.index(bound.along)] = bound.far
            off = pinn.derivatives(points, *names) - found
            missed[bound.label] = float(np.sqrt(np.mean(off**2))) / sizes[bound.label]
            continue
        with jax.enable_x64(True):  # noqa: FBT003
            off = [
                _missed(problem, bound, *row, numbers) for row in zip(points, found, strict=True)
            ]
        missed[bound.label] = float(np.sqrt(np.mean(np.square(off)))) / sizes[bound.label]
    return missed


def _missed(problem, bound, place, values, numbers):
    """Return the equation of a condition at one place, with given values of its derivatives."""
    known = dict(zip(bound.keys, map(float, values), strict=True))
    where = dict(zip(problem.box, map(float, place), strict=True))
    return float(bound.equation(Point(problem.space, known, {**where, **numbers})))


def constant_is_solution(problem: Any, value: float = 0.0, *, draws: int = 20) -> bool:
    """Return whether fields that are one constant everywhere solve the equation.

    Parameters
    ----------
    problem : Problem
    value : float [units of the fields]
        Zero, or another constant.
    draws : int
        Random points of the box where it is tried.
    """
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    values = {key: 0.0 if sum(key[1]) else float(value) for key in problem.keys}
    with jax.enable_x64(True):  # noqa: FBT003
        values = {key: jnp.asarray(number) for key, number in values.items()}
        for _ in range(draws):
            place = {name: rng.uniform(*ends) for name, ends in problem.box.items()}
            found = np.asarray(problem.residual(values, place, problem.known))
            if not np.abs(found).max() <= 1e-12:
                return False
    return True


def zero_condition_loss(pinn: Any) -> float | None:
    """Return what the conditions count in the loss where all fields are zero.

    None where that cannot be compared with the history: no condition is a term of the loss, or
    windows, a curriculum, new points or balanced weights changed the terms on the way.

    Parameters
    ----------
    pinn : PINN
        Fitted.
    """
    import jax

    changed = (
        pinn.windows != 1
        or pinn.curriculum
        or pinn.resample not in (None, "auto")
        or pinn.weights == "balanced"
    )
    if changed or not pinn.soft_ or getattr(pinn, "data_", None) is None:
        return None
    problem, total = pinn.problem_, 0.0
    bounds = {bound.label: bound for bound in problem.faces}
    numbers = {**problem.known, **pinn.parameters_}
    for i, (label, _) in enumerate(pinn.soft_, start=1):
        if label not in bounds:  # zero is periodic
            continue
        item, weight = pinn.data_.items[i], np.asarray(pinn.data_.weights[i], np.float64)
        places, zeros = np.asarray(item["x"], np.float64), np.zeros(len(bounds[label].keys))
        with jax.enable_x64(True):  # noqa: FBT003
            off = [_missed(problem, bounds[label], at, zeros, numbers) for at in places]
        total += float(np.sum((weight * off / np.asarray(item["size"], np.float64)) ** 2))
    return total


def trivial_from(
    history: dict[str, Any],
    zero: float,
    *,
    residual: float = 0.02,
    condition: float = 0.9,
    hold: int = HOLD,
) -> int | None:
    """Return the step since which a training has been stuck at the trivial solution, or None.

    Its sign is that the residual has all but gone while the conditions are as badly missed as by
    zero. A start can pass through that state for a handful of steps, so it must last.

    Parameters
    ----------
    history : dict of arrays of shape (n,)
        ``step``, ``residual`` and ``condition`` (terms of the loss), up to now: it can be asked
        during training.
    zero : float
        The condition term where all fields are zero, as `zero_condition_loss` returns it.
    residual : float [-]
        Residual term over its first value, below which it has gone.
    condition : float [-]
        Condition term over that of zero, from which the conditions are missed.
    hold : int
        Steps that it must last to be told.

    Returns
    -------
    int or None
        The first step of that state; it can be told from ``hold`` steps later.

    Examples
    --------
    >>> step = np.arange(300)
    >>> stuck = {"step": step, "residual": np.exp(-0.2 * step), "condition": np.ones(300)}
    >>> trivial_from(stuck, 1.0)
    20
    >>> trivial_from(stuck | {"condition": np.exp(-0.1 * step)}, 1.0) is None
    True
    """
    step = np.asarray(history["step"])
    first = float(history["residual"][0])
    if not zero > 0 or not first > 0:
        return None
    small = np.asarray(history["residual"]) < residual * first
    stuck = small & (np.asarray(history["condition"]) >= condition * zero)
    # Runs of `stuck`: where it begins, and the last step in it.
    edges = np.flatnonzero(np.diff(np.r_[False, stuck, False].astype(int)))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if step[end - 1] - step[begin] >= hold:
            return int(step[begin])
    return None
