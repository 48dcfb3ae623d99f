"""Is the candidate better than the baseline? The gain, its interval and the word.

The rule and the simulations behind it are in ``docs/verdict.md``.
"""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from assay.errors import DataError, StudyError
from assay.intervals import Spread, ends, spread_of
from assay.result import Finding, Gain, VerdictWord
from assay.units import block_ids, block_length, codes, correlation_time


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The word, a sentence for a reader who reads nothing else, and what would decide.

    `more_data` is the estimated factor of test data that would decide an undecided gain; None
    where the gain is decided, or where no amount could be named.
    """

    word: VerdictWord
    sentence: str
    more_data: float | None = None


def paired_gain(
    candidate,
    baseline,
    *,
    units=None,
    blocks=None,
    level: float = 0.95,
    against: str = "",
    loss: str = "",
) -> Gain:
    r"""Relative gain of a candidate over a baseline on the same test items.

    .. math:: g = 1 - \bar c / \bar b

    with the mean losses of candidate and baseline, and the interval of `assay.intervals` (closed
    form, linear in the number of items; nothing is drawn at random).

    Parameters
    ----------
    candidate, baseline : array of shape (n_items,) or (n_seeds, n_items) [loss]
        Loss per test item, lower is better; seeds are averaged first. The same items in the same
        order; the mean baseline loss must not be negative.
    units : array of shape (n_items,), optional
        What was drawn independently: a machine, a patient, a run. Items that share a unit count
        as one observation. Without it every item is one.
    blocks : int, "auto" or array of shape (n_items,), optional
        For time series, in time order: the length of a block in items, an id per item, or "auto"
        (from the autocorrelation of the differences). With `units`, no block crosses a unit, and
        blocks replace units as what is independent.
    level : float [-], 0.5 to 0.999
        Coverage of the interval (at least).
    against, loss : str
        Names of the baseline and of the loss, for the report.

    Returns
    -------
    Gain
        `low` is -inf where the data put no lower bound on the gain, as with a single unit.

    Raises
    ------
    DataError
        For losses that are not finite numbers or that do not match in shape.
    StudyError
        For a negative mean baseline loss (a relative gain then means nothing).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.gamma(4.0, size=400)
    >>> gain = paired_gain(0.7 * shared + rng.normal(0, 0.5, 400), shared, against="PCA")
    >>> print(f"{gain.estimate:.2f}, from {gain.low:.2f} to {gain.high:.2f}")
    0.31, from 0.29 to 0.32
    """
    c, b = _losses(candidate, "candidate"), _losses(baseline, "baseline")
    if c.size != b.size:
        raise DataError(
            f"`candidate` and `baseline` in `paired_gain` must hold the losses of the same items: "
            f"got {c.size} and {b.size}.",
            hint="Score both on the same test items, in the same order.",
        )
    if not 0.5 <= level <= 0.999:
        raise StudyError(
            f"`level` in `paired_gain` must lie between 0.5 and 0.999, got {level}.",
            hint="Use 0.95 unless you have a reason.",
        )
    mean_b, mean_c = float(b.mean()), float(c.mean())
    if mean_b < 0:
        raise StudyError(
            f"The mean loss of the baseline must not be negative, got {mean_b:g}.",
            hint="Use a loss with a natural zero, such as an error or an error rate.",
        )
    tail = (1.0 - level) / 2.0
    eb, ec, effective = _contributions(b, c, mean_b, mean_c, units, blocks)
    covariance = np.array([[eb @ eb, eb @ ec], [eb @ ec, ec @ ec]])

    def spread(gain: float) -> Spread:
        return spread_of((1.0 - gain) * eb - ec, effective)

    bounded = float(min(b.min(), c.min())) >= 0.0
    low, high = ends(
        mean_b, mean_c, covariance, spread, tail, n_effective=effective, bounded=bounded
    )
    estimate = 1.0 - mean_c / mean_b if mean_b > 0 else (0.0 if mean_c == 0 else -math.inf)
    gain = Gain(estimate, low, high, against, loss=loss, level=level)
    return dataclasses.replace(gain, more_data=more_data(gain))


def _losses(values, name: str) -> np.ndarray:
    """Mean over seeds of finite losses, as float64 of shape (n_items,)."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise DataError(
            f"`{name}` in `paired_gain` must hold numbers, one per test item: {reason}.",
            hint="Pass one loss per test item.",
        ) from None
    if array.ndim not in (1, 2) or array.size == 0:
        raise DataError(
            f"`{name}` in `paired_gain` must have shape (n_items,) or (n_seeds, n_items) and at "
            f"least one loss, got shape {array.shape}.",
            hint="Pass one loss per test item.",
        )
    mean = array if array.ndim == 1 else array.mean(axis=0)
    if not math.isfinite(float(mean.sum())):
        bad = np.argwhere(~np.isfinite(array))
        if bad.size:
            where = f"item {bad[0][-1]}" + (f" of seed {bad[0][0]}" if array.ndim == 2 else "")
            raise DataError(
                f"`{name}` in `paired_gain` holds {len(bad)} losses that are not finite, first at "
                f"{where} ({array[tuple(bad[0])]}).",
                hint="A model without a finite answer cannot be scored: give such items the loss "
                "that a wrong answer costs.",
            )
    return mean


