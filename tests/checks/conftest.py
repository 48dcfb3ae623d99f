"""Views built by hand: what a check sees, without running a study."""

import dataclasses
import functools

import numpy as np
import pytest

from assay.anomaly.feeds import Feed
from assay.anomaly.threshold import conformal_threshold
from assay.anomaly.view import AnomalyView, Judged
from assay.compress.baselines import PCA
from assay.compress.view import CompressView
from assay.data import Scaler
from assay.physics.gallery import oscillator
from assay.physics.pinn import PINN
from assay.physics.reference import FLOOR, Reference
from assay.physics.solution import relative_l2
from assay.physics.view import PhysicsView
from assay.surrogate.runs import Runs
from assay.surrogate.spread import has_spread
from assay.surrogate.view import SurrogateView

SEEDS = range(5)


def feed_of(X, labels=None, times=None, groups=None):
    X = np.asarray(X, dtype=float)
    return Feed(X, np.arange(1, len(X) + 1), labels, None, times, groups)


def judge(estimator, fit, calibration, test, rate=0.05, name=None, series=None):
    """Fit (where it can), score and set the threshold, as a study does."""
    if hasattr(estimator, "fit"):
        estimator.fit(fit)
    score = estimator.anomaly_score if hasattr(estimator, "anomaly_score") else estimator
    held = np.asarray(score(calibration), dtype=float)
    threshold = conformal_threshold(held, rate, series=series)
    name = name or getattr(estimator, "name", type(estimator).__name__)
    return Judged(name, estimator, held, np.asarray(score(test), dtype=float), threshold)


def anomaly_view(
    fit,
    calibration,
    test,
    labels=None,
    *,
    candidate,
    baselines=(),
    rate=0.05,
    columns=None,
    blocks=None,
    times=None,
    groups=None,
    series=None,
    seed=0,
):
    def judged(e):
        if isinstance(e, Judged):
            return e
        return judge(e, fit, calibration, test, rate=rate, series=series)

    return AnomalyView(
        fit=feed_of(fit),
        calibration=feed_of(calibration),
        test=feed_of(test, labels, times, groups),
        columns=columns or tuple(f"c{i}" for i in range(np.shape(fit)[1])),
        candidate=tuple(map(judged, candidate)),
        baselines=tuple(map(judged, baselines)),
        false_alarm_rate=rate,
        blocks=np.arange(len(test)) if blocks is None else blocks,
        seed=seed,
    )


def compress_view(fit, validation, test, candidate, *, code_size=2, seed=0):
    scaler = Scaler.fit(fit)
    pca = PCA(code_size=code_size).fit(fit)

    def errors(rows):
        return np.mean(((test - rows) / scaler.scale) ** 2, axis=1)

    return CompressView(
        fit=fit,
        validation=validation,
        test=test,
        scaler=scaler,
        code_size=code_size,
        candidate=tuple(candidate),
        candidate_errors=np.array([errors(c.reconstruct(test)) for c in candidate]),
        pca=pca,
        pca_errors=errors(pca.reconstruct(test)),
        floor_errors=errors(fit.mean(axis=0)),
        seed=seed,
    )


def runs_of(X, Y, first=1):
    X, Y = np.asarray(X, float), np.asarray(Y, float).reshape(len(X), -1)
    names = [tuple(f"{kind}{i}" for i in range(A.shape[1])) for kind, A in (("x", X), ("y", Y))]
    return Runs(X, Y, *names, row_numbers=np.arange(first, first + len(X)))


def surrogate_view(fit, validation, test, candidate, baselines=(), **given):
    """Return the view of fitted estimators; parts are pairs (X, Y), `given` overrides fields."""
    parts = [
        runs_of(*part, first=first)
        for part, first in zip((fit, validation, test), (1, 1001, 2001), strict=True)
    ]

    if "groups" in given:
        parts[2] = dataclasses.replace(parts[2], groups=given.pop("groups"))

    def predicted(estimator, part):
        if not hasattr(estimator, "predict"):
            return np.zeros_like(part.Y)
        return np.asarray(estimator.predict(part.X), float).reshape(part.Y.shape)

    def spread_on(estimator, part):
        if not hasattr(estimator, "predict") or not has_spread(estimator):
            return None
        return np.asarray(estimator.predict(part.X, return_std=True)[1]).reshape(part.Y.shape)

    scale = parts[0].Y.std(axis=0)
    scale = np.full_like(scale, np.sqrt(np.mean(scale**2))) if len(scale) > 12 else scale
    held, first = parts[1], candidate[0]
    ranks = [np.mean(((predicted(b, held) - held.Y) / scale) ** 2) for b in baselines]
    fields = {
        "fit": parts[0],
        "validation": held,
        "test": parts[2],
        "bounds": None,
        "sigma": None,
        "scale": scale,
        "candidate": tuple(candidate),
        "candidate_name": "candidate",
        "predictions": np.array([predicted(e, parts[2]) for e in candidate]),
        "fit_predictions": predicted(first, parts[0]),
        "validation_predictions": predicted(first, held),
        "spread": spread_on(first, parts[2]),
        "validation_spread": spread_on(first, held),
        "half_width": None,
        "baselines": tuple(baselines),
        "baseline_names": tuple(type(b).__name__ for b in baselines),
        "baseline_predictions": np.array([predicted(b, parts[2]) for b in baselines]),
        "baseline_ranks": np.array(ranks),
        "best": int(np.argmin(ranks)) if ranks else 0,
        "gain": None,
    }
    return SurrogateView(**(fields | given))


