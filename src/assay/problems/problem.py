"""What a problem with a known answer is: a function on a box, with names, units and facts."""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, StudyError


@dataclasses.dataclass(frozen=True)
class Problem:
    """A cheap function that stands for an expensive model, on a box of inputs.

    Attributes
    ----------
    name, about, source : str
        What it is called, what it models, and where its definition stands.
    inputs, input_units : tuple of str, one per input
    low, high : tuple of float, one per input [unit of the input]
        The box; inputs are uniform in it wherever a mean or a spread is given.
    outputs, output_units : tuple of str, one per output
    function : callable
        ``function(X, xp)`` with `X` of shape (..., d) and `xp` NumPy or ``jax.numpy``: the outputs
        of shape (..., m).
    mean, spread : float or None [unit of the output]
        Mean and standard deviation of a single output over the box.
    sobol_first, sobol_total : tuple of float, or None [-]
        Sensitivity indices where they are known in closed form.

    Examples
    --------
    >>> from assay.problems import ISHIGAMI
    >>> X = ISHIGAMI.sample(4, seed=0)
    >>> ISHIGAMI(X).shape
    (4, 1)
    """

    name: str
    about: str
    source: str
    inputs: tuple[str, ...]
    input_units: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    outputs: tuple[str, ...]
    output_units: tuple[str, ...]
    function: Callable[[Any, Any], Any]
    mean: float | None = None
    spread: float | None = None
    sobol_first: tuple[float, ...] | None = None
    sobol_total: tuple[float, ...] | None = None

    @property
    def n_inputs(self) -> int:
        """Return the number of inputs."""
        return len(self.inputs)

    @property
    def n_outputs(self) -> int:
        """Return the number of outputs."""
        return len(self.outputs)

    @property
    def bounds(self) -> np.ndarray:
        """Return the box (d, 2) [units of the inputs]: low and high of each input."""
        return np.array([self.low, self.high]).T

    def __call__(self, X) -> np.ndarray:
        """Return the outputs (n, m) [output units] of runs `X` (n, d) [input units], in float64.

        Raises
        ------
        DataError
            If `X` is not a finite matrix with one column per input.
        """
        X = as_matrix(X, name="X", n_columns=self.n_inputs)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            Y = self.function(X, np)
        if not np.isfinite(Y).all():
            row = int(np.argmax(~np.isfinite(Y).all(axis=1)))
            raise DataError(
                f"{self.name} has no finite output for row {row} of `X`.",
                hint="Keep the inputs inside `bounds`.",
            )
        return Y

    def differentiable(self, X):
        """Return the outputs (..., m) of a JAX array `X` (..., d), for `jax.grad`, `jit`, `vmap`.

        Computed in the precision of `X`, without any check.
        """
        import jax.numpy as jnp

        return self.function(X, jnp)

    def sample(self, n: int, seed: int, *, kind: Literal["lhs", "random"] = "lhs") -> np.ndarray:
        """Return `n` runs (n, d) [input units], spread over the box.

        Parameters
        ----------
        n : int >= 1
        seed : int
        kind : {"lhs", "random"}, default "lhs"
            A Latin hypercube (each input has one run in each of n equal slices), or independent.

        Raises
        ------
        StudyError
            If `n` or `kind` is out of range.
        """
        if n < 1:
            raise StudyError(f"`n` must be 1 or more, got {n}.", hint="Ask for at least one run.")
        rng = np.random.default_rng(seed)
        if kind == "lhs":
            from scipy.stats import qmc

            unit = qmc.LatinHypercube(self.n_inputs, rng=rng).random(n)
        elif kind == "random":
            unit = rng.random((n, self.n_inputs))
        else:
            raise StudyError(
                f"`kind` must be 'lhs' or 'random', got {kind!r}.", hint="Use 'lhs' for training."
            )
        return self.from_unit(unit)

    def from_unit(self, unit) -> np.ndarray:
        """Return inputs (n, d) [input units] from places `unit` (n, d) in the unit cube."""
        low, high = self.bounds.T
        return low + (high - low) * np.asarray(unit, dtype=np.float64)

    def to_unit(self, X) -> np.ndarray:
        """Return places (n, d) in the unit cube from inputs `X` (n, d) [input units]."""
        low, high = self.bounds.T
        return (np.asarray(X, dtype=np.float64) - low) / (high - low)
