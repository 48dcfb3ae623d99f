"""What the figures of a physics study draw, from arrays that are known."""

import types

import numpy as np
import pytest
from matplotlib.figure import Figure

from assay.physics.figures import FIGURES


def labels(*said):
    return np.array(said, dtype=object)


def result(points, true, *, time=0, variables=("t [s]",), fields=("u [m]",), **more):
    n, m = len(points), len(fields)
    arrays = {
        "points": points,
        "reference": true,
        "reference_error": 1e-9,
        "exact": True,
        "fields": true + 1e-3,
        "solver_fields": true + 1e-8,
        "variables": labels(*(v.split()[0] for v in variables)),
        "variable_labels": labels(*variables),
        "field_names": labels(*(f.split()[0] for f in fields)),
        "field_labels": labels(*fields),
        "field_units": labels(*["m"] * m),
        "time": time,
        "errors": np.array([1e-3, 2e-3]),
        "seconds": np.array([4.0, 5.0]),
        "level_seconds": np.array([0.01, 0.02, 0.05]),
        "level_errors": np.array([1e-3, 1e-5, 1e-8]),
        "history_step": np.arange(6),
        "history_loss": np.geomspace(1.0, 1e-4, 6),
        "history_residual": np.geomspace(1.0, 1e-4, 6),
        "history_condition": np.zeros(6),
        "history_reading": np.zeros(6),
        "term_names": labels("u_tt", "u"),
        "term_before": np.array([1.0, 39.5]),
        "term_after": np.array([0.0253, 1.0]),
        "term_scaled": True,
        "reading_points": points[:4],
        "reading_field": np.zeros(4, int),
        "reading_values": true[:4, 0] + 0.1,
        "reading_sigma": np.full(4, 0.1),
        "reading_network": true[:4, 0],
        "reading_solver": true[:4, 0],
        "found_labels": labels("zeta [-]"),
        "found_network": np.array([[0.11], [0.12]]),
        "found_solver": np.array([0.1]),
        "found_low": np.array([0.09]),
        "found_high": np.array([0.115]),
    } | more
    assert arrays["fields"].shape == (n, m)
    network = types.SimpleNamespace(name="Physics-informed network", status="Converged.")
    solver = types.SimpleNamespace(name="Classical solver")
    return types.SimpleNamespace(arrays=arrays, candidate=network, baselines=(solver,))


def curve(**more):
    t = np.linspace(0.0, 2.0, 101)[:, None]
    return result(t, np.cos(t), **more)


def field(n=(21, 31), **more):
    grid = np.meshgrid(*(np.linspace(0.0, 1.0 + i, k) for i, k in enumerate(n)), indexing="ij")
    points = np.stack(grid, axis=-1).reshape(-1, len(n))
    true = (1.0 + points[:, :1]) * np.sin(points[:, 1:2])
    names = ("t [s]", "x [m]", "y [m]")[: len(n)]
    return result(points, true, variables=names, **more)


def drawn(key, given):
    spec = next(spec for spec in FIGURES if spec.key == key)
    assert spec.applies(given)
    figure = Figure(figsize=spec.size, layout="constrained")
    spec.draw(given, figure)
    return spec.caption(given), figure.axes


def test_every_figure_applies_to_one_of_the_kinds_and_its_axes_are_labelled():
    for spec in FIGURES:
        kinds = [given for given in (curve(), field(), field((5, 6, 7))) if spec.applies(given)]
        assert kinds, spec.key
        for given in kinds:
            caption, axes = drawn(spec.key, given)
            assert caption.endswith(".")
            assert all(a.get_xlabel() or a.get_ylabel() for a in axes), spec.key


def test_curves_and_their_errors_stand_one_above_the_other():
    _, (upper, lower) = drawn("solution", curve())
    assert upper.get_ylabel() == "u [m]"
    assert (lower.get_xlabel(), lower.get_ylabel()) == ("t [s]", "error [m]")
    assert [line.get_ydata()[7] for line in lower.lines] == pytest.approx([1e-8, 1e-3], rel=1e-6)


def test_the_map_of_the_error_shows_the_error():
    _, axes = drawn("field", field())
    maps = [a for a in axes if a.images]
    assert [(a.get_xlabel(), a.get_ylabel()) for a in maps] == [("t [s]", "x [m]")] * 2
    off = maps[1].images[0].get_array()
    assert off.shape == (31, 21)  # x upwards, t to the right
    assert np.allclose(off, 1e-3)
    t, x = np.linspace(0, 1, 21), np.linspace(0, 2, 31)
    expected = (1.0 + t) * np.sin(x)[:, None] + 1e-3
    assert np.allclose(maps[0].images[0].get_array(), expected)


