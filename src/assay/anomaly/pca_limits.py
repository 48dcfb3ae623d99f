"""Control limits of PCA monitoring, for normal rows that are Gaussian.

They tell how far the Gaussian idea is from the data. The threshold of a study is never taken from
them, but from held-out normal rows (`assay.anomaly.threshold`).
"""

import math

import numpy as np
from scipy import stats


def q_limit(residual_variances, level: float) -> float:
    r"""Return the Jackson-Mudholkar limit of the squared prediction error.

    .. math:: \theta_1 \left[ \frac{c\sqrt{2\theta_2 h_0^2}}{\theta_1} + 1
              + \frac{\theta_2 h_0 (h_0 - 1)}{\theta_1^2} \right]^{1/h_0},
              \quad \theta_i = \sum_{j>k} \lambda_j^i,
              \quad h_0 = 1 - \frac{2\theta_1\theta_3}{3\theta_2^2}

    Parameters
    ----------
    residual_variances : (m,) array [scaled squared], >= 0
        Variances along the axes that were left out.
    level : float in (0, 1)
        Share of Gaussian normal rows below the limit.

    Returns
    -------
    float [scaled squared]
        0 where nothing was left out.

    Notes
    -----
    Where the formula has no value (a base below 0, or h0 not above 0) Box's approximation by a
    scaled chi-squared law with the same mean and variance is used.

    References
    ----------
    .. [1] J. E. Jackson, G. S. Mudholkar, Control procedures for residuals associated with
       principal component analysis, Technometrics 21 (1979) 341-349, eqs. 2 to 4.
    .. [2] G. E. P. Box, Some theorems on quadratic forms applied in the study of analysis of
       variance problems I, Ann. Math. Statist. 25 (1954) 290-302.

    Examples
    --------
    >>> round(q_limit([1.0, 1.0, 1.0, 1.0], 0.95), 1)  # the chi-squared value is 9.49
    9.5
    """
    left = np.asarray(residual_variances, dtype=np.float64)
    theta1, theta2, theta3 = (float(np.sum(left**power)) for power in (1, 2, 3))
    if theta2 <= 0.0:
        return 0.0
    h0 = 1.0 - 2.0 * theta1 * theta3 / (3.0 * theta2**2)
    if h0 > 0.0:
        spread = float(stats.norm.ppf(level)) * math.sqrt(2.0 * theta2) * h0 / theta1
        base = spread + 1.0 + theta2 * h0 * (h0 - 1.0) / theta1**2
        if base > 0.0:
            return theta1 * base ** (1.0 / h0)
    return theta2 / theta1 * float(stats.chi2.ppf(level, theta1**2 / theta2))


def t2_limit(n_components: int, n_rows: int, level: float) -> float:
    r"""Return the limit of Hotelling's T2 for a new row.

    .. math:: \frac{k (n^2 - 1)}{n (n - k)} F_{k,\,n-k}(\text{level})

    Parameters
    ----------
    n_components : int k >= 1
    n_rows : int n
        Normal rows behind the mean and the variances.
    level : float in (0, 1)

    Returns
    -------
    float [-]
        The chi-squared value where n <= k, since the F law does not exist there.

    References
    ----------
    .. [1] N. D. Tracy, J. C. Young, R. L. Mason, Multivariate control charts for individual
       observations, J. Quality Technology 24 (1992) 88-95, eq. 6.

    Examples
    --------
    >>> round(t2_limit(2, 100_000, 0.95), 2)
    5.99
    """
    k, n = n_components, n_rows
    if n <= k:
        return float(stats.chi2.ppf(level, k))
    return k * (n * n - 1.0) / (n * (n - k)) * float(stats.f.ppf(level, k, n - k))