def _contributions(b, c, mean_b, mean_c, units, blocks):
    """Per unit: centred contributions to both means, and the effective number of units.

    Scaled so that sums of squares are the variances of the means. Units of different size share
    h of the items: their residuals are raised by 1/sqrt(1 - h) (CR2, Bell & McCaffrey 2002) and
    the effective number of units is Kish's 1/sum(h^2).
    """
    n = b.size
    inflate = 1.0
    ids = None if units is None else codes(units, n)[0]
    if isinstance(blocks, str):
        if blocks != "auto":
            raise StudyError(
                f'`blocks` in `paired_gain` must be a length, ids or "auto", got {blocks!r}.',
                hint='Pass `blocks="auto"`.',
            )
        ratio = mean_c / mean_b if mean_b > 0 else 1.0
        tau = correlation_time(ratio * b - c, starts=ids)
        length = block_length(n, tau)
        ids = block_ids(n, length, groups=ids)
        # Blocks of L items understate the variance of a first-order process by this share.
        inflate = 1.0 / (1.0 - min(0.5, (tau * tau - 1.0) / (2.0 * tau * length)))
    elif blocks is not None and np.ndim(blocks) == 0:
        ids = block_ids(n, blocks, groups=ids)
    elif blocks is not None:
        within = codes(blocks, n, name="blocks")[0]
        ids = within if ids is None else codes(ids * (int(within.max()) + 1) + within, n)[0]
    if ids is None:
        scale = 1.0 / math.sqrt(n * max(n - 1, 1))
        return (b - mean_b) * scale, (c - mean_c) * scale, float(n)
    count = np.bincount(ids)
    share = count / n
    scale = math.sqrt(inflate) / (n * np.sqrt(np.maximum(1.0 - share, 1e-12)))
    eb = (np.bincount(ids, weights=b) - count * mean_b) * scale
    ec = (np.bincount(ids, weights=c) - count * mean_c) * scale
    return eb, ec, 1.0 / float(share @ share)


def more_data(gain: Gain, *, margin: float = 0.0) -> float | None:
    """Estimate by what factor the test data would have to grow to decide an undecided gain.

    The interval narrows with the square root of the data, so the factor is the squared ratio of
    the half width on the margin's side to the distance between estimate and margin.

    Parameters
    ----------
    gain : Gain
    margin : float [-]

    Returns
    -------
    float or None
        Above 1; None where the gain is decided, where the estimate lies on the margin, or where
        the interval has no bound on that side.

    Examples
    --------
    >>> more_data(Gain(0.1, -0.1, 0.3, against="PCA"))
    4.0
    """
    if gain.low > margin or gain.high < margin:
        return None
    distance = gain.estimate - margin
    width = gain.estimate - gain.low if distance > 0 else gain.high - gain.estimate
    if not (math.isfinite(distance) and math.isfinite(width)) or abs(distance) <= 1e-12:
        return None
    return max(1.1, round((width / distance) ** 2, 2))


