"""PCA monitoring: the prediction error Q, Hotelling's T2, and both in one index.

The split between the two statistics is a number of components. It defaults to 90 % of the
variance, the usual choice of the field; no rule that sees only normal rows ranks other choices by
the faults they would find.
"""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from assay.anomaly.pca_limits import q_limit, t2_limit
from assay.anomaly.scoring import begin_fit, score_rows
from assay.compress.baselines import principal_axes

LEVEL = 0.95

# Variances below this share of the largest count as this share, so that a direction in which the
# normal rows happen not to move does not decide alone.
FLOOR = 1e-3


class PCAQ(BaseEstimator):
    r"""Squared prediction error: squared distance of a row to the plane of the components.

    .. math:: Q(z) = \frac{1}{d} \lVert (I - P P^\top)(z - \bar z) \rVert^2

    It is divided by the number of columns, so that it is on the scale of a network's mean squared
    reconstruction error.

    Parameters
    ----------
    components : int or float, default 0.9
        Number of components, or the share of the variance in (0, 1) that they must exceed.
        At least one direction is always left out, since Q would be zero without.
    scaling : {"standard", "none", "unit"}, default "standard"

    Attributes
    ----------
    components_ : int
        Components kept.
    limit_ : float [scaled squared per column]
        Jackson-Mudholkar limit for 5 % alarms on Gaussian normal rows; for information.

    References
    ----------
    .. [1] J. E. Jackson, G. S. Mudholkar, Technometrics 21 (1979) 341-349, eq. 1.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> q = PCAQ(components=1, scaling="none").fit(X)
    >>> q.anomaly_score([[5.0, 5.0], [1.0, 2.0]]).round(6).tolist()
    [0.0, 0.25]
    """

    name: ClassVar[str] = "PCA Q"
    about: ClassVar[str] = "Squared distance to the plane of the principal components (SPE)."

    def __init__(self, *, components=0.9, scaling="standard"):
        self.components = components
        self.scaling = scaling

    def fit(self, X, y=None):
        """Find the plane of normal rows `X` (n, d)."""
        del y
        X = begin_fit(self, X)
        self.axes_ = principal_axes(X, self.scaler_)
        self.components_ = min(self.axes_.count(self.components), self.n_features_in_ - 1)
        left_out = self.axes_.variances[self.components_ :]
        self.limit_ = q_limit(left_out, LEVEL) / self.n_features_in_
        self.n_parameters_ = (self.components_ + 1) * self.n_features_in_
        return self

    def anomaly_score(self, X):
        """Return Q (n,) [scaled squared per column] of rows `X` (n, d)."""
        return score_rows(self, X, lambda rows: _q(self, rows - self.axes_.mean))

    def settings(self):
        """Return what was used, as plain values."""
        return _settings(self) | {"gaussian_limit": self.limit_}


class HotellingT2(BaseEstimator):
    r"""Hotelling's T2: distance to the mean inside the plane, in standard deviations.

    .. math:: T^2(z) = \sum_{j \le k} (p_j^\top (z - \bar z))^2 / \lambda_j

    Parameters
    ----------
    components : int or float, default 0.9
        Number of components, or the share of the variance in (0, 1) that they must exceed.
        Directions without any variance are never used.
    scaling : {"standard", "none", "unit"}, default "standard"

    Attributes
    ----------
    components_ : int
    limit_ : float [-]
        Limit for 5 % alarms on Gaussian normal rows; for information.

    References
    ----------
    .. [1] H. Hotelling, Multivariate quality control, in Techniques of Statistical Analysis,
       McGraw-Hill 1947.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> t2 = HotellingT2(components=1, scaling="none").fit(X)
    >>> t2.anomaly_score([[1.5, 1.5], [4.0, 4.0]]).round(6).tolist()
    [0.0, 3.75]
    """

    name: ClassVar[str] = "PCA T2"
    about: ClassVar[str] = "Distance to the mean inside the plane of the principal components."

    def __init__(self, *, components=0.9, scaling="standard"):
        self.components = components
        self.scaling = scaling

    def fit(self, X, y=None):
        """Find the plane and the variances of normal rows `X` (n, d)."""
        del y
        X = begin_fit(self, X)
        self.axes_ = principal_axes(X, self.scaler_)
        self.components_ = max(1, min(self.axes_.count(self.components), self.axes_.rank))
        self.limit_ = t2_limit(self.components_, len(X), LEVEL)
        self.n_parameters_ = (self.components_ + 1) * self.n_features_in_ + self.components_
        return self

    def anomaly_score(self, X):
        """Return T2 (n,) [-] of rows `X` (n, d)."""
        return score_rows(self, X, lambda rows: _t2(self, rows - self.axes_.mean))

    def settings(self):
        """Return what was used, as plain values."""
        return _settings(self) | {"gaussian_limit": self.limit_}


