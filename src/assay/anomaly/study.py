"""Whether a network finds the faults that classical monitoring misses."""

from typing import Any

from assay.anomaly.baselines import BASELINES
from assay.anomaly.checks import CHECKS
from assay.anomaly.inputs import Reading, gather
from assay.anomaly.need import AnomalyNeed
from assay.anomaly.options import Options, require_count
from assay.running import AbstractStudy
from assay.study import as_names


class AnomalyStudy(AbstractStudy):
    """Put a detector to the test against classical monitoring, at a chosen false-alarm rate.

    Parameters
    ----------
    normal : table source, or a list of them
        Normal operation: a path (CSV of any dialect, Parquet, NPZ, HDF5), a data frame or an array
        of shape (n, d). Several files count as groups.
    test : table source or list, optional
        The rows to judge. Without them: a labelled source is split (half of its normal rows are
        learnt from), the first `normal_rows` of it are learnt from, or a fifth is judged.
    labels : array of shape (n_test,), or str, optional
        True (or 1, or a word such as ``"fault"``) for an anomaly; or the name of the column that
        says so. Without labels there is no verdict on detection.
    calibration : table source, optional
        Normal rows to set the threshold on; by default a fifth of the normal rows.
    candidate : str, object, function or array, optional
        What is on trial: a name (see `assay.anomaly.candidates`), an object with ``fit`` and a
        score, a function from rows to scores, or scores made elsewhere. Default: the
        recommended network.
    baselines : tuple of estimators, optional
        What it must beat; by default `BASELINES`.
    false_alarm_rate : float in (0, 0.5]
        Share of normal rows that may alarm; the threshold is set on held-out normal rows for it.
    scaling : {"standard", "none", "unit"}
        How columns are scaled. ``"none"`` where all columns share one unit, as pixels do.
    components : int, float or None
        Code size of network and PCA: a number, or a share of the variance; None for 90 % of it.
    time, group, kind, drop, columns
        Names of the time, group and kind-of-anomaly columns, of columns to leave out, of the only
        ones to use.
    window, step : int, optional
        Judge windows of so many rows, one every `step` rows, instead of single rows.
    normal_rows : int, optional
        The first rows of `normal` are normal, the rest is judged.
    intervals : list of (start, end) or dict of file name to such a list, optional
        Labelled spans of time, where the labels are no column.
    title : str, optional
        A line that says what was studied; by default it is made from the data.
    checks : tuple of checks

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> normal, faults = rng.normal(size=(300, 3)), rng.normal(3.0, 1.0, size=(40, 3))
    >>> test, labels = np.r_[rng.normal(size=(100, 3)), faults], np.arange(140) >= 100
    >>> study = AnomalyStudy(normal, test, labels, candidate=lambda rows: abs(rows).sum(axis=1))
    >>> result = study.run(seed=0)
    >>> result.candidate.metrics["detection_rate"] > 0.5
    True
    """

    def __init__(
        self,
        normal: Any,
        test: Any = None,
        labels: Any = None,
        *,
        calibration: Any = None,
        candidate: Any = None,
        baselines: tuple | None = None,
        false_alarm_rate: float = 0.05,
        scaling: str = "standard",
        components: float | None = None,
        time: str | None = None,
        group: str | None = None,
        kind: str | None = None,
        drop: tuple[str, ...] = (),
        columns: tuple[str, ...] = (),
        window: int | None = None,
        step: int | None = None,
        normal_rows: int | None = None,
        intervals: Any = None,
        title: str | None = None,
        checks: tuple = CHECKS,
    ):
        self._given = (normal, test, labels, calibration)
        label = labels if isinstance(labels, str) else None
        if label is not None:
            self._given = (normal, test, None, calibration)
        self._reading = Reading(
            label, kind, time, group, as_names(drop), as_names(columns), intervals
        )
        require_count(normal_rows, "normal_rows", "Leave it out, or give rows to judge.")
        self._normal_rows = normal_rows
        self._options = Options(
            candidate=candidate,
            baselines=BASELINES if baselines is None else baselines,
            rate=false_alarm_rate,
            scaling=scaling,
            components=components,
            window=window,
            step=step,
            title=title,
            checks=CHECKS if checks is None else tuple(checks),
        )
        self._options.check()

    @classmethod
    def from_reading(
        cls,
        normal: Any,
        test: Any,
        reading: Reading,
        *,
        calibration: Any,
        normal_rows: int | None,
        candidate: Any,
        false_alarm_rate: float,
        scaling: str,
        components: float | None,
        window: int | None,
        step: int | None,
    ) -> "AnomalyStudy":
        """Build a study of files whose columns `reading` names, as the command line does."""
        study = cls(
            normal,
            test,
            calibration=calibration,
            normal_rows=normal_rows,
            candidate=candidate,
            false_alarm_rate=false_alarm_rate,
            scaling=scaling,
            components=components,
            window=window,
            step=step,
        )
        study._reading = reading
        return study

    def _need_for(self, seed):
        inputs = gather(*self._given, self._reading, normal_rows=self._normal_rows, seed=seed)
        return AnomalyNeed(inputs, self._options, self._reading, self._normal_rows)
