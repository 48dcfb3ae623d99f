"""Whole surrogate studies; candidates that need no training stand in for networks."""

import numpy as np
import pytest

import assay
from assay.errors import StudyError
from assay.report.figures import render
from assay.surrogate import MLPSurrogate, SurrogateStudy
from assay.surrogate.candidates import Making, baseline_methods, candidate_method, thinned
from assay.surrogate.gp import GaussianProcess
from assay.surrogate.nearest import NearestRuns
from assay.surrogate.outputs import PCAOutputs
from assay.surrogate.response_surface import MeanOutput, ResponseSurface

TIMES = np.linspace(0.0, 2.0, 20)


def simulator(X):
    """Return one smooth output."""
    return np.sin(3.0 * X[:, :1]) + X[:, 1:2] ** 2


def rough(X):
    """Return an output with a kink, which smooth surrogates miss."""
    return np.abs(np.sin(9.0 * X[:, :1])) + X[:, 1:2]


def decay(X):
    """Return a series of 20 values."""
    return (1.0 + X[:, :1]) * np.exp(-(0.5 + X[:, 1:2]) * TIMES)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def X(rng):
    return rng.uniform(size=(80, 2))


@pytest.fixture(scope="module")
def T(rng):
    return rng.uniform(size=(60, 2))


@pytest.fixture
def few_baselines(monkeypatch):
    """Leave the baselines out that take seconds to tune."""
    few = (GaussianProcess(starts=1), ResponseSurface(degree=1), NearestRuns(), MeanOutput())
    monkeypatch.setattr("assay.surrogate.candidates.BASELINES", few)


@pytest.fixture(scope="module")
def network(X, T):
    """Return a study of a small network on one output, with learning curves."""
    small = MLPSurrogate(hidden=(16,), steps=300)
    study = SurrogateStudy(
        X, simulator(X), test=(T, simulator(T)), candidate=small, sigma=0.05, bounds=[[0, 1]] * 2
    )
    return study.run(seeds=2)


def quick(X, Y, **more):
    return SurrogateStudy(X, Y, learning_curve=False, **more).run(seeds=1)


@pytest.mark.usefixtures("few_baselines")
def test_a_method_that_knows_the_simulator_earns(X, T):
    many = np.random.default_rng(5).uniform(size=(300, 2))
    result = quick(X, rough(X), test=(many, rough(many)), candidate=rough)
    assert result.verdict == "earned"
    assert result.sentence.startswith("Use the rough")
    assert result.gain.estimate == pytest.approx(1.0)
    assert any("could not be checked" in note for note in result.notes)


def test_the_gaussian_process_comes_first_where_it_wins(network):
    assert network.verdict == "not_earned"
    assert network.gain.against == "Gaussian process"
    assert network.sentence.startswith("Use the Gaussian process")


@pytest.mark.usefixtures("few_baselines")
def test_the_strongest_baseline_is_that_of_the_validation_part(X):
    # A plane: the linear surface is exact, and the validation runs say so.
    plane = X @ [[2.0], [-1.0]]
    result = quick(X, plane, candidate=lambda rows: rows @ [[2.0], [-1.0]] + 0.01)
    assert result.gain.against == "Linear surface"
    assert {gain.against for gain in result.gains} == {b.name for b in result.baselines}


def test_errors_are_those_of_the_test_runs(network, T):
    arrays, truth = network.arrays, simulator(T)
    assert arrays["true"] == pytest.approx(truth)
    first = network.model.predict(T)
    assert arrays["predicted"] == pytest.approx(first)
    assert arrays["row_error"] == pytest.approx(np.abs(first - truth)[:, 0])
    inside = 100 * np.mean(np.abs(first - truth) <= 0.05)
    spread = network.candidate.spread["within_sigma"]
    assert network.candidate.metrics["within_sigma"] == pytest.approx(inside, abs=1 + 2 * spread)
    assert {p.name: p.rows for p in network.split.parts} == {
        "fit": 64, "validation": 16, "test": 60,
    }  # fmt: skip


def test_error_bars_are_calibrated_where_validation_runs_are_few(network):
    table = next(t for t in network.tables if t.title == "Error bars")
    names = [row[0] for row in table.rows]
    assert names == ["MLP", "Gaussian process"]
    assert "errors between folds of 80 runs" in table.note
    assert table.rows[0][1] is None  # a single network has no spread
    low, high = (float(v) for v in table.rows[0][4].split(" to "))
    assert low <= table.rows[0][3] <= high
    assert (network.arrays["half_width"] > 0).all()
    assert network.candidate.metrics["coverage95"] == table.rows[0][3]


def test_learning_curves_say_what_more_runs_buy(network):
    assert network.arrays["curve_sizes"].tolist() == [16, 32, 64]
    assert network.arrays["curve_target"] == pytest.approx(0.05)
    assert sum(note.startswith("More runs, ") for note in network.notes) == 2


