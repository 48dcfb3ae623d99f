import dataclasses
import re
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from assay import figure as fig
from assay.report import figures

from . import fake

SPECS_OF = figures.specs_of  # before the fixture of this folder replaces it


@pytest.fixture(scope="module")
def svg(drawn):
    return {f.key: f.svg for f in drawn}


def test_the_same_result_gives_the_same_bytes(svg):
    again = figures.render(fake.not_earned(), fake.FIGURES[:1])[0]
    assert again.svg == svg["scores"]
    assert "2026" not in svg["scores"]


def test_text_stays_text_and_is_escaped(svg):
    texts = [e.text for e in ET.fromstring(svg["roc"]).iter() if e.tag.endswith("text")]
    assert fake.HOSTILE in texts
    assert "$ chance $ & luck" in texts
    assert "<script" not in svg["roc"]


def test_log_axes_have_readable_ticks(svg):
    texts = [e.text for e in ET.fromstring(svg["time"]).iter() if e.tag.endswith("text")]
    assert "1" in texts
    assert not any("mathdefault" in text or "e" in text for text in texts if text[0].isdigit())


def test_colours_become_variables(drawn):
    page = figures.page_svg(drawn[0])
    for name in ("normal", "anomaly", "threshold", "ink", "muted", "grid"):
        assert f"var(--fig-{name})" in page
    assert not any(colour in page for colour in dataclasses.asdict(fig.COLOURS).values())
    assert 'aria-labelledby="scores-title scores-caption"' in page
    assert "<style" not in page  # it would style the rest of the page as well


def test_no_id_appears_in_two_figures(drawn):
    ids = [i for f in drawn for i in re.findall(r' id="([^"]*)"', figures.page_svg(f))]
    assert len(ids) >= len(drawn)
    assert len(set(ids)) == len(ids)


def test_matplotlib_is_left_as_it_was():
    before = dict(matplotlib.rcParams)
    figures.render(fake.not_earned(), fake.FIGURES[:1])
    assert dict(matplotlib.rcParams) == before


def test_a_cloud_of_points_becomes_a_picture():
    cloud = figures.render(fake.not_earned(), (fake.CLOUD,))[0]
    assert len(cloud.svg) > figures.LARGEST_SVG
    assert cloud.png.startswith(b"\x89PNG")


def test_a_figure_that_crashes_says_so_and_one_without_data_is_absent():
    found = figures.render(fake.not_earned(), (fake.BROKEN, fake.ABSENT))
    assert [f.key for f in found] == ["broken"]
    assert "KeyError" in found[0].problem
    assert found[0].svg == ""


def test_a_need_without_figures_has_none():
    assert SPECS_OF("no_such_need") == ()
    assert SPECS_OF("../anomaly") == ()


def test_thin_curve_keeps_peaks_and_order():
    rng = np.random.default_rng(3)
    y = rng.normal(size=100_000)
    y[[17, 54_321]] = 40.0, -40.0
    y[5] = np.nan
    x, kept = fig.thin_curve(np.arange(y.size), y, limit=1000)
    assert len(x) <= 1000
    assert np.all(np.diff(x) > 0)
    assert (kept.max(), kept.min()) == (40.0, -40.0)
    np.testing.assert_array_equal(kept, y[x])


def test_histogram_shares_add_up_to_all_values():
    from matplotlib.figure import Figure

    axes = fig.new_axes(Figure())
    fig.add_histogram(axes, [0.1, 0.2, 0.9, 5.0], [0, 0.5, 1.0], colour="k", label="x")
    values = axes.patches[0].get_data().values
    np.testing.assert_allclose(values, [50.0, 25.0])  # the value outside counts in the total


def test_intervals_leave_a_gap_for_what_is_not_known():
    from matplotlib.figure import Figure

    axes = fig.new_axes(Figure())
    nan = float("nan")
    fig.add_intervals(axes, ["a", "b"], [1.0, nan], [0.5, nan], [1.5, nan], colours=["k", "k"])
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b"]
    assert len(axes.lines) == 2  # one interval and one dot
