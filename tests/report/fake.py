"""Results as studies make them, without running one: what the report tests render."""

import dataclasses
import functools

import numpy as np

from assay import figure as fig
from assay.result import (
    Column,
    Contender,
    Cost,
    DataSummary,
    ExtraTable,
    Finding,
    Gain,
    LedgerSummary,
    MetricInfo,
    Part,
    Result,
    SplitSummary,
)

HOSTILE = "<script>alert(1)</script>"
MARKUP = '"><img src=x onerror="alert(2)"> [red]$x_1$ & {{ 7*7 }} \x1b[31m'
UNICODE = "Öltemperatur Lager 3 [°C] 温度 ‮abc"

METRICS = (
    MetricInfo("detection", "Detection rate", "%", "higher", note="share of anomalous rows found"),
    MetricInfo(
        "false_alarms", "False-alarm rate", "%", "target", note="5 % was asked for; normal rows"
    ),
    MetricInfo("auc", "AUC", "-", "higher", role="ranking"),
    MetricInfo("average_precision", "Average precision", "-", "higher", role="ranking"),
    MetricInfo("mean_score", "Mean score of normal rows", "-", "lower", role="detail"),
)

CANDIDATE = Contender(
    name="Autoencoder",
    metrics={
        "detection": 58.1,
        "false_alarms": 4.87,
        "auc": 0.9521,
        "average_precision": 0.781,
        "mean_score": 0.0112,
    },
    intervals={
        "detection": (51.2, 64.9),
        "false_alarms": (3.1, 7.0),
        "auc": (0.934, 0.968),
    },
    spread={"detection": 2.31},
    cost=Cost(fit_s=1.84, predict_us=3.2, parameters=18_624),
    settings={"hidden": (64, 16, 64), "learning_rate": np.float32(1e-3), "noise": None},
    status="Stopped early after 2,400 steps: the validation loss had not fallen for 400 steps.",
    about="A network that copies its input through a narrow code; the score is what it misses.",
)


def baseline(name, detection, auc, fit_s, predict_us, parameters=None, half=6.5):
    return Contender(
        name=name,
        metrics={
            "detection": detection,
            "false_alarms": 4.9,
            "auc": auc,
            "average_precision": auc - 0.17,
            "mean_score": 1.0,
        },
        intervals={
            "detection": (max(detection - half, 0.0), min(detection + half, 100.0)),
            "false_alarms": (3.2, 6.9),
            "auc": (auc - 0.02, min(auc + 0.015, 1.0)),
        },
        cost=Cost(fit_s=fit_s, predict_us=predict_us, parameters=parameters),
        settings={"components": 12},
        about=f"{name}, tuned on normal validation rows only.",
    )


BASELINES = (
    baseline("PCA Q", 32.0, 0.862, 0.012, 0.8, 768),
    baseline("Hotelling T2", 21.4, 0.792, 0.012, 0.7, 768),
    baseline("kNN distance", 75.2, 0.968, 0.004, 41.0),
    baseline("Mahalanobis", 44.0, 0.921, 0.02, 1.1, 4160),
    baseline("Norm of the row", 12.6, 0.701, 0.0004, 0.05, 0),
    baseline("Isolation forest", 18.9, 0.823, 0.31, 22.4),
)

GAINS = (
    Gain(0.384, 0.291, 0.472, "PCA Q", "missed detections"),
    Gain(0.467, 0.381, 0.549, "Hotelling T2", "missed detections"),
    Gain(-0.689, -1.081, -0.352, "kNN distance", "missed detections", more_data=None),
    Gain(0.252, 0.134, 0.361, "Mahalanobis", "missed detections"),
    Gain(0.521, 0.442, 0.6, "Norm of the row", "missed detections"),
    Gain(0.483, 0.4, 0.561, "Isolation forest", "missed detections"),
)