def test_the_model_is_loaded_as_it_was(network, T, tmp_path):
    network.save(tmp_path / "run")
    model = assay.load(tmp_path / "run" / "model")
    mean, (low, high) = model.predict(T, return_interval=True)
    assert mean == pytest.approx(network.arrays["predicted"])
    assert (high - low) / 2 == pytest.approx(network.arrays["half_width"])
    scores = (tmp_path / "run" / "scores.csv").read_text("utf-8").splitlines()
    assert scores[0].startswith("row,error,error_best")
    assert len(scores) == 61


def test_every_figure_can_be_drawn(network):
    drawn = {figure.key: figure for figure in render(network)}
    assert {"predicted", "pairs", "coverage", "learning", "domain", "training"} <= set(drawn)
    assert not [figure.problem for figure in drawn.values() if figure.problem]


def test_no_check_crashes(network):
    assert not [f.sentence for f in network.findings if f.outcome == "error"]


@pytest.mark.usefixtures("few_baselines")
def test_a_series_goes_through_its_principal_components(X, T):
    result = quick(X, decay(X), test=(T, decay(T)), candidate=decay, sigma=0.01)
    names = {b.name: b for b in result.baselines}
    assert names["Gaussian process"].settings["modes"] >= 2
    assert "modes" not in names["Nearest runs"].settings
    assert not [figure.problem for figure in render(result) if figure.problem]
    assert result.arrays["output_rms"] == pytest.approx(np.zeros(20), abs=1e-12)
    assert result.title.endswith("60 test runs")


@pytest.mark.usefixtures("few_baselines")
def test_predictions_made_elsewhere(X, T, tmp_path):
    truth = simulator(T)
    result = quick(X, simulator(X), test=(T, truth), candidate=truth + 0.5)
    assert result.verdict == "not_earned"
    assert result.model is None
    assert result.candidate.metrics["rms"] == pytest.approx(0.5)
    with pytest.raises(StudyError, match="test runs that are given"):
        SurrogateStudy(X, simulator(X), candidate=truth)


@pytest.mark.usefixtures("few_baselines")
def test_a_brought_baseline_against_itself(X, T):
    result = quick(X, simulator(X), test=(T, simulator(T)), candidate=GaussianProcess())
    assert result.candidate.name == "Gaussian process (candidate)"
    assert result.verdict == "undecided"
    assert result.gain.estimate == pytest.approx(0.0, abs=0.01)


@pytest.mark.usefixtures("few_baselines")
def test_runs_outside_the_domain_are_named(X, T):
    far = T + np.array([2.0, 0.0])
    both = np.vstack([T, far])
    result = quick(X, simulator(X), test=(both, simulator(both)), candidate=simulator)
    out = np.sum(~result.arrays["row_inside_domain"])
    assert any(f"{out} of 120 test runs lie outside" in note for note in result.notes)
    assert result.arrays["row_inside_domain"][:60].mean() > 0.9
    assert not result.arrays["row_inside_domain"][60:].any()


@pytest.mark.usefixtures("few_baselines")
def test_repeated_designs_are_one_observation(X, T):
    twice = np.repeat(T, 2, axis=0)
    once = quick(X, rough(X), test=(T, rough(T)), candidate=simulator)
    doubled = quick(X, rough(X), test=(twice, rough(twice)), candidate=simulator)
    assert doubled.gain.low == pytest.approx(once.gain.low)


@pytest.mark.parametrize("members", [0, 2.5, True])
def test_members_must_be_a_whole_number(members, X):
    with pytest.raises(StudyError, match="members"):
        SurrogateStudy(X, simulator(X), members=members).run(seeds=1)


def test_networks_by_name():
    making = Making(bounds=None, members=3, many=True, modes=None, sigma=2.0)
    method = candidate_method("resnet", making)
    made = method.make(4)
    assert method.name == "Ensemble of 3 residual networks"
    assert isinstance(made, PCAOutputs)
    assert (made.model.size, made.model.random_state, made.sigma) == (3, 4, 2.0)
    single = candidate_method("mlp", Making(None, 1, False, None, None))
    assert (single.name, type(single.make(0))) == ("MLP", MLPSurrogate)


def test_baselines_take_the_bounds_of_the_study():
    bounds = np.array([[0.0, 2.0]])
    methods = baseline_methods(Making(bounds, 5, False, None, None))
    gp = next(m for m in methods if m.name == "Gaussian process").make(7)
    assert gp.bounds is bounds or np.array_equal(gp.bounds, bounds)
    assert gp.random_state == 7


def test_a_gaussian_process_of_many_runs_is_kept_affordable():
    gp = GaussianProcess()
    assert thinned(gp, 3_000, 0) is None
    assert gp.final_rows is None
    assert thinned(gp, 5_000, 0) is None
    assert gp.final_rows == 3_000
    kept = thinned(PCAOutputs(GaussianProcess()), 20_000, 0)
    assert len(np.unique(kept)) == 8_000
    assert thinned(MLPSurrogate(), 20_000, 0) is None


def test_columns_are_given_by_names(X):
    table = {"a": X[:, 0], "b": X[:, 1], "y": simulator(X)[:, 0]}
    with pytest.raises(StudyError, match="by their names, got 3"):
        SurrogateStudy(table, outputs=3)
    with pytest.raises(StudyError, match="None is named"):
        SurrogateStudy(table, outputs=None)
