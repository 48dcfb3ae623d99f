"""Geometry of the small graphics of the page: gains as intervals on an axis with zero.

Positions are percentages of the width, so that the page draws them at any size.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

from assay.report import numbers
from assay.result import Gain

# A method that loses badly must not squeeze the others to a point: intervals are cut here. The
# second number is for ratios of losses, in powers of ten, on either side.
FURTHEST, FURTHEST_POWER = -2.0, 4.0


@dataclasses.dataclass(frozen=True)
class Bar:
    """One interval on the axis [% of its width]; `cut_low`, `cut_high`: it goes on beyond."""

    left: float
    width: float
    dot: float
    cut_low: bool
    cut_high: bool
    holds_zero: bool


@dataclasses.dataclass(frozen=True)
class Axis:
    """The axis: where zero is [%], and ticks as (position [%], text).

    With `factors` it is one of ratios of losses and not of gains: `low` and `high` are powers of
    ten, positive where the candidate's loss is the smaller one.
    """

    low: float
    high: float
    zero: float
    ticks: tuple[tuple[float, str], ...]
    factors: bool = False

    def value(self, gain: float) -> float:
        """Return `gain` in the unit of the axis."""
        return _value(gain, factors=self.factors)

    def place(self, gain: float) -> float:
        """Return the position of `gain` [% of the width], kept inside the axis."""
        return self._share(self.value(gain))

    def _share(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def labelled(self) -> "Axis":
        """Return this axis with its zero and its ticks; none stands at the very edge."""
        found = (_power_ticks if self.factors else _ticks)(self.low, self.high)
        places = tuple((self._share(value), text) for value, text in found)
        inner = tuple((at, text) for at, text in places if 2.0 < at < 98.0)
        return dataclasses.replace(self, zero=self._share(0.0), ticks=inner)


def axis(gains: Sequence[Gain], *, factors: bool = False) -> Axis | None:
    """Return an axis that shows `gains` and zero, or None where no gain is a number.

    Parameters
    ----------
    gains : sequence of Gain
    factors : bool
        Show ratios of losses on a logarithmic scale: losses that lie orders of magnitude apart.
    """
    drawn = [
        [_value(end, factors=factors) for end in (g.low, g.estimate, g.high)]
        for g in gains
        if _is_drawn(g)
    ]
    if not drawn:
        return None
    # A loss of nought is infinitely better: it stands at the edge, whatever the others say.
    told = [values for values in drawn if math.isfinite(values[1])] or [[0.0, 0.0, 0.0]]
    middles = [middle for _, middle, _ in told]
    floor = min(-FURTHEST_POWER if factors else FURTHEST, 1.25 * max(middles))
    ceiling = max(FURTHEST_POWER, 1.25 * min(middles)) if factors else math.inf
    low = max(min(0.0, *(_end(low, middle, min) for low, middle, _ in told)), floor)
    high = min(max(0.0, *(_end(high, middle, max) for _, middle, high in told)), ceiling)
    span = max(high - low, 1e-3)
    # Zero never lies at the very edge: the reader must see which side an interval is on.
    low, high = min(low - 0.06 * span, -0.12 * span), max(high + 0.06 * span, 0.12 * span)
    return Axis(low, high, 0.0, (), factors).labelled()


def bar(gain: Gain, on: Axis | None) -> Bar | None:
    """Return the interval of `gain` on the axis, or None where it cannot be drawn."""
    if on is None or not _is_drawn(gain):
        return None
    left, right = on.place(gain.low), on.place(gain.high)
    return Bar(
        left=left,
        width=round(right - left, 2),
        dot=on.place(gain.estimate),
        cut_low=on.value(gain.low) < on.low,
        cut_high=on.value(gain.high) > on.high,
        holds_zero=gain.low <= 0 <= gain.high,
    )


def _value(gain: float, *, factors: bool) -> float:
    """Return a gain as it is, or the power of ten by which the candidate's loss is smaller."""
    if not factors:
        return gain
    ratio = 1.0 - gain
    return -math.log10(ratio) if ratio > 0.0 else math.inf


def _is_drawn(gain: Gain) -> bool:
    # An end may lie at infinity (the data put no bound on it); the estimate may not.
    ends_known = gain.low == gain.low and gain.high == gain.high
    return numbers.is_number(gain.estimate) and ends_known


def _end(end: float, estimate: float, outer: Callable[[float, float], float]) -> float:
    """Return the end of an interval, or twice the way to its estimate where it is at infinity."""
    return outer(end, estimate) if numbers.is_number(end) else 2 * estimate


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return (value, text) of about four round gains, zero among them."""
    step = _round((high - low) / 4)
    decimals = max(-math.floor(math.log10(100 * step) + 1e-9), 0)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    places = (k * step for k in range(first, last + 1))
    return [(place, numbers.percent(place, decimals, signed=True)) for place in places]


def _power_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return (value, text) of a few round ratios of losses, equal losses among them."""
    furthest = 10.0 ** max(-low, high)
    if high - low > 1.5:
        step = math.ceil((high - low) / 4)
        ratios = [10.0**k for k in range(step, math.floor(math.log10(furthest)) + 1, step)]
    elif furthest > 3.0:
        ratios = [2.0, 5.0, 10.0, 20.0]
    else:
        step = _round((furthest - 1.0) / 3)
        ratios = [1.0 + k * step for k in (1, 2, 3)]
    worse = [(-math.log10(ratio), f"× {_plain(ratio)}") for ratio in reversed(ratios)]
    better = [(math.log10(ratio), f"÷ {_plain(ratio)}") for ratio in ratios]
    return [(at, text) for at, text in (*worse, (0.0, "equal"), *better) if low <= at <= high]


def _round(rough: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough)


def _plain(ratio: float) -> str:
    return f"{ratio:,.6g}" if ratio < 1e5 else f"{ratio:.0e}".replace("e+0", "e").replace("e+", "e")
