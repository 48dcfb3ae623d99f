"""A07: a high AUC and a low detection at the threshold."""

import numpy as np
import pytest

from assay.anomaly.checks import AnomaliesLookNormal
from assay.checks import NotApplicable

CHECK = AnomaliesLookNormal()


def first(X):
    return X[:, 0]


def setting(seed, shift, n_faults=120):
    rng = np.random.default_rng(seed)
    fit, held, test = (rng.normal(size=(n, 1)) for n in (20, 500, 400 + n_faults))
    test[400:] += shift
    return fit, held, test, np.arange(400 + n_faults) >= 400


@pytest.mark.parametrize("seed", range(5))
def test_fires_where_faults_lie_below_the_threshold(anomaly_view, seed):
    """Shifted by two standard deviations: AUC 0.92 and detection 48 % at 2 %, in closed form."""
    fit, held, test, labels = setting(seed, 2.0, n_faults=1000)
    found = CHECK(anomaly_view(fit, held, test, labels, candidate=[first], rate=0.02))
    assert found.outcome == "warn"
    assert 0.3 < found.measured < 0.65  # Phi(2 - 2.05) = 0.48
    assert found.interval[0] < found.measured < found.interval[1]
    assert "AUC is 0.9" in found.sentence


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [0.5, 4.0])
def test_silent_on_easy_and_on_hopeless_faults(anomaly_view, seed, shift):
    fit, held, test, labels = setting(seed, shift)
    assert CHECK(anomaly_view(fit, held, test, labels, candidate=[first])).outcome == "pass"


def test_threshold_is_exact(anomaly_view):
    """Scores by hand: 19 calibration rows at 0 to 18, so that 18 is the threshold at 5 %."""
    held = np.arange(19.0)[:, None]

    def outcome(detected, low=17.5):
        test = np.r_[np.full(50, 0.5), np.full(detected, 30.0), np.full(100 - detected, low)]
        labels = np.arange(150) >= 50
        view = anomaly_view(held, held, test[:, None], labels, candidate=[first])
        return CHECK(view).outcome

    assert (outcome(69), outcome(70)) == ("warn", "pass")
    # Half of the AUC of those that look normal is lost: below 0.9 from 20 of 100 on.
    assert (outcome(80, low=0.5), outcome(60, low=0.5)) == ("pass", "pass")


def test_means_over_seeds(anomaly_view, judge):
    fit, held, test, labels = setting(0, 2.0, n_faults=1000)
    good = judge(lambda X: X[:, 0] + 5.0 * (X[:, 0] > 1.5), fit, held, test, rate=0.02)
    plain = judge(first, fit, held, test, rate=0.02)
    one = CHECK(anomaly_view(fit, held, test, labels, candidate=[plain], rate=0.02)).measured
    both = CHECK(anomaly_view(fit, held, test, labels, candidate=[plain, good], rate=0.02)).measured
    detected = [j.threshold.alarms(j.test)[labels].mean() for j in (plain, good)]
    assert one == pytest.approx(detected[0])
    assert both == pytest.approx(np.mean(detected))


def test_not_applicable(anomaly_view):
    fit, held, test, labels = setting(0, 2.0)
    with pytest.raises(NotApplicable, match="no labels"):
        CHECK(anomaly_view(fit, held, test, candidate=[first]))
    with pytest.raises(NotApplicable, match="one kind"):
        CHECK(anomaly_view(fit, held, test, labels & False, candidate=[first]))
