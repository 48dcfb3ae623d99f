"""Whether runs lie inside the validity domain of a saved surrogate, for ``assay check``."""

import dataclasses
from pathlib import Path
from typing import Any

from assay.errors import DataError, ModelError

# What the density refuses of further rows of the training distribution itself, by construction.
_REFUSED = 0.01
_LEVEL = 0.975
_SHOWN = 20


@dataclasses.dataclass(frozen=True)
class OutsideDomain:
    """How new runs lie against the validity domain of a surrogate.

    Attributes
    ----------
    model, data : str
    rows : int
    rows_outside : int
        Rows that at least one part of the domain refuses.
    first_rows : tuple of (int, str)
        The first of them: their number in the source, and the parts that refuse them.
    parts : tuple of (str, int, int)
        Each part (box, density, disagreement): how many rows it refuses, and how many it may.
    columns : tuple of (str, float, float, float)
        Name, share of rows outside the box [-], and its ends, for each input with such rows.
    inside : bool
        Whether every part refuses no more than it may.
    notes : tuple of str
    """

    model: str
    data: str
    rows: int
    rows_outside: int
    first_rows: tuple[tuple[int, str], ...]
    parts: tuple[tuple[str, int, int], ...]
    columns: tuple[tuple[str, float, float, float], ...]
    inside: bool
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return the outcome for a reader."""
        word = "INSIDE" if self.inside else "OUTSIDE"
        share = 100 * self.rows_outside / self.rows
        lines = [
            f"{word}: {self.data} against {self.model}",
            "",
            f"{self.rows_outside:,} of {self.rows:,} rows ({share:.1f} %) lie outside the validity "
            "domain.",
            "",
            f"{'part':<12}  outside  may be",
        ]
        lines += [f"{part:<12}  {n:>7,}  {most:>6,}" for part, n, most in self.parts]
        if self.columns:
            width = max(len(name) for name, *_ in self.columns[:_SHOWN])
            lines += ["", f"{'input':<{width}}  outside  box"]
        for name, part, low, high in self.columns[:_SHOWN]:
            lines.append(f"{name:<{width}}  {100 * part:>5.1f} %  {low:.4g} to {high:.4g}")
        if self.first_rows:
            lines += ["", "First rows outside:"]
            lines += [f"  row {row}: {parts}" for row, parts in self.first_rows]
        lines += [
            "",
            "Being inside is no promise of a small error; outside the model extrapolates.",
        ]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)


def check_runs(
    estimator: Any,
    folder: Path,
    extra: dict[str, Any],
    data: str,
    *,
    columns: tuple[str, ...],
    drop: tuple[str, ...],
    allow: float,
) -> OutsideDomain:
    """Hold runs against the validity domain of a saved surrogate.

    Parameters
    ----------
    estimator : fitted surrogate
    folder : Path
        Where it was saved, for messages.
    extra : dict
        What was saved beside it; ``columns`` names the inputs.
    data : str
        Any table that `assay.data.read_table` takes.
    columns, drop : tuple of str
        The inputs, in their order, or columns to leave out; by default the inputs by name.
    allow : float [-], 0 to 1
        Share of rows that each part may refuse. Density and disagreement may refuse a hundredth
        more, which is what they refuse of the training distribution, and all of them as many as
        chance gives at these rates.

    Raises
    ------
    ModelError
        If the model knows no validity domain.
    DataError
        If the table lacks inputs.
    """
    from assay.data import read_table

    domain = getattr(estimator, "domain_", None)
    if domain is None:
        raise ModelError(
            f"The model in {folder} does not know where it may be used.",
            hint="Fit and save it again with this version of Assay.",
        )
    wanted = columns or (() if drop else tuple(extra.get("columns", ())))
    table = read_table(data, columns=wanted or None, drop=drop)
    if table.n_columns != len(domain.low):
        raise DataError(
            f"{table.source} has {table.n_columns} columns to use, the model in {folder} has "
            f"{len(domain.low)} inputs.",
            hint="Name the inputs, in the order of the training runs, with --columns.",
        )
    X = table.X.astype(float)
    failed = {part: ~passed for part, passed in domain.parts(X).items()}
    if domain.spread is not None:
        valid = estimator.predict(X, return_valid=True)[-1]
        failed["disagreement"] = ~valid & ~failed["box"] & ~failed["density"]
    return _outcome(str(folder), table, X, domain, failed, allow)


def _outcome(folder, table, X, domain, failed, allow) -> OutsideDomain:
    import numpy as np
    from scipy.stats import binom

    n = len(X)
    parts = []
    for part, rows in failed.items():
        rate = allow + (0.0 if part == "box" else _REFUSED)
        parts.append((part, int(rows.sum()), int(binom.ppf(_LEVEL, n, min(rate, 1.0)))))
    out = (domain.low > X) | (domain.high < X)
    worst = np.argsort(-out.mean(axis=0), kind="stable")
    anywhere = np.logical_or.reduce(list(failed.values()))
    first = np.flatnonzero(anywhere)[:5]
    return OutsideDomain(
        model=folder,
        data=table.source,
        rows=n,
        rows_outside=int(anywhere.sum()),
        first_rows=tuple(
            (int(table.row_numbers[k]), ", ".join(p for p, rows in failed.items() if rows[k]))
            for k in first
        ),
        parts=tuple(parts),
        columns=tuple(
            (table.columns[j], float(out[:, j].mean()), float(domain.low[j]), float(domain.high[j]))
            for j in worst
            if out[:, j].any() and failed["box"].any()
        ),
        inside=all(found <= most for _, found, most in parts),
        notes=tuple(table.notes),
    )
