"""The loss of the verdict, and the candidate's gain over the best baseline.

The loss is what a plant gets at the threshold that was chosen beforehand: the share of anomalies
missed plus the share of normal rows that alarm, twice the balanced error. Two things are luck in
it: which rows are in the test part, and which normal rows the threshold came from. Both are
resampled here, the threshold is derived again in every replicate, and all methods see the same
resample; with the test rows alone, the luckier threshold would often look like the better method.
"""

import dataclasses
import math

import numpy as np
from scipy import stats

from assay.anomaly.replicates import Replicates, replicate
from assay.data import as_labels
from assay.errors import DataError, StudyError
from assay.intervals import TAIL_SHARE, spread_of
from assay.result import Gain
from assay.verdict import more_data

LOSS = "missed anomalies plus false alarms"

# With fewer independent units of one label the data bound nothing.
FEWEST_UNITS = 4
FEWEST_REPEATS = 200  # with fewer resamples left, baselines share the tail equally


@dataclasses.dataclass(frozen=True)
class MethodScores:
    """What one method scored, for each of its seeds.

    Attributes
    ----------
    name : str
    calibration : (n_cal,) or (n_seeds, n_cal) array [score], or None
        On held-out normal rows, the same for all methods. None: the threshold is given.
    test : (n,) or (n_seeds, n) array [score]
    threshold : float or (n_seeds,) array [score], optional
        A threshold that comes from outside, taken as fixed.
    """

    name: str
    calibration: np.ndarray | None
    test: np.ndarray
    threshold: float | np.ndarray | None = None


def operating_loss(false_alarm: float, detection: float) -> float:
    """Return the loss [-]: missed anomalies plus false alarms, 0 perfect, 1 for guessing.

    Examples
    --------
    >>> round(operating_loss(0.05, 0.75), 2)
    0.3
    """
    return (1.0 - detection) + false_alarm


def detection_gain(
    candidate: MethodScores,
    baselines: tuple[MethodScores, ...],
    labels,
    alpha: float,
    *,
    units=None,
    calibration_units=None,
    level: float = 0.95,
    repeats: int = 2000,
    seed: int = 0,
) -> tuple[Gain, tuple[Gain, ...]]:
    r"""Return the candidate's gain over the best baseline, and over each.

    .. math:: g = 1 - L_c / \min_j L_j, \qquad L = (1 - \text{detection}) + \text{false alarms}

    Parameters
    ----------
    candidate : MethodScores
        Losses are averaged over its seeds.
    baselines : tuple of MethodScores, at least one
    labels : (n,) bool
        True is an anomaly.
    alpha : float in (0, 0.5]
        The false-alarm rate asked for; each replicate takes its conformal threshold again.
    units : (n,) array of ids, optional
        What is independent among the test rows: groups, or blocks of a time series. None: rows.
    calibration_units : (n_cal,) array of ids, optional
        The same for the held-out normal rows.
    level : float [-]
    repeats : int, >= 200
    seed : int

    Returns
    -------
    gain, gains
        `low` is -inf where there are fewer than 4 independent units of a kind.

    Raises
    ------
    DataError
        If numbers of rows differ.
    StudyError
        If a label is absent, or the calibration rows cannot support `alpha`.

    Notes
    -----
    Time and memory of a replicate do not depend on the number of rows: rows are counted once per
    unit and possible threshold (only ranks near k matter), and units beyond a thousand are put
    together at random.

    The interval holds percentiles of the resampled gain. They are pushed outward as a t interval
    is beyond a normal one [1]_, with degrees of freedom from the rows that make the difference and
    from the k rows behind the threshold, and by the caution of `assay.intervals`.

    References
    ----------
    .. [1] T. C. Hesterberg, What teachers should know about the bootstrap, The American
       Statistician 69 (2015) 371-386, section 5.3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(600) >= 400
    >>> def scores(shift):
    ...     return rng.normal(size=300), rng.normal(size=600) + shift * labels
    >>> good, poor = (MethodScores("", *scores(s)) for s in (3.0, 1.0))
    >>> gain, _ = detection_gain(good, (poor,), labels, 0.05)
    >>> gain.low > 0.0
    True
    """
    if not baselines:
        raise StudyError("A gain needs at least one baseline.", hint="Use `BASELINES`.")
    methods = (candidate, *baselines)
    labels = as_labels(labels, name="labels", n_rows=_rows(candidate.test))
    _check(methods, labels)
    found = replicate(
        methods,
        labels,
        alpha,
        units=units,
        calibration_units=calibration_units,
        repeats=repeats,
        rng=np.random.default_rng(seed),
    )
    return _gains(found, tuple(b.name for b in baselines), level)


def _gains(found: Replicates, names, level) -> tuple[Gain, tuple[Gain, ...]]:
    """Put the interval on the gain over the best baseline and over each."""
    study, drawn = found.losses[0], found.losses[1:]
    tail = (1.0 - level) / 2.0 * TAIL_SHARE
    # The best of several baselines looks better on the test part than it is.
    shared = _shared_tail(drawn, tail)
    each, tops = [], []
    for j, name in enumerate(names, 1):
        freedom = _freedom(found, j)
        low, high = _interval(drawn[:, 0], drawn[:, j], found.n_units, freedom, tail)
        each.append(_gain(study[0], study[j], low, high, name, level))
        tops.append(_interval(drawn[:, 0], drawn[:, j], found.n_units, freedom, shared)[1])
    best = int(np.argmin(study[1:])) + 1
    freedom = _freedom(found, best)
    low, _ = _interval(drawn[:, 0], drawn[:, 1:].min(axis=1), found.n_units, freedom, tail)
    low = min(low, *(gain.low for gain in each))
    high = max(low, min(tops))
    return _gain(study[0], study[best], low, high, names[best - 1], level), tuple(each)


