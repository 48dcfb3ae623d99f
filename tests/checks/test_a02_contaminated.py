"""A02: small groups apart from the other normal rows."""

import dataclasses

import numpy as np
import pytest
from scipy.signal import lfilter
from sklearn.datasets import load_digits

from assay.anomaly.checks import Contaminated
from assay.anomaly.separation import small_group
from assay.checks import NotApplicable
from assay.data import read_table

CHECK = Contaminated()


def digits(rng, n):
    X, y = load_digits(return_X_y=True)
    X = X[y != 9]
    return X[rng.choice(len(X), size=n, replace=False)]


def modes(rng, n):
    centres = 5.0 * rng.normal(size=(4, 8))
    return centres[rng.integers(4, size=n)] + rng.normal(size=(n, 8))


def uneven_modes(rng, n):
    which = rng.integers(3, size=n)
    spread = np.array([0.3, 1.0, 2.0])[which][:, None]
    return (5.0 * rng.normal(size=(3, 6)))[which] + spread * rng.normal(size=(n, 6))


def coarse(rng, n):
    X = np.c_[rng.normal(size=(n, 3)), np.round(rng.normal(size=(n, 2)) * 0.8)]
    return np.c_[X, rng.random(n) < 0.05]


CLEAN = {
    "gaussian": lambda rng, n: rng.normal(size=(n, 8)) @ rng.normal(size=(8, 8)),
    "one column": lambda rng, n: rng.normal(size=(n, 1)),
    "t, 5 dof": lambda rng, n: rng.standard_t(5, size=(n, 8)),
    "multivariate t, 5 dof": lambda rng, n: (
        rng.normal(size=(n, 8)) / np.sqrt(rng.chisquare(5, size=(n, 1)) / 5)
    ),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=(n, 8))),
    "modes": modes,
    "modes of uneven width": uneven_modes,
    "coarse readings and a rare switch": coarse,
    "digits 0 to 8": digits,
}


@pytest.mark.parametrize("rho", [0.9, 0.97])
def test_silent_on_a_slow_series(rho):
    def series(rng, n):
        return lfilter([1.0], [1.0, -rho], rng.normal(size=(n + 1000, 5)), axis=0)[1000:]

    assert rate_of(series, n=2000) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", CLEAN)
def test_false_warnings_are_as_rare_as_stated(name):
    """At most one in a thousand: of 200 studies, two or more have a chance of 2 %."""
    assert rate_of(CLEAN[name], seeds=range(1000, 1200)) <= 1 / 200


def test_finds_the_shutdown_in_a_machine_log(shared):
    """A real log with its failures left in, and a room that has none that stands apart."""
    for name, apart in (("machine", True), ("ambient", False)):
        table = read_table(
            shared / "nab" / f"{name}_temperature_system_failure.csv", time="timestamp"
        )
        found = small_group(table.X, max_share=CHECK.max_share)
        assert (found.p < CHECK.max_p and found.share >= CHECK.least_share) == apart


def planted_class(rng, X, share):
    """Another class: 8 standard deviations away in a direction of its own, and tight."""
    m = int(share * len(X))
    way = rng.normal(size=X.shape[1])
    way /= np.linalg.norm(way)
    spread = X.std(axis=0)
    X = X.copy()
    X[:m] = X.mean(axis=0) + spread * (8.0 * way + 0.3 * rng.normal(size=(m, X.shape[1])))
    return X


def rate_of(X_of, n=800, seeds=range(10)):
    fired = []
    for seed in seeds:
        found = small_group(X_of(np.random.default_rng(seed), n), max_share=CHECK.max_share)
        fired.append(found.p < CHECK.max_p and found.share >= CHECK.least_share)
    return np.mean(fired)


@pytest.mark.parametrize("name", CLEAN)
def test_silent_on_clean_rows(name):
    assert rate_of(CLEAN[name]) == 0.0


@pytest.mark.parametrize("share", [0.05, 0.1])
@pytest.mark.parametrize("name", ["gaussian", "t, 5 dof", "multivariate t, 5 dof", "modes"])
def test_fires_on_a_planted_class(name, share):
    assert rate_of(lambda rng, n: planted_class(rng, CLEAN[name](rng, n), share)) >= 0.8


def inverted(rng, n, share=0.1):
    """Digits of which some were recorded in negative."""
    X = digits(rng, n)
    m = int(share * n)
    X[:m] = 16.0 - X[:m]
    return X


def test_fires_on_images_recorded_in_negative():
    assert rate_of(inverted) == 1.0
    assert rate_of(lambda rng, n: inverted(rng, n, 0.05)) >= 0.8


def test_names_rows_and_columns(anomaly_view):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    X[:48] = [9.0, 0.0, 0.0] + 0.3 * rng.normal(size=(48, 3))
    held, test = rng.normal(size=(200, 3)), rng.normal(size=(50, 3))
    view = anomaly_view(
        X, held, test, candidate=[lambda X: X[:, 0]], columns=("pressure", "flow", "level")
    )
    found = CHECK(view)
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(0.08, abs=0.015)
    assert found.interval[0] < 0.08 < found.interval[1]
    assert "pressure from" in found.sentence
    assert "flow" not in found.sentence
    assert "rows 1, 2, 3, 4" in found.sentence


def test_thresholds_are_exact(anomaly_view):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    X[:48] = [9.0, 0.0, 0.0] + 0.3 * rng.normal(size=(48, 3))
    view = anomaly_view(X, X[:100], X[:50], candidate=[lambda X: X[:, 0]])
    share = CHECK(view).measured
    assert dataclasses.replace(CHECK, least_share=share)(view).outcome == "warn"
    assert dataclasses.replace(CHECK, least_share=share + 1e-9)(view).outcome == "pass"
    p = small_group(X, max_share=CHECK.max_share).p
    assert dataclasses.replace(CHECK, max_p=p)(view).outcome == "pass"
    assert dataclasses.replace(CHECK, max_share=0.05)(view).outcome == "pass"


def test_too_few_rows(anomaly_view):
    X = np.random.default_rng(0).normal(size=(90, 3))
    with pytest.raises(NotApplicable, match="Fewer than 100"):
        CHECK(anomaly_view(X, X, X, candidate=[lambda X: X[:, 0]]))


def test_a_constant_column_and_equal_rows_do_no_harm(anomaly_view):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:, 1] = 7.0
    assert CHECK(anomaly_view(X, X, X, candidate=[lambda X: X[:, 0]])).outcome == "pass"
    X[:] = 1.0
    assert CHECK(anomaly_view(X, X, X, candidate=[lambda X: X[:, 0]])).outcome == "pass"
