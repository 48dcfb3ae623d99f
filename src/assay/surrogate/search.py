"""Finding the length scales and the nugget of a Gaussian process: L-BFGS from several starts."""

import dataclasses

import numpy as np
from scipy.optimize import minimize

from assay.errors import StudyError
from assay.surrogate.likelihood import Likelihood

LENGTHS = (1e-2, 1e2)  # of a unit cube; at the upper end an input has no effect
NUGGETS = (1e-8, 1e-2)  # of random starts
MOST_NUGGET = 10.0  # variance of the noise over that of the process
# A search is at its end where the likelihood changes by less than this many nats a run and output
# for an e-fold change of a parameter.
FLAT = 1e-3
SAME = 0.1  # nats; ends closer than this are the same maximum


@dataclasses.dataclass(frozen=True)
class Restart:
    """How one search ended.

    Attributes
    ----------
    value : float [nats]
        Minus the log marginal likelihood; infinite if the search failed.
    lengths : tuple of float [scaled]
    nugget : float [-]
        Variance of the noise over that of the process.
    slope : float [nats]
        Largest derivative that is left by the log of a parameter, inside the limits.
    evaluations : int
    converged : bool
    message : str
        The optimiser's own, or the error.
    """

    value: float
    lengths: tuple[float, ...]
    nugget: float
    slope: float
    evaluations: int
    converged: bool
    message: str

    @property
    def logs(self) -> np.ndarray:
        """Return the logs of the length scales and the nugget: (d + 1,)."""
        return np.log([*self.lengths, self.nugget])


def limits(n_inputs: int, nugget_floor: float) -> np.ndarray:
    """Return the limits (d + 1, 2) of the logs."""
    return np.log([LENGTHS] * n_inputs + [(nugget_floor, MOST_NUGGET)])


def first_points(starts, n_inputs: int, nugget_floor: float, seed: int) -> np.ndarray:
    """Return the logs (k, d + 1) that searches start from.

    Parameters
    ----------
    starts : int, or array of shape (k, d + 1)
        Number of starts: one in the middle, the others at random; or length scales and nuggets.
    n_inputs : int
    nugget_floor : float
    seed : int
    """
    if np.ndim(starts):
        points = np.log(np.asarray(starts, dtype=np.float64))
    else:
        rng = np.random.default_rng(seed)
        # Distances in a unit cube grow with the root of its dimension.
        usual = np.sqrt(n_inputs)
        points = np.empty((starts, n_inputs + 1))
        points[:, :-1] = np.log(usual) + rng.uniform(*np.log((0.1, 3.0)), (starts, n_inputs))
        points[:, -1] = rng.uniform(*np.log(NUGGETS), starts)
        points[0] = np.log([0.5 * usual] * n_inputs + [1e-4])
    box = limits(n_inputs, nugget_floor)
    return np.clip(points, box[:, 0], box[:, 1])


def search(likelihood: Likelihood, start, nugget_floor: float, most_steps: int) -> Restart:
    """Return where L-BFGS-B ends from `start` (d + 1,) [logs].

    A search that meets a covariance without a Cholesky factor is a failed one, and says so.
    """
    box = limits(len(start) - 1, nugget_floor)
    count = [0]

    def objective(logs):
        count[0] += 1
        return likelihood(logs)

    try:
        end = minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=box,
            options={"maxiter": most_steps, "ftol": 1e-10, "gtol": 1e-6},
        )  # fmt: skip
    except StudyError as error:
        lengths = tuple(np.exp(start[:-1]).tolist())
        return Restart(
            value=np.inf,
            lengths=lengths,
            nugget=float(np.exp(start[-1])),
            slope=np.inf,
            evaluations=count[0],
            converged=False,
            message=error.message,
        )
    inner = np.where(end.x <= box[:, 0], np.minimum(end.jac, 0.0), end.jac)
    inner = np.where(end.x >= box[:, 1], np.maximum(inner, 0.0), inner)
    slope = float(np.abs(inner).max())
    return Restart(
        value=float(end.fun),
        lengths=tuple(np.exp(end.x[:-1]).tolist()),
        nugget=float(np.exp(end.x[-1])),
        slope=slope,
        evaluations=count[0],
        converged=slope <= FLAT * likelihood.Y.size,
        message=str(end.message),
    )


def best_of(restarts) -> Restart:
    """Return the best restart, or raise StudyError if every one failed."""
    best = min(restarts, key=lambda r: r.value)
    if not np.isfinite(best.value):
        raise StudyError(
            f"None of {len(restarts)} searches for the length scales ended: {best.message}",
            hint="Remove runs that repeat each other, or raise `nugget_floor`.",
        )
    return best


def sentence(restarts, final: Restart, jitter: float) -> str:
    """Return how the searches ended, for a report."""
    best = min(r.value for r in restarts)
    finite = [r.value for r in restarts if np.isfinite(r.value)]
    same = sum(v - best <= SAME for v in finite)
    state = "Converged" if final.converged else "Not converged"
    said = (
        f"{state} after {sum(r.evaluations for r in restarts)} evaluations of the likelihood, "
        f"largest slope left {final.slope:.2g} nats; {same} of {len(restarts)} starts ended within "
        f"{SAME:g} nats of the best, the others up to {max(finite) - best:.3g} nats above."
    )
    failed = len(restarts) - len(finite)
    if failed:
        said += f" {failed} starts failed for want of a Cholesky factor."
    if jitter:
        said += f" A jitter of {jitter:g} had to be added to the diagonal."
    return said
