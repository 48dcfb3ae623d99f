"""``assay advise``: which need, which baseline, and whether there is enough data."""

import dataclasses
import json
import math
import shlex
import textwrap
from typing import Any

import click

from assay.cli.options import names
from assay.cli.shell import printable
from assay.cli.streams import tell
from assay.errors import StudyError

# A share of normal rows goes to the threshold: the rest is what methods learn from.
_HELD_OUT = 0.2
_ROWS_A_COLUMN = 10
_RUNS_AN_INPUT = 10
_FEW_COLUMNS = 8
_NEARLY_LINEAR = 0.34


@click.command("advise")
@click.argument("file", type=click.Path(path_type=str, readable=False), metavar="FILE")
@click.option("--label", metavar="NAME", help="Column with 1 for a fault and 0 for normal.")
@click.option("--time", metavar="NAME", help="Column with the time.")
@click.option("--group", metavar="NAME", help="Column that says which rows belong together.")
@click.option("--drop", multiple=True, callback=names, metavar="A,B", help="Columns to leave out.")
@click.option(
    "--false-alarm-rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    metavar="P",
    help="The rate that you have in mind.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the advice as JSON on stdout.")
def command(
    *,
    file: str,
    label: str | None,
    time: str | None,
    group: str | None,
    drop: tuple[str, ...],
    false_alarm_rate: float,
    as_json: bool,
) -> int:
    r"""Look at a table and say what to do with it.

    Fits nothing and opens no test part.

    \b
      assay advise log.csv --label state --time stamp
    """
    from assay.data import profile, read_table

    if file.endswith(".py"):
        raise StudyError(
            f"{file} is a Python file; a table is needed.",
            hint=f"Where it declares an equation, type: assay physics {shlex.quote(file)}:NAME",
        )
    table = read_table(file, label=label, time=time, group=group, drop=drop)
    rows = table.X if table.labels is None else table.X[~table.labels]
    found = profile(rows if len(rows) else table.X)
    given = {"--label": label, "--time": time, "--group": group, "--drop": ",".join(drop)}
    typed = [f"assay anomaly {shlex.quote(file)}"]
    typed += [f"{option} {shlex.quote(value)}" for option, value in given.items() if value]
    advice = advise(table, found, rate=false_alarm_rate, typed=" ".join(typed))
    if as_json:
        told = {"file": table.source, "profile": found, "notes": list(table.notes)}
        told["advice"] = [dataclasses.asdict(a) for a in advice]
        tell(json.dumps(told, indent=2))
    else:
        tell(printable(as_text(table, advice)))
    return 0


@dataclasses.dataclass(frozen=True)
class Advice:
    """One piece of advice: what it is about, a sentence, and a command to type."""

    topic: str
    sentence: str
    command: str = ""


def advise(table: Any, found: dict[str, Any], *, rate: float, typed: str) -> tuple[Advice, ...]:
    """Say which need fits a table, which baseline to start from, and what is too little.

    Parameters
    ----------
    table : assay.data.Table
        The whole table.
    found : dict
        `assay.data.profile` of its normal rows (all rows where there are no labels).
    rate : float [-], 0 to 1
        The false-alarm rate that the user has in mind.
    typed : str
        The command that a study of this table would start with.

    Returns
    -------
    tuple of Advice
    """
    return (
        *_about_data(table, found),
        _about_need(table, typed),
        _about_threshold(table, found["rows"], rate),
        _about_baseline(found),
        _about_network(found),
        *_about_time(table, typed),
        *_about_runs(table, found),
    )


