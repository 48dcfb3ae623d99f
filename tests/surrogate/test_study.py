"""Whole surrogate studies; candidates that need no training stand in for networks."""

import json

import numpy as np
import pytest

import assay
from assay.errors import DataError, StudyError
from assay.ledger import Ledger
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


def test_the_weight_decay_reaches_every_network(X):
    making = Making(None, 2, True, None, None, "validation")
    for name in ("mlp", "resnet", "neural_ode"):
        assert candidate_method(name, making).make(0).model.member.weight_decay == "validation"
    single = candidate_method("mlp", Making(None, 1, False, None, None, 1e-3)).make(0)
    assert single.weight_decay == 1e-3
    study = SurrogateStudy(X, simulator(X), weight_decay="validation")
    assert study._need.settings()["weight_decay"] == "validation"
    assert study._need.making.weight_decay == "validation"


@pytest.mark.parametrize("decay", [-1e-3, np.nan, np.inf, "auto", True])
def test_a_weight_decay_that_no_network_takes_is_refused_before_any_fit(decay, X):
    with pytest.raises(StudyError, match="`weight_decay`"):
        SurrogateStudy(X, simulator(X), weight_decay=decay).run(seeds=1)


def test_a_weight_decay_is_not_for_what_is_brought(X):
    with pytest.raises(StudyError, match="was brought"):
        SurrogateStudy(X, simulator(X), candidate=rough, weight_decay=0.1).run(seeds=1)


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


def test_the_baseline_is_taken_along_and_named_as_the_one_to_use(network, T, tmp_path):
    assert network.model_to_use is network.baseline_model
    assert network.baseline_model.model_.name == "Gaussian process"
    network.save(tmp_path / "run")
    model = assay.load(tmp_path / "run" / "baseline")
    mean, (low, high), valid = model.predict(T, return_interval=True, return_valid=True)
    assert mean == pytest.approx(network.arrays["predicted_best"])
    assert np.mean((low <= simulator(T)) & (simulator(T) <= high)) > 0.8
    assert valid.mean() > 0.9
    assert not model.predict(T + 5.0, return_valid=True)[1].any()
    told = json.loads((tmp_path / "run" / "result.json").read_text("utf-8"))["models"]
    assert [(m["folder"], m["method"], m["advised"]) for m in told] == [
        ("baseline", "Gaussian process", True), ("model", "MLP", False),
    ]  # fmt: skip
    assert "Gaussian process, the one to use" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.usefixtures("few_baselines")
@pytest.mark.parametrize(
    ("truth", "name"), [(lambda X: X @ [[2.0], [-1.0]], "Linear surface"), (decay, None)]
)
def test_every_strongest_baseline_knows_where_it_may_be_used(X, T, truth, name, tmp_path):
    result = quick(X, truth(X), candidate=lambda rows: truth(rows) + 0.5)
    assert result.gain.against == (name or result.gain.against)
    assert result.model is None
    result.baseline_model.save(tmp_path / "baseline")
    loaded = assay.load(tmp_path / "baseline")
    assert loaded.predict(T, return_valid=True)[1].mean() > 0.9
    assert not loaded.predict(T + 5.0, return_valid=True)[1].any()
    assert loaded.predict(T) == pytest.approx(result.baseline_model.predict(T))


@pytest.mark.usefixtures("few_baselines")
def test_what_earned_is_the_one_to_use(X, T):
    many = np.random.default_rng(5).uniform(size=(300, 2))
    result = quick(X, rough(X), test=(many, rough(many)), candidate=rough)
    assert (result.verdict, result.model_to_use) == ("earned", None)  # the user has the function
    result = quick(X, rough(X), test=(many, rough(many)), candidate=lambda rows: 0.0 * rows[:, 0])
    assert result.model_to_use is result.baseline_model


@pytest.fixture
def own_ledger(monkeypatch):
    """Keep the ledger beside the folder of a study, as users do."""
    monkeypatch.delenv("ASSAY_LEDGER", raising=False)


def opened(folder):
    """Return the verdicts on the ledger of a folder's studies, in the order of the openings."""
    return [entry["verdict"] for entry in Ledger(folder / "ledger.jsonl").entries()]


def one_row_is_flat(rows):
    return np.squeeze(rough(rows)) if len(rows) == 1 else rough(rows)


class FewRowsFail:
    """Needs 60 rows to fit: the folds and the learning curve give it fewer."""

    def fit(self, X, Y):
        if len(X) < 60:
            raise ValueError("n_neighbors is 60")
        return self

    def predict(self, X):
        return rough(X) + 0.1


