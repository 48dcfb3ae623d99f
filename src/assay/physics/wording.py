"""Numbers and the verdict of a physics study as an engineer would say them."""

import math
from typing import Any

TIME = "time to an error of "  # what gains are of where the time decides
USELESS = 1e6  # an interval whose ends are that factor apart says nothing


def times(ratio: float) -> str:
    """Return a ratio of errors or times in words, from a tenth upwards.

    Examples
    --------
    >>> times(1.26), times(231_048.0), times(2.3e7), times(1.9e22)
    ('1.3 times', '230,000 times', '23 million times', '1.9e22 times')
    """
    if not math.isfinite(ratio):
        return "more times than can be told"
    if ratio >= 1e9:
        mantissa, exponent = f"{ratio:.1e}".split("e")
        return f"{mantissa}e{int(exponent)} times"
    if ratio >= 1e6:
        return f"{_two_digits(ratio / 1e6)} million times"
    return f"{_two_digits(ratio)} times"


def duration(seconds: float) -> str:
    """Return a time with two digits and a unit that a person would use.

    Examples
    --------
    >>> duration(0.0093), duration(12.3), duration(1260.0)
    ('9.3 ms', '12 s', '21 min')
    """
    if seconds < 1e-3:
        return f"{_two_digits(1e6 * seconds)} us"
    if seconds < 1.0:
        return f"{_two_digits(1e3 * seconds)} ms"
    return f"{_two_digits(seconds)} s" if seconds < 600 else f"{_two_digits(seconds / 60)} min"


def _two_digits(value: float) -> str:
    if value <= 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(value)))
    if digits:
        return f"{value:.{digits}f}"
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{round(value / step) * step:,.0f}"


def counted(n: int, what: str) -> str:
    """Return a number with its noun: ``one variable``, ``2 fields``.

    Examples
    --------
    >>> counted(1, "field"), counted(3, "variable")
    ('one field', '3 variables')
    """
    return f"one {what}" if n == 1 else f"{n} {what}s"


def called(candidate: Any) -> str:
    """Return what a sentence calls the candidate of a result."""
    return "the network" if "network" in candidate.name else candidate.name


def sentence(word: str, said: str, told: dict[str, Any]) -> str:
    """Return the verdict of a physics study in words: first what to use.

    Parameters
    ----------
    word, said : str
        The verdict, and the rule's own sentence.
    told : dict
        ``gain``, ``candidate``, ``baselines`` and ``findings`` of the result.

    Returns
    -------
    str
        The rule's own sentence where the comparison does not count.
    """
    gain, ours = told["gain"], told["candidate"]
    if word == "invalid" or gain is None:
        return said
    name = f"{gain.against[:1].lower()}{gain.against[1:]}"
    classic = name if name.startswith("least squares") else f"the {name}"
    network = called(ours)
    one_seed = word == "undecided" and gain.low == -math.inf
    better = network if gain.estimate > 0 else classic
    opening = {
        "earned": f"Use {network}",
        "not_earned": f"Use {classic}",
        "undecided": "Undecided, since one seed gives no interval (--seeds 3). As far as it shows, "
        f"use {better}"
        if one_seed
        else f"Undecided between {network} and {classic}",
    }[word]
    ratio, error = 1.0 - gain.estimate, ours.metrics["error"]
    spent = duration(ours.metrics["seconds"])
    note = said[said.find(" Not checked, because") :] if " Not checked, because" in said else ""
    if gain.loss.startswith(TIME):
        needed = duration(ours.metrics["seconds"] / ratio)
        asked = gain.loss.removeprefix(TIME)
        return (
            f"{opening}: both reach the error of {asked} that was asked for, so time decides: "
            f"{classic} takes {needed}, {network} {spent}, {_factor(gain, ratio)}.{note}"
        )
    equal = "equal time" in gain.loss
    where = f"in the time that {network} takes ({spent})" if equal else "at the end"
    named = word == "not_earned" or (one_seed and better == classic)
    theirs = "its error" if named else f"the error of {classic}"
    text = f"{opening}: {where} {theirs} is {error / ratio:.1e}, that of {network} {error:.1e}"
    return f"{text}, {_factor(gain, ratio)}.{note}"


def _factor(gain: Any, ratio: float) -> str:
    """Return how many times as large, or as small, with the interval over seeds."""
    low, high = 1.0 - gain.high, 1.0 - gain.low
    if ratio < 1.0:
        ratio, low, high = 1.0 / ratio, *((1.0 / end if end else math.inf) for end in (high, low))
        size = "smaller by a factor of"
        shown = times(ratio).removesuffix(" times")
    else:
        size, shown = "larger by a factor of", times(ratio).removesuffix(" times")
    if gain.low == -math.inf:
        return f"{size} {shown}"
    if high > USELESS * max(low, 0.0):
        return f"{size} {shown} (the seeds disagree too much for an interval to be of use)"
    ends = (times(end).removesuffix(" times") for end in (low, high))
    return f"{size} {shown} ({100 * gain.level:g} % interval {' to '.join(ends)}, over seeds)"