FINDINGS = (
    Finding(
        "A01",
        "Threshold from too few rows",
        "pass",
        "fail",
        539.0,
        59.0,
        "539 normal validation rows carry the threshold; 59 would do at 5 %.",
        unit="rows",
    ),
    Finding(
        "A03",
        "Operating condition shifted",
        "pass",
        "fail",
        4.87,
        7.2,
        "Normal test rows alarm at 4.9 %, as the threshold promises.",
        interval=(3.1, 7.0),
        unit="%",
    ),
    Finding(
        "A02",
        "Normal data contaminated",
        "warn",
        "warn",
        0.021,
        0.01,
        "2.1 % of the normal rows lie far outside the rest, in three runs of neighbouring rows.",
        cause="A fault, or a start of the machine, was recorded among the normal rows.",
        fix=(
            "Look at rows 1204 to 1231 of normal.csv and take them out if they are not normal.",
            "Give the start of the machine a column of its own and leave those rows out.",
        ),
        interval=(0.012, 0.034),
    ),
    Finding(
        "A07",
        "Anomalies that look normal",
        "not_applicable",
        "warn",
        None,
        None,
        "The file names no kinds of anomaly.",
    ),
    Finding(
        "A08",
        "Adds nothing over the norm of the row",
        "error",
        "warn",
        None,
        None,
        "The check itself failed (ZeroDivisionError: division by zero), so it says nothing "
        "about this study.",
        fix=("Report this message: a check must never crash.",),
    ),
    Finding(
        "C01",
        "Identity map",
        "pass",
        "fail",
        0.412,
        0.05,
        "Rows from nowhere are copied 41 % as badly as they should be: the network has learned "
        "the data and not copying.",
    ),
    Finding(
        "C04",
        "Leakage between parts",
        "pass",
        "fail",
        0.0,
        0.0,
        "No row of the test part is also in training.",
        unit="rows",
    ),
)

SHIFTED = dataclasses.replace(
    FINDINGS[1],
    outcome="fail",
    measured=97.3,
    interval=(96.1, 98.4),
    sentence="97 % of the normal test rows alarm, where 5 % was promised: the test days run under "
    "another condition than the normal data.",
    cause="Load, season or set-point differ between the normal data and the test file.",
    fix=(
        "Take the normal rows from the same days as the test: --normal-rows 400.",
        "Add the operating condition (load, ambient temperature) as a column.",
    ),
)


def columns(n=8):
    names = [HOSTILE, UNICODE, "pressure", "flow", MARKUP, "current", "vibration_x", "empty unit"]
    units = ["bar", "°C", "bar", "m³/h", "-", "A", "mm/s", ""]
    rng = np.random.default_rng(1)
    made = []
    for i in range(n):
        centre, spread = rng.normal(0, 50), rng.uniform(0.01, 9)
        made.append(
            Column(
                names[i] if i < len(names) else f"sensor_{i:05d}",
                units[i % len(units)],
                centre - 3 * spread,
                centre + 3 * spread,
                centre,
                spread,
            )
        )
    return tuple(made)


def arrays(n=1200):
    rng = np.random.default_rng(0)
    label = np.arange(n) % 5 == 0
    score = np.where(label, rng.lognormal(0.6, 0.5, n), rng.lognormal(-0.4, 0.4, n))
    return {
        "row_number": np.arange(2, n + 2),
        "row_time": np.datetime64("2026-01-01T00:00:00", "us")
        + np.arange(n) * np.timedelta64(1, "s"),
        "row_score": score,
        "row_alarm": score > 1.4,
        "row_label": label,
        "threshold": np.array(1.4),
    }