def _about_data(table: Any, found: dict[str, Any]) -> list[Advice]:
    advice = []
    used = found["rows_used"]
    if found["duplicates"] > 0.01 * used:
        advice.append(
            Advice(
                "data",
                f"{found['duplicates']:,} of the {used:,} rows looked at repeat an earlier row. If "
                "copies land in both training and test part, the test is no test: look for the "
                "reason (a sensor that stands still, files joined twice).",
            )
        )
    binary = [] if table.labels is not None else _binary_columns(table)
    if binary:
        advice.append(
            Advice(
                "data",
                f"{binary[0]!r} holds only 0 and 1. If it says what is a fault, name it with "
                "--label: as a column like any other it would give the answer away.",
                f"--label {shlex.quote(binary[0])}",
            )
        )
    still = [table.columns[j] for j in (*found["constant"], *found["near_constant"])]
    if still:
        shown = ", ".join(repr(name) for name in still[:5])
        more = f" and {len(still) - 5} more" if len(still) > 5 else ""
        advice.append(
            Advice(
                "data",
                f"{shown}{more} hardly ever {'change' if len(still) > 1 else 'changes'}: "
                "leave out what carries nothing.",
                f"--drop {shlex.quote(','.join(still[:5]))}",
            )
        )
    return advice


def _binary_columns(table: Any) -> list[str]:
    """Return the columns that hold 0 and 1, both of them, and nothing else."""
    ends = ((table.X == 0.0) | (table.X == 1.0)).all(axis=0) & (table.X.min(axis=0) == 0.0)
    both = ends & (table.X.max(axis=0) == 1.0)
    return [name for name, hit in zip(table.columns, both, strict=True) if hit]


def _about_need(table: Any, typed: str) -> Advice:
    if table.labels is None:
        return Advice(
            "need",
            "No column is named as the label. `anomaly` then sets a threshold on normal rows and "
            "counts alarms, without a verdict on detection; `compress` needs none.",
            typed,
        )
    faults = int(table.labels.sum())
    if 0 < faults < 30:
        extra = f" Only {faults} rows are faults: expect a wide interval on what is detected."
    elif faults == 0:
        extra = " But no row is labelled as a fault, so detection cannot be judged."
    else:
        extra = ""
    return Advice(
        "need",
        f"{table.n_rows - faults:,} rows are normal and {faults:,} are faults: `anomaly` learns "
        f"from normal rows and is judged on the labels.{extra}",
        typed,
    )


def _about_threshold(table: Any, normal: int, rate: float) -> Advice:
    from assay.anomaly.threshold import minimum_rows

    least = minimum_rows(rate)
    held = int(_HELD_OUT * normal)
    sure = rows_for_rate(rate)
    if normal < 2 * least:
        state = f"{normal:,} normal rows cannot carry it: ask for at least {2 / max(normal, 2):.2g}"
    elif held < sure:
        state = (
            f"with about {held} of your {normal:,} normal rows held out it can be set, but the "
            "rate that you will see may be less than half or more than twice of it"
        )
    else:
        state = f"about {held:,} of your {normal:,} normal rows will be held out, which is enough"
    kind = "rows" if table.times is None else "rows (neighbours in time count for less)"
    return Advice(
        "threshold",
        f"A false-alarm rate of {rate:g} takes {least} held-out normal {kind} to set at all, and "
        f"{sure} to be sure of it within half and double; {state}.",
    )


def rows_for_rate(rate: float) -> int:
    """Return the held-out rows that pin the realised false-alarm rate within half and double.

    The realised rate of a conformal threshold at the k-th largest of n scores follows
    Beta(k, n + 1 - k); its 95 % interval must lie in [rate / 2, 2 rate].

    Parameters
    ----------
    rate : float [-], 0 to 1

    Returns
    -------
    int [rows]

    References
    ----------
    .. [1] V. Vovk, Conditional validity of inductive conformal predictors, Machine Learning 92
       (2013), proposition 2a.

    Examples
    --------
    >>> rows_for_rate(0.05)
    219
    """
    from scipy.stats import beta

    # The rate jumps with k, so it is enough to look where k has just grown.
    k = 1
    while True:
        n = math.ceil(k / rate - 1e-9) - 1
        low, high = beta.ppf([0.025, 0.975], k, n + 1 - k)
        if n >= k and low >= rate / 2 and high <= 2 * rate:
            return n
        if n < k or k > 1000:
            return n
        k += 1


