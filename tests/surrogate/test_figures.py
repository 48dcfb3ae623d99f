"""What the figures of a surrogate study draw, from arrays that are known."""

import dataclasses
import types

import numpy as np
import pytest
from matplotlib.figure import Figure

from assay.result import Gain
from assay.surrogate.figures import FIGURES
from assay.train import FitStatus


def result(n=40, m=1, **more):
    rng = np.random.default_rng(0)
    true = rng.normal(size=(n, m))
    arrays = {
        "true": true,
        "predicted": true + 0.1,
        "predicted_best": true - 0.2,
        "row_error": np.full(n, 0.1),
        "row_error_best": np.full(n, 0.2),
        "row_inside_domain": np.arange(n) < n - 3,
        "row_distance": np.linspace(0.1, 1.5, n),
        "output_name": np.array([f"y{j}" for j in range(m)], dtype=object),
        "output_rms": np.full(m, 0.1),
        "output_rms_best": np.full(m, 0.2),
        "shown_output": 0,
        "unit": "mm",
        "coverage_level": np.array([0.5, 0.95]),
        "coverage_raw": np.array([0.2, 0.6]),
        "curve_sizes": np.array([10, 20, 40]),
        "curve_rms": np.array([[0.4], [0.2], [0.1]]),
        "curve_needed": np.array([80.0, 60.0, np.inf]),
        "curve_target": 0.05,
        "history_step": np.arange(5),
        "history_train": np.geomspace(1.0, 0.1, 5),
    } | more
    contender = types.SimpleNamespace(name="Ensemble of 5 MLPs", status="Done.")
    gain = Gain(0.5, 0.4, 0.6, "Gaussian process")
    return types.SimpleNamespace(arrays=arrays, candidate=contender, gain=gain, findings=())


def drawn(key, given):
    spec = next(spec for spec in FIGURES if spec.key == key)
    assert spec.applies(given)
    figure = Figure(figsize=spec.size)
    spec.draw(given, figure)
    return spec.caption(given), figure.axes


def series(**more):
    t = np.geomspace(0.01, 1.0, 5)
    extra = {"coordinate": t, "coordinate_name": "t [yr]", "coordinate_unit": "mm"}
    return result(m=5, **extra, **more)


def test_every_axis_has_a_label():
    for spec in FIGURES:
        given = series() if spec.key == "outputs" else result()
        _, axes = drawn(spec.key, given)
        assert all(a.get_xlabel() and a.get_ylabel() for a in axes), spec.key


def test_prediction_and_error_stand_side_by_side():
    given = result()
    _, (left, right) = drawn("predicted", given)
    x, y = left.lines[1].get_data()
    assert y - x == pytest.approx(np.full(40, 0.1))
    assert right.lines[0].get_ydata() == pytest.approx(np.full(40, -0.2))


def test_the_output_with_the_largest_error_is_drawn():
    given = result(m=3, shown_output=2)
    caption, (left, _) = drawn("predicted", given)
    assert "y2" in caption
    assert left.lines[0].get_xdata() == pytest.approx(given.arrays["true"][:, 2])


def test_a_series_is_drawn_over_its_coordinate():
    _, (axes,) = drawn("outputs", series(sigma=2.0))
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "t [yr]"
    assert axes.lines[-1].get_ydata()[0] == 2.0


def test_one_output_needs_no_figure_of_outputs():
    spec = next(spec for spec in FIGURES if spec.key == "outputs")
    assert not spec.applies(result())


def test_runs_needed_are_marked_with_their_interval():
    _, (axes,) = drawn("learning", result())
    marks = [line for line in axes.lines if line.get_marker() == "D"]
    assert [m.get_xdata()[0] for m in marks] == [80.0]
    out_of_reach = result(curve_needed=np.array([np.inf, 60.0, np.inf]))
    _, (axes,) = drawn("learning", out_of_reach)
    assert not [line for line in axes.lines if line.get_marker() == "D"]


def test_what_lies_outside_the_domain_is_counted():
    caption, (axes,) = drawn("domain", result())
    assert "3 test runs lie outside" in caption
    assert len(axes.lines[1].get_xdata()) == 3
    caption, _ = drawn("domain", result(row_inside_domain=np.arange(40) < 39))
    assert "1 test run lies outside" in caption


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("pass", "hardly pay"),
        ("warn", "may give"),
        ("not_applicable", "may give"),
        ("", "may give"),
    ],
)
def test_whether_more_steps_would_pay_is_told_as_the_check_found_it(outcome, said):
    given = result()
    given.candidate.status = f"3 of 5 members: {FitStatus.BUDGET.sentence}"
    given.findings = tuple(types.SimpleNamespace(code="S06", outcome=o) for o in [outcome] if o)
    caption, _ = drawn("training", given)
    assert caption.count("more steps") == 1
    assert said in caption
    given.candidate.status = FitStatus.CONVERGED.sentence
    assert "more steps" not in drawn("training", given)[0]


def test_figures_without_what_they_need_are_left_out():
    given = result()
    bare = dataclasses.replace(Gain(0, 0, 0, "x"))
    left = {k: v for k, v in given.arrays.items() if not k.startswith(("curve", "cover", "hist"))}
    empty = types.SimpleNamespace(arrays=left, candidate=given.candidate, gain=bare)
    kept = [spec.key for spec in FIGURES if spec.applies(empty)]
    assert kept == ["predicted", "pairs", "domain"]
