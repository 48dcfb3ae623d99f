"""An equation and its conditions as one system on points, and Newton's method for it."""

import math
import warnings
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.axes import Axis
from assay.physics.clock import used
from assay.physics.explicit import compiled
from assay.physics.marching import OutOfTime
from assay.physics.space import Point

NEWTON_STEPS = 40
# Row-scaled matrices of posed problems stay far above this; singular ones lie at rounding.
LEAST_CONDITION = 1e-14
# Up to this many unknowns a dense factorisation is faster than a sparse one that fills up.
DENSE = 4500


class Equations:
    """The equation at the inner points and the conditions on the faces, as many as unknowns.

    Unknowns are the fields one after the other, each on all points (last variable fastest).

    Parameters
    ----------
    problem : Problem
    axes : tuple of Axis
        Chebyshev or Fourier, one for each variable.
    parameters : dict of str to float
    """

    def __init__(self, problem: Any, axes: tuple[Axis, ...], parameters: dict[str, float]):
        self.problem, self.axes, self.parameters = problem, axes, parameters
        self.shape = tuple(len(axis.nodes) for axis in axes)
        self.n = math.prod(self.shape)
        grids = np.meshgrid(*[axis.nodes for axis in axes], indexing="ij")
        self.place = {name: g.ravel() for name, g in zip(problem.box, grids, strict=True)}
        index = np.indices(self.shape).reshape(len(self.shape), -1)
        # What a point stands for: an equation, or the condition of the first face that claims it.
        taken = {field: np.zeros(self.n, bool) for field in problem.fields}
        self.parts, self._operators = [], {}
        layers: dict = {}
        for face in problem.faces:
            i = list(problem.box).index(face.along)
            field = max(face.keys, key=lambda key, i=i: key[1][i])[0]
            layer = layers.setdefault((face.along, face.end, field), 0)
            layers[face.along, face.end, field] += 1
            where = index[i] == self._node(face, i)
            claimed = index[i] == self._node(face, i) + (-layer if face.end == "high" else layer)
            free = ~taken[field][claimed]
            self.parts.append((face, np.flatnonzero(where)[free]))
            taken[field] |= claimed
        self.inner = [np.flatnonzero(~taken[field]) for field in problem.fields]

    def _node(self, face, i):
        nodes = self.axes[i].nodes
        if face.end != "inside":
            return 0 if face.end == "low" else len(nodes) - 1
        near = int(np.argmin(np.abs(nodes - face.at)))
        if abs(nodes[near] - face.at) > 1e-9 * np.ptp(nodes):
            raise StudyError(
                f"{face.label} lies between the points of the solver.",
                hint="The classical solver takes conditions on faces; solve two boxes.",
            )
        return near

    def operator(self, orders: tuple[int, ...]) -> Any:
        """Return the sparse matrix (n, n) of a derivative."""
        from scipy import sparse

        if orders not in self._operators:
            found = sparse.csr_matrix(np.ones((1, 1)))
            for axis, order in zip(self.axes, orders, strict=True):
                found = sparse.kron(found, sparse.csr_matrix(axis.operators[order]), format="csr")
            self._operators[orders] = found
        return self._operators[orders]

    def evaluate(self, values: np.ndarray, *, slopes: bool) -> tuple[np.ndarray, Any]:
        """Return residuals (n_unknowns,) and, if asked for, their sparse matrix of slopes."""
        from scipy import sparse

        fields = {f: values[i * self.n : (i + 1) * self.n] for i, f in self._numbered()}
        every = np.arange(self.n)
        found, rows = [], []
        now, partial = self._at(None, self.problem.keys, every, fields)
        for i, where in enumerate(self.inner):
            found.append(now[where, i])
            if slopes:
                rows.append(self._rows(self.problem.keys, partial[where, i], where))
        for face, where in self.parts:
            now, partial = self._at(face, face.keys, where, fields)
            found.append(now[:, 0])
            if slopes:
                rows.append(self._rows(face.keys, partial[:, 0], where))
        return np.concatenate(found), sparse.vstack(rows, format="csr") if slopes else None

    def _numbered(self):
        return enumerate(self.problem.fields)

    def _at(self, face, keys, where, fields):
        """Return values and partial derivatives of one equation, or the condition of a face."""
        known = [(self.operator(orders)[where] @ fields[field]) for field, orders in keys]
        place = {name: p[where] for name, p in self.place.items()}
        run = compiled(self.problem, ("pointwise", face), lambda: _pointwise(self.problem, face))
        now, partial = run(np.stack(known, axis=1), place, self.parameters)
        return np.asarray(now), np.asarray(partial)

    def _rows(self, keys, partial, where):
        """Return the rows of the matrix for equations at some points."""
        from scipy import sparse

        blocks = {field: None for field in self.problem.fields}
        for k, (field, orders) in enumerate(keys):
            part = sparse.diags(partial[:, k]) @ self.operator(orders)[where]
            blocks[field] = part if blocks[field] is None else blocks[field] + part
        empty = sparse.csr_matrix((len(where), self.n))
        return sparse.hstack([empty if b is None else b for b in blocks.values()], format="csr")


