"""The pieces of a surrogate study: what is split, fitted, scored, compared and told."""

import dataclasses
import functools
import inspect
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.data import profile
from assay.data.scaling import column_statistics
from assay.digest import digest_of
from assay.fingerprint import hash_rows
from assay.result import Column, DataSummary, Part, SplitSummary
from assay.sealed import SealedTest
from assay.study import AbstractNeed, Comparison, Parts
from assay.surrogate.brought import is_predictions
from assay.surrogate.calibrated import CalibratedSurrogate
from assay.surrogate.candidates import Making, baseline_methods, candidate_method, thinned
from assay.surrogate.domain import Domain
from assay.surrogate.error_bars import ErrorBars
from assay.surrogate.inputs import Reading, Runs, split_runs
from assay.surrogate.nearer import Nearer
from assay.surrogate.prepared import in_batch, prepare, strongest
from assay.surrogate.scoring import Scored, Yard, contender, independent
from assay.surrogate.spread import predict_with_spread
from assay.surrogate.story import Told, sentence, story
from assay.surrogate.view import SurrogateView
from assay.verdict import paired_gain

MEASURED_S = 0.1  # time that each measurement is given


@dataclasses.dataclass(frozen=True)
class SurrogateParts(Parts):
    """The parts, with the yardstick and the validity domain that follow from the fit part."""

    yard: Yard
    domain: Domain
    seed: int


