"""The pieces of an inverse study without a known solution: readings grade the methods."""

import dataclasses
import hashlib
import time
from typing import Any

import numpy as np

from assay.physics.heldout import Readings, hold_back
from assay.physics.need import PhysicsNeed, Scored
from assay.physics.reference import FLOOR, Reference
from assay.physics.solution import even_points, relative_l2
from assay.physics.story_readings import tell_readings
from assay.physics.view import PhysicsView
from assay.physics.wording_readings import readings_sentence
from assay.result import Part, SplitSummary
from assay.sealed import SealedTest
from assay.study import Comparison, Parts
from assay.verdict import paired_gain

LOSS = "mean square of what is left of the held-back readings"
FITTED = "the classical solution at the least-squares estimate"


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredReadings(Scored):
    """One fitted method, graded on readings.

    Attributes
    ----------
    misses : array of shape (n_readings,)
        Field less reading, in standard deviations; `error` is their root mean square.
    """

    misses: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))


@dataclasses.dataclass(frozen=True, eq=False)
class ReadingsNeed(PhysicsNeed):
    """A study whose unknowns are found from readings, where no exact solution is known.

    From 40 readings of fields a fifth is sealed, and the methods are graded on it. Of fewer none
    can be spared: then nothing is compared, and the report says what both methods found. Either
    way the classical solution at the least-squares estimate is what fields are drawn against.
    """

    def split(self, seed):
        """Seal a fifth of the readings, where there are enough."""
        fitted, aside = hold_back(self.problem, seed)
        n = sum(len(reading.values) for reading in fitted.readings)
        parts = [
            Part("equation", 0, self.source, "every method solves it"),
            Part("readings", n, self.source, "every method fits them"),
        ]
        rows = np.c_[aside.points, aside.columns, aside.values]
        if aside.held_back:
            sealed = SealedTest.of(rows, aside)
            parts.append(Part("held back", len(rows), self.source, "sealed, opened once"))
            rule = "A fifth of each series of readings was drawn and held back."
        else:
            name = hashlib.sha256(rows.tobytes()).hexdigest()
            sealed = SealedTest(aside, rows_hash=name, n_rows=0)
            rule = "Too few readings to hold any back: all are fitted, and no method is graded."
        return Parts(fitted, None, sealed, SplitSummary(tuple(parts), rule, "reading"))

    def score(self, trained, parts, test: Readings):
        """Grade one method on the readings."""
        del parts
        estimator = trained.estimator
        start = time.perf_counter()
        fields = self.fields_at(trained, even_points(self.problem))
        spent = time.perf_counter() - start
        misses = np.zeros(0)
        if len(test.values):
            misses = test.misses(self.fields_at(trained, test.points))
        error = float(np.sqrt(np.mean(misses**2))) if len(misses) else np.nan
        seconds = getattr(estimator, "fit_seconds_", trained.fit_s)
        seconds -= getattr(estimator, "compile_seconds_", 0.0)
        each = 1e6 * spent / len(fields)
        return ScoredReadings(trained, fields, max(error, FLOOR), seconds, (), each, misses)

    def contender(self, test, scored):
        """Return what `PhysicsNeed` does, with the intervals of what least squares found."""
        told = super().contender(test, scored)
        intervals = getattr(scored[0].trained.estimator, "intervals_", {})
        return dataclasses.replace(
            told, intervals={f"found_{name}": ends for name, ends in intervals.items()}
        )

    def compare(self, parts, test, candidate, baselines, seed):
        """Return the gain on the readings that were held back, with an interval over them."""
        del parts, seed
        if not test.held_back:
            return Comparison(None)
        ours = np.array([s.misses**2 for s in candidate])
        gains = tuple(
            paired_gain(ours, b.misses**2, against=b.trained.method.name, loss=LOSS)
            for b in baselines
        )
        best = int(np.argmin([b.error for b in baselines]))
        return Comparison(gains[best], gains)

    def view(self, parts, test, candidate, baselines):
        """Return what the checks look at; the least-squares solution stands for the reference."""
        best = baselines[0]
        reference = self._fitted(best)
        return PhysicsView(
            problem=parts.fit,
            candidate=tuple(s.trained.estimator for s in candidate),
            reference=reference,
            predictions=np.array([s.fields for s in candidate]),
            errors=np.array([_apart(s.fields, reference) for s in candidate]),
            solver=best.trained.estimator,
            solver_error=best.error,
            misses=(min(s.error for s in candidate), best.error),
            seed=candidate[0].trained.seed,
        )

    def _fitted(self, scored):
        """Return the classical solution at the estimate as what fields are drawn against."""
        solution = getattr(scored.trained.estimator, "solution_", None)
        error = max(getattr(solution, "error", FLOOR), FLOOR)
        points = even_points(self.problem)
        return Reference(points, scored.fields, error, FITTED, solution, fitted=True)

    def story(self, parts, test, candidate, baselines, gain):
        """Return the title, notes, tables, and what the figures draw."""
        del gain
        reference = self._fitted(baselines[0])
        return tell_readings(self, parts, test, reference, candidate, baselines)

    def verdict_sentence(self, word, said, told):
        """Return what was found, whether the methods agree, and what to use."""
        return readings_sentence(word, said, told)


def need_for(**given: Any) -> PhysicsNeed:
    """Return the pieces of a study, by whether there is a solution to hold fields against."""
    problem = given["problem"]
    unknown = bool(problem.unknown or problem.coefficients)
    return (ReadingsNeed if unknown and problem.exact is None else PhysicsNeed)(**given)


def _apart(fields, reference):
    return max(relative_l2(fields, reference.fields), reference.error)
