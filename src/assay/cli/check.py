"""``assay check``: whether new data are inside what a saved model was trained on."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from assay.cli.options import names
from assay.cli.shell import EXIT_OK, EXIT_OUTSIDE, printable
from assay.cli.streams import tell
from assay.errors import DataError, ModelError

if TYPE_CHECKING:
    from assay.cli.validity import OutsideDomain

_SHOWN = 20


@click.command("check")
@click.argument("model", type=click.Path(path_type=Path, readable=False), metavar="MODEL")
@click.argument("data", type=click.Path(path_type=str, readable=False), metavar="DATA")
@click.option("--drop", multiple=True, callback=names, metavar="A,B", help="Columns to leave out.")
@click.option(
    "--columns", multiple=True, callback=names, metavar="A,B", help="Use these columns only."
)
@click.option(
    "--allow",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    metavar="P",
    help="Share of rows that may lie outside in a column.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON on stdout.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the outcome.")
def command(
    *,
    model: Path,
    data: str,
    drop: tuple[str, ...],
    columns: tuple[str, ...],
    allow: float,
    as_json: bool,
    exit_zero: bool,
) -> int:
    r"""Say which rows of DATA lie outside what a saved model was trained on.

    MODEL is the folder of a study, whose verdict then says which of its models is asked, or a
    folder in it: `model` is the candidate, `baseline` the strongest baseline. Exits with 0 if every
    column has at most the allowed share of rows outside its training range, with 3 if not. A few
    rows outside are to be expected: new rows set new records. Of a surrogate the whole validity
    domain is asked: box, density of the training runs, disagreement of the ensemble.

    \b
      assay check runs/pump week43.csv
    """
    found = check_data(model, data, columns=columns, drop=drop, allow=allow)
    if as_json:
        tell(json.dumps(dataclasses.asdict(found), indent=2))
    else:
        tell(printable(found.text()))
    return EXIT_OK if found.inside or exit_zero else EXIT_OUTSIDE


@dataclasses.dataclass(frozen=True)
class Outside:
    """How new data lie against the training range of a model.

    Attributes
    ----------
    model, data : str
    rows : int
        Rows (or windows) that were looked at.
    rows_outside : int
        Rows that are outside in at least one column.
    first_rows : tuple of int
        The first of them, as row numbers in the source.
    columns : tuple of (str, float, float, float)
        Name, share of rows outside [-], and training range, for each column with any row outside,
        worst first.
    allow : float [-]
        The share that was allowed.
    inside : bool
        Whether every column keeps to it.
    alarms : int or None
        Rows that alarm, where the model is a detector with a threshold.
    notes : tuple of str
        What the reader of the table did or noticed.
    """

    model: str
    data: str
    rows: int
    rows_outside: int
    first_rows: tuple[int, ...]
    columns: tuple[tuple[str, float, float, float], ...]
    allow: float
    inside: bool
    alarms: int | None
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return the outcome for a reader."""
        word = "INSIDE" if self.inside else "OUTSIDE"
        lines = [f"{word}: {self.data} against {self.model}", ""]
        share = self.rows_outside / self.rows
        lines.append(
            f"{self.rows_outside:,} of {self.rows:,} rows ({_percent(share)}) lie outside the "
            f"training range in at least one column; {_percent(self.allow)} are allowed in each."
        )
        if self.first_rows:
            lines.append(f"First rows outside: {', '.join(map(str, self.first_rows))}.")
        if self.columns:
            width = max(len(name) for name, *_ in self.columns[:_SHOWN])
            lines += ["", f"{'column':<{width}}  outside  trained on"]
        for name, part, low, high in self.columns[:_SHOWN]:
            lines.append(f"{name:<{width}}  {_percent(part):>7}  {low:.4g} to {high:.4g}")
        if len(self.columns) > _SHOWN:
            lines.append(f"and {len(self.columns) - _SHOWN} more columns")
        if self.alarms is not None:
            lines += [
                "",
                f"{self.alarms:,} of {self.rows:,} rows "
                f"({_percent(self.alarms / self.rows)}) alarm.",
            ]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def check_data(
    model: Path, data: str, *, columns: tuple[str, ...], drop: tuple[str, ...], allow: float
) -> "Outside | OutsideDomain":
    """Hold a table against the training range, or the validity domain, of a saved model.

    Parameters
    ----------
    model : Path
        The folder of a saved model, or of a study that holds one.
    data : str
        Any table that `assay.data.read_table` takes.
    columns, drop : tuple of str
        The columns to use, or to leave out; by default those that the model was trained on.
    allow : float [-], 0 to 1
        Share of rows that may lie outside in a column.

    Returns
    -------
    Outside, or OutsideDomain for a surrogate

    Raises
    ------
    ModelError
        When there is no such model, or it does not know its training range.
    DataError
        When the table cannot be read, or has other columns than the model.
    """
    from assay.data import read_table
    from assay.models import load, load_model

    folder = model_folder(model)
    estimator = load(folder)
    family, _, _, extra = load_model(folder)
    _require_usable(extra, folder)
    if family.startswith("surrogate."):
        from assay.cli.validity import check_runs

        asked = {"columns": columns, "drop": drop, "allow": allow}
        return check_runs(estimator, folder, extra, data, **asked)
    scaler = getattr(estimator, "scaler_", None)
    if scaler is None:
        raise ModelError(
            f"The model in {folder} does not know the range that it was trained on.",
            hint="fit and save it again with this version of Assay.",
        )
    wanted = columns or tuple(extra.get("columns", ())) or None
    table = read_table(data, columns=wanted, drop=drop)
    X, rows = _as_trained(table, extra, len(scaler.low), folder)
    titles = [table.columns[i % table.n_columns] for i in range(X.shape[1])]
    return _outside(folder, table, X, rows, titles, scaler, allow, _alarms(estimator, extra, X))


