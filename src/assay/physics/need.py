"""The pieces of a physics study: what is solved, held against what, compared and told."""

import dataclasses
import inspect
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.errors import StudyError
from assay.estimators import configured
from assay.physics.baselines import BASELINES
from assay.physics.brought import bring, candidate_settings
from assay.physics.coefficient_fit import COEFFICIENT_BASELINES
from assay.physics.inverse_baseline import INVERSE_BASELINES
from assay.physics.journal import fit_kept
from assay.physics.kept import kept_solution
from assay.physics.posed import require_posed
from assay.physics.problem import Problem
from assay.physics.reference import Reference, reference_of
from assay.physics.solution import relative_l2
from assay.physics.story import inverse_metrics, summary_of, tell
from assay.physics.view import PhysicsView
from assay.physics.wording import TIME, sentence
from assay.result import Contender, Cost, Part, SplitSummary
from assay.sealed import SealedTest
from assay.seed_gain import seed_gain
from assay.study import AbstractNeed, Comparison, Method, Parts, Trained

LOSS = "relative L2 error"


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """One solved problem, graded.

    Attributes
    ----------
    trained : Trained
    fields : array of shape (n_points, n_fields)
    error : float [-]
        Relative L2 error of the worst field, not below that of the reference.
    seconds : float [s]
        To solve, compiling left out where the method tells it.
    levels : tuple of (seconds, error)
        Of a classical solver: each level's own.
    predict_us : float [us]
    """

    trained: Trained
    fields: np.ndarray
    error: float
    seconds: float
    levels: tuple[tuple[float, float], ...]
    predict_us: float


