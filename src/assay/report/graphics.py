"""Geometry of the small graphics of the page: gains as intervals on an axis with zero.

Positions are percentages of the width, so that the page draws them at any size.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

from assay.report import numbers
from assay.result import Gain

# A method that loses badly must not squeeze the others to a point: intervals are cut here.
FURTHEST = -2.0


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
    """The axis: where zero is [%], and ticks as (position [%], text)."""

    low: float
    high: float
    zero: float
    ticks: tuple[tuple[float, str], ...]

    def place(self, gain: float) -> float:
        """Return the position of `gain` [% of the width], kept inside the axis."""
        share = (gain - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)


def axis(gains: Sequence[Gain]) -> Axis | None:
    """Return an axis that shows `gains` and zero, or None where no gain is a number."""
    drawn = [g for g in gains if _is_drawn(g)]
    if not drawn:
        return None
    floor = min(FURTHEST, 1.25 * max(g.estimate for g in drawn))
    low = max(min(0.0, *(_end(g.low, g.estimate, min) for g in drawn)), floor)
    high = max(0.0, *(_end(g.high, g.estimate, max) for g in drawn))
    span = max(high - low, 1e-3)
    # Zero never lies at the very edge: the reader must see which side an interval is on.
    low, high = min(low - 0.06 * span, -0.12 * span), max(high + 0.06 * span, 0.12 * span)
    made = Axis(low, high, 0.0, ())
    ticks = tuple((made.place(t), numbers.percent(t, d, signed=True)) for t, d in _ticks(low, high))
    return Axis(low, high, made.place(0.0), ticks)


def bar(gain: Gain, on: Axis | None) -> Bar | None:
    """Return the interval of `gain` on the axis, or None where it cannot be drawn."""
    if on is None or not _is_drawn(gain):
        return None
    left, right = on.place(gain.low), on.place(gain.high)
    return Bar(
        left=left,
        width=round(right - left, 2),
        dot=on.place(gain.estimate),
        cut_low=gain.low < on.low,
        cut_high=gain.high > on.high,
        holds_zero=gain.low <= 0 <= gain.high,
    )


def _is_drawn(gain: Gain) -> bool:
    # An end may lie at infinity (the data put no bound on it); the estimate may not.
    ends_known = gain.low == gain.low and gain.high == gain.high
    return numbers.is_number(gain.estimate) and ends_known


def _end(end: float, estimate: float, outer: Callable[[float, float], float]) -> float:
    """Return the end of an interval, or twice the way to its estimate where it is at infinity."""
    return outer(end, estimate) if numbers.is_number(end) else 2 * estimate


def _ticks(low: float, high: float) -> list[tuple[float, int]]:
    """Return (value, decimals in per cent) of about four round ticks, zero among them."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    decimals = max(-math.floor(math.log10(100 * step) + 1e-9), 0)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [(k * step, decimals) for k in range(first, last + 1)]