def _shared_tail(drawn, tail):
    """Return the tail of each baseline's upper end that keeps `tail` for the lowest of them all.

    The smallest p value over baselines has this tail in the resamples (Westfall and Young 1993,
    section 2.3): baselines that err on the same rows cost hardly more than one, and independent
    ones what Bonferroni would take.
    """
    gains = np.stack([_ratio(drawn[:, 0], b) for b in drawn[:, 1:].T], axis=1)
    gains = gains[~np.isnan(gains).any(axis=1)]
    if gains.shape[1] == 1 or len(gains) < FEWEST_REPEATS:
        return tail / gains.shape[1]
    smallest = (stats.rankdata(gains, axis=0) / len(gains)).min(axis=1)
    return max(tail / gains.shape[1], float(np.quantile(smallest, tail, method="lower")))


def _interval(candidate, baseline, n_units, freedom, tail):
    """Return percentiles of the resampled gain, pushed outward for small samples."""
    fewest = min(n for n in n_units if n)
    if fewest < FEWEST_UNITS or freedom < 0.5:
        return -math.inf, 1.0
    gains = _ratio(candidate, baseline)
    undefined = np.isnan(gains)
    critical = stats.t.isf(tail, min(freedom, fewest - 1))
    tail = float(stats.norm.sf(critical * math.sqrt(fewest / (fewest - 1))))
    # A resample without any anomaly could have shown anything: it counts against both ends.
    low = np.quantile(np.where(undefined, -np.inf, gains), tail, method="lower")
    high = np.quantile(np.where(undefined, 1.0, gains), 1.0 - tail, method="higher")
    return float(low), float(high)


def _freedom(found, j):
    """Return the degrees of freedom behind the difference between baseline `j` and candidate.

    Satterthwaite's combination of the test rows, where a difference that rests on five rows has
    five rows' worth of certainty, and of the threshold, which rests on k rows.
    """
    off = found.contributions[:, j] - found.contributions[:, 0]
    fewest = float(min(found.n_units[:2]))
    of_test = spread_of(off, fewest)
    total = float(np.nanvar(found.losses[1:, j] - found.losses[1:, 0]))
    from_test = of_test.se**2
    from_threshold = max(total - from_test, 0.0) if found.k else 0.0
    parts = from_test**2 / max(of_test.df, 1e-9)
    parts += from_threshold**2 / found.k if found.k else 0.0
    return (from_test + from_threshold) ** 2 / parts if parts > 0.0 else fewest - 1.0


def _ratio(candidate, baseline):
    """Return 1 - candidate / baseline; 0 where both are perfect, -inf where only one is."""
    candidate, baseline = np.asarray(candidate), np.asarray(baseline)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 1.0 - candidate / baseline
    return np.where((baseline == 0.0) & (candidate == 0.0), 0.0, ratio)


def _gain(candidate, baseline, low, high, name, level):
    estimate = float(_ratio(candidate, baseline))
    gain = Gain(estimate, low, high, name, loss=LOSS, level=level)
    return dataclasses.replace(gain, more_data=more_data(gain))


def _rows(scores):
    return np.shape(scores)[-1]


def _check(methods, labels):
    if not labels.any() or labels.all():
        raise StudyError(
            f"A gain needs normal and anomalous test rows, got {int((~labels).sum())} and "
            f"{int(labels.sum())}.",
            hint="Give a test part with both labels, or leave the labels out.",
        )
    rows = {_rows(m.calibration) for m in methods if m.calibration is not None}
    if len(rows) > 1:
        raise DataError(
            f"All methods must score the same held-out rows, got {sorted(rows)} of them.",
            hint="Score each method on the same rows, in the same order.",
        )
    for method in methods:
        if _rows(method.test) != labels.size:
            raise DataError(
                f"`{method.name}` must have {labels.size} test scores, got {_rows(method.test)}.",
                hint="Score each method on the same test rows, in the same order.",
            )
        if (method.calibration is None) == (method.threshold is None):
            raise StudyError(
                f"`{method.name}` needs either scores on held-out normal rows or a threshold.",
                hint="Leave one of the two out.",
            )
        fits = [
            np.atleast_2d(s).shape[0] for s in (method.calibration, method.test) if s is not None
        ]
        for scores in (method.calibration, method.test):
            if scores is not None and not np.isfinite(scores).all():
                raise DataError(
                    f"`{method.name}` has {int(np.sum(~np.isfinite(scores)))} scores that are not "
                    "finite.",
                    hint="Give rows that cannot be scored the highest score.",
                )
        if len(set(fits)) > 1:
            raise DataError(
                f"`{method.name}` must have one row of scores per seed in both parts, got {fits}.",
                hint="Score each seed's fit on both parts.",
            )
