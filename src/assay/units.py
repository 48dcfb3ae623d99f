"""What was drawn independently: items, groups of items, or blocks of a time series."""

import math

import numpy as np

from assay.errors import DataError, StudyError

# A block holds five correlation times, so that neighbouring block means are nearly independent;
# fewer than four blocks would leave Student's t with nothing to stand on.
BLOCK_TIMES = 5.0
FEWEST_BLOCKS = 4


def codes(units, n_items: int, *, name: str = "units") -> tuple[np.ndarray, int]:
    """Give each unit a whole number from 0 on, without gaps.

    Parameters
    ----------
    units : array of shape (n_items,)
        Numbers, strings or any hashable objects.
    n_items : int
        Expected length.
    name : str
        The argument's name, for the message.

    Returns
    -------
    codes : int array of shape (n_items,)
    n_units : int

    Raises
    ------
    DataError
        If the length differs.
    """
    ids = np.asarray(units)
    if ids.shape != (n_items,):
        raise DataError(
            f"`{name}` must hold one value per item: expected shape ({n_items},), got {ids.shape}.",
            hint=f"Pass `{name}` in the order of the test items.",
        )
    if ids.dtype.kind in "bui" and n_items and 0 <= ids.min() and ids.max() < 4 * n_items:
        # Counting is linear; sorting two million ids takes a second.
        seen = np.zeros(int(ids.max()) + 1, dtype=np.int64)
        seen[ids.astype(np.int64)] = 1
        number = np.cumsum(seen) - 1
        return number[ids.astype(np.int64)], int(seen.sum())
    if ids.dtype.kind == "O":
        known: dict = {}
        out = np.fromiter((known.setdefault(u, len(known)) for u in ids), np.int64, n_items)
        return out, len(known)
    distinct, out = np.unique(ids, return_inverse=True)
    return out.reshape(-1), distinct.size


def correlation_time(series, *, starts=None) -> float:
    r"""Integrated autocorrelation time of a series [items], at least 1.

    .. math:: \tau = 1 + 2 \sum_k \rho_k

    The larger of two estimates: Sokal's window (the sum is cut at the first lag beyond
    :math:`5\tau`) and the value :math:`(1+\rho)/(1-\rho)` of a first-order process with the
    lag-one correlation corrected for its bias :math:`-(1+4\rho)/n`. Each alone is too small
    for some series, and too small is the dangerous side.

    Parameters
    ----------
    series : array of shape (n_items,)
        In time order.
    starts : array of shape (n_items,) of int, optional
        Series number of each item where several series follow each other.

    Returns
    -------
    float [items]

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(correlation_time(rng.normal(size=5000)), 1)
    1.0
    """
    x = np.asarray(series, dtype=np.float64)
    n = x.size
    if n < 3:
        return 1.0
    x = x - x.mean()
    power = float(x @ x)
    if not power > 0:
        return 1.0
    if starts is None:
        lag_one = float(x[1:] @ x[:-1]) / power
    else:
        same = starts[1:] == starts[:-1]
        lag_one = float((x[1:] * x[:-1])[same].sum()) / power * (n - 1) / max(int(same.sum()), 1)
    rho = min(lag_one + (1.0 + 4.0 * max(lag_one, 0.0)) / n, 1.0 - 2.0 / n)
    first_order = (1.0 + rho) / (1.0 - rho)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(x, size)) ** 2
    rho_k = np.fft.irfft(spectrum, size)[1 : n // 2 + 1] / power
    taus = 1.0 + 2.0 * np.cumsum(rho_k)
    beyond = np.flatnonzero(np.arange(1, taus.size + 1) >= 5.0 * taus)
    windowed = float(taus[beyond[0]]) if beyond.size else float(taus.max(initial=1.0))
    return max(1.0, first_order, windowed)


def block_length(n_items: int, tau: float) -> int:
    """Length of a block [items] for a correlation time `tau`, leaving at least four blocks."""
    wanted = max(1, math.ceil(BLOCK_TIMES * tau)) if tau > 1.25 else 1
    return max(1, min(wanted, n_items // FEWEST_BLOCKS))


def block_ids(n_items: int, length: int, *, groups=None) -> np.ndarray:
    """Cut items in time order into blocks of `length`, never across a group.

    Parameters
    ----------
    n_items : int, > 0
    length : int [items], > 0
        A last block shorter than half of it joins the one before.
    groups : int array of shape (n_items,), optional
        Codes of the series; blocks start anew where the code changes.

    Returns
    -------
    int array of shape (n_items,)
        0, 1, 2 ... in order of appearance.

    Raises
    ------
    StudyError
        If `length` is not a positive whole number.

    Examples
    --------
    >>> block_ids(7, 3)
    array([0, 0, 0, 1, 1, 1, 1])
    """
    if isinstance(length, bool) or int(length) != length or length < 1:
        raise StudyError(
            f"The length of a block must be a whole number of items >= 1, got {length!r}.",
            hint='Pass `blocks="auto"` to have it estimated.',
        )
    length = int(length)
    if groups is None:
        cuts = np.array([0, n_items])
    else:
        changes = np.flatnonzero(groups[1:] != groups[:-1]) + 1
        cuts = np.concatenate([[0], changes, [n_items]])
    starts = np.zeros(n_items, dtype=np.int64)
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        count = max(1, int((last - first) / length + 0.5))
        starts[first + length * np.arange(count)] = 1
    return np.cumsum(starts) - 1