def model_folder(path: Path) -> Path:
    """Return the folder of the model that is meant by `path`.

    Parameters
    ----------
    path : Path
        The folder of a saved model, or of a study: then the model that its verdict says to use or,
        where that was not saved, the one that was.
    """
    from assay.report.saved import BASELINE, CANDIDATE

    there = [name for name in (CANDIDATE, BASELINE) if (path / name).is_dir()]
    if not there:
        return path
    advised = [name for name in _advised(path / "result.json") if name in there]
    return path / (advised or there)[0]


def _advised(result: Path) -> list[str]:
    """Return the folders that a `result.json` advises; none if it cannot be read or is older."""
    try:
        models = json.loads(result.read_bytes()).get("models", [])
        return [one["folder"] for one in models if one["advised"] is True]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def _require_usable(extra: dict[str, Any], folder: Path) -> None:
    """Raise ModelError where what is kept beside the weights is not what a study writes."""
    import msgspec

    kinds = {
        "columns": list[str],
        "threshold": float | None,
        "window": Annotated[int, msgspec.Meta(ge=1)] | None,
        "step": Annotated[int, msgspec.Meta(ge=1)] | None,
    }
    for name, kind in kinds.items():
        try:
            msgspec.convert(extra.get(name, [] if name == "columns" else None), kind)
        except msgspec.ValidationError as error:
            raise ModelError(
                f"The model in {folder} has a `{name}` that cannot be used: {error}.",
                hint="The folder is damaged or was edited; save the model again.",
            ) from error


def _as_trained(table: Any, extra: dict[str, Any], width: int, folder: Path) -> tuple[Any, Any]:
    """Return rows, or windows where the model was trained on windows, and their row numbers."""
    from assay.data import windows

    size = extra.get("window")
    if size and table.n_columns * size == width:
        cut = windows(table.X, table.times, window=size, step=extra.get("step") or 1)
        if len(cut.X):
            return cut.X, table.row_numbers[cut.last]
        raise DataError(
            f"{table.source} has {table.n_rows} rows; the model judges windows of {size}.",
            hint="give it a longer record.",
        )
    if table.n_columns != width:
        raise DataError(
            f"{table.source} has {table.n_columns} columns to use, the model in {folder} was "
            f"trained on {width}.",
            hint="name the columns of the training data, in their order, with --columns.",
        )
    return table.X, table.row_numbers


def _alarms(estimator: Any, extra: dict[str, Any], X: Any) -> int | None:
    threshold = extra.get("threshold")
    if threshold is None or not hasattr(estimator, "anomaly_score"):
        return None
    return int((estimator.anomaly_score(X) > threshold).sum())


def _outside(folder, table, X, rows, titles, scaler, allow, alarms) -> Outside:
    import numpy as np

    out = (X < scaler.low) | (X > scaler.high)
    shares: dict[str, tuple[float, float, float]] = {}
    for j in np.argsort(-out.mean(axis=0), kind="stable"):
        if out[:, j].any():  # a window shows a column several times: its worst place counts
            found = (float(out[:, j].mean()), float(scaler.low[j]), float(scaler.high[j]))
            shares.setdefault(titles[j], found)
    anywhere = out.any(axis=1)
    return Outside(
        model=str(folder),
        data=table.source,
        rows=len(X),
        rows_outside=int(anywhere.sum()),
        first_rows=tuple(int(r) for r in rows[anywhere][:5]),
        columns=tuple((name, *found) for name, found in shares.items()),
        allow=allow,
        inside=all(share <= allow for share, _, _ in shares.values()),
        alarms=alarms,
        notes=tuple(table.notes),
    )
