"""The columns with a role (label, time, group, kind) and the choice of rows."""

import numpy as np

from assay.data.chars import counted, listed
from assay.data.clean import missing_mask
from assay.data.labels import read_labels
from assay.data.table import find_columns
from assay.data.timestamps import to_times
from assay.errors import DataError


def present(raw, drop, asked, optional):
    """Leave out the optional names that this source lacks, and return which they are."""

    def there(name):
        try:
            find_columns(name, raw.names, source=raw.source, aliases=raw.aliases)
        except DataError:
            return False
        return True

    drop = (drop,) if isinstance(drop, (str, int)) else tuple(drop)
    absent = [name for name in drop if "drop" in optional and not there(name)]
    drop = tuple(name for name in drop if name not in absent)
    for role, name in asked.items():
        if name is not None and role in optional and not there(name):
            absent.append(name)
            asked = asked | {role: None}
    return drop, asked, tuple(map(str, absent))


def find_roles(raw, columns, drop, label, time, group, kind):
    """Return the columns with a role by position, and the columns that may be features."""

    def find(wanted):
        return find_columns(wanted, raw.names, source=raw.source, aliases=raw.aliases)

    special = {}
    dropped = find(drop)
    for role, wanted in (("label", label), ("time", time), ("group", group), ("kind", kind)):
        if wanted is not None:
            special[role] = find(wanted)[0]
    _require_apart(raw, special)
    asked = find(columns) if columns is not None else None
    if label is None and raw.label is not None:
        position = raw.names.index(raw.label)
        if position not in dropped and not (asked and position in asked):
            special["label"] = position
    taken = set(special.values()) | set(dropped)
    if asked is not None:
        both = [raw.names[c] for c in asked if c in taken]
        if both:
            raise DataError(
                f"{raw.where()}: column {listed(both)} is asked for as a feature and as "
                "something else.",
                hint="Name each column once: in `columns`, or as label, time, group, kind or drop.",
            )
    candidates = [c for c in (asked or range(len(raw.names))) if c not in taken]
    if not candidates:
        raise DataError(
            f"{raw.where()} has no column left to use as a feature.",
            hint=f"It has {listed(raw.names)}; leave at least one that is not label, time, group, "
            "kind or drop.",
        )
    return special, candidates


def _require_apart(raw, special):
    """Refuse one column as label, time and group; a label may name the kinds of anomaly too."""
    roles = {}
    for role in ("label", "time", "group"):
        if role in special:
            roles.setdefault(special[role], []).append(role)
    for position, named in roles.items():
        if len(named) > 1:
            raise DataError(
                f"{raw.where()}: column '{raw.names[position]}' is named as "
                f"{' and as '.join(named)}.",
                hint="Name another column for one of them, or leave it out.",
            )


def chosen_rows(rows, raw):
    """Return the positions that `rows` chooses, or None for all."""
    if rows is None:
        return None
    if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
        return np.arange(min(max(int(rows), 0), raw.n_rows))
    if isinstance(rows, slice):
        return np.arange(raw.n_rows)[rows]
    index = np.asarray(rows)
    if index.dtype == bool and index.shape == (raw.n_rows,):
        return np.flatnonzero(index)
    fits = index.ndim == 1 and index.dtype.kind in "iu"
    if not fits or (index.size and (index.min() < 0 or index.max() >= raw.n_rows)):
        raise DataError(
            f"`rows` must be a number of rows, a slice, a mask or positions from 0 to "
            f"{raw.n_rows - 1} of {raw.where()}.",
            hint="Use rows=400 for the first 400, rows=slice(400, None) for the others.",
        )
    return index.astype(np.intp)


def special_columns(raw, special, notes):
    """Read label, time, group and kind; return them and the rows that lack one, with reasons."""
    parts, incomplete = {}, {}
    for role, position in special.items():
        (series,) = raw.read([position])
        where = raw.where(position)
        if role == "label":
            labels, missing, kinds, note = read_labels(_plain(series), where=where)
            parts["labels"] = labels
            if kinds is not None:
                parts.setdefault("kinds", kinds)
            notes.append(note) if note else None
        elif role == "time":
            parts["times"], missing, said = to_times(series, where=where, row_name=raw.row_name)
            notes += said
        else:
            text = np.array(["" if v is None else _word(v) for v in _plain(series).tolist()])
            missing = missing_mask(series)
            if role == "kind":
                parts["kinds"], missing = np.where(missing, "", text), np.zeros(len(text), bool)
            else:
                parts["groups"] = text
        if missing.any():
            incomplete[position] = missing
    if "labels" in parts and "kinds" in parts:
        parts["kinds"] = np.where(parts["labels"], parts["kinds"], "")
    return parts, incomplete


def _plain(series):
    import polars as pl

    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).to_numpy()
    return np.array(series.cast(pl.String, strict=False).to_list(), dtype=object)


def _word(value):
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def order_notes(times):
    """Tell where time runs backwards or stands still."""
    steps = np.diff(times)
    zero = np.timedelta64(0) if times.dtype.kind == "M" else 0.0
    back = int(np.count_nonzero(steps < zero))
    same = int(np.count_nonzero(steps == zero))
    notes = []
    if back:
        notes.append(f"Time runs backwards {counted(back, 'time')}; rows keep their order.")
    if same:
        notes.append(f"{counted(same, 'row')} with the same time stamp as the row before.")
    return notes
