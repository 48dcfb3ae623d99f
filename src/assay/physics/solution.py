"""What a classical solver returns: the fields everywhere in the box, and how far to trust them."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from assay.errors import DataError
from assay.physics.points import require_inside
from assay.physics.tracks import bezier


class Level(NamedTuple):
    """One solve of a refinement: its size, what it took, and its estimated error.

    `n` counts the points along the finest variable of space, or the steps in time of an ordinary
    equation; `error` is relative, and NaN where nothing finer or coarser was run.
    """

    n: int
    seconds: float
    error: float


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Values on a grid, read between its points by splines.

    Attributes
    ----------
    nodes : tuple of array of shape (n_i,)
        Rising places along each variable, in the order of the problem.
    values : array of shape (n_1, ..., n_d, n_fields)
    degrees : tuple of int
        Of the spline along each variable; odd, below the number of nodes.
    by_steps : int, optional
        The variable along which the nodes are those of single steps, ``degree + 1`` for each
        (`assay.physics.tracks.fractions`), ends shared: a polynomial for each step, where no smooth
        curve goes through all.
    """

    nodes: tuple[np.ndarray, ...]
    values: np.ndarray
    degrees: tuple[int, ...]
    by_steps: int | None = None

    @functools.cached_property
    def spline(self) -> Any:
        """The tensor-product spline through the values."""
        from scipy.interpolate import NdBSpline, make_interp_spline

        knots, coefficients, degrees = [], self.values, []
        for axis, (places, degree) in enumerate(zip(self.nodes, self.degrees, strict=True)):
            if axis == self.by_steps:
                ends = np.repeat(places[::degree], degree)
                knots.append(np.concatenate([places[:1], ends, places[-1:]]))
                coefficients = bezier(coefficients, degree, axis)
                degrees.append(degree)
                continue
            degree = max(1, min(degree, len(places) - 1 - len(places) % 2))
            one = make_interp_spline(places, coefficients, k=degree, axis=axis)
            # SciPy moves the axis to the front of the coefficients.
            coefficients = np.moveaxis(one.c, 0, axis) if axis else one.c
            knots.append(one.t)
            degrees.append(degree)
        return NdBSpline(tuple(knots), np.ascontiguousarray(coefficients), tuple(degrees))

    def at(self, points: np.ndarray, orders: tuple[int, ...] | None = None) -> np.ndarray:
        """Return values (n, n_fields), or derivatives of the given orders, at points (n, d)."""
        found = self.spline(points, nu=np.asarray(orders or (0,) * len(self.nodes), np.int64))
        return np.asarray(found, np.float64).reshape(len(points), -1)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The answer of a classical solver, with the error that it estimates for itself.

    Attributes
    ----------
    problem : Problem
    method : str
        For the report: "method of lines, 65 Chebyshev points in x, Radau at 1e-09".
    seconds : float [s]
        For all levels together, compiling included.
    error : float [-]
        Estimated relative L2 error of this solution (of the worst field), from the levels.
    status : {"converged", "out of time", "not converged", "single level"}
        Whether `error` is below the tolerance that was asked for, and if not, why.
    levels : tuple of Level
        The refinement, coarsest first; the last one is this solution.
    table : Table
        The fields on a grid.
    notes : tuple of str
        What a reader should know: incompatible corners, a switch of method.
    """

    problem: Any
    method: str
    seconds: float
    error: float
    status: str
    levels: tuple[Level, ...]
    table: Table
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the tables are not for reading."""
        return (
            f"Solution({self.status}, estimated error {self.error:.1e}, {self.method}, "
            f"{self.seconds:.2g} s)"
        )

    @property
    def trusted(self) -> bool:
        """Whether the tolerance that was asked for is reached."""
        return self.status == "converged"

    def at(self, points: Any) -> np.ndarray:
        """Return the fields at points.

        Parameters
        ----------
        points : array of shape (n, n_variables) [units of the variables]
            Inside the box, variables in the order of the box.

        Returns
        -------
        array of shape (n, n_fields), float64

        Raises
        ------
        DataError
            For points of another shape, not finite, or outside the box.
        """
        return self.table.at(require_inside(points, self.problem.box))

    def predict(self, points: Any) -> np.ndarray:
        """Return the fields at points, as `at` does: the word that estimators use."""
        return self.at(points)

    def derivative(self, name: str, points: Any) -> np.ndarray:
        """Return a derivative such as ``"u_x"`` at points: shape (n,).

        It comes from the spline, so each order costs about a digit or two of accuracy.
        """
        key = self.problem.space.key(name)
        if key is None or key[0] not in self.problem.fields:
            raise DataError(f"{name!r} is no field of the problem.", hint="u, u_x, u_xx ...")
        place = self.problem.fields.index(key[0])
        return self.table.at(require_inside(points, self.problem.box), key[1])[:, place]


def relative_l2(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the relative L2 error (-) of the worst field; both of shape (n, n_fields).

    A field that is zero everywhere is measured against the size of all fields; where all are zero
    the error is absolute.

    Examples
    --------
    >>> relative_l2(np.array([[1.1], [2.0]]), np.array([[1.0], [2.0]]))
    0.0447...
    """
    apart = np.sqrt(np.mean((found - truth) ** 2, axis=0))
    size = np.sqrt(np.mean(truth**2, axis=0))
    whole = float(np.sqrt(np.mean(size**2))) or 1.0
    return float(np.max(apart / np.where(size > 1e-12 * whole, size, whole)))


def even_points(problem: Any) -> np.ndarray:
    """Return an even grid over the box, where solutions are compared: shape (n, n_variables)."""
    count = {1: 1001, 2: 201, 3: 31}[len(problem.box)]
    lines = [np.linspace(low, high, count) for low, high in problem.box.values()]
    return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))
