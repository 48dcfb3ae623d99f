"""``assay anomaly``: whether a network finds the faults that monitoring misses."""

import click

from assay.cli.options import Common, FilesAfterOption, common, names, study

_FILE = click.Path(path_type=str, readable=False)


@click.command("anomaly", cls=FilesAfterOption, greedy=("--test", "--calibration"))
@click.argument("normal", nargs=-1, required=True, type=_FILE, metavar="NORMAL...")
@click.option(
    "--test",
    multiple=True,
    type=_FILE,
    metavar="FILE...",
    help="What is to be judged: takes every file name that follows.",
)
@click.option(
    "--calibration",
    multiple=True,
    type=_FILE,
    metavar="FILE...",
    help="Normal rows to set the threshold on.  [default: a fifth of NORMAL]",
)
@click.option("--label", metavar="NAME", help="Column of the test files: 1 is a fault, 0 normal.")
@click.option(
    "--kind", metavar="NAME", help="Column of the test files that names the kind of fault."
)
@click.option(
    "--intervals",
    type=_FILE,
    metavar="FILE",
    help="JSON with labelled spans of time, where no column has the labels (needs --time).",
)
@click.option("--drop", multiple=True, callback=names, metavar="A,B", help="Columns to leave out.")
@click.option(
    "--columns", multiple=True, callback=names, metavar="A,B", help="Use these columns only."
)
@click.option("--time", metavar="NAME", help="Column with the time; the split is then by blocks.")
@click.option(
    "--window", type=click.IntRange(1), metavar="W", help="Judge windows of W samples, not rows."
)
@click.option(
    "--step", type=click.IntRange(1), metavar="S", help="Samples from one window to the next."
)
@click.option(
    "--group", metavar="NAME", help="Column that says which rows belong together (machine, run)."
)
@click.option(
    "--normal-rows",
    type=click.IntRange(1),
    metavar="N",
    help="The first N rows of each file are normal, the rest is its test part: one study a file.",
)
@click.option(
    "--false-alarm-rate",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.05,
    show_default=True,
    metavar="P",
    help="Share of normal rows that may alarm; sets the threshold.",
)
@click.option(
    "--candidate",
    metavar="NAME",
    help="The network on trial (see `assay list`).  [default: denoising]",
)
@click.option(
    "--candidate-scores",
    type=_FILE,
    metavar="FILE",
    help="Put scores on trial that were made elsewhere: one a row, of NORMAL, then of --test.",
)
@click.option(
    "--components", type=click.IntRange(1), metavar="N", help="Size of the code, and of PCA's."
)
@click.option(
    "--scaling",
    type=click.Choice(["standard", "none", "unit"]),
    default="standard",
    show_default=True,
    help="How columns are scaled, from normal training rows.",
)
@common
def command(
    *,
    common: Common,
    normal: tuple[str, ...],
    test: tuple[str, ...],
    calibration: tuple[str, ...],
    label: str | None,
    kind: str | None,
    intervals: str | None,
    drop: tuple[str, ...],
    columns: tuple[str, ...],
    time: str | None,
    window: int | None,
    step: int | None,
    group: str | None,
    normal_rows: int | None,
    false_alarm_rate: float,
    candidate: str | None,
    candidate_scores: str | None,
    components: int | None,
    scaling: str,
) -> int:
    r"""Find out whether a network finds faults that classical monitoring misses.

    NORMAL... are tables of normal operation (CSV of any dialect, Parquet, NPZ, HDF5). Without
    labels there is no verdict on detection, only thresholds, scores and expected alarms.

    \b
      assay anomaly normal.csv --test week42.csv --label state --out runs/pump
      assay anomaly valve1-*.csv --normal-rows 400 --label anomaly
    """
    settings = {
        "normal": normal,
        "test": test,
        "calibration": calibration,
        "label": label,
        "kind": kind,
        "intervals": intervals,
        "drop": drop,
        "columns": columns,
        "time": time,
        "window": window,
        "step": step,
        "group": group,
        "normal_rows": normal_rows,
        "false_alarm_rate": false_alarm_rate,
        "candidate": candidate,
        "candidate_scores": candidate_scores,
        "components": components,
        "scaling": scaling,
    }
    return study("anomaly", common.folder("anomaly", normal), common, settings)
