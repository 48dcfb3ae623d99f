"""What a trained network is asked after the fit, and the question whether zero solves it all."""

from typing import Any

import numpy as np

from assay.physics.points import on_face


def conditions_at(pinn: Any, *, n: int = 200) -> dict[str, float]:
    """Return how far each condition that is not built in is missed [-].

    Root mean square over points of its face, in sizes of the condition; conditions of the form
    name = value only.

    Parameters
    ----------
    pinn : PINN
        Fitted.
    n : int
        Points on each face.
    """
    problem, missed = pinn.problem_, {}
    soft = {label for label, _ in pinn.soft_}
    variables = tuple(problem.box)
    for bound in problem.faces:
        if bound.label not in soft or bound.name is None:
            continue
        points = on_face(problem.box, bound.along, bound.at, n, seed=1)
        found = pinn.derivatives(points, bound.name)[:, 0]
        wanted = np.array(
            [float(bound.value(dict(zip(variables, point, strict=True)))) for point in points]
        )
        size = pinn.scales_.conditions[bound.label]
        missed[bound.label] = float(np.sqrt(np.mean((found - wanted) ** 2))) / size
    return missed


def zero_is_solution(problem: Any, *, draws: int = 20, seed: int = 0) -> bool:
    """Return whether zero everywhere solves the equation, tried at random points of the box."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):  # noqa: FBT003
        values = dict.fromkeys(problem.keys, jnp.zeros(()))
        for _ in range(draws):
            place = {name: rng.uniform(*ends) for name, ends in problem.box.items()}
            found = np.asarray(problem.residual(values, place, problem.known))
            if np.abs(found).max() > 1e-12:
                return False
    return True