class QT2Combined(BaseEstimator):
    r"""Q and T2 in one index, each in units of its limit.

    .. math:: \varphi(z) = Q(z) / Q_\text{lim} + T^2(z) / T^2_\text{lim}

    Parameters
    ----------
    components : int or float, default 0.9
        As in `PCAQ`.
    scaling : {"standard", "none", "unit"}, default "standard"

    Attributes
    ----------
    components_ : int
    q_limit_, t2_limit_ : float
        The Gaussian limits for 5 % alarms, from the normal rows of the fit.

    References
    ----------
    .. [1] H. H. Yue, S. J. Qin, Reconstruction-based fault identification using a combined index,
       Ind. Eng. Chem. Res. 40 (2001) 4403-4414, eq. 19.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> both = QT2Combined(components=2).fit(X)
    >>> bool(np.mean(both.anomaly_score(X) > 2.0) < 0.05)
    True
    """

    name: ClassVar[str] = "PCA Q and T2"
    about: ClassVar[str] = "Both statistics, each in units of its limit, added (Yue and Qin)."

    def __init__(self, *, components=0.9, scaling="standard"):
        self.components = components
        self.scaling = scaling

    def fit(self, X, y=None):
        """Find the plane, the variances and both limits from normal rows `X` (n, d)."""
        del y
        X = begin_fit(self, X)
        d = self.n_features_in_
        self.axes_ = principal_axes(X, self.scaler_)
        inside = min(self.axes_.count(self.components), self.axes_.rank, d - 1)
        self.components_ = inside
        # Where the normal rows lie exactly on the plane, leaving it by rounding must not alarm.
        tiny = 1e-9 * float(self.axes_.variances.sum()) or 1.0
        self.q_limit_ = max(q_limit(self.axes_.variances[inside:], LEVEL), tiny) / d
        self.t2_limit_ = t2_limit(max(inside, 1), len(X), LEVEL)
        self.n_parameters_ = (inside + 1) * d + inside + 2
        return self

    def anomaly_score(self, X):
        """Return the combined index (n,) [-] of rows `X` (n, d)."""

        def both(rows):
            centred = rows - self.axes_.mean
            return _q(self, centred) / self.q_limit_ + _t2(self, centred) / self.t2_limit_

        return score_rows(self, X, both)

    def settings(self):
        """Return what was used, as plain values."""
        return _settings(self) | {"q_limit": self.q_limit_, "t2_limit": self.t2_limit_}


class Mahalanobis(BaseEstimator):
    r"""Squared Mahalanobis distance with all components.

    .. math:: m(z) = \sum_j (p_j^\top (z - \bar z))^2 / \max(\lambda_j,\, f \lambda_1)

    The floor also gives a variance to directions in which the normal rows do not move at all, so
    that fewer rows than columns are no obstacle.

    Parameters
    ----------
    floor : float in (0, 1], default 0.001
        Smallest variance, as a share of the largest.
    scaling : {"standard", "none", "unit"}, default "standard"

    References
    ----------
    .. [1] P. C. Mahalanobis, On the generalised distance in statistics, Proc. Nat. Inst. Sci.
       India 2 (1936) 49-55.

    Examples
    --------
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -2.0], [0.0, 2.0]])
    >>> Mahalanobis(scaling="none").fit(X).anomaly_score([[1.0, 0.0]]).round(6).tolist()
    [1.5]
    """

    name: ClassVar[str] = "Mahalanobis"
    about: ClassVar[str] = "Distance to the mean in standard deviations, all directions."

    def __init__(self, *, floor=FLOOR, scaling="standard"):
        self.floor = floor
        self.scaling = scaling

    def fit(self, X, y=None):
        """Find mean and covariance of normal rows `X` (n, d)."""
        del y
        X = begin_fit(self, X)
        self.axes_ = principal_axes(X, self.scaler_)
        largest = self.axes_.variances[0]
        self.smallest_ = float(self.floor * largest) if largest > 0.0 else 1.0
        self.n_parameters_ = self.axes_.axes.size + 2 * self.n_features_in_
        return self

    def anomaly_score(self, X):
        """Return the squared distances (n,) [-] of rows `X` (n, d)."""
        axes = self.axes_.axes
        variances = np.maximum(self.axes_.variances, self.smallest_)

        def distance(rows):
            centred = rows - self.axes_.mean
            codes = centred @ axes.T
            inside = codes**2 @ (1.0 / variances)
            if len(axes) == axes.shape[1]:
                return inside
            rest = centred - codes @ axes
            return inside + np.einsum("ij,ij->i", rest, rest) / self.smallest_

        return score_rows(self, X, distance)

    def settings(self):
        """Return what was used, as plain values."""
        floored = int(np.sum(self.axes_.variances < self.smallest_))
        floored += self.n_features_in_ - len(self.axes_.axes)
        return {"floor": self.floor, "directions_at_floor": floored, "scaling": self.scaling}


def _q(detector, centred):
    axes = detector.axes_.axes[: detector.components_]
    rest = centred - (centred @ axes.T) @ axes
    return np.einsum("ij,ij->i", rest, rest) / centred.shape[1]


def _t2(detector, centred):
    kept = slice(0, detector.components_)
    variances = detector.axes_.variances[kept]
    # Normal rows that are all the same leave one axis of variance 0: any distance is then
    # measured as it is.
    variances = np.where(variances > 0.0, variances, 1.0)
    return (centred @ detector.axes_.axes[kept].T) ** 2 @ (1.0 / variances)


def _settings(detector):
    variances = detector.axes_.variances
    total = variances.sum()
    share = variances[: detector.components_].sum() / total if total > 0.0 else 0.0
    return {
        "components": detector.components_,
        "asked": detector.components,
        "variance_share": float(share),
        "scaling": detector.scaling,
    }
