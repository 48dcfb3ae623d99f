"""Windows of a time series that never reach over a gap or from one group into another."""

import dataclasses

import numpy as np

from assay.data.boundary import as_matrix, check_same_rows
from assay.errors import DataError

_CHUNK_VALUES = 4_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
    """Windows as rows.

    Attributes
    ----------
    X : numpy.ndarray of shape (n_windows, window * d)
        The rows of each window one after the other: first row's columns, second row's columns...
    last : numpy.ndarray of shape (n_windows,), int
        The row of the input that ends each window.
    times, groups : numpy.ndarray of shape (n_windows,), or None
        Of the last row.
    index : numpy.ndarray of shape (n_segments, 2), int
        Runs of windows without a break between them: first window and one past the last.
    window, step : int
    notes : tuple of str
        Breaks in the series and rows that are in no window.
    """

    X: np.ndarray
    last: np.ndarray
    times: np.ndarray | None
    groups: np.ndarray | None
    index: np.ndarray
    window: int
    step: int
    notes: tuple[str, ...] = ()
    _order: np.ndarray | None = dataclasses.field(default=None, repr=False)
    _starts: np.ndarray | None = dataclasses.field(default=None, repr=False)

    def any(self, flags) -> np.ndarray:
        """Whether any row of each window is flagged, shape (n_windows,), bool.

        Parameters
        ----------
        flags : array of shape (n,), bool
            One per row of the input.
        """
        flags = np.asarray(flags, dtype=bool)
        if flags.shape != self._order.shape:
            raise DataError(f"`flags` must have shape {self._order.shape}, got {flags.shape}.")
        total = np.concatenate([[0], np.cumsum(flags[self._order])])
        return total[self._starts + self.window] > total[self._starts]


def windows(X, times, *, window: int, step: int, groups=None, gap: float = 1.5) -> Windows:
    """Cut a series into windows of equal length.

    Parameters
    ----------
    X : array of shape (n, d), finite [unit of each column]
    times : array of shape (n,), datetime64 or float, or None
        None: rows are evenly spaced.
    window : int, >= 1
        Rows in a window.
    step : int, >= 1
        Rows from the start of one window to the start of the next.
    groups : array of shape (n,), optional
        A window holds rows of one group only. Rows of a group need not be adjacent; they keep
        their order.
    gap : float, > 1 [-]
        A step in time longer than `gap` median steps of its group breaks the series, and so does
        one that runs backwards. Equal time stamps do not, since loggers round.

    Returns
    -------
    Windows

    Raises
    ------
    DataError
        If sizes do not fit, or not one window fits between the breaks.

    Examples
    --------
    >>> import numpy as np
    >>> cut = windows(np.arange(6.0)[:, None], [0, 1, 2, 10, 11, 12], window=2, step=1)
    >>> cut.X.tolist(), cut.last.tolist()
    ([[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]], [1, 2, 4, 5])
    """
    X = as_matrix(X, name="X")
    times = None if times is None else _times(times)
    groups = None if groups is None else np.asarray(groups)
    check_same_rows(X=X, times=times, groups=groups)
    for name, value in (("window", window), ("step", step)):
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise DataError(f"`{name}` must be a whole number of rows, at least 1, got {value!r}.")
    if not gap > 1:
        raise DataError(f"`gap` must be above 1, got {gap}.", hint="Use 1.5 for 1.5 median steps.")
    order, ends, n_breaks = _segments(len(X), times, groups, gap)
    starts, index, position = [], [], 0
    for first, end in ends:
        own = np.arange(first, end - window + 1, step)
        if len(own):
            starts.append(own)
            index.append((position, position + len(own)))
            position += len(own)
    if not starts:
        longest = max(end - first for first, end in ends)
        raise DataError(
            f"No window of {window} rows fits: the longest run without a break has {longest}.",
            hint=f"Use a window of at most {longest} rows, or look at the gaps in the time column.",
        )
    starts = np.concatenate(starts)
    last = order[starts + window - 1]
    return Windows(
        X=_gather(X, order, starts, window),
        last=last,
        times=None if times is None else times[last],
        groups=None if groups is None else groups[last],
        index=np.array(index),
        window=int(window),
        step=int(step),
        notes=_notes(len(X), starts, window, n_breaks),
        _order=order,
        _starts=starts,
    )


def _times(times):
    times = np.asarray(times)
    if times.ndim != 1 or times.dtype.kind not in "Mmiuf":
        raise DataError(
            f"`times` must be one column of time stamps or numbers, got {times.dtype} of shape "
            f"{times.shape}.",
            hint="Read them with `read_table(..., time=...)`.",
        )
    missing = np.isnat(times) if times.dtype.kind in "Mm" else ~np.isfinite(times)
    if missing.any():
        row = int(np.argmax(missing))
        raise DataError(
            f"`times` has {int(missing.sum())} missing values, first at row {row} (from 0).",
            hint="Leave these rows out.",
        )
    return times


def _segments(n, times, groups, gap):
    """Rows in order of group, and the runs [first, end) in that order without a break."""
    order = np.arange(n)
    border = np.zeros(n, dtype=bool)
    border[0] = True
    if groups is not None:
        _, first_seen, codes = np.unique(groups, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first_seen))[codes]
        order = np.argsort(rank, kind="stable")
        border[1:] |= np.diff(rank[order]) != 0
    n_groups = int(border.sum())
    if times is not None and n > 1:
        ordered = times[order]
        if ordered.dtype.kind in "Mm":
            ordered = ordered.astype(
                "datetime64[us]" if ordered.dtype.kind == "M" else "timedelta64[us]"
            ).astype(np.int64)
        steps = np.diff(ordered).astype(np.float64)
        firsts = np.flatnonzero(border)
        for first, end in zip(firsts, [*firsts[1:], n], strict=True):
            own = steps[first : end - 1]
            forward = own[own > 0]
            if len(own):
                longest = gap * np.median(forward) if len(forward) else np.inf
                border[first + 1 : end] |= (own > longest) | (own < 0)
    firsts = np.flatnonzero(border)
    return order, list(zip(firsts, [*firsts[1:], n], strict=True)), len(firsts) - n_groups


def _gather(X, order, starts, window):
    out = np.empty((len(starts), window * X.shape[1]), dtype=X.dtype)
    block = max(1, _CHUNK_VALUES // out.shape[1])
    for k in range(0, len(starts), block):
        rows = order[starts[k : k + block, None] + np.arange(window)]
        out[k : k + block] = X[rows].reshape(len(rows), -1)
    return out


def _notes(n, starts, window, n_breaks):
    covered = np.zeros(n + 1, dtype=np.int64)
    np.add.at(covered, starts, 1)
    np.add.at(covered, starts + window, -1)
    unused = int(np.count_nonzero(np.cumsum(covered[:-1]) == 0))
    notes = []
    if n_breaks:
        notes.append(
            f"{n_breaks:,} gap{'s' if n_breaks > 1 else ''} in time break the series; "
            "no window reaches over one."
        )
    if unused:
        notes.append(f"{unused:,} row{'s' if unused > 1 else ''} of {n:,} in no window.")
    return tuple(notes)
