"""Points: in the box, on its faces, held out, and drawn again where the residual is large."""

from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, StudyError, did_you_mean

KINDS = ("even", "sobol", "latin", "uniform")


def in_box(box: dict, n: int, kind: str = "sobol", *, seed: int = 0) -> np.ndarray:
    """Return points (n, n_variables) in a box.

    Parameters
    ----------
    box : dict of str to (low, high)
    n : int
        At least 1. "even" gives the largest grid of equal counts that has at most n points (in one
        variable exactly n).
    kind : {"even", "sobol", "latin", "uniform"}
        "even" has points on the faces; the others lie inside.
    seed : int

    Examples
    --------
    >>> in_box({"t": (0.0, 2.0)}, 3, "even").ravel().tolist()
    [0.0, 1.0, 2.0]
    """
    if kind not in KINDS:
        raise StudyError(f"Unknown points {kind!r}.", hint=did_you_mean(str(kind), KINDS))
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise StudyError(
            f"The number of points must be a whole number of at least 1, got {n!r}.",
            hint="Some hundreds for an ODE, some thousands for a PDE.",
        )
    low, high = (np.array([ends[i] for ends in box.values()]) for i in (0, 1))
    return low + (high - low) * _unit(len(box), n, kind, seed)


def _unit(d, n, kind, seed):
    if kind == "even":
        each = max(1, int(np.floor(n ** (1 / d) + 1e-9)))
        axis = np.linspace(0.0, 1.0, each) if each > 1 else np.array([0.5])
        return np.stack([a.ravel() for a in np.meshgrid(*[axis] * d, indexing="ij")], axis=1)
    if kind == "uniform":
        return np.random.default_rng(seed).uniform(size=(n, d))
    from scipy.stats import qmc

    if kind == "latin":
        return qmc.LatinHypercube(d, rng=np.random.default_rng(seed)).random(n)
    sampler = qmc.Sobol(d, rng=np.random.default_rng(seed))
    return sampler.random_base2(int(np.ceil(np.log2(n))))[:n] if n > 1 else sampler.random(1)


def on_face(box: dict, along: str, at: float, n: int, *, seed: int = 0) -> np.ndarray:
    """Return points (m, n_variables) on the face ``along = at``; one if there is no other variable.

    With one other variable they are even and have both ends; with two they are Sobol points.

    Examples
    --------
    >>> on_face({"t": (0.0, 1.0), "x": (0.0, 2.0)}, "t", 0.0, 3).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]
    """
    others = {name: ends for name, ends in box.items() if name != along}
    if not others:
        return np.array([[at]])
    inner = in_box(others, n, "even" if len(others) == 1 else "sobol", seed=seed)
    return np.insert(inner, list(box).index(along), at, axis=1)


def resampled(
    candidates: np.ndarray,
    residuals: np.ndarray,
    n: int,
    *,
    power: float = 1.0,
    share: float = 1.0,
    seed: int = 0,
) -> np.ndarray:
    r"""Draw points where the residual is large, without repetition.

    A candidate is drawn with a probability proportional to
    :math:`|r|^k / \overline{|r|^k} + c` (Wu et al. 2023, eq. (2) [1]_).

    Parameters
    ----------
    candidates : array of shape (m, n_variables), m >= n
    residuals : array of shape (m,)
        Not negative.
    n : int
    power, share : float
        :math:`k` and :math:`c`: 0 for `power` draws evenly.
    seed : int

    References
    ----------
    .. [1] C. Wu et al., A comprehensive study of non-adaptive and residual-based adaptive sampling
       for physics-informed neural networks, Comput. Methods Appl. Mech. Eng. 403, 2023.
    """
    if n > len(candidates):
        raise StudyError(
            f"{n} points cannot be drawn from {len(candidates)} candidates.",
            hint="Give more candidates.",
        )
    size = np.abs(np.asarray(residuals, np.float64)) ** power
    mean = size.mean()
    chance = (size / mean if mean > 0 else np.ones(len(size))) + share
    drawn = np.random.default_rng(seed).choice(
        len(candidates), n, replace=False, p=chance / chance.sum()
    )
    return candidates[np.sort(drawn)]


def require_inside(points: Any, box: dict[str, tuple[float, float]]) -> np.ndarray:
    """Return points (n, n_variables) as float64, put exactly into the box.

    Raises
    ------
    DataError
        For another shape, values that are not finite, or points outside the box: there nothing was
        solved, and what is returned would be a guess.

    Examples
    --------
    >>> require_inside([[0.5]], {"t": (0.0, 1.0)})
    array([[0.5]])
    """
    points = as_matrix(points, name="points", n_columns=len(box))
    low, high = np.array(list(box.values()), np.float64).T
    slack = 1e-9 * (high - low)
    outside = (points < low - slack) | (points > high + slack)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise DataError(
            f"Point {row} is at {list(box)[column]} = {points[row, column]:g}, outside the box "
            f"({low[column]:g} to {high[column]:g}): nothing was solved there.",
            hint="Enlarge the box of the problem and solve it again, or leave such points out.",
        )
    return np.clip(points, low, high)