@pytest.mark.usefixtures("few_baselines", "own_ledger")
@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (one_row_is_flat, r"shape \(1, 1\) or \(1,\), got \(\)"),
        (lambda rows: rough(rows) if len(rows) < 1000 else rough(rows)[:999], "1000, 1"),
        (lambda rows: np.full(len(rows), np.nan), "missing or infinite"),
        (lambda rows: rough(rows)[:-1], "shape"),
    ],
)
def test_what_fails_to_predict_fails_while_the_test_is_sealed(X, T, candidate, said, tmp_path):
    study = SurrogateStudy(X, rough(X), test=(T, rough(T)), candidate=candidate)
    with pytest.raises((StudyError, DataError), match=said):
        study.run(seeds=1, folder=tmp_path / "run")
    assert opened(tmp_path) == []


@pytest.mark.usefixtures("few_baselines", "own_ledger")
def test_what_fails_to_be_refitted_costs_no_opening_or_only_its_curve(X, T, tmp_path):
    def study(n):
        more = np.random.default_rng(1).uniform(size=(n, 2))
        return SurrogateStudy(more, rough(more), test=(T, rough(T)), candidate=FewRowsFail())

    with pytest.raises(StudyError, match="n_neighbors is 60"):  # 56 of 70 runs are for the fit
        study(70).run(seeds=1, folder=tmp_path / "run")
    assert opened(tmp_path) == []
    result = study(100).run(seeds=1, folder=tmp_path / "run")
    assert opened(tmp_path) == [result.verdict]
    assert any("No learning curve of FewRowsFail" in note for note in result.notes)
    assert any(note.startswith("More runs, Gaussian process") for note in result.notes)


@pytest.mark.usefixtures("few_baselines", "own_ledger")
def test_what_can_only_fail_on_the_test_runs_is_on_record_and_no_look(X, T, tmp_path):
    def known(rows):
        if (rows > 3.0).any():
            raise ValueError("outside of my table")
        return rough(rows)

    far = np.vstack([T, [[4.0, 4.0]]])
    data = {"test": (far, rough(far)), "learning_curve": False}
    with pytest.raises(StudyError, match="outside of my table") as caught:
        SurrogateStudy(X, rough(X), candidate=known, **data).run(seeds=1, folder=tmp_path / "run")
    assert "does not count as a look" in caught.value.hint
    assert opened(tmp_path) == ["failed"]
    result = SurrogateStudy(X, rough(X), candidate=rough, **data).run(
        seeds=1, folder=tmp_path / "run"
    )
    assert "Nothing of these test rows was shown before" in result.ledger.sentence
    assert "exploratory" not in result.ledger.sentence


@pytest.mark.usefixtures("few_baselines", "own_ledger")
def test_another_candidate_or_other_runs_are_another_study(X, T, tmp_path):
    def study(candidate, X=X):
        return SurrogateStudy(
            X, rough(X), test=(T, rough(T)), candidate=candidate, learning_curve=False
        )

    def sentence(made):
        return made.run(seeds=1, folder=tmp_path / "run").ledger.sentence

    assert "for the first time" in sentence(study(lambda rows: rough(rows)))
    assert "no new look" in sentence(study(lambda rows: rough(rows)))
    assert "1 other study" in sentence(study(lambda rows: rough(rows) + 0.0))
    assert "2 other studies" in sentence(study(lambda rows: rough(rows), X[:60]))


def heavy_tailed(seed, n=30):
    """Return test runs, and a candidate that is a little worse on all but one, where it is far."""
    T = np.random.default_rng(seed).uniform(size=(n, 2))
    off = np.where(np.arange(n) == 3, 3.0, 0.05)[:, None]
    return T, off


@pytest.mark.usefixtures("few_baselines")
def test_an_undecided_mean_is_told_run_by_run(X):
    T, off = heavy_tailed(11)
    truth = simulator(T)
    result = quick(X, simulator(X), test=(T, truth), candidate=truth + off)
    assert result.verdict == "undecided"
    assert "nearer on 30 of 30 test runs" in result.sentence
    note = next(n for n in result.notes if n.startswith("Run by run there is less doubt"))
    assert "88 to 100 %" in note  # Clopper and Pearson, 30 of 30
    assert "more test runs" in note
    assert "logarithm" not in note or (truth > 0).all()


@pytest.mark.usefixtures("few_baselines")
def test_equals_are_told_to_be_open_run_by_run(X, T):
    result = quick(X, rough(X), test=(T, rough(T)), candidate=GaussianProcess(random_state=7))
    wins = result.notes[0]
    assert result.verdict == "undecided"
    assert "Run by run" not in result.sentence
    assert "less doubt" not in wins