def not_earned():
    """The study that the engineer did not expect: the nearest neighbour wins."""
    return Result(
        need="anomaly",
        title="week42.csv (1,200 rows) against normal.csv (2,156 rows)",
        verdict="not_earned",
        sentence="The autoencoder misses 69 % more of the anomalies than the kNN distance does, "
        "at the same false-alarm rate (95 % interval 35 % to 108 % more).",
        gain=GAINS[2],
        gains=GAINS,
        candidate=CANDIDATE,
        baselines=BASELINES,
        metrics=METRICS,
        findings=FINDINGS,
        split=SplitSummary(
            parts=(
                Part("fit", 1617, "normal.csv", "scaling and training"),
                Part("validation", 539, "normal.csv", "early stopping and thresholds"),
                Part("test", 1200, "week42.csv", "opened once, for every number on this page"),
            ),
            rule="A quarter of the normal rows, drawn by blocks of 100 rows, was held out.",
            unit="row",
        ),
        data=DataSummary(
            sources=("normal.csv", "week42.csv"),
            rows=3356,
            columns=columns(),
            notes=(
                "normal.csv: separator ';', decimal comma, Latin-1.",
                "14 rows with a missing value were set aside, first lines 88, 91 and 240.",
                "Column 'state' holds text and is not used.",
            ),
            profile={
                "effective dimension 90 %": 7,
                "effective dimension 99 %": 31,
                "duplicates": 0,
            },
        ),
        ledger=LedgerSummary(
            path="runs/ledger.jsonl",
            rows_hash="9f2c4e1ab83d77e0",
            openings=3,
            entries=(
                {"time": "2026-01-14T09:12:44", "study": "5d21c0ffee99aa01", "rows": 1200},
                {"time": "2026-01-15T17:40:02", "study": "5d21c0ffee99aa02", "rows": 400},
            ),
            sentence="These rows have been opened twice before. Each further look makes the "
            "interval above a little too narrow.",
        ),
        settings={
            "need": "anomaly",
            "seed": 0,
            "seeds": 3,
            "margin": 0.0,
            "normal": "normal.csv",
            "test": "week42.csv",
            "label": "state",
            "time": None,
            "false_alarm_rate": 0.05,
            "candidate": {"hidden": [64, 16, 64], "learning_rate": 0.001},
        },
        versions={"assay": "0.1.0", "python": "3.12.4", "jax": "0.10.2", "numpy": "2.3.1"},
        started="2026-01-16T08:30:11+00:00",
        seconds=11.7,
        notes=("The labels of week42.csv are taken as they are: nobody checked them.",),
        tables=(
            ExtraTable(
                "Detection by kind of anomaly",
                (("Kind", ""), ("Rows", ""), ("Candidate", "%"), ("kNN distance", "%")),
                (
                    ("valve stuck", 120, 81.25, 90.0),
                    (HOSTILE, 80, 40.5, None),
                    ("cavitation", 40, float("nan"), 55.0),
                ),
                note="Kinds with fewer than 50 rows say little.",
            ),
        ),
        arrays=arrays(),
    )


def earned():
    gain = Gain(0.312, 0.208, 0.41, "PCA Q", "missed detections")
    return dataclasses.replace(
        not_earned(),
        verdict="earned",
        sentence="The autoencoder misses 31 % fewer anomalies than PCA Q at the same false-alarm "
        "rate (95 % interval 21 % to 41 %).",
        gain=gain,
        gains=(gain, *GAINS[3:]),
        baselines=(BASELINES[0], *BASELINES[3:]),
    )


def undecided():
    gain = Gain(0.061, -0.082, 0.201, "kNN distance", "missed detections", more_data=4.6)
    return dataclasses.replace(
        not_earned(),
        verdict="undecided",
        sentence="The gain of 6 % over the kNN distance may be chance: its interval runs from 8 % "
        "worse to 20 % better.",
        gain=gain,
        gains=(gain, *GAINS[3:]),
    )


def invalid():
    return dataclasses.replace(
        not_earned(),
        verdict="invalid",
        sentence="The normal test rows alarm at 97 % where 5 % was promised, so no detection rate "
        "on this test part means anything.",
        findings=(FINDINGS[0], SHIFTED, *FINDINGS[2:]),
    )


