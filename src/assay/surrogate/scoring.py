"""From predictions to figures: how wrong a method is, in what unit, and where."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from assay.errors import StudyError
from assay.result import Contender, Cost, ExtraTable, MetricInfo
from assay.study import Trained
from assay.surrogate.runs import LARGEST
from assay.units import codes

if TYPE_CHECKING:
    from assay.surrogate.inputs import Runs

MOST_OUTPUTS_LISTED = 60
WORST_LISTED = 5
MOST_INPUTS_LISTED = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Yard:
    """What errors are measured with.

    Attributes
    ----------
    scale : (m,) array [units of the outputs]
        The loss is the squared error over it: the user's noise, else the spread.
    spread : (m,) array [units of the outputs]
        Standard deviation of each output over the fit runs; one common value for a series.
    sigma : (m,) array or None [units of the outputs]
    factor : float
        Errors are shown as error / scale * factor, in `unit`.
    unit : str
    """

    scale: np.ndarray
    spread: np.ndarray
    sigma: np.ndarray | None
    factor: float
    unit: str

    @classmethod
    def of(cls, runs: "Runs", sigma: np.ndarray | None, *, common: bool) -> "Yard":
        """Return the yardstick for outputs like those of `runs`.

        Parameters
        ----------
        runs : Runs
            Of the fit part: nothing else may be known.
        sigma : (m,) array or None [units of the outputs]
        common : bool
            One spread for all outputs: points of one series or field.

        Raises
        ------
        StudyError
            If no output varies.
        """
        spread = runs.Y.std(axis=0)
        varies = spread > 1e-12 * np.abs(runs.Y).max(axis=0)
        if not varies.any():
            raise StudyError(
                "No output varies over the fit runs: there is nothing to learn.",
                hint="Name other outputs, or look at what wrote them.",
            )
        spread = np.where(varies, spread, 1.0)
        if common:
            together = float(np.sqrt(np.mean(runs.Y.var(axis=0))))
            spread = np.full(len(spread), together)
        scale = spread if sigma is None else np.asarray(sigma, float)
        if (scale * LARGEST < spread).any():
            k = int(np.argmax(spread / scale))
            raise StudyError(
                f"`sigma` of '{runs.outputs[k]}' is {scale[k]:.3g} and its spread over the runs is "
                f"{spread[k]:.3g}: errors in units of sigma cannot be computed with.",
                hint="Give sigma in the unit of the output, or leave it out.",
            )
        same = bool(np.ptp(scale) <= 1e-12 * scale.max()) and len(set(runs.output_units)) == 1
        if same and (runs.n_outputs == 1 or common or sigma is not None):
            unit = runs.output_units[0] or _unknown_unit(runs)
            return cls(scale, spread, sigma, float(scale[0]), unit)
        return cls(scale, spread, sigma, 1.0, "spreads" if sigma is None else "sigmas")

    def losses(self, errors) -> np.ndarray:
        """Return the loss of each run (n,) [-] from errors (n, m): mean of (error / scale)²."""
        return np.mean((errors / self.scale) ** 2, axis=1)

    def shown(self, losses) -> float:
        """Return the root of the mean of losses, in `unit`."""
        return float(np.sqrt(np.mean(losses))) * self.factor

    def shares(self, errors) -> np.ndarray:
        """Return the squared error of each run over the spread (n,) [-]."""
        return np.mean((errors / self.spread) ** 2, axis=1)


def _unknown_unit(runs):
    return f"unit of {runs.outputs[0]}" if runs.n_outputs == 1 else "unit of the outputs"


@dataclasses.dataclass(frozen=True, eq=False)
class Scored:
    """One fitted method on the test runs.

    `predictions` and `errors` (prediction minus truth) are (n_test, m) [units of the outputs],
    `spread` their raw standard deviation or None. `validation_errors` and `validation_spread` are
    the same of the validation runs, or None. `batch_us` and `row_us` are microseconds per run in
    a batch and for a run alone (None where nothing is computed).
    """

    trained: Trained
    predictions: np.ndarray
    errors: np.ndarray
    spread: np.ndarray | None
    validation_errors: np.ndarray | None
    validation_spread: np.ndarray | None
    batch_us: float
    row_us: float | None

    @property
    def name(self) -> str:
        """Return the name of the method."""
        return self.trained.method.name


def metrics_of_need(yard: Yard, *, one_output: bool) -> tuple[MetricInfo, ...]:
    """Return the columns of the table of methods."""
    share = "%"
    each = "" if one_output else ", over runs and outputs"
    shown = [
        MetricInfo(
            "rms", "RMS error", yard.unit, "lower",
            note=f"root mean square{each}; the verdict is about its square" + _said(yard),
        ),
        MetricInfo(
            "relative_rms", "of the spread", share, "lower",
            note="RMS error over the standard deviation of the outputs; 100 % is what predicting "
            "the mean gets",
        ),
    ]  # fmt: skip
    if yard.sigma is not None:
        whole = "" if one_output else "; a run counts if all of its outputs do"
        shown.append(
            MetricInfo(
                "within_sigma", "within sigma", share, "higher",
                note=f"share of the test runs with an error below sigma{whole}",
            )
        )  # fmt: skip
        if not one_output:
            shown.append(
                MetricInfo(
                    "outputs_within_sigma", "outputs within sigma", share, "higher", "detail",
                    "share of all outputs of all test runs",
                )
            )  # fmt: skip
    run = "error of a run" if one_output else "RMS error of a run"
    shown += [
        MetricInfo("median_error", f"median {run}", yard.unit, "lower", "detail"),
        MetricInfo("max_error", "largest error", yard.unit, "lower", "detail"),
        MetricInfo(
            "coverage95", "inside the calibrated 95 % interval", share, "target", "detail",
            "share of the test runs' outputs; first seed",
        ),
    ]  # fmt: skip
    return tuple(shown)


def _said(yard: Yard) -> str:
    if yard.unit == "spreads":
        return "; each output in units of its own standard deviation"
    return "; in units of the sigma of each output" if yard.unit == "sigmas" else ""


def metrics_of(errors: np.ndarray, yard: Yard) -> dict[str, float]:
    """Return the metrics of one fitted method from its errors (n, m) [units of the outputs].

    Examples
    --------
    >>> yard = Yard(np.array([2.0]), np.array([10.0]), np.array([2.0]), 2.0, "mm")
    >>> found = metrics_of(np.array([[1.0], [-3.0], [1.0], [-1.0]]), yard)
    >>> [round(found[k], 3) for k in ("rms", "relative_rms", "within_sigma", "max_error")]
    [1.732, 17.321, 75.0, 3.0]
    """
    losses = yard.losses(errors)
    found = {
        "rms": yard.shown(losses),
        "relative_rms": 100.0 * float(np.sqrt(np.mean(yard.shares(errors)))),
        "median_error": float(np.median(np.sqrt(losses))) * yard.factor,
        "max_error": float(np.max(np.abs(errors / yard.scale))) * yard.factor,
    }
    if yard.sigma is not None:
        inside = np.abs(errors) <= yard.sigma
        found["within_sigma"] = 100.0 * float(np.mean(inside.all(axis=1)))
        found["outputs_within_sigma"] = 100.0 * float(np.mean(inside))
    return found


def contender(
    scored: list[Scored], yard: Yard, units: np.ndarray | None, covered: float | None
) -> Contender:
    """Sum up one method: means over its seeds, intervals over test runs, spread over seeds.

    Parameters
    ----------
    scored : list of Scored
        One a seed.
    yard : Yard
    units : (n,) array or None
        What was drawn independently; None: runs.
    covered : float or None [%]
        Coverage of the calibrated interval, of the first seed.
    """
    each = [metrics_of(s.errors, yard) for s in scored]
    values = {k: np.array([m[k] for m in each]) for k in each[0]}
    metrics = {k: float(v.mean()) for k, v in values.items()}
    losses = np.mean([yard.losses(s.errors) for s in scored], axis=0)
    # Of the mean over seeds of the RMS, not of the root of the mean loss: the same centre.
    low, high = np.sqrt(mean_interval(losses, units)) * yard.factor
    off = metrics["rms"] - yard.shown(losses)
    intervals = {"rms": (max(low + off, 0.0), high + off)}
    if yard.sigma is not None:
        intervals["within_sigma"] = share_interval(metrics["within_sigma"], len(losses), units)
    if covered is not None:
        metrics["coverage95"] = covered
    first = scored[0].trained
    estimator = first.estimator
    settings = getattr(estimator, "settings", dict)
    return Contender(
        name=first.method.name,
        metrics=metrics,
        intervals=intervals,
        spread={k: float(v.std(ddof=1)) for k, v in values.items() if len(scored) > 1},
        cost=Cost(
            float(np.mean([s.trained.fit_s for s in scored])),
            float(np.mean([s.batch_us for s in scored])),
            getattr(estimator, "n_parameters_", None),
        ),
        settings=settings(),
        status=getattr(estimator, "status_", ""),
        about=first.method.about,
    )


def mean_interval(losses: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """Return the 95 % interval (2,) on the mean loss, over what was drawn independently."""
    n = len(losses)
    ids = np.arange(n) if units is None else codes(units, n)[0]
    count = int(ids.max()) + 1
    if count < 2:
        return np.array([0.0, np.inf])
    off = np.bincount(ids, weights=losses - losses.mean()) / n
    half = stats.t.ppf(0.975, count - 1) * np.sqrt(off @ off * count / (count - 1))
    return np.array([max(losses.mean() - half, 0.0), losses.mean() + half])


def share_interval(percent: float, n: int, units: np.ndarray | None = None) -> tuple[float, float]:
    """Return the 95 % interval [%] on a share of runs (Clopper & Pearson), units being trials."""
    trials = n if units is None else len(np.unique(units))
    hits = percent / 100.0 * trials
    low = stats.beta.ppf(0.025, hits, trials - hits + 1.0) if hits > 0 else 0.0
    high = stats.beta.ppf(0.975, hits + 1.0, trials - hits) if hits < trials else 1.0
    return 100.0 * float(low), 100.0 * float(high)


def independent(runs: "Runs") -> np.ndarray | None:
    """Return what was drawn independently (n,): groups, or equal designs; None for each run.

    One group, or one design, is one observation however many runs it has.
    """
    if runs.groups is not None:
        return np.asarray(runs.groups)
    designs = np.unique(runs.X, axis=0, return_inverse=True)[1].ravel()
    return designs if len(np.unique(designs)) < len(designs) else None


def by_output(ours: Scored, best: Scored, runs: "Runs", yard: Yard) -> ExtraTable | None:
    """Return the table of errors per output; None for one output, or too many to list."""
    if not 1 < runs.n_outputs <= MOST_OUTPUTS_LISTED or runs.coordinate is not None:
        return None
    rms = [np.sqrt(np.mean(s.errors**2, axis=0)) for s in (ours, best)]
    rows = []
    for j, (name, unit) in enumerate(zip(runs.outputs, runs.output_units, strict=True)):
        share = [100.0 * float(r[j] / yard.spread[j]) for r in rms]
        row = [f"{name} [{unit}]" if unit else name, float(rms[0][j]), float(rms[1][j]), *share]
        if yard.sigma is not None:
            inside = [np.abs(s.errors[:, j]) <= yard.sigma[j] for s in (ours, best)]
            row += [100.0 * float(np.mean(i)) for i in inside]
        rows.append(tuple(row))
    names = (ours.name, best.name)
    columns = [("output", "")]
    columns += [(f"RMS error, {name}", "unit of the output") for name in names]
    columns += [(f"of the spread, {name}", "%") for name in names]
    if yard.sigma is not None:
        columns += [(f"within sigma, {name}", "%") for name in names]
    return ExtraTable("Output by output", tuple(columns), tuple(rows), "First seed.")


def worst_runs(ours: Scored, test: "Runs", yard: Yard, inside: np.ndarray) -> ExtraTable:
    """Return the table of the test runs with the largest errors: where they are.

    `inside` (n,) bool says which runs are inside the validity domain.
    """
    size = np.abs(ours.errors / yard.scale)
    order = np.argsort(-size.max(axis=1), kind="stable")[:WORST_LISTED]
    one = test.n_outputs == 1
    rows = []
    for i in order:
        j = int(size[i].argmax())
        row = [str(test.row_numbers[i]), *([] if one else [label_of(test, j)])]
        row += [float(v) for v in (test.Y[i, j], ours.predictions[i, j], ours.errors[i, j])]
        row += ["yes" if inside[i] else "no", _design(test, i)]
        rows.append(tuple(row))
    unit = test.output_units[0] if one or test.coordinate is not None else ""
    columns = [("row", ""), *([] if one else [("output", "")])]
    columns += [("true", unit), ("predicted", unit), ("error", unit)]
    columns += [("in the domain", ""), ("inputs", "")]
    note = f"Of the {mid_sentence(ours.name)}, first seed."
    note += "" if unit else " True, predicted and error are in the unit of the output."
    return ExtraTable("Where the errors are largest", tuple(columns), tuple(rows), note)


def _design(test: "Runs", i: int) -> str:
    """Return the inputs of run `i` in words; of many, the first."""
    shown = range(min(test.n_inputs, MOST_INPUTS_LISTED))
    told = ", ".join(f"{test.inputs[k]} {_four(test.X[i, k])}" for k in shown)
    left = test.n_inputs - len(shown)
    return told + (f" and {left} more" if left else "")


def _four(value: float) -> str:
    """Return four digits, without an exponent where a person would not write one."""
    text = f"{value:.4g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(value) < 1e8 else text


def label_of(runs: "Runs", j: int) -> str:
    """Return the name of output `j` with its unit, or its place on the coordinate of a series."""
    if named_by_number(runs, j):
        return runs.outputs[j]
    if runs.coordinate is not None:
        return place_of(runs.coordinate_name, runs.coordinate[j])
    unit = runs.output_units[j]
    return f"{runs.outputs[j]} [{unit}]" if unit else runs.outputs[j]


def named_by_number(runs: "Runs", j: int) -> bool:
    """Return whether the coordinate of a series is only the number in its names (``u_0.5``)."""
    stem = runs.coordinate_name
    return bool(stem) and runs.outputs[j].startswith(tuple(stem + c for c in "_@=:[( "))


def place_of(name: str, value: Any) -> str:
    """Return ``"t = 0.5 yr"`` from ``"t [yr]"`` and 0.5.

    Examples
    --------
    >>> place_of("t [yr]", 0.5), place_of("", 3.0)
    ('t = 0.5 yr', 'at 3')
    """
    title, _, unit = name.partition("[")
    title, unit = title.strip(), unit.strip(" ]")
    where = f"{title} = {value:.3g}" if title else f"at {value:.3g}"
    return f"{where} {unit}".strip()


def mid_sentence(name: str) -> str:
    """Return the name of a method as it is written inside a sentence.

    Examples
    --------
    >>> mid_sentence("Ensemble of 5 MLPs"), mid_sentence("Gaussian process")
    ('ensemble of 5 MLPs', 'Gaussian process')
    """
    first = name.split(" ")[0]
    plain = first[1:].islower() and first != "Gaussian"
    return name[:1].lower() + name[1:] if plain else name
