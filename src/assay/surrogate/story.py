"""What a surrogate study says beside the numbers: title, notes, tables, the verdict in words."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.estimators import curve_of
from assay.result import ExtraTable, Gain
from assay.study import Parts, Story
from assay.surrogate.curves import Curve
from assay.surrogate.domain import Domain
from assay.surrogate.error_bars import (
    Calibration,
    ErrorBars,
    bars_arrays,
    bars_note,
    bars_table,
)
from assay.surrogate.nearer import Nearer
from assay.surrogate.scoring import (
    Scored,
    Yard,
    by_output,
    label_of,
    metrics_of_need,
    mid_sentence,
    named_by_number,
    worst_runs,
)

if TYPE_CHECKING:
    from assay.surrogate.inputs import Runs

MOST_IN_CSV = 12  # outputs whose values are written out for every test run
LITTLE_SAID = 0.8  # of the width of an interval that knows no inputs, from which one says little


@dataclasses.dataclass(frozen=True, eq=False)
class Told:
    """What was worked out after the test: error bars and learning curves, by method.

    `inside` (n_test,) bool and `distance` (n_test,) [-] say where the test runs are in `domain`,
    the validity domain of the fit part.
    """

    yard: Yard
    candidate: Scored
    best: Scored
    domain: Domain
    inside: np.ndarray
    distance: np.ndarray
    bars: dict[str, ErrorBars]
    calibrations: dict[str, Calibration | None]
    curves: dict[str, Curve | None]
    notes: tuple[str, ...] = ()
    nearer: Nearer | None = None


def story(
    told: Told,
    runs: "Runs",
    parts: Parts,
    test: "Runs",
    candidate: list[Scored],
    baselines: list[Scored],
    gain: Gain | None,
) -> Story:
    """Return what is told beside the numbers of a surrogate study."""
    one = test.n_outputs == 1
    tables = (
        bars_table(list(told.bars.values()), told.yard.unit),
        by_output(told.candidate, told.best, test, told.yard),
        _costs_table([candidate[0], *baselines], parts.fit.n_runs),
        worst_runs(told.candidate, test, told.yard, told.inside),
    )
    return Story(
        title=_title(runs, test),
        metrics=metrics_of_need(told.yard, one_output=one),
        notes=tuple(filter(None, _notes(told, parts, test, gain))),
        tables=tuple(t for t in tables if t is not None),
        arrays=_arrays(told, test),
    )


def _title(runs: "Runs", test: "Runs") -> str:
    where = Path(runs.source.split(", ")[0]).name
    if runs.n_outputs == 1:
        what = runs.outputs[0]
    elif runs.coordinate is not None:
        what = f"a series of {runs.n_outputs} values"
    else:
        what = f"{runs.n_outputs} outputs"
    d = runs.n_inputs
    return f"{where}: {what} from {d} input{'s' if d != 1 else ''}, {test.n_runs:,} test runs"


def _notes(told: Told, parts: Parts, test: "Runs", gain: Gain | None):
    yield _most_runs(told, test, gain)
    yield from _where_to_use(told)
    yield from (bars_note(b) for b in told.bars.values())
    for name, curve in told.curves.items():
        if curve is not None:
            yield (
                f"More runs, {name} (RMS error of the validation runs, {_in(told.yard)}): "
                f"{curve.needed.sentence}"
            )
    yield from told.notes
    yield _pays(told, parts)
    if test.n_outputs > 1 and test.coordinate is None and np.ptp(told.yard.spread) == 0.0:
        yield (
            f"The {test.n_outputs} outputs count as one field with one scale, and go through "
            "their principal components."
        )
    yield from getattr(told.candidate.trained.estimator, "unchecked", ())
    for scored in (told.candidate, told.best):
        bars = told.bars[scored.name]
        yield _too_wide(bars, told.yard)
        if bars.half_width is not None and not np.isfinite(bars.half_width).all():
            yield (
                f"The {mid_sentence(scored.name)} has no calibrated interval: too few runs for "
                "95 %. It takes 19 runs that the fit did not see."
            )


def _most_runs(told: Told, test: "Runs", gain: Gain | None) -> str:
    """Return what the runs say one by one, where their mean says nothing or something else."""
    nearer = told.nearer
    if nearer is None or not nearer.n:
        return ""
    ours, best = (told.yard.losses(s.errors) for s in (told.candidate, told.best))
    names = [mid_sentence(s.name) for s in (told.candidate, told.best)]
    closer = nearer.said(*names)
    chance = f"{nearer.share} is the exact 95 % interval on that share, equals would have 50 %"
    if nearer.decided and (ours.mean() < best.mean()) != nearer.ours:
        far = names[1] if nearer.ours else names[0]
        return (
            f"Most runs and the mean disagree: {closer} ({chance}), the {far} has the smaller "
            "mean squared error, which the largest errors carry. Decide by what hurts you more."
        )
    if gain is None or not gain.low <= 0.0 <= gain.high:
        return ""
    if not nearer.decided:
        return f"Run by run it is as open: {closer} ({chance})."
    logs = ""
    if (test.Y > 0.0).all():
        logs = " Or, if it is the relative error that matters, study the logarithm of the outputs."
    return (
        f"Run by run there is less doubt: {closer} ({chance}). The mean squared error is undecided "
        f"because a few runs carry most of it: more test runs settle it (--test).{logs}"
    )


def _too_wide(bars: ErrorBars, yard: Yard) -> str:
    """Return a sentence where an interval is nearly as wide as one that knows only the spread."""
    blind = 1.96 * float(np.mean(yard.spread / yard.scale)) * yard.factor
    if bars.width is None or not LITTLE_SAID * blind < bars.width < np.inf:
        return ""
    return (
        f"The calibrated interval of the {mid_sentence(bars.name)} says little: its mean half "
        f"width is {_number(bars.width)}, and the spread of the runs alone gives {_number(blind)} "
        f"({_in(yard)})."
    )


def _where_to_use(told: Told):
    out = int(np.sum(~told.inside))
    if out:
        losses = told.yard.losses(told.candidate.errors)
        within = losses[told.inside]
        said = f"RMS error there {_number(told.yard.shown(losses[~told.inside]))}"
        if len(within):
            said += f", elsewhere {_number(told.yard.shown(within))}"
        yield (
            f"{out:,} of {len(losses):,} test runs {'lies' if out == 1 else 'lie'} outside the "
            f"validity domain of the fit runs ({said}, {_in(told.yard)}, {told.candidate.name}). "
            "Do not use predictions there: predict(X, return_valid=True) says where that is."
        )


def _pays(told: Told, parts: Parts) -> str:
    runs = parts.fit.n_runs + parts.validation.n_runs
    said = f"What it takes: {runs:,} runs of the model to learn and choose"
    if told.candidate.row_us is None:
        return said + "."
    ours, best = told.candidate, told.best
    return (
        f"{said}, then {_number(ours.trained.fit_s)} s to fit the {mid_sentence(ours.name)} "
        f"({_number(best.trained.fit_s)} s the {mid_sentence(best.name)}) and "
        f"{_number(ours.batch_us)} µs a prediction. Where the runs have to be made for it, a "
        f"surrogate pays from prediction {runs + 1:,} on."
    )


def _costs_table(scored: list[Scored], n: int) -> ExtraTable:
    rows = tuple((s.name, n, s.trained.fit_s, s.batch_us, s.row_us) for s in scored)
    columns = (
        ("method", ""), ("runs learned from", ""), ("fit", "s"),
        ("a prediction in a batch", "µs"), ("a prediction alone", "µs"),
    )  # fmt: skip
    return ExtraTable("What each costs", columns, rows, "Measured on this machine, first seed.")


def _arrays(told: Told, test: "Runs") -> dict[str, Any]:
    yard, ours, best = told.yard, told.candidate, told.best
    scaled = yard.factor / yard.scale
    rms = [np.sqrt(np.mean((s.errors * scaled) ** 2, axis=0)) for s in (ours, best)]
    arrays: dict[str, Any] = {
        "row_number": test.row_numbers,
        "row_error": np.sqrt(yard.losses(ours.errors)) * yard.factor,
        "row_error_best": np.sqrt(yard.losses(best.errors)) * yard.factor,
        "row_inside_domain": told.inside,
        "row_distance": told.distance,
        "true": test.Y,
        "predicted": ours.predictions,
        "predicted_best": best.predictions,
        "output_name": np.array([label_of(test, j) for j in range(test.n_outputs)], dtype=object),
        "output_rms": rms[0],
        "output_rms_best": rms[1],
        "shown_output": int(np.argmax(rms[0])),
        "unit": yard.unit,
    }
    if test.coordinate is not None:
        where = test.coordinate_name
        if named_by_number(test, 0):  # the name in front of the number is that of the output
            where = f"number in the name, {test.outputs[0]} to {test.outputs[-1]}"
        arrays |= {"coordinate": test.coordinate, "coordinate_name": where}
        arrays["coordinate_unit"] = test.output_units[0]
    if yard.sigma is not None and np.ptp(yard.sigma / yard.scale) == 0.0:
        arrays["sigma"] = yard.factor
    half = told.bars[ours.name].half_width
    if half is not None and np.isfinite(half).all():
        arrays["half_width"] = half
    arrays |= _columns_of_rows(arrays, test)
    for s, prefix in ((ours, "coverage"), (best, "coverage_best")):
        arrays |= bars_arrays(s, told.calibrations[s.name], prefix)
    for s, prefix in ((ours, "curve"), (best, "curve_best")):
        curve = told.curves.get(s.name)
        if curve is not None:
            arrays |= {f"{prefix}_sizes": curve.curve.sizes, f"{prefix}_rms": curve.curve.rms}
            arrays |= {f"{prefix}_needed": np.array(dataclasses.astuple(curve.needed)[:3])}
            arrays[f"{prefix}_target"] = curve.target
    estimator = ours.trained.estimator
    inner = estimator if hasattr(estimator, "history_") else getattr(estimator, "model_", None)
    return arrays | curve_of(inner)


def _columns_of_rows(arrays: dict[str, Any], test: "Runs") -> dict[str, np.ndarray]:
    """Return truth, prediction and interval of every test run, output by output."""
    if test.n_outputs > MOST_IN_CSV:
        return {}
    found = {}
    half = arrays.get("half_width")
    for j, name in enumerate(test.outputs):
        found[f"row_{name}_true"] = arrays["true"][:, j]
        found[f"row_{name}_predicted"] = arrays["predicted"][:, j]
        if half is not None:
            found[f"row_{name}_half_width"] = half[:, j]
        found[f"row_{name}_best_baseline"] = arrays["predicted_best"][:, j]
    return found


def sentence(
    word: str, said: str, told: dict[str, Any], yard: Yard, nearer: Nearer | None = None
) -> str:
    """Return the verdict of a surrogate study in words.

    Parameters
    ----------
    word, said : str
        The verdict, and the rule's own sentence.
    told : dict
        ``gain``, ``candidate``, ``baselines`` and ``findings`` of the result.
    yard : Yard
    nearer : Nearer, optional
        On how many test runs the candidate is nearer than the strongest baseline.
    """
    gain, ours = told["gain"], told["candidate"]
    if word == "invalid" or gain is None:
        return said
    best = next(b for b in told["baselines"] if b.name == gain.against)

    def at(who):
        share = f"{_number(who.metrics['relative_rms'])} % of the spread"
        if yard.unit == "spreads":
            return f"{share} of the outputs"
        unknown = yard.unit.startswith("unit of")
        text = f"{_number(who.metrics['rms'])} "
        text += f"({_in(yard)}, {share}" if unknown else f"{yard.unit} ({share}"
        if "within_sigma" in who.metrics:
            text += f", {who.metrics['within_sigma']:.0f} % of the test runs within sigma"
        return text + ")"

    network, classic = mid_sentence(ours.name), mid_sentence(best.name)
    times = 1.0 - gain.estimate
    opening = {
        "earned": f"Use the {network}: its RMS error is {at(ours)}. That of the {classic}, the "
        f"strongest classical method, is {at(best)}.",
        "not_earned": f"Use the {classic}: its RMS error is {at(best)}. That of the {network} is "
        f"{at(ours)}.",
        "undecided": f"Use the {classic} until more test runs decide: its RMS error is {at(best)}, "
        f"that of the {network} is {at(ours)}.",
    }[word]
    if word == "not_earned" and gain.estimate < -1.0 and gain.high < 0.0:
        least = _number(1.0 - gain.high)
        to = f"{least} times and more" if np.isinf(gain.low) else (
            f"{least} to {_number(1.0 - gain.low)} times"
        )  # fmt: skip
        factor = f"{_number(times)} times" if np.isfinite(times) else "far above"
        rest = f"The squared error of the {network} is {factor} that of the {classic}"
        rest += f" (95 % interval: {to})."
    elif gain.estimate < -9.0:  # a percentage of five digits says less than a factor
        factor = f"{_number(times)} times" if np.isfinite(times) else "far above"
        rest = f"The squared error of the {network} is {factor} that of the {classic}"
        rest += "." if word == "not_earned" else ", but a few runs carry most of it."
    elif word == "undecided" and np.isinf(gain.low):
        rest = "A few test runs carry most of the error: they put no bound on the gain."
    else:
        rest = said.removeprefix("Undecided: ")
    if word == "undecided" and nearer is not None and nearer.decided:
        rest += f" Run by run, {nearer.said(network, classic)}."
    return f"{opening} {rest[:1].upper()}{rest[1:]}"


def _in(yard: Yard) -> str:
    """Return ``"in mm"``, or ``"in the unit of the outputs"`` where that is not known."""
    return f"in the {yard.unit}" if yard.unit.startswith("unit of") else f"in {yard.unit}"


def _number(value: float) -> str:
    """Return three digits, without an exponent where a person would not write one."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if "e+" in text else text
