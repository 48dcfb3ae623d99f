"""Whether an autoencoder compresses rows better than principal components of the same size."""

from pathlib import Path
from typing import Any

import numpy as np

from assay.compress.checks import CHECKS
from assay.compress.inputs import Reading, read
from assay.compress.need import CompressNeed
from assay.running import AbstractStudy
from assay.study import as_names


class CompressStudy(AbstractStudy):
    """Put an autoencoder to the test against PCA with a code of the same size.

    Parameters
    ----------
    data : table source, or a list of them
        A path (CSV of any dialect, Parquet, NPZ, HDF5), a data frame, an array of shape (n, d).
        Several files count as groups.
    test : table source, optional
        Test rows; by default a quarter of `data` is sealed.
    code_size : int, optional
        Numbers in a code, 1 to d - 1; by default what PCA needs for 90 % of the variance.
    candidate : object, function or array, optional
        What is on trial instead of the default `Autoencoder`: an object with ``fit``,
        ``transform`` and ``inverse_transform`` (or ``reconstruct``), a function from rows to
        reconstructed rows, or an array (or file) of reconstructed test rows.
    scaling : {"standard", "none", "unit"}
        How columns are scaled; errors are in scaled units.
    time, group, drop, columns
        Names of the time and group columns, of columns to leave out, of the only ones to use.
    checks : tuple of checks

    Examples
    --------
    >>> import numpy as np
    >>> t = np.random.default_rng(0).uniform(-1, 1, 400)
    >>> study = CompressStudy(np.c_[t, t**2, t**3], code_size=1)
    >>> study.run(seeds=1).need  # doctest: +SKIP
    'compress'
    """

    def __init__(
        self,
        data: Any,
        test: Any = None,
        *,
        code_size: int | None = None,
        candidate: Any = None,
        scaling: str = "standard",
        time: str | None = None,
        group: str | None = None,
        drop: tuple[str, ...] = (),
        columns: tuple[str, ...] = (),
        checks: tuple = CHECKS,
    ):
        reading = Reading(time, group, as_names(drop), as_names(columns))
        table, names = read(data, reading)
        given, given_names = None, None
        if test is not None:
            # Rows made elsewhere are in the order of the file, which must stay.
            elsewhere = isinstance(candidate, str | Path | np.ndarray | list)
            given, given_names = read(test, reading, like=table, ordered=not elsewhere)
        self._need = CompressNeed(
            table=table,
            given=given,
            code_size=code_size,
            brought=candidate,
            scaling=scaling,
            checks_=CHECKS if checks is None else tuple(checks),
            reading=reading,
            sources=(names, given_names),
        )

    def _need_for(self, seed):
        return self._need
