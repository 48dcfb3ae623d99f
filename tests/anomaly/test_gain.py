"""The gain of a detector: against a naive bootstrap, and in simulated studies without any gain."""

import time
import tracemalloc

import numpy as np
import pytest

from assay.anomaly import replicates
from assay.anomaly.gain import MethodScores, detection_gain, operating_loss
from assay.anomaly.metrics import operating_point
from assay.anomaly.replicates import replicate
from assay.anomaly.threshold import conformal_threshold, rank_of
from assay.errors import DataError, StudyError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def method(rng, name, n_cal, labels, shift, seeds=1):
    """Return Gaussian scores, `shift` higher for anomalies, with noise of its own."""
    test = rng.normal(size=(seeds, labels.size)) + shift * labels
    return MethodScores(name, rng.normal(size=(seeds, n_cal)), test)


def fixed(method, alpha):
    """Return the method with its threshold taken for certain."""
    values = [conformal_threshold(row, alpha).value for row in method.calibration]
    return MethodScores(method.name, None, method.test, np.array(values))


def test_the_loss_is_that_of_the_operating_point(rng):
    labels = np.arange(300) >= 200
    methods = tuple(method(rng, str(i), 100, labels, 1.0 + i) for i in range(3))
    gain, gains = detection_gain(methods[2], methods[:2], labels, 0.05)
    losses = []
    for m in methods:
        value = conformal_threshold(m.calibration[0], 0.05).value
        point = operating_point(m.test[0], labels, value)
        losses.append(operating_loss(point.false_alarm.estimate, point.detection.estimate))
    for found, baseline in zip(gains, losses[:2], strict=True):
        assert found.estimate == pytest.approx(1.0 - losses[2] / baseline)
    best = int(np.argmin(losses[:2]))
    assert (gain.against, gain.estimate) == (str(best), gains[best].estimate)
    assert gain.low <= min(g.low for g in gains)
    assert gain.low < gain.estimate < gain.high


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("rounded", [False, True])
def test_replicates_are_those_of_a_naive_bootstrap(grouped, rounded, rng):
    labels = np.arange(120) >= 80
    methods = tuple(method(rng, str(i), 60, labels, 1.5) for i in range(2))
    if rounded:  # many ties
        methods = tuple(MethodScores("", m.calibration.round(), m.test.round()) for m in methods)
    units = rng.integers(0, 15, size=120) if grouped else None
    cal_units = np.repeat(np.arange(12), 5) if grouped else None
    repeats, alpha = 40, 0.1
    found = replicate(
        methods,
        labels,
        alpha,
        units=units,
        calibration_units=cal_units,
        repeats=repeats,
        rng=np.random.default_rng(5),
    )
    again = np.random.default_rng(5)  # the same draws, used the slow way
    ids = np.arange(120) if units is None else units
    strata = [np.arange(15)] if grouped else [np.arange(80), np.arange(80, 120)]
    n_cal = 12 if grouped else 60
    of_cal = replicates._draw([np.arange(n_cal)], n_cal, repeats, again).astype(int)
    of_test = replicates._draw(strata, 15 if grouped else 120, repeats, again).astype(int)
    cal_rows = np.arange(60) if cal_units is None else cal_units
    for r in range(repeats + 1):
        rows = np.repeat(np.arange(120), of_test[r][ids])
        for j, m in enumerate(methods):
            cal = np.repeat(m.calibration[0], of_cal[r][cal_rows])
            value = np.sort(cal)[::-1][rank_of(alpha, cal.size) - 1]
            alarms, y = m.test[0][rows] > value, labels[rows]
            expected = alarms[~y].mean() + 1 - alarms[y].mean()
            assert found.losses[r, j] == pytest.approx(expected, abs=1e-6)
    # The contributions give the variance at fixed thresholds.
    assert found.contributions.sum(axis=0) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_large_tables_give_the_interval_of_all_rows(rng, monkeypatch):
    labels = np.arange(12_000) >= 9_000
    ours, theirs = (method(rng, "", 5_000, labels, s) for s in (2.1, 2.0))
    small, _ = detection_gain(ours, (theirs,), labels, 0.05)
    monkeypatch.setattr(replicates, "MOST_CALIBRATION_UNITS", 10**9)
    monkeypatch.setattr(replicates, "MOST_TEST_UNITS", 10**9)
    whole, _ = detection_gain(ours, (theirs,), labels, 0.05, repeats=400)
    assert small.estimate == pytest.approx(whole.estimate)
    width = whole.high - whole.low
    assert small.low == pytest.approx(whole.low, abs=0.2 * width)
    assert small.high == pytest.approx(whole.high, abs=0.2 * width)


