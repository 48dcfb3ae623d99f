"""The words of the report: verdicts, outcomes, and text from outside made safe to show."""

import math
import re
from typing import Any

from assay.report import numbers
from assay.result import Finding, Gain, Result

VERDICTS = {
    "earned": "Earned",
    "not_earned": "Not earned",
    "undecided": "Undecided",
    "invalid": "Invalid",
}
OUTCOMES = {
    "fail": "Failed",
    "warn": "Warning",
    "error": "Error",
    "pass": "Passed",
    "not_applicable": "Not applicable",
}
PROFILE = {
    "rows_used": "Rows looked at for this",
    "duplicates": "Rows that repeat another",
    "constant": "Constant columns",
    "near_constant": "Nearly constant columns",
    "dimension_90": "Principal components for 90 % of the variance",
    "dimension_99": "Principal components for 99 % of the variance",
}
RANKING_NOTE = (
    "These numbers average over thresholds that nobody runs: they say how well a method ranks, "
    "and are not the operating point."
)
_NOT_PRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def clean(text: Any, limit: int | None = None) -> str:
    r"""Return `text` without control characters and direction overrides, cut to `limit`.

    Examples
    --------
    >>> clean("red: \x1b[31m", 8)
    'red: �[…'
    """
    text = _NOT_PRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))
    return text if limit is None or len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: Any, limit: int | None = None) -> str:
    """Return `text` as `clean` does, on one line."""
    return clean(" ".join(str(text).split()), limit)


def as_sentence(text: Any, limit: int | None = None) -> str:
    """Return `text` with a capital at its start and a full stop at its end.

    Examples
    --------
    >>> as_sentence("rows drawn at random")
    'Rows drawn at random.'
    """
    text = clean(text, limit).strip()
    text = f"{text[:1].upper()}{text[1:]}"
    return text if not text or text[-1] in ".!?…:" else f"{text}."


def capital(text: Any, limit: int | None = None) -> str:
    """Return `text` on one line, with a capital at its start."""
    text = one_line(text, limit)
    return f"{text[:1].upper()}{text[1:]}"


def sentence(result: Result) -> str:
    """Return the verdict's sentence without the word itself, which stands right above it."""
    text = clean(result.sentence).strip()
    word = f"{VERDICTS[result.verdict]}: "
    return as_sentence(text[len(word) :] if text.lower().startswith(word.lower()) else text)


def folder_name(place: int, name: str) -> str:
    """Return a folder name for the study number `place` (from 1) of a file called `name`.

    Examples
    --------
    >>> folder_name(3, "../Ventil 1/valve1-2.csv"), folder_name(12, "温度")
    ('03-valve1-2', '12')
    """
    last = re.split(r"[/\\]", name)[-1].rsplit(".", 1)[0]
    kept = re.sub(r"[^A-Za-z0-9_.-]+", "-", last).strip("-.")[:60]
    return f"{place:02d}-{kept}" if kept else f"{place:02d}"


def ordered_findings(findings: tuple[Finding, ...]) -> dict[str, list[Finding]]:
    """Return the findings by outcome, what changes the verdict first."""
    groups = {
        outcome: [finding for finding in findings if finding.outcome == outcome]
        for outcome in OUTCOMES
    }
    groups["fail"].sort(key=lambda finding: finding.severity != "fail")
    return groups


def tally(findings: tuple[Finding, ...]) -> str:
    """Return ``"1 failed, 2 warnings, 8 passed"``; outcomes that did not occur are left out."""
    said = []
    for outcome, group in ordered_findings(findings).items():
        if group:
            word = OUTCOMES[outcome].lower()
            plural = "s" if len(group) > 1 and outcome in ("warn", "error") else ""
            said.append(f"{len(group)} {word}{plural}")
    return ", ".join(said) if said else "no checks were run"


def measured(finding: Finding) -> str:
    """Return the measured value with its interval and unit, or nothing where there is none."""
    if not numbers.is_number(finding.measured):
        return ""
    digits = _digits(finding)
    text = numbers.with_unit(numbers.number(finding.measured, digits), one_line(finding.unit, 40))
    within = numbers.interval(finding.interval, digits)
    return f"{text} ({within})" if within else text


def threshold(finding: Finding) -> str:
    """Return the threshold with its unit, or nothing where there is none."""
    if not numbers.is_number(finding.threshold):
        return ""
    # A threshold is a round number that somebody chose: it keeps its own digits.
    return numbers.with_unit(numbers.number(finding.threshold), one_line(finding.unit, 40))


def _digits(finding: Finding) -> int | None:
    value = float(finding.measured)
    if value.is_integer() and finding.interval is None:
        return 0 if abs(value) < 1e7 else None
    digits = numbers.digits_after_point(value, finding.interval)
    return digits if digits <= 4 and abs(value) < 1e6 else None


def gain_digits(gain: Gain) -> int:
    """Return the decimals for a gain in per cent: two digits of its half width, at most 2."""
    ends = (100 * gain.low, 100 * gain.high)
    if not all(map(numbers.is_number, ends)):
        return 0
    return min(numbers.digits_after_point(100 * gain.estimate, ends), 2)


_UNBOUNDED = "not bounded"  # a gain is never above 100 %: such an end says nothing
_FACTOR_BELOW = -9.0  # a loss of more than ten times the baseline's
_MOST_SEEDS = 100  # that anybody would wait for
_USELESS = 1e6  # an interval of factors whose ends are farther apart says nothing