def _about_baseline(found: dict[str, Any]) -> Advice:
    rows, columns = found["rows"], found["columns"]
    low, high = found["dimension_90"], found["dimension_99"]
    held = f"{low} principal components hold 90 % of the variance and {high} hold 99 %"
    if rows < 3 * columns:
        return Advice(
            "baseline",
            "There are fewer than three rows a column, so that no covariance can be trusted: start "
            f"from the distance to the nearest normal row and the norm of the row. ({held}.)",
        )
    if columns <= _FEW_COLUMNS:
        return Advice(
            "baseline",
            f"With {columns} columns start from Mahalanobis and Hotelling T2; the distance to the "
            f"nearest normal row if there are several operating conditions. ({held}.)",
        )
    if high <= _NEARLY_LINEAR * columns:
        return Advice(
            "baseline",
            f"{held}, of {columns} columns: nearly linear laws bind the columns. PCA Q, the "
            "distance from those laws, is the baseline that is hard to beat.",
        )
    return Advice(
        "baseline",
        f"{held}, of {columns} columns: no plane of few dimensions holds the data. Start from the "
        "distance to the nearest normal row, with PCA Q beside it.",
    )


def _about_network(found: dict[str, Any]) -> Advice:
    rows, columns, high = found["rows"], found["columns"], found["dimension_99"]
    if rows < _ROWS_A_COLUMN * columns:
        return Advice(
            "network",
            f"{rows} rows for {columns} columns are few for a network: below some "
            f"{_ROWS_A_COLUMN * columns} it rarely earns its cost.",
        )
    if columns > 1 and high <= _NEARLY_LINEAR * columns:
        return Advice(
            "network",
            "An autoencoder has little room: what it could follow, a plane follows nearly as well.",
        )
    return Advice(
        "network",
        "An autoencoder may follow a curved surface where PCA cannot. Whether it does is what a "
        "study finds out.",
    )


def _about_time(table: Any, typed: str) -> list[Advice]:
    if table.times is None:
        return []
    return [
        Advice(
            "time",
            "The rows form a series, so the split is by blocks. Try windows too if a fault shows "
            "in the order of the values and not in the values.",
            f"{typed} --window 60 --step 10",
        )
    ]


def _about_runs(table: Any, found: dict[str, Any]) -> list[Advice]:
    """Say how to ask about a surrogate, where rows may be runs of a simulator."""
    if table.labels is not None or table.times is not None or table.n_columns < 2:
        return []
    outputs, inputs = _likely_outputs(table.columns)
    enough = (
        "that is few: below some ten runs an input no method learns much"
        if found["rows"] < _RUNS_AN_INPUT * inputs
        else "the Gaussian process is the baseline that is hard to beat"
    )
    return [
        Advice(
            "surrogate",
            "If every row is a run of a simulator, ask whether a network can stand in for it. With "
            f"{found['rows']:,} runs and {inputs} input{'s' if inputs > 1 else ''} {enough}.",
            f"assay surrogate {shlex.quote(table.source)} --outputs {shlex.quote(outputs)}",
        )
    ]


def _likely_outputs(names: tuple[str, ...]) -> tuple[str, int]:
    """Return what to type for the outputs, and how many inputs that leaves."""
    from assay.surrogate.naming import numbers_in

    for start in range(1, len(names) - 1):
        found = numbers_in(names[start:])
        if found is not None:
            return f"{names[start][: len(found[1]) + 1]}*", start  # the stem and what ends it
    return names[-1], len(names) - 1


def as_text(table: Any, advice: tuple[Advice, ...]) -> str:
    """Return the advice for a reader.

    Parameters
    ----------
    table : assay.data.Table
    advice : tuple of Advice
    """
    lines = [f"{table.source}: {table.n_rows} rows, {table.n_columns} columns to use"]
    lines += [textwrap.fill(note, 88, initial_indent="  ") for note in table.notes]
    for piece in advice:
        said = textwrap.fill(piece.sentence, 88, initial_indent="  ", subsequent_indent="  ")
        lines += ["", piece.topic, said]
        lines += [f"    {piece.command}"] if piece.command else []
    return "\n".join(lines)
