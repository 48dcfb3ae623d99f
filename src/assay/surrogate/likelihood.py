"""The marginal likelihood of a Gaussian process with a Matern-5/2 covariance, and its gradient.

NumPy and LAPACK in float64: the gradient in closed form costs one inverse beside the Cholesky
factor, where differentiating through the factor costs several.
"""

import dataclasses

import numpy as np
from scipy.linalg import lapack

from assay.errors import StudyError

# Added to the diagonal, as a share of it, if the covariance has no Cholesky factor without.
JITTERS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)
_ROOT5 = np.sqrt(5.0)


def matern52(A, B, lengths) -> np.ndarray:
    r"""Return the correlations (n, k) between rows `A` (n, d) and `B` (k, d).

    .. math:: (1 + r + r^2 / 3)\, e^{-r}, \qquad
       r^2 = 5 \sum_j (a_j - b_j)^2 / \ell_j^2 \quad [1]_

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press
       2006, eq. 4.17.

    Examples
    --------
    >>> matern52(np.zeros((1, 1)), np.array([[0.0], [1.0]]), np.ones(1)).round(4).tolist()
    [[1.0, 0.524]]
    """
    r = _distances(A / lengths, B / lengths)
    return (1.0 + r + r * r / 3.0) * np.exp(-r)


def factorise(K, where: str = "The covariance") -> tuple[np.ndarray, float]:
    """Return the lower Cholesky factor of `K` (n, n), and what its diagonal had to be raised by.

    Raises
    ------
    StudyError
        If values are not finite, or there is no factor with the largest jitter either.
    """
    diagonal = K.diagonal().copy()
    if not np.isfinite(diagonal).all() or not np.isfinite(K.sum()):
        raise StudyError(
            f"{where} of {len(K)} runs holds values that are not finite.",
            hint="Look for absurd values in the inputs, or give `bounds`.",
        )
    for jitter in JITTERS:
        if jitter:
            np.fill_diagonal(K, diagonal * (1.0 + jitter))
        factor, info = lapack.dpotrf(K, lower=1, clean=1)
        # LAPACK may also let a NaN through; it then stands on the diagonal.
        if info == 0 and np.isfinite(factor.diagonal()).all():
            np.fill_diagonal(K, diagonal)
            return factor, jitter
    raise StudyError(
        f"{where} of {len(K)} runs has no Cholesky factor, even with {JITTERS[-1]:g} of its "
        "diagonal added.",
        hint="Remove runs that repeat each other, or raise `nugget_floor`.",
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Posterior:
    """What conditioning on the runs leaves: factor, mean, weights and variances.

    Attributes
    ----------
    factor : (n, n) lower Cholesky factor of R + g I
    jitter : float [-]
    mean : (m,) [scaled]
    weights : (n, m), (R + g I)^-1 (Y - mean)
    variance : (m,) [scaled squared], of the process
    value : float [nats], minus the log marginal likelihood
    """

    factor: np.ndarray
    jitter: float
    mean: np.ndarray
    weights: np.ndarray
    variance: np.ndarray
    value: float


@dataclasses.dataclass(frozen=True, eq=False)
class Likelihood:
    r"""Minus the log marginal likelihood, with mean and variance at their best.

    Of output :math:`j` with correlations :math:`C = R(\ell) + g I` of its n runs,

    .. math:: \frac n2 \log 2 \pi \sigma_j^2 + \frac12 \log \det C
       + \frac{1}{2 \sigma_j^2} (y_j - \mu_j)^T C^{-1} (y_j - \mu_j),

    where :math:`\mu_j` and :math:`\sigma_j^2` are those that make it smallest [1]_. Length scales
    and nugget are common to all outputs; the total is their sum.

    Attributes
    ----------
    X : (n, d) [scaled]
    Y : (n, m) [scaled]
    shared_variance : bool
        One variance for all outputs instead of one each.
    zero_mean : bool
        The mean is nought instead.

    References
    ----------
    .. [1] T. J. Santner, B. J. Williams, W. I. Notz, The Design and Analysis of Computer
       Experiments, 2nd ed., Springer 2018, sec. 3.3.2.
    """

    X: np.ndarray
    Y: np.ndarray
    shared_variance: bool = False
    zero_mean: bool = False

    def posterior(self, lengths, nugget: float) -> Posterior:
        """Return the posterior for length scales (d,) [scaled] and a nugget [-]."""
        R = matern52(self.X, self.X, lengths)
        R[np.diag_indices_from(R)] += nugget
        return self._condition(R)

    def __call__(self, logs) -> tuple[float, np.ndarray]:
        """Return value and gradient at `logs` (d + 1,): logs of the length scales and the nugget.

        The gradient follows from that of the correlations, and costs two products of matrices.
        """
        lengths, nugget = np.exp(logs[:-1]), float(np.exp(logs[-1]))
        Z = self.X / lengths
        r = _distances(Z, Z)
        slope = np.exp(-r)  # becomes (5/3) (1 + r) exp(-r)
        R = (1.0 + r + r * r / 3.0) * slope
        R[np.diag_indices_from(R)] += nugget
        found = self._condition(R)
        r += 1.0
        slope *= r
        slope *= 5.0 / 3.0
        inverse = _inverse(found.factor)
        m = self.Y.shape[1]
        inverse *= m
        inverse -= (found.weights / found.variance) @ found.weights.T
        gradient = np.empty(len(logs))
        gradient[-1] = 0.5 * nugget * inverse.trace()
        slope *= inverse
        gradient[:-1] = slope.sum(axis=1) @ (Z * Z) - np.einsum("ij,ij->j", Z, slope @ Z)
        return found.value, gradient

    def _condition(self, C):
        factor, jitter = factorise(C, "The covariance")
        n, m = self.Y.shape
        mean = np.zeros(m)
        if not self.zero_mean:
            ones = _solve(factor, np.ones((n, 1)))[:, 0]
            mean = ones @ self.Y / ones.sum()
        apart = self.Y - mean
        weights = _solve(factor, apart)
        variance = np.einsum("ij,ij->j", apart, weights) / n
        if self.shared_variance:
            variance = np.full(m, variance.mean())
        variance = np.maximum(variance, np.finfo(float).tiny)
        value = m * np.log(factor.diagonal()).sum()
        value += 0.5 * n * (np.log(2.0 * np.pi * variance).sum() + m)
        return Posterior(factor, jitter, mean, weights, variance, float(value))


def _distances(A, B):
    """Return sqrt(5) times the distances (n, k) between scaled rows."""
    same = A is B
    squares = A @ B.T
    squares *= -2.0
    squares += (A * A).sum(axis=1)[:, None]
    squares += (B * B).sum(axis=1)
    np.maximum(squares, 0.0, out=squares)
    if same:
        np.fill_diagonal(squares, 0.0)
    np.sqrt(squares, out=squares)
    squares *= _ROOT5
    return squares


def _solve(factor, right):
    return lapack.dpotrs(factor, right, lower=1)[0]


def _inverse(factor):
    """Return the full inverse from a lower Cholesky factor."""
    inverse = lapack.dpotri(factor, lower=1)[0]
    lower = np.tril(inverse, -1)
    inverse = np.tril(inverse)
    inverse += lower.T
    return inverse
