"""The pieces of a compress study: what is split, scored, compared and told."""

import dataclasses
import functools
import numbers
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from assay.compress.autoencoder import Autoencoder
from assay.compress.baselines import BASELINES, principal_axes
from assay.compress.brought import bring
from assay.compress.inputs import Reading, Split, require_rows, split
from assay.compress.view import CompressView
from assay.data import Scaler, Table, profile
from assay.errors import StudyError
from assay.estimators import checkpointed, configured, curve_of
from assay.result import Contender, Cost, MetricInfo, Part, SplitSummary
from assay.sealed import SealedTest
from assay.splits import copies
from assay.study import AbstractNeed, Comparison, Method, Parts, Story, Trained
from assay.units import block_ids, block_length, codes, correlation_time
from assay.verdict import paired_gain

METRICS = (
    MetricInfo("mse", "mean squared error", "scaled units²", "lower"),
    MetricInfo("explained", "variance explained", "-", "higher"),
    MetricInfo("median_error", "median row error", "scaled units²", "lower", role="detail"),
    MetricInfo("worst_error", "99th percentile of row errors", "scaled units²", "lower", "detail"),
)


ROUNDING = 1e-12  # of the mean row's squared error


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """One fitted method on the test rows: error of each row [scaled units squared].

    `floor` is the mean error of the mean row of the fit part.
    """

    trained: Trained
    errors: np.ndarray
    floor: float
    predict_us: float


@dataclasses.dataclass(frozen=True, eq=False)
class CompressNeed(AbstractNeed):
    """The pieces of a compress study that the flow asks for."""

    need: ClassVar[str] = "compress"

    table: Table
    given: Table | None
    code_size: int | None
    brought: Any
    scaling: str
    checks_: tuple
    reading: Reading
    sources: tuple[tuple[str, ...], tuple[str, ...] | None]

    @property
    def checks(self):
        """Return the checks of this study."""
        return self.checks_

    @functools.cached_property
    def size(self) -> int:
        """Return the code size, chosen by PCA's 90 % of the variance where it was not given."""
        d = self.table.n_columns
        require_rows(self.table)
        if self.code_size is None:
            if d < 2:
                raise StudyError(
                    "Compressing needs at least two columns, got one.",
                    hint="Name more columns, or lay the record out in windows.",
                )
            axes = principal_axes(self.table.X, Scaler.fit(self.table.X, self.scaling))
            return min(axes.count(0.9), d - 1)
        whole = isinstance(self.code_size, numbers.Integral)
        if not whole or not 1 <= self.code_size < 4 * d:
            raise StudyError(
                f"`code_size` must be a whole number between 1 and {4 * d - 1}, got "
                f"{self.code_size!r}.",
                hint=f"A code below the {d} columns compresses; start with {max(d // 4, 1)}.",
            )
        return self.code_size

    def split(self, seed):
        """Split by groups, blocks of time or rows, and seal the test part."""
        made: Split = split(self.table, self.given, seed)
        sealed = SealedTest.of(made.test.X, made.test)
        summary = SplitSummary(
            (
                Part("fit", made.fit.n_rows, made.fit.source, "the methods are fitted on it"),
                Part("validation", made.validation.n_rows, made.fit.source, "ranks the baselines"),
                Part("test", made.test.n_rows, made.test.source, "sealed, opened once, scored"),
            ),
            made.rule,
            _unit(made.test),
        )
        return Parts(made.fit, made.validation, sealed, summary)

    def methods(self):
        """Return the autoencoder (or what was brought) and PCA at the same size."""
        if self.brought is None or isinstance(self.brought, str):
            candidate = Method("Autoencoder", self._autoencoder, "A network with a bottleneck.")
        else:
            candidate = bring(self.brought, size=self.size, scaling=self.scaling)
        wanted = {"code_size": self.size, "scaling": self.scaling}
        made = tuple(
            Method(b.name, lambda seed, b=b: configured(b, wanted, seed), b.about)
            for b in BASELINES
        )
        return candidate, made

    def _autoencoder(self, seed):
        return Autoencoder(code_size=self.size, scaling=self.scaling, random_state=seed)

    def fit(self, estimator, parts, checkpoint: Path | None):
        """Fit on the fit part; the rank is the mean validation error."""
        checkpointed(estimator, parts.fit.X, checkpoint)
        if getattr(estimator, "only_test", False):
            return None
        return float(np.mean(self._errors(estimator, parts.validation.X, self._scaler(parts))))

    @functools.cached_property
    def _last_scaler(self):
        return {}

    def _scaler(self, parts):
        """Return the scaling of the fit part, found once a run: every method asks for it."""
        held = self._last_scaler
        if held.get("of") is not parts.fit:
            held.update(of=parts.fit, scaler=Scaler.fit(parts.fit.X, self.scaling))
        return held["scaler"]

    def _errors(self, estimator, X, scaler):
        return np.mean(((X - estimator.reconstruct(X)) / scaler.scale) ** 2, axis=1)

    def score(self, trained, parts, test):
        """Return the error of every test row."""
        scaler = self._scaler(parts)
        start = time.perf_counter()
        errors = self._errors(trained.estimator, test.X, scaler)
        spent = time.perf_counter() - start
        floor = float(np.mean(((test.X - parts.fit.X.mean(axis=0)) / scaler.scale) ** 2))
        # A millionth of the rows' spread is rounding, and a ratio of two roundings says nothing.
        errors = np.where(errors < ROUNDING * floor, 0.0, errors)
        return Scored(trained, errors, floor, 1e6 * spent / len(errors))

    def contender(self, test, scored):
        """Return means over seeds, and the spread where there are several."""
        errors = np.array([s.errors for s in scored])
        floor = max(scored[0].floor, np.finfo(float).tiny)
        each = {
            "mse": errors.mean(axis=1),
            # Rounded, so that the mean row explains nothing and not 3e-16.
            "explained": np.round(1.0 - errors.mean(axis=1) / floor, 12),
            "median_error": np.median(errors, axis=1),
            "worst_error": np.quantile(errors, 0.99, axis=1),
        }
        first = scored[0].trained
        estimator = first.estimator
        return Contender(
            name=first.method.name,
            metrics={k: float(np.mean(v)) for k, v in each.items()},
            intervals={"mse": _interval(errors.mean(axis=0), test)},
            cost=Cost(
                float(np.mean([s.trained.fit_s for s in scored])),
                float(np.mean([s.predict_us for s in scored])),
                getattr(estimator, "n_parameters_", None),
            ),
            spread={k: float(np.std(v, ddof=1)) for k, v in each.items() if len(scored) > 1},
            settings=estimator.settings(),
            status=getattr(estimator, "status_", ""),
            about=first.method.about,
        )

    def compare(self, parts, test, candidate, baselines, seed):
        """Return the paired gain over the baseline that validation ranks first."""
        del parts, seed  # the interval is in closed form
        units, blocks = _resampled(test)
        losses = np.array([s.errors for s in candidate])
        gains = tuple(
            paired_gain(
                losses,
                b.errors,
                against=b.trained.method.name,
                loss="mean squared error of a test row",
                units=units,
                blocks=blocks,
            )
            for b in baselines
        )
        best = int(np.argmin([b.trained.rank for b in baselines]))
        return Comparison(gains[best], gains)

    def view(self, parts, test, candidate, baselines):
        """Return what the checks look at."""
        return CompressView(
            fit=parts.fit.X,
            validation=parts.validation.X,
            test=test.X,
            scaler=self._scaler(parts),
            code_size=self.size,
            candidate=tuple(s.trained.estimator for s in candidate),
            candidate_errors=np.array([s.errors for s in candidate]),
            pca=baselines[0].trained.estimator,
            pca_errors=baselines[0].errors,
            floor_errors=baselines[-1].errors,
        )

    def model(self, candidate):
        """Return the first seed's network; None for what was brought."""
        estimator = candidate[0].trained.estimator
        return estimator if hasattr(estimator, "to_saved") else None

    def story(self, parts, test, candidate, baselines, gain):
        """Return the title and what the figures draw."""
        del gain
        estimator = candidate[0].trained.estimator
        arrays = {
            "row_number": test.row_numbers,
            "row_error": candidate[0].errors,
            "row_error_pca": baselines[0].errors,
            "column_name": np.array(self.table.columns, dtype=object),
            "column_error": self._by_column(estimator, test.X, parts),
            "column_error_pca": self._by_column(baselines[0].trained.estimator, test.X, parts),
        }
        arrays |= curve_of(estimator)
        names = [Path(name).name for name in self.table.source.split(", ")]
        where = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        title = f"{where}: {self.table.n_columns:,} columns in a code of {self.size:,}"
        notes = tuple(getattr(estimator, "unchecked", ()))
        return Story(title, METRICS, notes, arrays)

    def _by_column(self, estimator, X, parts):
        scale = self._scaler(parts).scale
        return np.mean(((X - estimator.reconstruct(X)) / scale) ** 2, axis=0)

    def data(self):
        """Return the files, columns, notes and profile."""
        return self.table.summary(profile=profile(self.table.X))

    def settings(self):
        """Return what is needed to run it again."""
        return {
            "data": self.sources[0],
            "test": self.sources[1],
            "code_size": self.size,
            "scaling": self.scaling,
            "candidate": None if isinstance(self.brought, Path) else _brought(self.brought),
            "candidate_rows": str(self.brought) if isinstance(self.brought, Path) else None,
            **dataclasses.asdict(self.reading),
        }


