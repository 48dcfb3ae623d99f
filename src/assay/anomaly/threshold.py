"""The alarm threshold: from held-out normal scores, at a false-alarm rate chosen beforehand.

A row alarms when its score is *above* the threshold.
"""

import dataclasses
import math

import numpy as np
from scipy import stats

from assay.data import as_vector
from assay.errors import StudyError
from assay.units import codes, correlation_time

DAY_S = 86_400.0

# With fewer independent alarms than this behind a threshold, their own autocorrelation says too
# little: of series with 0.98 from row to row, 1,000 rows would then cover 78 % instead of 95 %.
FEW_ALARMS = 20


@dataclasses.dataclass(frozen=True)
class Threshold:
    """A threshold and what it promises.

    Attributes
    ----------
    value : float [score]
        Rows with a higher score alarm.
    alpha : float [-]
        The false-alarm rate that was asked for.
    n, k : int
        Held-out normal rows, and which of their scores it is, counted from the largest.
    low, high : float [-]
        Interval on the false-alarm rate that new normal rows will really see.
    level : float [-]
        Coverage of the interval.
    n_effective : float
        How many independent rows would know as much; `n` unless the rows form a time series.
    per_day, per_day_low, per_day_high : float or None [1/day]
        Expected false alarms a day (rows above the threshold); None without a sampling interval.
    """

    value: float
    alpha: float
    n: int
    k: int
    low: float
    high: float
    level: float
    n_effective: float
    per_day: float | None = None
    per_day_low: float | None = None
    per_day_high: float | None = None

    @property
    def expected(self) -> float:
        """Return the false-alarm rate [-] on average over calibration sets: k / (n + 1)."""
        return self.k / (self.n + 1)

    @property
    def supported(self) -> bool:
        """Return whether the effective number of rows carries the asked rate too."""
        return self.n_effective >= minimum_rows(self.alpha)

    def alarms(self, scores) -> np.ndarray:
        """Return which `scores` (n,) alarm: (n,) bool."""
        return np.asarray(scores, dtype=np.float64) > self.value

    @property
    def sentence(self) -> str:
        """Return what the threshold promises, for a reader."""
        text = (
            f"Threshold {self.value:.3g} from {self.n:,} held-out normal rows: "
            f"{100 * self.alpha:.3g}% of normal rows may alarm, and {self.low:.1%} to "
            f"{self.high:.1%} will ({self.level:.0%} interval) if the condition stays as it was"
        ).replace("%", " %")
        if self.n_effective < self.n:
            text += (
                f"; neighbouring rows resemble each other, so that the {self.n:,} rows are worth "
                f"about {self.n_effective:,.0f} independent ones"
            )
            if not self.supported:
                text += f", fewer than the {minimum_rows(self.alpha):,} that this rate needs"
        if self.per_day is not None:
            text += (
                f"; about {_count(self.per_day)} false alarms a day "
                f"({_count(self.per_day_low)} to {_count(self.per_day_high)})"
            )
        return text + "."


def _count(per_day: float) -> str:
    # Two digits: an interval that spans a factor of two carries no more.
    return f"{float(f'{per_day:.2g}'):,g}" if per_day >= 0.01 else "0"


def minimum_rows(alpha: float) -> int:
    """Return the smallest number of held-out normal rows that can support the rate `alpha`.

    With fewer than ceil(1 / alpha) - 1 rows, even the largest of their scores is exceeded by a
    new normal row with a chance above `alpha`.

    Examples
    --------
    >>> minimum_rows(0.05), minimum_rows(0.01)
    (19, 99)
    """
    # 1 / 0.07 and the like must not gain a row from rounding.
    return math.ceil(1.0 / _rate(alpha) - 1e-9) - 1


def smallest_rate(n: int) -> float:
    """Return the smallest false-alarm rate [-] that `n` held-out normal rows can support.

    Examples
    --------
    >>> smallest_rate(99)
    0.01
    """
    return 1.0 / (n + 1)


def rank_of(alpha: float, n: int) -> int:
    """Return k = floor(alpha (n + 1)): which score, from the largest, is the threshold.

    Raises
    ------
    StudyError
        If `n` rows cannot support `alpha`.
    """
    needed = minimum_rows(alpha)
    if n < needed:
        raise StudyError(
            f"A false-alarm rate of {alpha:g} needs at least {needed:,} held-out normal rows, "
            f"got {n:,}.",
            hint=f"Give more normal rows, or ask for a rate of {_up(smallest_rate(n)):g} or more.",
        )
    return max(1, math.floor(alpha * (n + 1) + 1e-9))