def no_labels():
    """Without labels there are thresholds and expected alarms, and nothing to compare."""
    bare = {"alarms": 31.5}
    metrics = (MetricInfo("alarms", "Expected alarms", "1/day", "target"),)
    strip = lambda c: dataclasses.replace(c, metrics=bare, intervals={}, spread={})
    return dataclasses.replace(
        not_earned(),
        verdict="undecided",
        sentence="Without labels the study says how often each method will alarm, and not what "
        "it finds.",
        gain=None,
        gains=(),
        candidate=strip(CANDIDATE),
        baselines=tuple(map(strip, BASELINES)),
        metrics=metrics,
        ledger=None,
        tables=(),
        notes=(),
        findings=(),
    )


def hostile():
    """Text from outside wherever a study lets it in, and numbers that are none."""
    result = not_earned()
    evil = f"{HOSTILE} {MARKUP}"
    nan = float("nan")
    named = tuple(
        dataclasses.replace(b, name=f"{evil} {i}", about=evil, status=evil, settings={evil: evil})
        for i, b in enumerate(BASELINES[:2])
    )
    return dataclasses.replace(
        result,
        title=evil,
        sentence=evil,
        gain=Gain(-0.2, -0.3, -0.1, named[0].name, evil),
        gains=(Gain(-0.2, -0.3, -0.1, named[0].name), Gain(nan, nan, nan, named[1].name)),
        candidate=dataclasses.replace(
            CANDIDATE,
            name=evil,
            metrics={"detection": nan, "false_alarms": np.float64("inf"), evil: 1.0},
            intervals={"detection": (nan, nan)},
            cost=Cost(nan, float("inf"), None),
        ),
        baselines=named,
        metrics=(*METRICS[:2], MetricInfo("x", evil, evil, "lower", note=evil)),
        findings=(
            Finding("X1", evil, "fail", "warn", nan, None, evil, evil, (evil, evil), unit=evil),
            Finding("X2", evil, "pass", "warn", 1.0, 2.0, evil, unit=evil),
            Finding("X3", evil, "not_applicable", "warn", None, None, evil),
        ),
        split=SplitSummary((Part(evil, 3, evil, evil),), evil, evil),
        data=dataclasses.replace(
            result.data,
            sources=(evil, "bad\udcffname.csv"),
            columns=(*columns(), Column("x" * 5000, evil, nan, nan, nan, nan)),
            notes=(evil,),
            profile={evil: {evil: nan}},
        ),
        ledger=LedgerSummary(evil, evil, 2, ({"time": evil, "study": evil, "rows": None},), evil),
        tables=(ExtraTable(evil, ((evil, evil),), ((evil,), (None,)), evil),),
        settings={evil: [evil, nan, None, {"a": np.int64(3)}], "deep": {evil: {evil: evil}}},
        versions={evil: evil},
        notes=(evil,),
    )


@functools.cache
def large():
    """10,000 columns, 12 baselines, 500 notes, sentences that do not end."""
    result = not_earned()
    long = "This sentence goes on, as the sentences of careful people do, " * 60
    return dataclasses.replace(
        result,
        baselines=(
            *BASELINES,
            *(dataclasses.replace(b, name=f"{b.name} ({i})") for i, b in enumerate(BASELINES)),
        ),
        gains=(
            *GAINS,
            *(dataclasses.replace(g, against=f"{g.against} ({i})") for i, g in enumerate(GAINS)),
        ),
        sentence=long,
        findings=tuple(
            dataclasses.replace(f, code=f"{f.code}{i}", sentence=long, cause=long)
            for i in range(5)
            for f in FINDINGS
        ),
        data=dataclasses.replace(
            result.data,
            columns=columns(10_000),
            notes=tuple(f"Note {i}: {long}" for i in range(500)),
            sources=tuple(f"valve-{i}.csv" for i in range(300)),
        ),
        settings={"columns": [f"sensor_{i:05d}" for i in range(10_000)]},
        notes=(long,),
        arrays=arrays(200_000),
    )


VERDICTS = {"earned": earned, "not_earned": not_earned, "undecided": undecided, "invalid": invalid}


