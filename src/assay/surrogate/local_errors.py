"""The error of a surrogate that is not the same everywhere: the errors of nearby held-out runs."""

import dataclasses
from typing import NamedTuple

import numpy as np

FEWEST_LOCAL = 40  # runs, below which nearby ones say nothing
MOST_LOCAL = 1000  # runs that are kept
MOST_DIRECTIONS = 8
NOISE = 0.1  # variance of the data over that of the errors, at which widths are compared
# Of the range of an input; with smaller ones the posterior is too rough to sample.
WIDTHS = (0.15, 0.22, 0.33, 0.5, 1.0, np.inf)
WEIGHTS = (0.3, 1.0, 3.0)
SWEEPS = 2
GAIN = 5.0  # nats over all runs, from which local is better than the average


@dataclasses.dataclass(frozen=True, eq=False)
class LocalErrors:
    r"""Covariance of a surrogate's error at an input, from held-out runs near it.

    .. math:: C_p(x) = \frac{\sum_i k(x, x_i)\, e_i e_i^\top + w\, C_p}{\sum_i k(x, x_i) + w},
       \qquad k(x, x') = \exp\Bigl(-\tfrac12 \sum_j (x_j - x'_j)^2 / h_j^2\Bigr),

    a kernel estimate [1]_ that falls back to the average :math:`C_p` where no run is near. The
    few runs near an input do not know its covariance well: the estimate is widened to the variance
    of a Student distribution with three degrees of freedom more than there are runs near,
    :math:`1 + 2 / (1 + \sum_i k)`. It varies in the eight directions of largest variance; the
    rest is the average.

    Attributes
    ----------
    inputs : (n, d) float64 [units of the inputs]
    scores : (n, r) float64 [-]
        Errors about the bias over `sd`, along `directions`.
    directions : (m, r) float64 [-]
        Orthonormal columns.
    average : (r,) float64 [-]
        Variances along the directions, over all runs.
    rest : (m, m) float64 [units of the outputs squared]
        Covariance outside the directions.
    sd : (m,) float64 [units of the outputs]
    widths : (d,) float64 [units of the inputs]
        :math:`h`; infinite for an input that the error does not depend on.
    weight : float > 0 [runs]
        :math:`w`: how many nearby runs the average counts as.

    References
    ----------
    .. [1] J. Yin et al., Nonparametric covariance model, Statistica Sinica 20 (2010) 469-479,
       eq. 4.
    """

    inputs: np.ndarray
    scores: np.ndarray
    directions: np.ndarray
    average: np.ndarray
    rest: np.ndarray
    sd: np.ndarray
    widths: np.ndarray
    weight: float

    def at(self, X) -> np.ndarray:
        """Return the covariance (rows, m, m) [units of the outputs squared] at `X` (rows, d)."""
        near = _nearness(np.asarray(X, dtype=np.float64), self.inputs, self.widths)
        inner = _mixed(near, self.scores, self.average, self.weight)
        wide = self.sd[:, None] * self.directions
        return wide @ inner @ wide.T + self.rest


class Directions(NamedTuple):
    """Errors along the directions of largest variance; see `LocalErrors`."""

    scores: np.ndarray
    directions: np.ndarray
    average: np.ndarray
    rest: np.ndarray
    sd: np.ndarray


def local_errors(X, apart, covariance) -> LocalErrors | None:
    """Learn how errors depend on the input, or return None where that is not seen.

    Widths and weight are those with the largest leave-one-out likelihood of the errors, under a
    noise of a tenth of their variance; None if it is not above that of the average.

    Parameters
    ----------
    X : (n, d) array [units of the inputs]
    apart : (n, m) array [units of the outputs]
        Errors about their bias.
    covariance : (m, m) array [units of the outputs squared]
        The average.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 1))
    >>> errors = np.where(X < 0.5, 0.1, 1.0) * rng.normal(size=(200, 1))
    >>> found = local_errors(X, errors, np.cov(errors.T).reshape(1, 1))
    >>> sd = np.sqrt(found.at([[0.2], [0.8]])[:, 0, 0])
    >>> bool(sd[0] < 0.2), bool(sd[1] > 0.7)
    (True, True)
    """
    if len(X) > MOST_LOCAL:
        kept = np.linspace(0, len(X) - 1, MOST_LOCAL).astype(int)
        X, apart = X[kept], apart[kept]
    if len(X) < FEWEST_LOCAL or not (covariance.diagonal() > 0.0).any():
        return None
    found = _directions(apart, covariance)
    width = np.ptp(X, axis=0)
    unit = X / np.where(width > 0.0, width, 1.0)
    outer = found.scores[:, :, None] * found.scores[:, None, :]

    def score(widths, weight):
        near = _nearness(unit, unit, np.array(widths))
        np.fill_diagonal(near, 0.0)  # leaves the run itself out
        return _likelihood(_mixed(near, found.scores, found.average, weight, outer), found.scores)

    best, widths, weight = -np.inf, [WIDTHS[1]] * X.shape[1], WEIGHTS[0]
    for _ in range(SWEEPS):
        for j in range(len(widths)):
            tried = [(score([*widths[:j], w, *widths[j + 1 :]], weight), w) for w in WIDTHS]
            best, widths[j] = max(tried)
        best, weight = max((score(widths, w), w) for w in WEIGHTS)
    flat = _likelihood(np.diag(found.average)[None], found.scores)
    if best < flat + GAIN:
        return None
    return LocalErrors(
        X, *found, np.array(widths) * np.where(width > 0.0, width, 1.0), float(weight)
    )


def _directions(apart, covariance):
    sd = np.sqrt(covariance.diagonal())
    scale = np.where(sd > 0.0, sd, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    r = min(MOST_DIRECTIONS, len(values))
    left = vectors[:, r:] * values[r:] @ vectors[:, r:].T
    rest = left * np.outer(scale, scale)
    return Directions(apart / scale @ vectors[:, :r], vectors[:, :r], values[:r], rest, scale)


def _nearness(A, B, widths):
    """Return the kernel (len(A), len(B)) between rows."""
    total = np.zeros((len(A), len(B)))
    for j, width in enumerate(widths):
        total += ((A[:, j, None] - B[None, :, j]) / width) ** 2
    return np.exp(-0.5 * total)


def _mixed(near, scores, average, weight, outer=None):
    """Return the covariance (rows, r, r) along the directions, from nearness (rows, n)."""
    outer = scores[:, :, None] * scores[:, None, :] if outer is None else outer
    summed = np.tensordot(near, outer, axes=1) + weight * np.diag(average)
    count = near.sum(axis=1)[:, None, None]
    return widened(count) * summed / (count + weight)


def widened(count):
    """Return the factor [-] on a covariance that `count` runs near an input were the source of."""
    return 1.0 + 2.0 / (1.0 + count)


def _likelihood(covariance, scores):
    """Return the log-likelihood [nats] of scores (n, r), with some noise, up to a constant."""
    total = covariance + NOISE * np.eye(scores.shape[1])
    _, logs = np.linalg.slogdet(total)
    white = np.linalg.solve(np.broadcast_to(total, (len(scores), *total.shape[1:])),
                            scores[:, :, None])[:, :, 0]  # fmt: skip
    return float((-0.5 * (scores * white).sum(axis=1) - 0.5 * logs).sum())