def in_factors(result: Result) -> bool:
    """Whether the gains of a result are told as factors: one scale for all of them.

    Errors of a solver and of a network lie orders of magnitude apart, and so may losses elsewhere:
    nobody reads -434,396 per cent.
    """
    gains = (*result.gains, *(study.gain for _, study in result.studies if study.gain))
    gains += (result.gain,) if result.gain else ()
    return bool(gains) and (
        result.need == "physics" or any(gain.estimate < _FACTOR_BELOW for gain in gains)
    )


def gain_text(gain: Gain, digits: int | None = None, *, factors: bool = False) -> tuple[str, str]:
    """Return the gain and its interval in per cent, at matching digits, or as factors.

    Parameters
    ----------
    gain : Gain
    digits : int, optional
        Decimals of the percentages.
    factors : bool
        How many times larger or smaller the candidate's loss is, with its interval. Gains below
        -900 % are told so in any case.

    Examples
    --------
    >>> gain_text(Gain(-20.0, -50.0, -8.0, "PCA"), factors=True)
    ('21 times larger', '9.0 to 51 times larger')
    """
    if factors or (gain.estimate < _FACTOR_BELOW and math.isfinite(gain.estimate)):
        return _factor_text(gain)
    digits = gain_digits(gain) if digits is None else digits
    estimate = numbers.percent(gain.estimate, digits, signed=True)
    low, high = (
        numbers.percent(end, digits, signed=True) if numbers.is_number(end) else ""
        for end in (gain.low, gain.high)
    )
    if low and high:
        return estimate, f"{low} to {high}"
    if low:
        return estimate, f"{low} and up" if gain.high == float("inf") else ""
    if high and gain.low == float("-inf"):
        return estimate, f"up to {high}" if gain.high < 1.0 else _UNBOUNDED
    return estimate, ""


def _factor_text(gain: Gain) -> tuple[str, str]:
    """Return how many times the candidate's loss is the baseline's, and the interval of that."""
    ratio = 1.0 - gain.estimate
    if not math.isfinite(ratio):
        return numbers.MISSING, ""
    estimate = _times(ratio)
    low, high = 1.0 - gain.high, 1.0 - gain.low
    if not math.isfinite(high):
        return estimate, _UNBOUNDED if not low > 0 else f"{_times(low)} and up"
    if high > _USELESS * max(low, 0.0):
        return estimate, "too wide to be of use"
    if low > 1.0:
        return estimate, f"{_two_digits(low)} to {_times(high)}"
    if high < 1.0 and low > 0:
        return estimate, f"{_two_digits(1.0 / high)} to {_times(low)}"
    return estimate, f"{_times(low)} to {_times(high)}"


def _times(ratio: float) -> str:
    """Return a ratio of losses in words: ``"3.2 times smaller"``."""
    if ratio <= 0.0:
        return "none left"
    larger = ratio >= 1.0
    shown = _two_digits(ratio if larger else 1.0 / ratio)
    return "as large" if shown == "1.0" else f"{shown} times {'larger' if larger else 'smaller'}"


def _two_digits(value: float) -> str:
    """Return a number from 1 with two digits; from a million as a power of ten."""
    if value >= 999_500:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    digits = 1 - math.floor(math.log10(value))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _where(result: Result) -> str:
    """Return what an earned verdict rests on."""
    if result.need == "physics" and result.split.unit == "seed":
        return "Against a reference that it did not see"
    return "On rows that played no part in building it"


def _here(result: Result) -> str:
    return "On this problem" if result.need == "physics" else "On these data"


def _wait(result: Result) -> str:
    """Return what would decide an undecided gain, or nothing where nothing can be named."""
    more = result.gain.more_data
    # Without a lower end nothing is known of how the interval narrows.
    if not (numbers.is_number(more) and more > 1 and numbers.is_number(result.gain.low)):
        return ""
    if result.need == "physics" and result.split.unit == "seed":
        # Of an equation there are no test rows: the interval is over seeds.
        seeds = math.ceil(more * result.settings.get("seeds", 1))
        return f" About {seeds} seeds would decide." if seeds <= _MOST_SEEDS else ""
    what = "many readings" if result.need == "physics" else "much test data"
    return f" About {numbers.times(more).replace(' ×', '')} times as {what} would decide."


def meaning(result: Result) -> str:
    """Return what the verdict means for someone who has to decide, in a few sentences."""
    against = f"“{one_line(result.gain.against, 80)}”" if result.gain else "a baseline"
    if result.verdict == "invalid":
        return (
            "Do not rely on any number on this page. A check that every other number rests on has "
            "failed: mend what it names, then run the study again."
        )
    if result.gain is None and result.need == "physics":
        return (
            "Nothing was kept back that the methods could be tested on, so the study takes no "
            "side. What each of them found, and whether they agree, is below."
        )
    if result.gain is None:
        return (
            "There was nothing to compare on this test part, so the study takes no side. What it "
            "measured is below; with labels for the test rows it could also judge."
        )
    if result.verdict == "earned":
        return (
            f"{_where(result)}, the candidate does better than "
            f"{against}, and chance does not explain it. Whether that is worth its cost is yours "
            "to weigh: the costs stand in the table."
        )
    if (
        result.verdict == "not_earned"
        and numbers.is_number(result.gain.low)
        and result.gain.low > 0
    ):
        return (
            f"The candidate does better than {against}, but not by the margin that was asked for: "
            f"{against} remains the choice."
        )
    if result.verdict == "not_earned":
        return (
            f"Use {against}. {_here(result)} the candidate does not do better, and the simpler "
            "method is easier to run, to explain and to keep."
        )
    wait = _wait(result)
    then = "Until then" if wait else "As long as that is so,"
    part = "study" if result.need == "physics" else "test part"
    return (
        f"This {part} cannot tell the candidate from {against}.{wait} "
        f"{then} {against} is the safer choice."
    )
