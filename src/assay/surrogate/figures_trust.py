"""Figures on what to trust: what more runs buy, training, error bars, the validity domain."""

import numpy as np

from assay.data.chars import counted
from assay.figure import COLOURS, add_legend, new_axes, shorten, thin_curve, thin_points
from assay.train import FitStatus

_NAME = 26  # characters of a method's name in a legend


def candidate_of(result):
    """Return the candidate's name for a legend."""
    return shorten(result.candidate.name, _NAME)


def best_of(result):
    """Return the strongest baseline's name for a legend."""
    return shorten(result.gain.against, _NAME) if result.gain else "best baseline"


def unit_of(result):
    """Return the unit that errors are in, short enough for an axis."""
    unit = result.arrays["unit"]
    return "output's unit" if unit.startswith("unit of") else unit


def has_rows(result):
    """Whether the result holds errors run by run."""
    return "row_error" in result.arrays


# --- learning curve -------------------------------------------------------------------------


def has_curve(result):
    """Whether the result holds a learning curve."""
    return "curve_sizes" in result.arrays or "curve_best_sizes" in result.arrays


def draw_learning(result, figure):
    """Draw the error against the number of runs, and where the target is."""
    from matplotlib.ticker import NullLocator

    arrays = result.arrays
    axes = new_axes(
        figure,
        xlabel="runs learned from [-]",
        ylabel=f"RMS, validation runs [{unit_of(result)}]",
        xscale="log",
        yscale="log",
    )
    ticks = set()
    for key, colour, who in (
        ("curve_best", COLOURS.baseline, best_of(result)),
        ("curve", COLOURS.candidate, candidate_of(result)),
    ):
        if f"{key}_sizes" not in arrays:
            continue
        sizes, rms = arrays[f"{key}_sizes"], arrays[f"{key}_rms"]
        ticks |= set(sizes.tolist())
        mean = np.exp(np.nanmean(np.log(rms), axis=1))
        axes.plot(sizes, mean, "o-", color=colour, markersize=5, label=who)
        axes.plot(np.repeat(sizes, rms.shape[1]), rms.ravel(), ".", color=colour, alpha=0.5)
        needed, low, high = arrays[f"{key}_needed"]
        if sizes[-1] < needed <= 10 * sizes[-1]:
            here = arrays[f"{key}_target"]
            ends = [max(low, sizes[0]), min(high, 10.0 * sizes[-1])]
            axes.plot(ends, [here, here], color=colour, linewidth=1.2, alpha=0.8)
            ticks.add(float(f"{needed:.2g}"))
            axes.plot([needed], [here], "D", color=colour, markersize=5, markerfacecolor="none")
    if "sigma" in arrays:
        axes.axhline(
            arrays["sigma"], color=COLOURS.threshold, linestyle="--", linewidth=1.0, label="sigma"
        )
    axes.set_xticks(sorted(ticks), [f"{t:,.0f}" for t in sorted(ticks)])
    axes.xaxis.set_minor_locator(NullLocator())
    add_legend(axes)


def caption_learning(result):
    """Say what the curves show."""
    target = "sigma" if "sigma" in result.arrays else "half of the present error"
    return (
        "What more runs of the model buy: error on the validation runs after learning from a part "
        f"of the fit runs. A diamond with its 95 % interval marks the runs that reach {target}; "
        "without one, that is out of reach, beyond ten times the runs, or not to be said."
    )


# --- training -------------------------------------------------------------------------------


def has_history(result):
    """Whether the result holds a training curve."""
    return "history_train" in result.arrays


def draw_training(result, figure):
    """Draw training and held-out loss."""
    arrays = result.arrays
    axes = new_axes(
        figure,
        xlabel="training step [-]",
        ylabel="mean squared error [scaled units²]",
        yscale="log",
    )
    steps = arrays["history_step"]
    axes.plot(
        *thin_curve(steps, arrays["history_train"]), color=COLOURS.candidate, label="training"
    )
    held = arrays.get("history_validation")
    if held is not None and np.isfinite(held).any():
        curve = thin_curve(steps, held)
        axes.plot(*curve, color=COLOURS.accent, linestyle="--", label="held-out runs")
    add_legend(axes)


def caption_training(result):
    """Say what the curves show, and what the check of the training found beyond them."""
    return f"Loss while the candidate was trained (first seed). {_ended(result)}".rstrip()