def earned(rng, n_cal, n_normal, n_anomalies, studies, *, ours=2.0, theirs=(2.0,), seeds=1):
    """Return the share of studies that are EARNED: as it is done, and with fixed thresholds."""
    labels = np.arange(n_normal + n_anomalies) >= n_normal
    count = np.zeros(2)
    for study in range(studies):
        a = method(rng, "", n_cal, labels, ours, seeds)
        b = tuple(method(rng, "", n_cal, labels, shift) for shift in theirs)
        for way, (c, d) in enumerate(((a, b), (fixed(a, 0.05), tuple(fixed(m, 0.05) for m in b)))):
            gain, _ = detection_gain(c, d, labels, 0.05, repeats=400, seed=study)
            count[way] += gain.low > 0.0
    return count / studies


@pytest.mark.parametrize("sizes", [(100, 300, 100), (100, 1000, 300), (30, 600, 200)])
def test_equal_detectors_are_not_earned_and_threshold_luck_would_break_it(sizes, rng):
    ours, test_rows_only = earned(rng, *sizes, studies=200)
    assert ours <= 0.025
    assert test_rows_only > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "seeds", "baselines"),
    [
        ((100, 300, 100), 1, 1),
        ((100, 2000, 500), 1, 1),
        ((30, 2000, 500), 1, 1),
        ((100, 300, 10), 1, 1),
        ((400, 2000, 200), 1, 1),
        ((100, 300, 100), 3, 1),
        ((100, 300, 100), 1, 4),
    ],
)
def test_equal_detectors_are_not_earned_in_many_studies(sizes, seeds, baselines, rng):
    ours, _ = earned(rng, *sizes, studies=2000, seeds=seeds, theirs=(2.0,) * baselines)
    assert ours <= 0.025


def test_a_truly_better_detector_is_found(rng):
    assert earned(rng, 100, 300, 100, 40, ours=3.5)[0] >= 0.9  # loss 0.08 against 0.41
    assert earned(rng, 100, 300, 100, 40, ours=3.5, theirs=(2.0,) * 6)[0] >= 0.75


def test_a_truly_worse_detector_is_not_earned_for_sure(rng):
    labels = np.arange(400) >= 300
    below = []
    for seed in range(20):
        ours, theirs = method(rng, "", 100, labels, 2.0), method(rng, "", 100, labels, 3.5)
        below.append(detection_gain(ours, (theirs,), labels, 0.05, seed=seed)[0].high < 0.0)
    assert np.mean(below) >= 0.9


def test_groups_are_respected(rng):
    """Test rows of a group share their noise: ignoring it would find gains that are not there."""
    units = np.repeat(np.arange(40), 20)
    labels = units >= 20
    count = np.zeros(2)
    for study in range(150):
        pair = []
        for _ in range(2):
            shared = rng.normal(size=40)[units]
            noise = np.sqrt(0.9) * shared + np.sqrt(0.1) * rng.normal(size=800)
            pair.append(MethodScores("", rng.normal(size=2000), noise + 2.0 * labels))
        for way, chosen in enumerate((units, None)):
            gain, _ = detection_gain(
                pair[0], (pair[1],), labels, 0.05, units=chosen, repeats=400, seed=study
            )
            count[way] += gain.low > 0.0
    respected, ignored = count / 150
    assert respected <= 0.025
    assert ignored > 0.1


def test_identical_methods_are_undecided(rng):
    labels = np.arange(400) >= 300
    same = method(rng, "same", 100, labels, 2.0)
    gain, _ = detection_gain(same, (same,), labels, 0.05)
    assert (gain.estimate, gain.low, gain.high) == (0.0, 0.0, 0.0)


def test_perfect_methods(rng):
    labels = np.arange(400) >= 300
    perfect = MethodScores("perfect", rng.uniform(size=100), np.where(labels, 9.0, -1.0))
    poor = method(rng, "poor", 100, labels, 0.5)
    gain, _ = detection_gain(perfect, (poor,), labels, 0.05)
    assert gain.estimate == 1.0
    assert gain.low > 0.9
    assert detection_gain(perfect, (perfect,), labels, 0.05)[0].estimate == 0.0
    assert detection_gain(poor, (perfect,), labels, 0.05)[0].high == -np.inf