def decide(gain: Gain | None, findings: Iterable[Finding], *, margin: float = 0.0) -> Verdict:
    """Turn a gain and the findings into the verdict.

    =============  ==========================================================
    INVALID        a check of severity "fail" failed, whatever the gain
    EARNED         the whole interval lies above the margin
    NOT EARNED     the whole interval lies below the margin
    UNDECIDED      otherwise, or where there is no gain
    =============  ==========================================================

    Parameters
    ----------
    gain : Gain or None
        None where there was nothing to compare.
    findings : iterable of Finding
    margin : float [-], below 1
        The gain that is worth having; 0 asks for any.

    Returns
    -------
    Verdict

    Raises
    ------
    StudyError
        For a margin of 1 or more, or a gain that is not a number.

    Examples
    --------
    >>> decide(Gain(0.3, 0.1, 0.5, against="PCA"), ()).word
    'earned'
    """
    if not margin < 1:
        raise StudyError(
            f"`margin` in `decide` must be below 1 (a loss of zero), got {margin}.",
            hint="A margin of 0.05 asks for 5 % less loss than the baseline's.",
        )
    findings = tuple(findings)
    failed = [f for f in findings if f.severity == "fail" and f.outcome == "fail"]
    if failed:
        return Verdict("invalid", _invalid_sentence(failed))
    crashed = [f.title for f in findings if f.severity == "fail" and f.outcome == "error"]
    note = (
        f" Not checked, because the check itself failed: {', '.join(crashed)}." if crashed else ""
    )
    if gain is None:
        return Verdict("undecided", "There was nothing to compare, so nothing is decided." + note)
    if any(math.isnan(v) for v in (gain.estimate, gain.low, gain.high)) or gain.low > gain.high:
        raise StudyError(
            f"The gain in `decide` needs low <= high, got {gain.low} to {gain.high}.",
            hint="Compute it with `paired_gain` or `bootstrap_gain`.",
        )
    word = "undecided"
    if gain.low > margin:
        word = "earned"
    elif gain.high < margin:
        word = "not_earned"
    factor = more_data(gain, margin=margin)
    return Verdict(word, _sentence(word, gain, margin, factor) + note, factor)


def _invalid_sentence(failed: list[Finding]) -> str:
    """Name the failed checks."""
    named = "; ".join(f"{f.code} {f.title}" for f in failed)
    return f"The comparison does not count: {named}. What is measured here is not what was asked."


def _percent(value: float) -> str:
    """Write a gain in percent with a real minus sign; one decimal below 10 %."""
    if math.isinf(value):
        return "no bound" if value < 0 else "no upper bound"
    value *= 100.0
    digits = 1 if abs(value) < 9.95 else 0
    return f"{value:.{digits}f} %".replace("-", "−")


def _sentence(word: str, gain: Gain, margin: float, factor: float | None) -> str:
    """Say the verdict in words: sizes first, then what it rests on."""
    what = gain.loss or "loss"
    against = gain.against or "the strongest baseline"
    bar = "zero" if margin == 0 else f"the margin of {_percent(margin)}"
    span = f"{100 * gain.level:g} % interval {_percent(gain.low)} to {_percent(gain.high)}"
    if math.isinf(gain.low):
        span = f"the data put no lower bound on it, and the upper one is {_percent(gain.high)}"
    span = f"gain {_percent(gain.estimate)}, {span}"
    side = "less" if gain.estimate >= 0 else "more"
    size = f"{_percent(abs(gain.estimate))} {side} {what} than {against} ({span})"
    if math.isinf(gain.estimate):
        size = f"{what} where {against} had none"
    if word == "earned":
        return f"The candidate earned its place: {size}; all of the interval lies above {bar}."
    if word == "not_earned":
        return (
            f"The candidate did not earn its place: {size}; all of the interval lies below {bar}."
        )
    start = f"Undecided: {size}, and the interval includes {bar}."
    if factor is None:
        return start + " No amount of test data can be named that would decide it."
    if factor > 1000:
        return (
            start + " The difference is so small that it would take over 1,000 times the test data."
        )
    shown = f"{factor:.1f}" if factor < 10 else f"{factor:.0f}"
    return (
        start
        + f" About {shown} times as much test data would decide it, if the gain stays as it is."
    )