def _ended(result):
    """Return how training ended: where its steps were used up, S06 knows whether more would pay."""
    status = result.candidate.status
    found = next((f.outcome for f in result.findings if f.code == "S06"), "")
    known = {
        "pass": "Training used all its steps; the training loss was still falling at the last one, "
        "but more steps would hardly pay (S06).",
        "warn": "Training used all its steps and had not finished (S06): more steps may give a "
        "better network.",
    }
    unsure = FitStatus.BUDGET.sentence
    return status.replace(unsure, known.get(found, unsure))


# --- calibration ----------------------------------------------------------------------------


def has_coverage(result):
    """Whether the result holds coverages."""
    return "coverage_level" in result.arrays


def draw_coverage(result, figure):
    """Draw the share of outputs inside intervals against what was asked for."""
    arrays = result.arrays
    asked = 100.0 * arrays["coverage_level"]
    axes = new_axes(figure, xlabel="asked for [%]", ylabel="test outputs inside the interval [%]")
    axes.plot([0, 100], [0, 100], color=COLOURS.threshold, linewidth=1.0, linestyle="--")
    band = 196.0 * np.sqrt(arrays["coverage_level"] * (1 - arrays["coverage_level"]))
    half = band / np.sqrt(len(arrays["row_error"]))
    axes.fill_between(
        asked, asked - half, np.minimum(asked + half, 100.0), color=COLOURS.grid, alpha=0.6,
        linewidth=0,
    )  # fmt: skip
    for key, colour, who in (
        ("coverage", COLOURS.candidate, candidate_of(result)),
        ("coverage_best", COLOURS.baseline, best_of(result)),
    ):
        axes.plot([], [], color=colour, linewidth=3.0, label=who)
        for kind, style in (("raw", ":"), ("calibrated", "-")):
            if f"{key}_{kind}" in arrays:
                observed = 100.0 * arrays[f"{key}_{kind}"]
                axes.plot(asked, observed, style, color=colour, marker="o", markersize=3)
    for style, said in ((":", "raw spread"), ("-", "calibrated")):
        axes.plot([], [], style, color=COLOURS.muted, label=said)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 102)
    add_legend(axes)


def caption_coverage(result):
    """Say what the lines show."""
    del result
    return (
        "Intervals are right where their line is on the dashed one; below it they promise too "
        "much, above it they are too wide. The grey band is the chance of so few test runs; "
        "calibrated lines may leave it somewhat, since the calibration runs are few too."
    )


# --- errors against the distance from the runs ----------------------------------------------


def draw_domain(result, figure):
    """Draw the error of each test run against its distance from the fit runs."""
    arrays = result.arrays
    keep = thin_points(len(arrays["row_error"]), limit=1500)
    distance = np.maximum(arrays["row_distance"][keep], 1e-3)
    error = np.maximum(arrays["row_error"][keep], 1e-12)
    inside = np.asarray(arrays["row_inside_domain"])[keep]
    wide = distance.max() / distance.min() > 30
    axes = new_axes(
        figure,
        xlabel="distance to the nearest fit run [limit of the domain]",
        ylabel=f"error, {candidate_of(result)} [{unit_of(result)}]",
        xscale="log" if wide else "linear",
        yscale="log",
    )
    for which, colour, label in (
        (inside, COLOURS.candidate, "inside the domain"),
        (~inside, COLOURS.anomaly, "outside"),
    ):
        if which.any():
            axes.plot(
                distance[which], error[which], ".", color=colour, markersize=4, alpha=0.6,
                label=label,
            )  # fmt: skip
    if distance.max() > 0.8:
        axes.axvline(1.0, color=COLOURS.threshold, linewidth=1.1, linestyle=(0, (4, 2.5)))
    if "sigma" in arrays:
        axes.axhline(
            arrays["sigma"], color=COLOURS.threshold, linestyle=":", linewidth=1.0, label="sigma"
        )
    add_legend(axes, above=True)


def caption_domain(result):
    """Say what the points show."""
    out = int(np.sum(~np.asarray(result.arrays["row_inside_domain"])))
    lies = "lies" if out == 1 else "lie"
    said = f"{counted(out, 'test run')} {lies} outside" if out else "No test run lies outside"
    return (
        "Error of each test run against its distance to the nearest fit run; beyond the dashed "
        f"line, or outside the box of the inputs, a run is outside the validity domain. {said}."
    )
