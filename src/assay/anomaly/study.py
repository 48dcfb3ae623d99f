"""Whether a network finds the faults that classical monitoring misses."""

import dataclasses
import time as clock
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.anomaly.baselines import BASELINES
from assay.anomaly.candidates import candidate_method
from assay.anomaly.checks import CHECKS
from assay.anomaly.configure import configured
from assay.anomaly.detector import Detector
from assay.anomaly.events import sampling_interval
from assay.anomaly.feeds import Feed, blocks_of, feed, split_normal, unit_of
from assay.anomaly.gain import MethodScores, detection_gain
from assay.anomaly.inputs import Inputs, Reading, gather
from assay.anomaly.judging import METRICS, Scored, contender
from assay.anomaly.story import sentence, story
from assay.anomaly.threshold import conformal_threshold
from assay.anomaly.view import AnomalyView, Judged
from assay.data import profile
from assay.errors import StudyError
from assay.result import Part, Result, SplitSummary
from assay.sealed import SealedTest
from assay.study import AbstractNeed, Comparison, Method, Parts, checkpointed, run_in


class AnomalyStudy:
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
    checks : tuple of checks

    Examples
    --------
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
        self._reading = Reading(label, kind, time, group, tuple(drop), tuple(columns), intervals)
        self._normal_rows = normal_rows
        self._options = Options(
            candidate=candidate,
            baselines=BASELINES if baselines is None else tuple(baselines),
            rate=float(false_alarm_rate),
            scaling=scaling,
            components=components,
            window=window,
            step=step if window else None,
            title=title,
            checks=tuple(checks),
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

    def run(
        self,
        seed: int = 0,
        *,
        seeds: int = 3,
        margin: float = 0.0,
        folder: Any = None,
        progress: Any = None,
    ) -> Result:
        """Run the study.

        Parameters
        ----------
        seed : int
            First seed; draws the split too.
        seeds : int
            How many times the candidate is fitted.
        margin : float [-]
            The relative gain that is asked for.
        folder : path, optional
            Where the files of the run will go: the ledger is kept beside it, and an interrupted
            run is resumed from there.
        progress : callable, optional
            Called with a sentence and the share done in [0, 1].

        Returns
        -------
        Result

        Raises
        ------
        DataError, StudyError
            If the data cannot carry the study.
        """
        inputs = gather(*self._given, self._reading, normal_rows=self._normal_rows, seed=seed)
        need = AnomalyNeed(inputs, self._options, self._reading, self._normal_rows)
        return run_in(need, seed=seed, seeds=seeds, margin=margin, folder=folder, progress=progress)


@dataclasses.dataclass(frozen=True, eq=False)
class Options:
    """What the user chose beside the data."""

    candidate: Any
    baselines: tuple
    rate: float
    scaling: str
    components: float | None
    window: int | None
    step: int | None
    title: str | None
    checks: tuple

    def check(self):
        """Raise StudyError where a choice makes no sense."""
        if not 0.0 < self.rate <= 0.5:
            raise StudyError(
                f"`false_alarm_rate` must lie above 0 and at most at 0.5, got {self.rate}.",
                hint="Use 0.05 for one false alarm in twenty normal rows.",
            )
        if self.window is not None and self.window < 1:
            raise StudyError(
                f"`window` must be 1 or more rows, got {self.window}.",
                hint="Leave it out to judge single rows.",
            )
        if not self.baselines:
            raise StudyError(
                "A study needs at least one baseline.",
                hint="Leave `baselines` out for all of them.",
            )


@dataclasses.dataclass(frozen=True, eq=False)
class AnomalyNeed(AbstractNeed):
    """The pieces of an anomaly study that the flow asks for."""

    need: ClassVar[str] = "anomaly"

    inputs: Inputs
    options: Options
    reading: Reading
    normal_rows: int | None

    @property
    def checks(self):
        """Return the checks of this study."""
        return self.options.checks

    def _feed(self, table, what):
        window, step = self.options.window, self.options.step or 1
        return feed(table, window=window, step=step, what=what)

    def split(self, seed):
        """Split the normal rows, and seal the rows to judge."""
        options = self.options
        fit, held, rule = split_normal(
            self.inputs, rate=options.rate, window=options.window, step=options.step or 1, seed=seed
        )
        test = self._feed(self.inputs.test, "rows to judge")
        sealed = SealedTest.of(test.X, test)
        source = self.inputs.normal.source
        judged = "judged" if test.labels is None else f"judged, {int(test.labels.sum())} anomalies"
        parts = (
            Part("fit", len(fit), source, "the detectors learn what is normal from it"),
            Part("calibration", len(held), source, "sets the thresholds, seen by no detector"),
            Part("test", len(test), self.inputs.test.source, f"sealed, opened once, {judged}"),
        )
        summary = SplitSummary(parts, f"{self.inputs.rule}; {rule}", unit_of(test))
        return Parts(fit, held, sealed, summary)

    def methods(self):
        """Return the candidate and clones of the baselines with the study's settings."""
        options = self.options
        wanted = {"scaling": options.scaling}
        if options.components is not None:
            wanted["components"] = options.components
        made = tuple(
            Method(_name(b), lambda seed, b=b: configured(b, wanted, seed), getattr(b, "about", ""))
            for b in options.baselines
        )
        return candidate_method(options, self.inputs), made

    def fit(self, estimator, parts, checkpoint: Path | None):
        """Fit on normal rows; nothing can be ranked without anomalies."""
        checkpointed(estimator, parts.fit.X, checkpoint)

    def score(self, trained, parts, test):
        """Score held-out normal rows and the test rows, and set the threshold."""
        estimator = trained.estimator
        held = _scores(estimator, parts.validation, "calibration")
        start = clock.perf_counter()
        scores = _scores(estimator, test, "test")
        spent = clock.perf_counter() - start
        threshold = conformal_threshold(
            held,
            self.options.rate,
            series=_series(parts.validation),
            interval_s=_interval(parts.validation),
        )
        judged = Judged(trained.method.name, estimator, held, scores, threshold)
        return Scored(trained, judged, 1e6 * spent / max(len(scores), 1))

    def contender(self, test, scored):
        """Sum up one method over its seeds."""
        blocks = blocks_of(test, scored[0].judged.test) if unit_of(test) != "row" else None
        return contender(scored, test, blocks)

    def compare(self, parts, test, candidate, baselines, seed):
        """Return the gain over the best baseline at the thresholds, where there are labels."""
        if test.labels is None or not test.labels.any() or test.labels.all():
            return Comparison(None)
        series = unit_of(test) != "row"
        ours = MethodScores(
            candidate[0].judged.name,
            np.array([s.judged.calibration for s in candidate]),
            np.array([s.judged.test for s in candidate]),
        )
        theirs = tuple(
            MethodScores(s.judged.name, s.judged.calibration, s.judged.test) for s in baselines
        )
        gain, gains = detection_gain(
            ours,
            theirs,
            test.labels,
            self.options.rate,
            units=blocks_of(test, candidate[0].judged.test) if series else None,
            calibration_units=blocks_of(parts.validation, None) if series else None,
            seed=seed,
        )
        return Comparison(gain, gains)

    def view(self, parts, test, candidate, baselines):
        """Return what the checks look at."""
        return AnomalyView(
            fit=parts.fit,
            calibration=parts.validation,
            test=test,
            columns=self._columns(),
            candidate=tuple(s.judged for s in candidate),
            baselines=tuple(s.judged for s in baselines),
            false_alarm_rate=self.options.rate,
            blocks=blocks_of(test, candidate[0].judged.test),
        )

    def _columns(self):
        names, window = self.inputs.normal.columns, self.options.window
        if window is None:
            return tuple(names)
        return tuple(f"{n} [-{window - 1 - k}]" for k in range(window) for n in names)

    def story(self, parts, test, candidate, baselines, gain):
        """Return the title, the tables and what the figures draw."""
        return story(self.inputs, self.options, parts, test, candidate, baselines, gain, METRICS)

    def model(self, scored):
        """Return the first seed's detector with its threshold; None for what was brought."""
        if not hasattr(scored[0].trained.estimator, "to_saved"):
            return None
        table, options = self.inputs.normal, self.options
        return Detector(
            scored[0].trained.estimator,
            scored[0].judged.threshold,
            table.columns,
            table.units,
            options.window,
            options.step,
        )

    def data(self):
        """Return the files, the columns of the normal rows and what was done to the rows."""
        table = self.inputs.normal
        summary = table.summary(profile=profile(table.X))
        sources = dict.fromkeys(name for names in self.inputs.sources for name in names or ())
        notes = tuple(dict.fromkeys((*self.inputs.notes, *table.notes)))
        rows = table.n_rows + self.inputs.test.n_rows
        return dataclasses.replace(summary, sources=tuple(sources), rows=rows, notes=notes)

    def settings(self):
        """Return what is needed to run it again, as plain values."""
        options, reading = self.options, self.reading
        brought = options.candidate
        told = ("label", "kind", "time", "group", "drop", "columns")
        normal, held, test = self.inputs.sources
        return {
            "normal": normal,
            "test": test,
            "calibration": held,
            "normal_rows": self.normal_rows,
            "intervals": reading.intervals_file,
            **{k: getattr(reading, k) for k in told},
            "candidate": brought if isinstance(brought, str) else _brought(brought),
            "candidate_scores": str(brought) if isinstance(brought, Path) else None,
            "false_alarm_rate": options.rate,
            "scaling": options.scaling,
            "components": options.components,
            "window": options.window,
            "step": options.step,
        }

    def verdict_sentence(self, word, said, told):
        """Return the verdict as an engineer would say it."""
        return sentence(word, said, told, self.options.rate)


def _brought(candidate):
    """Return a name for what was brought, so that another candidate is another study."""
    if candidate is None or isinstance(candidate, Path):
        return None
    return f"brought: {getattr(candidate, '__name__', type(candidate).__name__)}"


def _name(estimator):
    return getattr(estimator, "name", None) or type(estimator).__name__


def _scores(estimator, part: Feed, which: str) -> np.ndarray:
    if hasattr(estimator, "scores_of"):  # scores made elsewhere know their rows, not their columns
        return estimator.scores_of(which, part.rows)
    return estimator.anomaly_score(part.X)


def _series(part: Feed):
    if part.times is None:
        return None
    return np.zeros(len(part), int) if part.groups is None else part.groups


def _interval(part: Feed) -> float | None:
    if part.times is None or len(part) < 2:
        return None
    found = sampling_interval(part.times, groups=part.groups)
    return found if found > 0 else None