def _pointwise(problem, face):
    """Return a jitted function: values of the keys (n, k), place, parameters -> both."""
    import jax
    import jax.numpy as jnp

    keys = problem.keys if face is None else face.keys

    def one(row, at, parameters):
        known = {key: row[i] for i, key in enumerate(keys)}
        if face is None:
            return problem.residual(known, at, parameters)
        return jnp.asarray(face.equation(Point(problem.space, known, {**at, **parameters})))[None]

    def both(row, at, parameters):
        return one(row, at, parameters), jax.jacfwd(one)(row, at, parameters)

    return jax.jit(jax.vmap(both, in_axes=(0, 0, None)))


def newton(equations: Equations, start: np.ndarray, deadline: float) -> tuple[np.ndarray, int]:
    """Return the values where all residuals vanish, and the number of steps taken.

    Raises
    ------
    OutOfTime
        At the deadline (`assay.physics.clock.used`).
    StudyError
        If the matrix is singular, or no step makes the residuals smaller.
    """
    values, moved, steps = start, np.inf, 0
    for _ in range(NEWTON_STEPS):
        steps += 1
        if used() > deadline:
            raise OutOfTime
        now, matrix = equations.evaluate(values, slopes=True)
        if not np.isfinite(now).all() or not np.isfinite(matrix.data).all():
            raise StudyError(
                "The equation is not finite at the points of the solver.",
                hint="Multiply by what is divided by, if it vanishes on a face.",
            )
        weights = 1.0 / np.maximum(abs(matrix).max(axis=1).toarray().ravel(), 1e-300)
        move = _solved(matrix, now, weights)
        values, share = _shortened(equations, values, move, now, weights)
        moved = float(np.linalg.norm(move) / (np.linalg.norm(values) or 1.0))
        if moved < 1e-10 or not share:
            break
    if moved > 1e-6:
        raise StudyError(
            f"Newton's method found no solution in {steps} steps.",
            hint="The equation may have none, or one far from what the solver started from.",
        )
    return values, steps


def _shortened(equations, values, move, now, weights):
    """Return the values after the longest step that makes the residuals smaller."""
    size, share = np.linalg.norm(weights * now), 1.0
    for _ in range(14):
        trial = values - share * move
        there, _ = equations.evaluate(trial, slopes=False)
        if np.isfinite(there).all():
            left = np.linalg.norm(weights * there)
            if left <= size * (1.0 - 0.1 * share) or left < 1e-13 * np.linalg.norm(trial):
                return trial, share
        share /= 2.0
    return values, 0.0


def _solved(matrix, right, weights):
    from scipy import linalg, sparse
    from scipy.sparse.linalg import splu

    scaled = sparse.diags(weights) @ matrix
    try:
        if matrix.shape[0] > DENSE:
            return splu(scaled.tocsc()).solve(weights * right)
        dense = scaled.toarray()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            factors = linalg.lu_factor(dense, check_finite=False)
        size = float(np.abs(dense).sum(axis=0).max())
        condition, _ = linalg.lapack.dgecon(factors[0], size)
        if condition < LEAST_CONDITION:
            raise RuntimeError
        return linalg.lu_solve(factors, weights * right, check_finite=False)
    except RuntimeError:
        raise StudyError(
            "The conditions do not fix a solution: the equations on the points are singular.",
            hint="Add the missing condition (a value, where all conditions are slopes; of a field "
            "with first derivatives only, such as a pressure, the value on every face), and take "
            "out what is said twice.",
        ) from None
