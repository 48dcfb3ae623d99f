"""The verdict of an inverse study that readings decide, as an engineer would say it."""

import math
from typing import Any

from assay.physics.wording import called, duration


def readings_sentence(word: str, said: str, told: dict[str, Any]) -> str:
    """Return the verdict of an inverse study without a known solution.

    Parameters
    ----------
    word, said : str
        The verdict, and the rule's own sentence.
    told : dict
        ``gain``, ``candidate``, ``baselines`` and ``findings`` of the result.

    Returns
    -------
    str
        What to use and why, what was found, and whether the methods agree; the rule's own sentence
        where the comparison does not count.
    """
    if word == "invalid":
        return said
    gain, ours, theirs = told["gain"], told["candidate"], told["baselines"][0]
    network = called(ours)
    classic = f"{theirs.name[:1].lower()}{theirs.name[1:]}"
    found = _found(theirs)
    agreement = _agreement(told["findings"])
    note = said[said.find(" Not checked, because") :] if " Not checked, because" in said else ""
    if gain is None:
        return (
            "Undecided: fewer than 40 readings of fields are too few to hold some back, so neither "
            f"method could be tested; both fitted all of them.{found}{agreement} Until more is "
            f"measured, use {classic}: it solves the equation as declared, and its intervals are "
            f"those of the readings.{note}"
        )
    network_left, left = ours.metrics["error"], theirs.metrics["error"]
    numbers = (
        f"of the readings that were held back {network} leaves {network_left:.3g}, {classic} "
        f"{left:.3g} (root mean square, in noise or spread of a reading)."
    )
    opening = f"Use {network if word == 'earned' else classic}: "
    if word == "undecided":
        spent, needed = (duration(one.metrics["seconds"]) for one in (ours, theirs))
        opening = f"Undecided between {network} and {classic}, which meet them equally well: "
        numbers += (
            f" {network[:1].upper()}{network[1:]} took {spent}, {classic} {needed}. "
            f"{theirs.name} is the safer choice: it solves the equation as declared."
        )
    return f"{opening}{numbers}{found}{agreement}{note}"


def _found(theirs):
    """Return what least squares found, with 95 % intervals."""
    said = []
    for key, value in theirs.metrics.items():
        if key.startswith("found_"):
            low, high = theirs.intervals.get(key, (math.nan, math.nan))
            within = f" ({low:.4g} to {high:.4g})" if math.isfinite(high - low) else ""
            said.append(f"{key.removeprefix('found_')} = {value:.4g}{within}")
    if not said:
        return ""
    return f" {theirs.name} found {', '.join(said)}, with 95 % intervals."


def _agreement(findings):
    """Return whether the parameters of both agree, in the words of the check."""
    for finding in findings:
        if finding.code == "P17" and finding.outcome in ("pass", "warn"):
            return f" {finding.sentence}"
    return ""