@dataclasses.dataclass(frozen=True, eq=False)
class SurrogateNeed(AbstractNeed):
    """The pieces of a surrogate study that the flow asks for."""

    need: ClassVar[str] = "surrogate"

    runs: Runs
    given: Runs | None
    sigma: np.ndarray | None
    bounds: np.ndarray | None
    brought: Any
    members: int
    weight_decay: Any
    modes: Any
    learning_curve: bool
    checks_: tuple
    reading: Reading
    sources: tuple[Any, ...]

    @property
    def checks(self):
        """Return the checks of this study."""
        return self.checks_

    @property
    def common(self) -> bool:
        """Whether the outputs are points of one series or field, with one scale for all."""
        one_unit = len(set(self.runs.output_units)) == 1
        return self.runs.coordinate is not None or (self.runs.is_series and one_unit)

    @property
    def making(self) -> Making:
        """Return what the methods of this study share."""
        return Making(
            bounds=self.bounds,
            members=self.members,
            many=self.common or self.modes is not None,
            modes=self.modes,
            sigma=None if self.sigma is None else float(self.sigma.min()),
            weight_decay=self.weight_decay,
        )

    def split(self, seed):
        """Split the runs, repeated designs and groups kept together, and seal the test part."""
        self._kept.clear()
        self.contents()  # before anything is fitted
        made = split_runs(self.runs, self.given, seed)
        sealed = SealedTest.of(np.hstack([made.test.X, made.test.Y]), made.test)
        source = made.fit.source
        summary = SplitSummary(
            (
                Part("fit", made.fit.n_runs, source, "the methods learn from it"),
                Part(
                    "validation", made.validation.n_runs, source,
                    "ranks the baselines and calibrates error bars",
                ),
                Part("test", made.test.n_runs, made.test.source, "sealed, opened once, scored"),
            ),
            made.rule,
            _unit(made.test),
        )  # fmt: skip
        yard = Yard.of(made.fit, self.sigma, common=self.common)
        domain = Domain.fit(made.fit.X, bounds=self.bounds)
        return SurrogateParts(made.fit, made.validation, sealed, summary, yard, domain, seed)

    def methods(self):
        """Return the candidate and the baselines."""
        return candidate_method(self.brought, self.making), baseline_methods(self.making)

    def fit(self, estimator, parts, checkpoint: Path | None):
        """Fit on the fit part; the rank is the mean validation loss."""
        X, Y = parts.fit.X, parts.fit.Y
        kept = thinned(estimator, len(X), parts.seed)
        if kept is not None:
            X, Y = X[kept], Y[kept]
        extra = {}
        if checkpoint is not None and "checkpoint" in inspect.signature(estimator.fit).parameters:
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            extra["checkpoint"] = checkpoint
        estimator.fit(X, Y, **extra)
        if getattr(estimator, "only_test", False):
            return None
        errors = predict_with_spread(estimator, parts.validation.X)[0] - parts.validation.Y
        return float(np.mean(parts.yard.losses(errors)))

    def before_opening(self, parts, candidate, baselines):
        """Try what was brought; learn intervals and learning curves."""
        self._kept["prepared"] = prepare(
            parts, candidate, baselines, learning_curve=self.learning_curve
        )

    def score(self, trained, parts, test):
        """Return predictions, spreads and costs on the test runs."""
        estimator = trained.estimator
        mean, spread = predict_with_spread(estimator, test.X)
        held = self._kept["prepared"].held_of(trained)
        known = held.validation_errors, held.validation_spread
        return Scored(trained, mean, mean - test.Y, spread, *known, *_costs(estimator, test.X))

    def contender(self, test, scored):
        """Sum up one method over its seeds."""
        told: Told = self._kept["told"]
        bars = told.bars.get(scored[0].name)
        covered = None
        if bars is not None and bars.calibrated is not None:
            covered = 100.0 * bars.calibrated.estimate
        return contender(scored, told.yard, independent(test), covered)

    def compare(self, parts, test, candidate, baselines, seed):
        """Return the paired gains; validation says which baseline is the strongest."""
        del seed  # the interval is in closed form
        units = independent(test)
        losses = np.array([parts.yard.losses(s.errors) for s in candidate])
        gains = tuple(
            paired_gain(
                losses,
                parts.yard.losses(b.errors),
                against=b.name,
                loss="squared error",
                units=units,
            )
            for b in baselines
        )
        return Comparison(gains[_best(baselines)], gains)

    def view(self, parts, test, candidate, baselines):
        """Return what the checks look at."""
        told = self._told(parts, test, candidate, baselines)
        first, estimator = candidate[0], candidate[0].trained.estimator
        known = first.validation_errors is not None
        best = _best(baselines)
        return SurrogateView(
            fit=parts.fit,
            validation=parts.validation,
            test=test,
            bounds=self.bounds,
            sigma=self.sigma,
            scale=parts.yard.scale,
            candidate=tuple(s.trained.estimator for s in candidate),
            candidate_name=first.name,
            predictions=np.array([s.predictions for s in candidate]),
            fit_predictions=predict_with_spread(estimator, parts.fit.X)[0] if known else None,
            validation_predictions=(
                first.validation_errors + parts.validation.Y if known else None
            ),
            spread=first.spread,
            validation_spread=first.validation_spread,
            half_width=told.bars[first.name].half_width,
            n_calibration=told.bars[first.name].n,
            baselines=tuple(s.trained.estimator for s in baselines),
            baseline_names=tuple(s.name for s in baselines),
            baseline_predictions=np.array([s.predictions for s in baselines]),
            baseline_ranks=np.array([s.trained.rank for s in baselines]),
            best=best,
            gain=self.compare(parts, test, candidate, baselines, parts.seed).gain,
            seed=parts.seed,
        )

    @functools.cached_property
    def _kept(self):
        """What was worked out once in a run and is asked for several times."""
        return {}

    def _told(self, parts, test, candidate, baselines) -> Told:
        """Return what the test runs say of error bars, worked out on the first call of a run."""
        if "told" not in self._kept:
            inside, prepared = parts.domain.inside(test.X), self._kept["prepared"]
            scored = {s.name: s for s in (*baselines, candidate[0])}
            bars = {
                name: ErrorBars.of(scored[name], found, parts.yard, inside)
                for name, found in prepared.calibrations.items()
            }
            self._kept["told"] = Told(
                yard=parts.yard, candidate=candidate[0], best=baselines[_best(baselines)],
                domain=parts.domain, inside=inside, distance=parts.domain.distance(test.X),
                bars=bars, calibrations=prepared.calibrations, curves=prepared.curves,
                notes=prepared.notes, nearer=self._nearer(parts.yard, test, candidate, baselines),
            )  # fmt: skip
        return self._kept["told"]

    def _nearer(self, yard, test, candidate, baselines):
        """Return on how many test runs the candidate, on average over seeds, beats the best."""
        ours = np.mean([yard.losses(s.errors) for s in candidate], axis=0)
        theirs = yard.losses(baselines[_best(baselines)].errors)
        return Nearer.of(ours, theirs, independent(test), _unit(test))

    def model(self, candidate):
        """Return the first seed's candidate with its intervals; None for what was brought."""
        return self._calibrated(candidate[0])

    def baseline_model(self, baselines):
        """Return the strongest baseline with its intervals."""
        return self._calibrated(baselines[_best(baselines)])

    def _calibrated(self, scored):
        """Return a fitted method with its intervals and domain; None for what cannot be saved."""
        estimator, told = scored.trained.estimator, self._kept["told"]
        if not hasattr(estimator, "to_saved"):
            return None
        conformal = told.calibrations[scored.name].conformal
        model = CalibratedSurrogate.of(estimator, conformal, told.domain)
        model.extra_ = {  # what a saved model must know to be asked about a table
            "columns": list(self.runs.inputs),
            "units": list(self.runs.input_units),
            "outputs": list(self.runs.outputs),
            "output_units": list(self.runs.output_units),
        }
        return model

    def story(self, parts, test, candidate, baselines, gain):
        """Return the title, notes, tables and what the figures draw."""
        told = self._told(parts, test, candidate, baselines)
        return story(told, self.runs, parts, test, candidate, baselines, gain)

    def data(self):
        """Return the files, the inputs and outputs, and what was done to the rows."""
        runs = self.runs
        XY = np.hstack([runs.X, runs.Y])
        mean, std, low, high = (a.tolist() for a in column_statistics(XY))
        names, units = runs.inputs + runs.outputs, runs.input_units + runs.output_units
        columns = tuple(map(Column, names, units, low, high, mean, std))
        sources = (runs.source,) if self.given is None else (runs.source, self.given.source)
        notes = runs.notes + (() if self.given is None else self.given.notes)
        rows = runs.n_runs + (0 if self.given is None else self.given.n_runs)
        return DataSummary(
            tuple(dict.fromkeys(sources)), rows, columns, tuple(dict.fromkeys(notes)),
            profile(runs.X),
        )  # fmt: skip

    def settings(self):
        """Return what is needed to run it again, as plain values."""
        runs, test, second = self.sources
        sigma = self.sigma
        if sigma is not None:
            sigma = float(sigma[0]) if np.ptp(sigma) == 0 else sigma.tolist()
        brought = self.brought
        return {
            "data": runs,
            "outputs_file": second,
            "test": test,
            **dataclasses.asdict(self.reading),
            "sigma": sigma,
            "bounds": None if self.bounds is None else self.bounds.tolist(),
            "candidate": brought if isinstance(brought, str) else _brought(brought),
            "candidate_rows": str(brought) if isinstance(brought, Path) else None,
            "members": self.members,
            "weight_decay": self.weight_decay,
            "modes": self.modes,
            "learning_curve": self.learning_curve,
        }

    def contents(self):
        """Return digests of the runs, and of what was brought."""
        return dict(self._contents)

    @functools.cached_property
    def _contents(self):
        """Digests, taken once: a model that was brought may remember that it was asked."""
        runs = np.hstack([self.runs.X, self.runs.Y])
        found = {"runs": hash_rows(runs)}
        brought = self.brought
        if is_predictions(brought) or not isinstance(brought, str):
            found["candidate"] = digest_of(Path(brought) if isinstance(brought, str) else brought)
        return found

    def verdict_sentence(self, word, said, told):
        """Return the verdict as an engineer would say it."""
        kept = self._kept["told"]
        return sentence(word, said, told, kept.yard, kept.nearer)


