"""A11: seeds differ by more than the candidate leads."""

import numpy as np
import pytest

from assay.anomaly.checks import SeedSpread
from assay.checks import NotApplicable

CHECK = SeedSpread()
HELD = np.arange(19.0)[:, None]
LABELS = np.arange(200) >= 100


def with_detection(judge, share, name="it"):
    """A detector that finds the first so many anomalies and alarms on nothing else."""
    found = 100 + round(100 * share)
    test = np.where(np.arange(200) < found, np.where(LABELS, 30.0, 0.5), 0.5)
    scores = {19: HELD[:, 0], 200: test}
    return judge(lambda X: scores[len(X)], HELD, HELD, np.zeros((200, 1)), name=name)


def run(anomaly_view, judge, shares, baselines=(0.5,), **changed):
    return SeedSpread(**changed)(
        anomaly_view(
            HELD,
            HELD,
            np.zeros((200, 1)),
            LABELS,
            candidate=[with_detection(judge, s) for s in shares],
            baselines=[with_detection(judge, s, f"b{s}") for s in baselines],
        )
    )


@pytest.mark.parametrize("seed", range(5))
def test_fires_where_seeds_decide(anomaly_view, judge, seed):
    rng = np.random.default_rng(seed)
    shares = 0.6 + 0.2 * rng.permutation([-1.0, 0.0, 1.0]) + 0.01 * rng.integers(-2, 3, 3)
    found = run(anomaly_view, judge, shares)
    assert found.outcome == "warn"
    assert found.measured == pytest.approx(np.ptp(np.round(shares, 2)), abs=1e-9)
    assert "b0.5, the best baseline" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_silent_where_the_lead_is_larger(anomaly_view, judge, seed):
    shares = 0.8 + 0.01 * np.random.default_rng(seed).integers(-4, 5, 3)
    assert run(anomaly_view, judge, shares).outcome == "pass"


def test_silent_where_there_is_no_lead_to_lose(anomaly_view, judge):
    found = run(anomaly_view, judge, [0.3, 0.5], baselines=(0.2, 0.6))
    assert found.outcome == "pass"
    assert "below that of b0.6" in found.sentence


def test_thresholds_are_exact(anomaly_view, judge):
    assert run(anomaly_view, judge, [0.50, 0.70], baselines=(0.41,)).outcome == "warn"
    assert run(anomaly_view, judge, [0.50, 0.70], baselines=(0.39,)).outcome == "pass"
    assert run(anomaly_view, judge, [0.60, 0.62], baselines=(0.60,)).outcome == "pass"
    assert run(anomaly_view, judge, [0.60, 0.63], baselines=(0.60,)).outcome == "warn"


def test_not_applicable(anomaly_view, judge):
    with pytest.raises(NotApplicable, match="one seed"):
        run(anomaly_view, judge, [0.5])
    with pytest.raises(NotApplicable, match="no baseline"):
        run(anomaly_view, judge, [0.5, 0.6], baselines=())
    with pytest.raises(NotApplicable, match="no labels"):
        CHECK(
            anomaly_view(HELD, HELD, np.zeros((200, 1)), candidate=[with_detection(judge, 0.5)] * 2)
        )