@dataclasses.dataclass(frozen=True, eq=False)
class PhysicsNeed(AbstractNeed):
    """The pieces of a physics study that the flow asks for."""

    need: ClassVar[str] = "physics"

    problem: Problem
    brought: Any
    tolerance: float
    seconds: float
    checks_: tuple
    source: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def checks(self):
        """Return the checks of this study."""
        return self.checks_

    @property
    def inverse(self) -> bool:
        """Whether something in the equation is to be found."""
        return bool(self.problem.unknown or self.problem.coefficients)

    def split(self, seed):
        """Find the reference, and seal it: no method sees it."""
        del seed
        require_posed(self.problem)  # before minutes are spent on what has no one solution
        reference = reference_of(self.problem, tolerance=self.tolerance, seconds=self.seconds)
        sealed = SealedTest.of(np.c_[reference.points, reference.fields], reference)
        n = sum(len(reading.values) for reading in self.problem.readings)
        parts = [Part("equation", 0, self.source, "every method solves it")]
        if n:
            parts.append(Part("readings", n, self.source, "every method fits them"))
        parts.append(
            Part("reference", len(reference.points), reference.source, "sealed, opened once")
        )
        rule = "No rows are split: the equation is solved, and the reference is kept aside."
        # Methods get the problem without its exact solution: no candidate can read the answer.
        hidden = self.problem.replace(exact=None)
        return Parts(hidden, None, sealed, SplitSummary(tuple(parts), rule, "seed"))

    def methods(self):
        """Return the network (or what was brought) and the classical methods."""
        baselines = INVERSE_BASELINES if self.inverse else BASELINES
        if self.problem.coefficients:
            baselines = COEFFICIENT_BASELINES
        wanted = {"tolerance": self.tolerance, "seconds": self.seconds}
        made = tuple(
            Method(b.name, lambda seed, b=b: configured(b, wanted, seed), b.about)
            for b in baselines
        )
        return bring(self.brought, dict(self.options)), made

    def fit(self, estimator, parts, checkpoint: Path | None):
        """Solve; there is no validation part, and the classical solver is the strongest."""
        takes = inspect.signature(estimator.fit).parameters
        if checkpoint is not None and "checkpoint" in takes:
            fit_kept(estimator, parts.fit, checkpoint)
        else:
            estimator.fit(parts.fit)

    def fields_at(self, trained, points):
        """Return the fields (n, n_fields) of a method at points (n, n_variables)."""
        fields = np.asarray(trained.estimator.predict(points), np.float64)
        wanted = (len(points), len(self.problem.fields))
        if fields.shape != wanted:
            raise StudyError(
                f"{trained.method.name} gives fields of shape {fields.shape}; {wanted} are needed.",
                hint="`predict(points)` returns one row a point and one column a field.",
            )
        return fields

    def score(self, trained, parts, test: Reference):
        """Grade one solution against the reference."""
        estimator = trained.estimator
        start = time.perf_counter()
        fields = self.fields_at(trained, test.points)
        spent = time.perf_counter() - start
        error = max(relative_l2(fields, test.fields), test.error)
        levels = tuple(
            (level.seconds, max(relative_l2(level.at(test.points), test.fields), test.error))
            for level in getattr(estimator, "levels_", ())
        )
        seconds = getattr(estimator, "fit_seconds_", trained.fit_s)
        seconds -= getattr(estimator, "compile_seconds_", 0.0)
        return Scored(trained, fields, error, seconds, levels, 1e6 * spent / len(fields))

    def contender(self, test, scored):
        """Return geometric means over seeds, and the spread where there are several."""
        first = scored[0].trained
        estimator = first.estimator
        errors = np.array([s.error for s in scored])
        each = {"error": errors, "seconds": np.array([s.seconds for s in scored])}
        each |= inverse_metrics(self.problem, [s.trained.estimator for s in scored])
        metrics = {key: float(np.mean(values)) for key, values in each.items()}
        metrics["error"] = float(np.exp(np.mean(np.log(errors))))
        # One time everywhere: in the table, in the sentences and where methods are compared.
        metrics["seconds"] = float(np.median(each["seconds"]))
        spread = {k: float(np.std(v, ddof=1)) for k, v in each.items() if len(scored) > 1}
        if spread.get("error", 0.0) > metrics["error"]:
            del spread["error"]  # of orders of magnitude a standard deviation says nothing
        parameters = getattr(estimator, "n_parameters_", None)
        predict_us = float(np.mean([s.predict_us for s in scored]))
        return Contender(
            name=first.method.name,
            metrics=metrics,
            cost=Cost(metrics["seconds"], predict_us, parameters),
            spread=spread,
            settings=_settings(estimator),
            status=getattr(estimator, "status_", ""),
            about=first.method.about,
        )

    def compare(self, parts, test, candidate, baselines, seed):
        """Return the gain over the classical method in the time that the network took.

        Where both reach the tolerance there is nothing to gain in accuracy: then it is in time.
        """
        del parts, seed
        errors = np.array([s.error for s in candidate])
        times = np.array([max(s.seconds, 1e-9) for s in candidate])
        needed = {b.trained.method.name: equal_error(b, self.tolerance) for b in baselines}
        reach = {name: seconds for name, seconds in needed.items() if seconds is not None}
        if reach and (errors <= self.tolerance).all():
            timed = tuple(
                seed_gain(times, max(seconds, 1e-9), against=name, loss=f"{TIME}{self.tolerance:g}")
                for name, seconds in reach.items()
            )
            return Comparison(min(timed, key=lambda gain: gain.estimate), timed)
        spent = float(np.median(times))
        gains = tuple(
            seed_gain(
                errors, equal_time(b, spent), against=b.trained.method.name,
                loss=f"{LOSS} in equal time" if b.levels else LOSS,
            )
            for b in baselines
        )  # fmt: skip
        best = int(np.argmin([equal_time(b, spent) for b in baselines]))
        return Comparison(gains[best], gains)

    def view(self, parts, test, candidate, baselines):
        """Return what the checks look at."""
        best = baselines[0]
        return PhysicsView(
            problem=self.problem,
            candidate=tuple(s.trained.estimator for s in candidate),
            reference=test,
            predictions=np.array([s.fields for s in candidate]),
            errors=np.array([s.error for s in candidate]),
            solver=best.trained.estimator,
            solver_error=best.error,
            seed=candidate[0].trained.seed,
        )

    def story(self, parts, test, candidate, baselines, gain):
        """Return the title, notes, tables, and what the figures draw."""
        return tell(self, test, candidate, baselines, gain)

    def model(self, candidate):
        """Return the first seed's network, where it can be saved."""
        estimator = candidate[0].trained.estimator
        return estimator if hasattr(estimator, "save") else None

    def baseline_model(self, baselines):
        """Return the classical solution, to be saved and asked beside the network."""
        return kept_solution(baselines[0].trained.estimator)

    def verdict_sentence(self, word, said, told):
        """Return the verdict with what to use first, and factors in place of percentages."""
        return sentence(word, said, told)

    def data(self):
        """Return the declaration as columns: variables with their ranges."""
        return summary_of(self.problem, self.source)

    def settings(self):
        """Return what is needed to run it again."""
        told = {"problem": self.source, "tolerance": self.tolerance, "seconds": self.seconds}
        return told | dict(self.options) | candidate_settings(self.brought)


def equal_time(scored: Scored, seconds: float) -> float:
    """Return the error of a baseline in at most so many seconds: of its best level within them.

    Where even the coarsest level took longer, that level's.
    """
    within = [error for spent, error in scored.levels if spent <= seconds]
    if within:
        return min(within)
    return scored.levels[0][1] if scored.levels else scored.error


def equal_error(scored: Scored, error: float) -> float | None:
    """Return the seconds that a baseline needs to reach an error, or None where it does not."""
    reached = [spent for spent, found in scored.levels if found <= error]
    return min(reached) if reached else None


def _settings(estimator: Any) -> dict[str, Any]:
    """Return what a method was used with, as plain values."""
    if hasattr(estimator, "settings"):
        return estimator.settings()
    plain = (bool, int, float, str)
    told = estimator.get_params(deep=False)
    told = {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()}
    return {k: v for k, v in told.items() if isinstance(v, plain) or k == "hidden"}