def _brought(candidate: Any) -> str | None:
    """Return a name for what was brought, so that another candidate is another study."""
    if candidate is None or isinstance(candidate, Path):
        return None
    return f"brought: {getattr(candidate, '__name__', type(candidate).__name__)}"


def _unit(test: Runs) -> str:
    if test.groups is not None:
        return "group"
    return "run" if independent(test) is None else "run of equal inputs"


def _best(baselines: list[Scored]) -> int:
    return strongest([scored.trained for scored in baselines])


def _costs(estimator: Any, X: np.ndarray) -> tuple[float, float | None]:
    """Return microseconds a row in a batch, and for a row alone; both after a first call."""
    if getattr(estimator, "only_test", False):
        return 0.0, None
    batch = in_batch(X)
    estimator.predict(batch)  # whatever is compiled is compiled now
    estimator.predict(X[:1])
    spent = [_seconds(estimator, rows) for rows in (batch, X[:1])]
    return 1e6 * spent[0] / len(batch), 1e6 * spent[1]


def _seconds(estimator: Any, rows: np.ndarray) -> float:
    """Return the shortest time of several predictions: the others waited for the machine."""
    times: list[float] = []
    while not times or (len(times) < 20 and sum(times) < MEASURED_S):
        start = time.perf_counter()
        estimator.predict(rows)
        times.append(time.perf_counter() - start)
    return min(times)