def conformal_threshold(
    scores, alpha: float, *, series=None, interval_s: float | None = None, level: float = 0.95
) -> Threshold:
    r"""Return the threshold that new normal rows exceed with a chance of at most `alpha`.

    It is the k-th largest of n held-out normal scores, :math:`k = \lfloor \alpha (n+1) \rfloor`.
    A new row that is exchangeable with them exceeds it with a chance of k / (n + 1) on average
    over calibration sets (less where scores are tied). For *this* calibration set the rate is a
    draw from Beta(k, n + 1 - k), whose quantiles are the interval.

    Parameters
    ----------
    scores : (n,) array [score], higher is more anomalous
        Of normal rows that the detector has not been fitted on.
    alpha : float in (0, 0.5]
        The false-alarm rate to ask for, per row.
    series : (n,) array of ids, optional
        For time series: which series (or contiguous stretch) a row belongs to, rows in time
        order. None says that rows are independent.
    interval_s : float [s], optional
        Time between rows, for the alarms per day.
    level : float in (0, 1)
        Coverage of the interval.

    Returns
    -------
    Threshold

    Raises
    ------
    DataError
        If `scores` are not finite.
    StudyError
        If there are too few of them for `alpha`.

    Notes
    -----
    Neighbouring rows of a time series say nearly the same, so the interval is that of
    n / tau independent rows: tau is the integrated autocorrelation time of being above the
    threshold (and of the ranks of the scores, where fewer than 20 independent rows are above).
    Exchangeability itself is then an approximation that holds for a plant in one steady
    condition.

    References
    ----------
    .. [1] V. Vovk, Conditional validity of inductive conformal predictors, ACML 2012,
       proposition 2b.
    .. [2] A. Gammerman, V. Vovk, G. Shafer, Algorithmic Learning in a Random World, Springer 2005,
       proposition 2.8.

    Examples
    --------
    >>> t = conformal_threshold(np.arange(1.0, 100.0), 0.05)
    >>> t.value, t.k, round(t.low, 3), round(t.high, 3)
    (95.0, 5, 0.017, 0.1)
    >>> int(t.alarms([95.0, 95.5]).sum())
    1
    """
    scores = as_vector(scores, name="scores")
    n = scores.size
    k = rank_of(alpha, n)
    value = float(np.partition(scores, n - k)[n - k])
    above, at_least = int(np.sum(scores > value)), int(np.sum(scores >= value))
    tau = 1.0 if series is None else _correlation_time(scores, value, k, series)
    tail = (1.0 - level) / 2.0
    # Tied scores at the threshold do not alarm: the rate may be as low as the rows strictly above
    # suggest, but is never higher than without ties.
    fewest = k if at_least - above == 1 else above
    low = 0.0 if fewest == 0 else float(stats.beta.ppf(tail, fewest / tau, (n + 1 - fewest) / tau))
    high = float(stats.beta.ppf(1.0 - tail, k / tau, (n + 1 - k) / tau))
    per_day = (None, None, None)
    if interval_s is not None:
        if not interval_s > 0.0:
            raise StudyError(
                f"`interval_s` must be a time above 0 s, got {interval_s!r}.",
                hint="Give the time between rows in seconds.",
            )
        per_day = tuple(rate * DAY_S / interval_s for rate in (k / (n + 1), low, high))
    return Threshold(value, float(alpha), n, k, low, high, level, n / tau, *per_day)


def percentile_threshold(scores, percent: float = 95.0) -> float:
    """Return the plain percentile of held-out scores, as the chapters' experiments use it.

    It promises nothing about new rows: for a study use `conformal_threshold`.

    Examples
    --------
    >>> percentile_threshold([0.0, 1.0, 2.0], 50)
    1.0
    """
    return float(np.percentile(as_vector(scores, name="scores"), percent))


def _correlation_time(scores, value, k, series):
    starts = codes(series, scores.size, name="series")[0]
    tau = correlation_time((scores > value).astype(np.float64), starts=starts)
    if k / tau < FEW_ALARMS:
        tau = max(tau, correlation_time(stats.rankdata(scores), starts=starts))
    return float(min(tau, scores.size))


def _rate(alpha):
    if not 0.0 < alpha <= 0.5:
        raise StudyError(
            f"The false-alarm rate must lie above 0 and at most at 0.5, got {alpha!r}.",
            hint="Ask for 0.05 to accept one false alarm in twenty normal rows.",
        )
    return alpha


def _up(rate):
    """Round up to two digits, so that the named rate is one that works."""
    digits = 1 - math.floor(math.log10(rate))
    return math.ceil(rate * 10**digits - 1e-9) / 10**digits
