"""Recognising rows: a 64-bit hash per row, one name for a set of rows, and a sketch of it."""

import hashlib

import numpy as np

from assay.errors import DataError

# Rows per pass: the working set stays in the processor's cache.
CHUNK = 16384
# Smallest row hashes kept to estimate how many rows two sets share.
SKETCH = 256


def row_hashes(X) -> np.ndarray:
    """Hash each row to 64 bits, so that equal rows are found in linear time.

    Parameters
    ----------
    X : array of shape (n, d)
        Numbers. Values are compared as float64; 0 and -0 are equal, and so are all NaN.

    Returns
    -------
    uint64 array of shape (n,)
        Two different rows collide with a chance of about 2^-64.

    Raises
    ------
    DataError
        If `X` is not a matrix of numbers.

    Examples
    --------
    >>> a, b, c = row_hashes([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise DataError(
            f"`X` must be a matrix of numbers of shape (n, d), got shape {X.shape}, {X.dtype}.",
            hint="Select the numeric columns first.",
        )
    # Fixed seed: hashes are kept on the ledger and must be the same for ever.
    odd = np.random.PCG64(20150401).random_raw(X.shape[1]) | np.uint64(1)
    out = np.empty(X.shape[0], dtype=np.uint64)
    for at in range(0, X.shape[0], CHUNK):
        block = np.array(X[at : at + CHUNK], dtype=np.float64, order="C")
        block += 0.0  # turns -0 into 0
        missing = np.isnan(block)
        if missing.any():
            block[missing] = np.nan
        bits = block.view(np.uint64)
        # Mixed before the sum, because short decimals have zeros in their low bits.
        bits ^= bits >> np.uint64(32)
        bits *= np.uint64(0xD6E8FEB86659FD93)
        bits ^= bits >> np.uint64(29)
        out[at : at + CHUNK] = _mix(bits @ odd)
    return out


def hash_rows(X) -> str:
    """Name a set of rows, whatever their order.

    Parameters
    ----------
    X : array of shape (n, d)

    Returns
    -------
    str
        32 hexadecimal digits.

    Examples
    --------
    >>> hash_rows([[1.0], [2.0]]) == hash_rows([[2.0], [1.0]])
    True
    """
    return name_of(row_hashes(X), np.shape(X)[1])


def name_of(hashes: np.ndarray, n_columns: int) -> str:
    """Name a set of rows by their hashes; `hash_rows` where these are not at hand."""
    digest = hashlib.sha256(f"{len(hashes)}x{n_columns}:".encode())
    digest.update(np.sort(hashes).astype("<u8").tobytes())
    return digest.hexdigest()[:32]


def sketch_of(hashes: np.ndarray) -> tuple[int, ...]:
    """Keep the `SKETCH` smallest distinct hashes, ascending (a bottom-k sketch [1]_).

    References
    ----------
    .. [1] Cohen and Kaplan, Summarizing data using bottom-k sketches, PODC 2007.
    """
    small = hashes
    if len(hashes) > 16 * SKETCH:
        # Hashes are uniform: a threshold that keeps 8 times as many as needed spares the sort.
        # Many equal rows can leave too few, then the full sort is taken.
        small = hashes[hashes < np.uint64(int(2.0**64 * 8 * SKETCH / len(hashes)))]
    small = np.unique(small)
    if len(small) < SKETCH:
        small = np.unique(hashes)
    return tuple(int(h) for h in small[:SKETCH])


def shared_rows(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """Estimate how many distinct rows two sets share, from their sketches.

    Exact where both sets have fewer than `SKETCH` distinct rows. Otherwise both sketches are
    complete up to the smaller of their largest hashes, and what they share below it is scaled up;
    rows that are a few in a thousand of the larger set can go unseen.

    Parameters
    ----------
    a, b : tuple of int
        From `sketch_of`.

    Returns
    -------
    float
        Number of rows.

    Examples
    --------
    >>> shared_rows((1, 5, 9), (5, 9, 12))
    2.0
    """
    if not a or not b:
        return 0.0
    whole = 2.0**64
    reach = min(a[-1] if len(a) >= SKETCH else whole, b[-1] if len(b) >= SKETCH else whole)
    common = sum(1 for h in set(a) & set(b) if h <= reach)
    return common * whole / reach if reach < whole else float(common)


def _mix(h: np.ndarray) -> np.ndarray:
    """Finish a 64-bit hash (the constants of Stafford's variant 13 of MurmurHash3)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
