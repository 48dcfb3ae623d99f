"""A classical solution to take along: saved as a table, loaded without the equation."""

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.errors import ModelError
from assay.models import save_model
from assay.physics.points import require_inside
from assay.physics.solution import Solution, Table, even_points

CSV = "solution.csv"
MOST_DEGREE = 9


@dataclasses.dataclass(frozen=True)
class Domain:
    """The box of a saved solution, by the names that `even_points` asks for."""

    box: dict[str, tuple[float, float]]


class SavedSolution:
    """A classical solution with ``predict`` and ``save``, as a study hands it over.

    Attributes
    ----------
    box : dict of str to (low, high)
    fields : tuple of str
    method : str
        How it was found: ``"Radau at 1e-09"``.
    error : float [-]
        Estimated relative L2 error.
    parameters : dict of str to float
        Unknown parameters at which it was solved, of an inverse problem.

    Examples
    --------
    >>> from assay.physics import solve_classical
    >>> from assay.physics.gallery import oscillator
    >>> kept = SavedSolution.of(solve_classical(oscillator(), tolerance=1e-8))
    >>> kept.predict([[0.0], [2.0]]).round(4).tolist()
    [[1.0], [0.2822]]
    """

    family: ClassVar[str] = "physics.solution"

    def __init__(self, table, box, fields, method, error, parameters=None):
        self.table = table
        self.box = {str(name): (float(low), float(high)) for name, (low, high) in box.items()}
        self.fields = tuple(fields)
        self.method, self.error = str(method), float(error)
        self.parameters = {str(k): float(v) for k, v in (parameters or {}).items()}

    @classmethod
    def of(cls, solution: Solution, parameters: Any = None) -> "SavedSolution":
        """Return what is kept of a `Solution`."""
        problem = solution.problem
        return cls(
            solution.table, problem.box, problem.fields, solution.method, solution.error, parameters
        )

    def __repr__(self):
        names = ", ".join(self.fields)
        return f"<SavedSolution of {names} over {', '.join(self.box)}, by {self.method}>"

    def predict(self, points: Any) -> np.ndarray:
        """Return the fields (n, n_fields) at points (n, n_variables) inside the box.

        Raises
        ------
        DataError
            For points of another shape, not finite, or outside the box.
        """
        return self.table.at(require_inside(points, self.box))

    def save(self, folder: Any) -> Path:
        """Write the model, and beside it ``solution.csv`` with the fields on an even grid."""
        folder = Path(folder)
        (folder / CSV).unlink(missing_ok=True)  # an older one of ours: the rest must be a model
        config, arrays = self.to_saved()
        save_model(folder, family=self.family, config=config, arrays=arrays)
        points = even_points(Domain(self.box))
        rows = np.c_[points, self.predict(points)]
        head = ",".join((*self.box, *self.fields))
        np.savetxt(folder / CSV, rows, fmt="%.12g", delimiter=",", header=head, comments="")
        return folder

    def to_saved(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return (config, arrays) for `assay.models.save_model`."""
        arrays = {f"nodes.{i}": np.asarray(x) for i, x in enumerate(self.table.nodes)}
        arrays["values"] = np.ascontiguousarray(self.table.values)
        config = {
            "box": {name: list(ends) for name, ends in self.box.items()},
            "fields": list(self.fields),
            "method": self.method,
            "error": self.error if np.isfinite(self.error) else None,
            "parameters": self.parameters,
            "degrees": [int(degree) for degree in self.table.degrees],
            "by_steps": getattr(self.table, "by_steps", None),
        }
        return config, arrays

    @classmethod
    def from_saved(cls, config, arrays) -> "SavedSolution":
        """Return the solution from what `to_saved` returned."""
        box = {name: tuple(ends) for name, ends in config["box"].items()}
        nodes = tuple(np.asarray(arrays[f"nodes.{i}"], np.float64) for i in range(len(box)))
        values = np.asarray(arrays["values"], np.float64)
        degrees = tuple(int(degree) for degree in config["degrees"])
        shape = (*map(len, nodes), len(config["fields"]))
        rising = all(len(x) > 1 and (np.diff(x) > 0).all() for x in nodes)
        fine = len(degrees) == len(nodes) and all(0 < d <= MOST_DEGREE for d in degrees)
        if values.shape != shape or not rising or not fine:
            raise ModelError(
                f"The saved table has values of shape {values.shape}; {shape} over rising places "
                "are needed.",
                hint="The folder is damaged or was edited; save the solution again.",
            )
        given = {} if config["by_steps"] is None else {"by_steps": int(config["by_steps"])}
        error = np.nan if config["error"] is None else config["error"]
        table = Table(nodes, values, degrees, **given)
        return cls(table, box, config["fields"], config["method"], error, config["parameters"])


def kept_solution(estimator: Any) -> SavedSolution | None:
    """Return the solution of a classical solver or fit, or None where it has none."""
    levels = getattr(estimator, "levels_", ())
    solution = levels[-1] if levels else getattr(estimator, "solution_", None)
    if not isinstance(solution, Solution):
        return None
    return SavedSolution.of(solution, getattr(estimator, "parameters_", None))
