"""The pieces of an anomaly study: what is split, scored, compared and told."""

import dataclasses
import time as clock
from pathlib import Path
from typing import ClassVar

import numpy as np

from assay.anomaly.candidates import candidate_method
from assay.anomaly.detector import Detector
from assay.anomaly.events import sampling_interval
from assay.anomaly.feeds import Feed, blocks_of, feed, split_normal, unit_of
from assay.anomaly.gain import MethodScores, detection_gain
from assay.anomaly.inputs import Inputs, Reading
from assay.anomaly.judging import METRICS, Scored, contender
from assay.anomaly.options import Options
from assay.anomaly.story import sentence, story
from assay.anomaly.threshold import conformal_threshold
from assay.anomaly.view import AnomalyView, Judged
from assay.data import profile
from assay.estimators import checkpointed, configured
from assay.result import Part, SplitSummary
from assay.sealed import SealedTest
from assay.study import AbstractNeed, Comparison, Method, Parts

_TRIED = 64  # held-out rows that a fitted detector scores before the test part is opened


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
        source, given = self.inputs.normal.source, self.inputs.calibration
        set_on = source if given is None else given.source
        parts = (
            Part("fit", len(fit), source, "the detectors learn what is normal from it"),
            Part("calibration", len(held), set_on, "sets the thresholds, seen by no detector"),
            Part("test", len(test), self.inputs.test.source, use_of_test(test.labels)),
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
        if hasattr(estimator, "unchecked") and not hasattr(estimator, "scores_of"):
            # What was brought and cannot score must say so now, and not when the test part has
            # been opened. Ours are not tried: it would compile a program for nothing.
            estimator.anomaly_score(parts.validation.X[:_TRIED])

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
        return contender(scored, test, _units(test, scored[0].judged.test))

    def compare(self, parts, test, candidate, baselines, seed):
        """Return the gain over the best baseline at the thresholds, where there are labels."""
        if test.labels is None or not test.labels.any() or test.labels.all():
            return Comparison(None)
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
            units=_units(test, candidate[0].judged.test),
            calibration_units=_units(parts.validation, None),
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
        given = self.inputs.calibration
        rows = table.n_rows + self.inputs.test.n_rows + (0 if given is None else given.n_rows)
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


def use_of_test(labels) -> str:
    """Return what a test part with `labels` (n,) bool, or None, is used for."""
    judged = "" if labels is None else f", {int(labels.sum()):,} anomalies"
    return f"sealed, opened once, judged{judged}"


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


def _units(part: Feed, scores: np.ndarray | None) -> np.ndarray | None:
    """Return what is drawn independently; None where that is each row for itself."""
    if unit_of(part) == "row" and part.copies is None:
        return None
    return blocks_of(part, scores)


def _series(part: Feed):
    return None if unit_of(part) == "row" else (part.runs if part.runs is not None else part.groups)


def _interval(part: Feed) -> float | None:
    if part.times is None or len(part) < 2:
        return None
    found = sampling_interval(part.times, groups=part.groups)
    return found if found > 0 else None