def physics_view(problem, candidate=(), *, fields=None, error=FLOOR, count=None, **given):
    """Return the view of solved problems with an exact solution, on a grid of `count` points.

    `fields` (n_seeds, n_points, n_fields), or a function of (seed, points, truth), stand for
    candidates that only exist on paper.
    """
    count = count or {1: 401, 2: 41, 3: 11}[len(problem.box)]
    lines = [np.linspace(low, high, count) for low, high in problem.box.values()]
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))
    truth = problem.exact_at(points)
    if callable(fields):
        fields = [fields(seed, points, truth) for seed in range(3)]
    if fields is None:
        fields = [network.predict(points) for network in candidate]
    fields = np.asarray(fields, float)
    asked = {
        "problem": problem,
        "candidate": tuple(candidate) or tuple(Given() for _ in fields),
        "reference": Reference(points, truth, error, "the exact solution"),
        "predictions": fields,
        "errors": np.array([max(relative_l2(one, truth), error) for one in fields]),
        "solver": None,
        "solver_error": error,
    }
    return PhysicsView(**(asked | given))


@functools.cache
def _swing(recipe, seed):
    made = PINN(random_state=seed, **(RECIPES[recipe]))
    return made.fit(oscillator())


# Networks on a damped oscillator of 1 Hz over 2 s. The first is chapter 9's first run, shortened.
_CHAPTER = {
    "hidden": (32, 32, 32), "optimiser": "adam", "points": 200, "steps": 400,
    "conditions": "soft", "precision": "float32", "initialisation": "torch",
}  # fmt: skip
_SMALL = {"hidden": (16, 16), "points": 60, "steps": 100}
RECIPES = {
    "raw": _CHAPTER | {"scaling": "none"},
    "weighted": _CHAPTER | {"scaling": "none", "weights": {"condition": 100.0}},
    "scaled": _CHAPTER,
    "hard": _CHAPTER | {"conditions": "hard"},
    "good": _SMALL,
    "good and soft": _SMALL | {"conditions": "soft"},
    "few points": _SMALL | {"points": 12, "resample": None},
    "rounded off": _SMALL
    | {
        "scaling": "none",
        "conditions": "soft",
        "precision": "float32",
        "optimiser": "lbfgs",
        "steps": 6000,  # seed 1 needs more than 1,000 in double precision
    },
    "two units": _SMALL | {"hidden": (2,)},
}


def swings(recipe, seeds=3):
    """Return the networks of a recipe, trained once a session."""
    return tuple(_swing(recipe, seed) for seed in range(seeds))


class Given:
    """An estimator with the attributes that a test gives it."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def anomaly_score(self, X):
        return np.linalg.norm(X, axis=1)


@pytest.fixture(name="anomaly_view", scope="session")
def _anomaly_view():
    return anomaly_view


@pytest.fixture(name="compress_view", scope="session")
def _compress_view():
    return compress_view


@pytest.fixture(name="surrogate_view", scope="session")
def _surrogate_view():
    return surrogate_view


@pytest.fixture(name="physics_view", scope="session")
def _physics_view():
    return physics_view


@pytest.fixture(name="swings", scope="session")
def _swings():
    return swings


@pytest.fixture(name="judge", scope="session")
def _judge():
    return judge


@pytest.fixture(name="Given", scope="session")
def _given():
    return Given


def correlated(rng, n, d=6, k=2, noise=0.2, mixing=None):
    """Return rows on a plane of `k` dimensions with noise about it."""
    A = np.random.default_rng(99).normal(size=(k, d)) if mixing is None else mixing
    return rng.normal(size=(n, k)) @ A + noise * rng.normal(size=(n, d))


@pytest.fixture(name="correlated", scope="session")
def _correlated():
    return correlated


def problem_parts(problem, seed, sizes=(150, 50, 100), noise=0.0):
    """Return (X, Y) pairs of independent runs of a problem, with noise in units of the spread."""
    rng = np.random.default_rng(seed)
    found = []
    for i, n in enumerate(sizes):
        X = problem.sample(n, 100 * seed + i, kind="random")
        Y = problem(X)
        found.append((X, Y + noise * Y.std() * rng.normal(size=Y.shape)))
    return found


@pytest.fixture(name="problem_parts", scope="session")
def _problem_parts():
    return problem_parts