def _brought(candidate: Any) -> str | None:
    """Return a name for what was brought, so that another candidate is another study."""
    if candidate is None or isinstance(candidate, str):
        return candidate
    return f"brought: {getattr(candidate, '__name__', type(candidate).__name__)}"


def _resampled(test: Table) -> tuple[np.ndarray | None, str | None]:
    """Return what was drawn independently: groups, blocks of time, or (None, None) for rows.

    Rows that were copied are one row each.
    """
    unit = _unit(test)
    if unit == "row":
        return _copies(test), None
    return (test.groups if unit == "group" else None), ("auto" if unit == "block" else None)


def _copies(test: Table) -> np.ndarray | None:
    same = copies(test.X)
    return None if same is None or same.min() == same.max() else same


def _interval(errors: np.ndarray, test: Table) -> tuple[float, float]:
    """Return the 95 % interval on the mean error, over what was drawn independently."""
    unit, n = _unit(test), len(errors)
    same = _copies(test) if unit == "row" else None
    ids = np.arange(n) if same is None else same
    if unit != "row":
        groups = None if test.groups is None else codes(test.groups, n)[0]
        length = block_length(n, correlation_time(errors, starts=groups))
        ids = groups if unit == "group" else block_ids(n, length, groups=groups)
    size = np.bincount(ids)
    off = np.bincount(ids, weights=errors - errors.mean()) / n
    count = len(size)
    if count < 2:
        return 0.0, float("inf")
    half = stats.t.ppf(0.975, count - 1) * np.sqrt(off @ off * count / (count - 1))
    return float(max(errors.mean() - half, 0.0)), float(errors.mean() + half)


def _unit(test: Table) -> str:
    if test.groups is not None and len(np.unique(test.groups)) > 1:
        return "group"
    return "block" if test.times is not None else "row"