def test_three_variables_are_cut_at_the_end_of_time():
    given = field((5, 6, 7))
    caption, axes = drawn("field", given)
    assert "at t = 1" in caption
    shown = axes[0].images[0].get_array()
    assert shown.shape == (7, 6)
    assert np.allclose(shown[0], 2.0 * np.sin(np.linspace(0, 2, 6)) + 1e-3)


def test_the_error_over_time_is_relative_to_the_whole_field():
    given = field()
    size = np.sqrt(np.mean(given.arrays["reference"] ** 2))
    _, (axes,) = drawn("time", given)
    assert axes.lines[1].get_ydata() == pytest.approx(np.full(21, 1e-3 / size))
    assert axes.lines[1].get_xdata()[-1] == 1.0
    spec = next(spec for spec in FIGURES if spec.key == "time")
    assert not spec.applies(field(time=-1))


def test_levels_are_a_line_and_seeds_are_points():
    _, (axes,) = drawn("speed", curve())
    line, points = axes.lines
    assert line.get_ydata() == pytest.approx([1e-3, 1e-5, 1e-8])
    assert points.get_xdata() == pytest.approx([4.0, 5.0])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    _, (axes,) = drawn("speed", curve(exact=False))
    assert axes.lines[-1].get_ydata()[0] == 1e-9


def test_terms_of_the_loss_that_are_not_there_are_not_drawn():
    caption, (axes,) = drawn("training", curve())
    assert [line.get_label() for line in axes.lines] == ["equation"]
    assert "built into the network" in caption
    soft = curve(history_condition=np.geomspace(0.1, 1e-6, 6))
    caption, (axes,) = drawn("training", soft)
    assert [line.get_label() for line in axes.lines] == ["sum", "equation", "conditions"]
    assert "built" not in caption


def test_sizes_are_drawn_before_and_after():
    caption, (axes,) = drawn("terms", curve())
    assert axes.lines[-2].get_xdata() == pytest.approx([1.0, 39.5])
    assert axes.lines[-1].get_xdata() == pytest.approx([0.0253, 1.0])
    assert "39.5" in caption
    spec = next(spec for spec in FIGURES if spec.key == "terms")
    assert not spec.applies(curve(term_scaled=False))


def test_readings_of_a_map_are_drawn_as_what_is_left():
    _, (axes,) = drawn("readings", field())
    assert axes.lines[0].get_ydata() == pytest.approx(np.full(4, -0.1))
    assert {round(line.get_ydata()[0], 3) for line in axes.lines[3:]} == {-0.196, 0.196}


def test_what_was_found_stands_beside_the_classical_interval():
    _, (axes,) = drawn("found", curve())
    assert axes.get_xlabel() == "zeta [-]"
    assert axes.lines[0].get_xdata() == pytest.approx([0.09, 0.115])
    assert axes.lines[2].get_xdata() == pytest.approx([0.11, 0.12])


def test_figures_without_what_they_need_are_left_out():
    given = curve()
    kept = ("points", "reference", "fields", "solver", "exact", "variable", "field", "time", "err")
    arrays = {k: v for k, v in given.arrays.items() if k.startswith(kept)}
    bare = types.SimpleNamespace(**vars(given) | {"arrays": arrays})
    assert [spec.key for spec in FIGURES if spec.applies(bare)] == ["solution"]


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [(300.0, 350.0, (300.0, 350.0)), (-350.0, -300.0, (-350.0, -300.0)), (-1.0, 3.0, (-3.0, 3.0))],
)
def test_colours_span_the_field(low, high, ends):
    """A temperature of 300 to 350 K shows its variation; both signs keep zero in the middle."""
    from matplotlib.colors import LinearSegmentedColormap

    from assay.physics.figures import _scale

    both = LinearSegmentedColormap.from_list("field", ["blue", "white", "red"])
    (bottom, top), colours = _scale(np.linspace(low, high, 9).reshape(3, 3), both)
    assert (bottom, top) == ends
    norm = lambda value: colours((value - bottom) / (top - bottom))
    np.testing.assert_allclose(norm(bottom)[:3], (0, 0, 1) if low < 0 else (1, 1, 1), atol=0.01)
    np.testing.assert_allclose(norm(top)[:3], (1, 0, 0) if high > 0 else (1, 1, 1), atol=0.01)