def pooled():
    """Several files with a study each."""
    studies = (("a/valve1-0.csv", earned()), (f"{HOSTILE}.csv", no_labels()))
    return dataclasses.replace(undecided(), studies=studies)


def factors():
    """Losses that lie orders of magnitude apart: gains told as factors, in long words."""
    gains = (
        Gain(-11.0, -23.6, -3.62, "kNN distance", "squared error"),
        Gain(0.94, float("-inf"), 0.977, "PCA Q"),
        Gain(1 - 1 / 2600, 1 - 1 / 1200, 1 - 1 / 6500, "Norm of the row"),
        Gain(1 - 1e-5, 1 - 1 / 23_000, 1 - 1 / 870_000, "Hotelling T2"),
    )
    return dataclasses.replace(not_earned(), gain=gains[0], gains=gains)


ALL = {
    **VERDICTS, "no_labels": no_labels, "hostile": hostile, "large": large, "pooled": pooled,
    "factors": factors,
}  # fmt: skip


def _draw_scores(result, figure):
    axes = fig.new_axes(figure, xlabel="score [-]", ylabel="share of rows [%]")
    label, score = result.arrays["row_label"], result.arrays["row_score"]
    edges = np.linspace(0, 5, 41)
    colours = fig.COLOURS
    fig.add_histogram(axes, score[~label], edges, colour=colours.normal, label="normal rows")
    fig.add_histogram(axes, score[label], edges, colour=colours.anomaly, label="anomalies")
    fig.add_threshold(axes, float(result.arrays["threshold"]), label="threshold")
    fig.add_legend(axes)


def _draw_roc(result, figure):
    axes = fig.new_axes(figure, xlabel="false-alarm rate [%]", ylabel="detection rate [%]")
    label, score = result.arrays["row_label"], result.arrays["row_score"]
    order = np.argsort(-score)
    x = 100 * np.cumsum(~label[order]) / (~label).sum()
    y = 100 * np.cumsum(label[order]) / label.sum()
    axes.plot(*fig.thin_curve(x, y), color=fig.COLOURS.candidate, label=HOSTILE)
    axes.plot([0, 100], [0, 100], color=fig.COLOURS.baseline, label="$ chance $ & luck")
    fig.add_legend(axes)


def _draw_time(result, figure):
    axes = fig.new_axes(figure, xlabel="time", ylabel="score [-]", yscale="log")
    axes.plot(
        *fig.thin_curve(result.arrays["row_time"], result.arrays["row_score"]),
        color=fig.COLOURS.normal,
        linewidth=0.7,
    )
    fig.add_threshold(axes, 1.4, along="y")


def _draw_cloud(result, figure):
    del result
    axes = fig.new_axes(figure)
    points = np.random.default_rng(0).normal(size=(2, 20_000))
    axes.plot(*points, ".", markersize=1, color=fig.COLOURS.accent)


def _draw_broken(result, figure):
    raise KeyError("row_missing")


FIGURES = (
    fig.FigureSpec(
        "scores",
        "Scores and threshold",
        lambda r: (
            f"Scores of {len(r.arrays['row_score']):,} test rows. Right of the dashed line a "
            f"row alarms. {HOSTILE}"
        ),
        _draw_scores,
        applies=lambda r: "row_label" in r.arrays,
    ),
    fig.FigureSpec("roc", "Every threshold", lambda r: "Not the operating point.", _draw_roc),
    fig.FigureSpec(
        "time",
        "Scores over time",
        lambda r: "The score of each row in the order of the file.",
        _draw_time,
        size=(10.4, 3.0),
    ),
)
CLOUD = fig.FigureSpec("cloud", "A cloud", lambda r: "Too many points for a drawing.", _draw_cloud)
BROKEN = fig.FigureSpec("broken", "Broken", lambda r: "", _draw_broken)
ABSENT = fig.FigureSpec("absent", "Absent", lambda r: "", _draw_broken, applies=lambda r: False)