@pytest.mark.parametrize("n_anomalies", [1, 2, 3])
def test_a_handful_of_anomalies_bounds_nothing(n_anomalies, rng):
    labels = np.arange(200) >= 200 - n_anomalies
    ours, theirs = method(rng, "", 100, labels, 9.0), method(rng, "", 100, labels, 0.0)
    gain, gains = detection_gain(ours, (theirs,), labels, 0.05)
    assert gain.low == gains[0].low == -np.inf
    assert gain.estimate > 0.0


def test_one_event_in_a_series_bounds_nothing(rng):
    labels = np.arange(400) >= 300
    ours, theirs = method(rng, "", 100, labels, 9.0), method(rng, "", 100, labels, 0.0)
    gain, _ = detection_gain(ours, (theirs,), labels, 0.05, units=np.arange(400) // 100)
    assert gain.low == -np.inf


def test_ten_methods_of_three_seeds_take_a_second(rng):
    labels = np.arange(400) >= 300
    methods = [method(rng, str(i), 100, labels, 2.0, seeds=3) for i in range(10)]
    start = time.perf_counter()
    detection_gain(methods[0], tuple(methods[1:]), labels, 0.05)
    assert time.perf_counter() - start < 5.0  # 0.4 s on an idle core


@pytest.mark.slow
def test_a_million_rows(rng):
    labels = np.arange(1_000_000) >= 950_000
    ours = method(rng, "", 300_000, labels, 2.0, seeds=3)
    theirs = tuple(method(rng, str(i), 300_000, labels, 2.0) for i in range(9))
    start = time.perf_counter()
    tracemalloc.start()
    detection_gain(ours, theirs, labels, 0.05)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300e6
    assert time.perf_counter() - start < 20.0  # 3 s on an idle machine


def test_bad_input(rng):
    labels = np.arange(100) >= 80
    a, b = method(rng, "a", 50, labels, 1.0), method(rng, "b", 50, labels, 1.0)
    with pytest.raises(StudyError, match="normal and anomalous test rows, got 100 and 0"):
        detection_gain(a, (b,), np.zeros(100, dtype=bool), 0.05)
    with pytest.raises(StudyError, match="at least 99 held-out"):
        detection_gain(a, (b,), labels, 0.01)
    with pytest.raises(StudyError, match="at least one baseline"):
        detection_gain(a, (), labels, 0.05)
    with pytest.raises(DataError, match="same held-out rows"):
        detection_gain(a, (method(rng, "c", 60, labels, 1.0),), labels, 0.05)
    with pytest.raises(DataError, match="`c` must have 100 test scores"):
        detection_gain(a, (MethodScores("c", b.calibration, b.test[:, :50]),), labels, 0.05)
    with pytest.raises(DataError, match="one row of scores per seed"):
        detection_gain(MethodScores("c", np.ones((2, 50)), a.test), (b,), labels, 0.05)
    with pytest.raises(StudyError, match="either scores"):
        detection_gain(MethodScores("c", None, a.test), (b,), labels, 0.05)
    broken = MethodScores("c", a.calibration, np.full((1, 100), np.nan))
    with pytest.raises(DataError, match="100 scores that are not finite"):
        detection_gain(broken, (b,), labels, 0.05)


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_the_best_of_equal_baselines_does_not_make_a_candidate_look_worse(shared, rng):
    """Eight baselines of the candidate's skill, with errors in common or not: no false word."""
    labels = np.arange(240) >= 200
    lost = 0
    for study in range(120):
        common = rng.normal(size=150), rng.normal(size=240)

        def scores(name, common=common):
            parts = [
                np.sqrt(shared) * c + np.sqrt(1.0 - shared) * rng.normal(size=c.size)
                for c in common
            ]
            return MethodScores(name, parts[0], parts[1] + 2.0 * labels)

        ours, *theirs = (scores(str(j)) for j in range(9))
        gain, gains = detection_gain(ours, tuple(theirs), labels, 0.05, repeats=400, seed=study)
        assert gain.high >= min(g.high for g in gains)
        lost += gain.high < 0.0
    assert lost <= 3  # 2.5 % of 120


def test_one_clearly_better_baseline_among_equals_settles_it(rng):
    labels = np.arange(400) >= 300
    ours, *equal = (method(rng, str(j), 200, labels, 1.0) for j in range(6))
    better = method(rng, "better", 200, labels, 4.0)
    gain, _ = detection_gain(ours, (*equal, better), labels, 0.05, repeats=1000)
    assert gain.against == "better"
    assert gain.high < 0.0
