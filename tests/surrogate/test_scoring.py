"""Figures of a study from errors that are known."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from assay.errors import StudyError
from assay.study import Method, Trained
from assay.surrogate.error_bars import ErrorBars, bars_note
from assay.surrogate.inputs import Runs
from assay.surrogate.scoring import (
    Scored,
    Yard,
    by_output,
    contender,
    independent,
    label_of,
    mean_interval,
    metrics_of,
    mid_sentence,
    place_of,
    share_interval,
    worst_runs,
)
from assay.verdict import paired_gain


def runs(Y, units=(), **more):
    Y = np.asarray(Y, float)
    X = np.linspace(0.0, 1.0, len(Y))[:, None]
    names = tuple(f"y{j}" for j in range(Y.shape[1]))
    return Runs(X=X, Y=Y, inputs=("x",), outputs=names, output_units=tuple(units), **more)


def scored(errors, truth, name="A", spread=None):
    trained = Trained(Method(name, lambda seed: None), 0, object(), 1.0, 0.1)
    errors = np.asarray(errors, float)
    return Scored(trained, truth + errors, errors, spread, None, None, 1.0, None)


@pytest.fixture
def two_outputs():
    rng = np.random.default_rng(0)
    return runs(rng.normal(size=(200, 2)) * [1.0, 1000.0], ("mm", "Pa"))


def test_errors_of_one_output_are_in_its_unit():
    known = runs([[0.0], [2.0], [4.0]], ("mm",))
    yard = Yard.of(known, None, common=False)
    assert yard.unit == "mm"
    found = metrics_of(np.array([[3.0], [-4.0]]), yard)
    spread = np.sqrt(8.0 / 3.0)
    assert found["rms"] == pytest.approx(np.sqrt(12.5))
    assert found["relative_rms"] == pytest.approx(100 * np.sqrt(12.5) / spread)
    assert found["max_error"] == pytest.approx(4.0)
    assert found["median_error"] == pytest.approx(3.5)
    assert "within_sigma" not in found


def test_sigma_changes_the_loss_and_not_the_unit():
    known = runs([[0.0], [2.0], [4.0]], ("mm",))
    yard = Yard.of(known, np.array([0.5]), common=False)
    assert yard.losses(np.array([[1.0]]))[0] == pytest.approx(4.0)
    found = metrics_of(np.array([[0.4], [-0.6], [0.1], [0.2]]), yard)
    assert found["rms"] == pytest.approx(np.sqrt(np.mean([0.16, 0.36, 0.01, 0.04])))
    assert found["within_sigma"] == pytest.approx(75.0)


def test_outputs_of_different_units_count_alike(two_outputs):
    yard = Yard.of(two_outputs, None, common=False)
    assert yard.unit == "spreads"
    assert yard.scale == pytest.approx(two_outputs.Y.std(axis=0))
    small = metrics_of(two_outputs.Y * [0.1, 0.0], yard)["rms"]
    large = metrics_of(two_outputs.Y * [0.0, 0.1], yard)["rms"]
    assert small == pytest.approx(large, rel=0.1)


def test_a_series_has_one_spread():
    t = np.linspace(0.1, 1.0, 20)
    Y = np.random.default_rng(0).uniform(1.0, 2.0, (50, 1)) * t
    yard = Yard.of(runs(Y, ("mm",) * 20, coordinate=t), None, common=True)
    assert yard.unit == "mm"
    assert yard.scale == pytest.approx(np.full(20, np.sqrt(np.mean(Y.var(axis=0)))))
    # What predicting the mean gets is the spread itself.
    assert metrics_of(Y - Y.mean(axis=0), yard)["relative_rms"] == pytest.approx(100.0)


def test_outputs_that_never_vary_are_refused():
    with pytest.raises(StudyError, match="No output varies"):
        Yard.of(runs(np.ones((10, 2))), None, common=False)


def test_a_sigma_that_no_error_can_be_divided_by_is_refused():
    known = runs([[0.0], [2.0], [4.0]])
    with pytest.raises(StudyError, match="`sigma` of 'y0' is 1e-300"):
        Yard.of(known, np.array([1e-300]), common=False)


def test_one_constant_output_is_not_divided_by_zero():
    Y = np.c_[np.arange(10.0), np.full(10, 3.0)]
    yard = Yard.of(runs(Y), None, common=False)
    assert np.isfinite(yard.losses(np.ones((4, 2)))).all()


def test_all_outputs_of_a_run_must_be_within_sigma(two_outputs):
    yard = Yard.of(two_outputs, np.array([1.0, 10.0]), common=False)
    errors = np.array([[0.5, 5.0], [0.5, 20.0], [2.0, 5.0], [2.0, 20.0]])
    found = metrics_of(errors, yard)
    assert found["within_sigma"] == pytest.approx(25.0)
    assert found["outputs_within_sigma"] == pytest.approx(50.0)


def test_the_mean_over_seeds_stands_inside_its_interval():
    rng = np.random.default_rng(1)
    known = runs(rng.normal(size=(100, 1)), ("mm",))
    yard = Yard.of(known, None, common=False)
    each = [scored(scale * rng.normal(size=(100, 1)), known.Y) for scale in (0.1, 0.3)]
    summed = contender(each, yard, None, 93.0)
    rms = [np.sqrt(np.mean(s.errors**2)) for s in each]
    assert summed.metrics["rms"] == pytest.approx(np.mean(rms))
    assert summed.spread["rms"] == pytest.approx(np.std(rms, ddof=1))
    low, high = summed.intervals["rms"]
    assert low < summed.metrics["rms"] < high
    assert summed.metrics["coverage95"] == 93.0


def test_interval_of_a_mean_is_students():
    losses = np.random.default_rng(2).gamma(3.0, size=60)
    expected = stats.t.interval(0.95, 59, losses.mean(), stats.sem(losses))
    assert mean_interval(losses, None) == pytest.approx(expected)
    doubled = mean_interval(np.repeat(losses, 2), np.repeat(np.arange(60), 2))
    assert doubled == pytest.approx(expected)


def test_interval_of_a_share_is_clopper_and_pearsons():
    expected = stats.binomtest(18, 20).proportion_ci(0.95, method="exact")
    assert share_interval(90.0, 20) == pytest.approx((100 * expected.low, 100 * expected.high))
    assert share_interval(100.0, 20)[1] == 100.0


def test_units_are_groups_or_repeated_designs():
    Y = np.zeros((4, 1))
    assert independent(runs(Y)) is None
    repeated = Runs(X=np.array([[0.0], [0.0], [1.0], [2.0]]), Y=Y, inputs=("x",), outputs=("y",))
    assert independent(repeated).tolist() == [0, 0, 1, 2]
    grouped = runs(Y, groups=np.array(["a", "a", "b", "b"]))
    assert independent(grouped).tolist() == ["a", "a", "b", "b"]


def test_one_design_or_one_group_is_one_observation():
    Y = np.arange(4.0)[:, None]
    one = Runs(np.ones((4, 1)), Y, ("x",), ("y0",))
    campaign = runs(Y, groups=np.array(["a"] * 4))
    for only in (one, campaign):
        units = independent(only)
        assert len(np.unique(units)) == 1
        losses = np.array([1.0, 1.1, 1.2, 1.3])
        assert paired_gain(losses, losses + 1.0, units=units).low == -np.inf


def test_the_largest_errors_are_found_with_their_place():
    t = np.array([0.5, 1.0, 2.0])
    test = runs(np.zeros((30, 3)), ("mm",) * 3, coordinate=t, coordinate_name="t [yr]")
    errors = np.zeros((30, 3))
    errors[17, 2], errors[4, 0] = -9.0, 5.0
    yard = Yard(np.ones(3), np.ones(3), None, 1.0, "mm")
    inside = np.arange(30) != 17
    first, second = worst_runs(scored(errors, test.Y), test, yard, inside).rows[:2]
    assert first[:6] == ("18", "t = 2 yr", 0.0, -9.0, -9.0, "no")
    assert second[:2] == ("5", "t = 0.5 yr")
    assert first[6] == f"x {test.X[17, 0]:.4g}"


def test_an_output_whose_name_carries_the_number_keeps_its_name():
    t = np.array([0.5, 1.0, 2.0, 4.0])
    named = Runs(
        np.zeros((5, 1)), np.zeros((5, 4)), ("x",), tuple(f"u_{at:g}" for at in t),
        coordinate=t, coordinate_name="u",
    )  # fmt: skip
    assert label_of(named, 0) == "u_0.5"
    assert label_of(dataclasses.replace(named, coordinate_name="t [s]"), 0) == "t = 0.5 s"


def test_per_output_table(two_outputs):
    yard = Yard.of(two_outputs, None, common=False)
    ours = scored(np.full((200, 2), 3.0), two_outputs.Y)
    best = scored(np.full((200, 2), 1.0), two_outputs.Y, name="B")
    table = by_output(ours, best, two_outputs, yard)
    assert [row[0] for row in table.rows] == ["y0 [mm]", "y1 [Pa]"]
    assert table.rows[0][1:3] == pytest.approx((3.0, 1.0))
    assert table.rows[1][3] == pytest.approx(100 * 3.0 / two_outputs.Y[:, 1].std())


def test_a_spread_that_is_too_small_is_no_error_bar():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(300, 1))
    yard = Yard(np.ones(1), np.ones(1), None, 1.0, "mm")
    inside = np.arange(300) < 200
    errors = rng.normal(size=(300, 1))
    narrow = scored(errors, truth, "GP", spread=np.full((300, 1), 0.25))
    bars = ErrorBars.of(narrow, None, yard, inside)
    assert bars.ratio_inside == pytest.approx(4.0 * np.sqrt(np.mean(errors[:200] ** 2)))
    assert bars.raw.estimate == pytest.approx(np.mean(np.abs(errors) < 0.25 * 1.96), abs=0.01)
    assert "is not an error bar" in bars_note(bars)
    right = ErrorBars.of(scored(errors, truth, "GP", np.ones((300, 1))), None, yard, inside)
    assert bars_note(right) == ""


def test_names_inside_sentences_and_places():
    assert mid_sentence("Ensemble of 5 MLPs") == "ensemble of 5 MLPs"
    assert mid_sentence("MLP") == "MLP"
    assert place_of("t [yr]", 2.0) == "t = 2 yr"
