import dataclasses
import itertools
import re
from html.parser import HTMLParser

import pytest

from assay.errors import StudyError
from assay.report import figures, graphics, html, words
from assay.result import Gain

from . import fake

VOID = {"meta", "link", "img"}


class Reader(HTMLParser):
    """Collects elements, headings and text, and holds that every element is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.headings, self.text = [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    def said(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def pages(drawn):
    """Return the page of every result."""
    return {name: html.render(make(), drawn) for name, make in fake.ALL.items()}


@pytest.mark.parametrize("name", fake.ALL)
def test_is_well_formed_and_under_two_megabytes(pages, name):
    Reader(pages[name])
    assert len(pages[name].encode("utf-8", "replace")) < 2_000_000


@pytest.mark.parametrize("name", fake.ALL)
def test_loads_nothing_from_outside(pages, name):
    for tag, attrs in Reader(pages[name]).elements:
        assert tag not in {"script", "iframe", "object", "embed", "form", "base"}
        for key, value in attrs.items():
            assert not key.startswith("on"), f"<{tag} {key}>"
            if key in {"src", "href", "xlink:href", "srcset", "action"}:
                assert value.startswith(("#", "data:")), f"<{tag} {key}={value}>"
    assert not re.search(r"url\(\s*['\"]?(?!#)|@import", pages[name])


def test_text_from_outside_is_text(pages):
    reader = Reader(pages["hostile"])
    assert "<script>alert(1)</script>" in reader.said()
    assert "{{ 7*7 }}" in reader.said()  # not rendered a second time
    assert "<script" not in pages["hostile"]
    assert not [tag for tag, attrs in reader.elements if "onerror" in attrs]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", pages["hostile"])


@pytest.mark.parametrize("name", fake.ALL)
def test_headings_descend_one_at_a_time(pages, name):
    levels = Reader(pages[name]).headings
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("name", fake.ALL)
def test_ids_are_unique_and_references_lead_somewhere(pages, name):
    if name == "large":
        pytest.skip("its findings repeat their codes by design of the fake")
    elements = Reader(pages[name]).elements
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    for _, attrs in elements:
        for key in ("aria-labelledby", "aria-describedby"):
            assert set(attrs.get(key, "").split()) <= set(ids)
        if attrs.get("href", "").startswith("#"):
            assert attrs["href"][1:] in ids


def test_every_table_head_has_a_scope(pages):
    heads = [attrs for tag, attrs in Reader(pages["not_earned"]).elements if tag == "th"]
    assert heads
    assert all(attrs.get("scope") in ("col", "row") for attrs in heads)


@pytest.mark.parametrize(("name", "word"), [(n, n.replace("_", " ")) for n in fake.VERDICTS])
def test_verdict_and_its_meaning_come_first(pages, name, word):
    said = Reader(pages[name]).said().lower()
    assert said.index(word) < said.index("what it means") < said.index("candidate and baselines")
    assert f"verdict-{name}" in pages[name]


def test_the_order_of_the_page(pages):
    said = Reader(pages["not_earned"]).said()
    order = (
        "What it means",
        "Candidate and baselines",
        "Gain against each baseline",
        "Checks for known failures",
        "Figures",
        "Data and split",
        "Settings",
        "Costs",
        "Ledger",
        "Run it again",
        "Versions",
    )
    places = [said.index(title) for title in order]
    assert places == sorted(places)


def test_failed_findings_come_first_and_say_what_they_do(pages):
    said = Reader(pages["invalid"]).said()
    a, b, c, d = (said.index(t) for t in ("Failed", "Warning", "Error", "Passed"))
    assert a < b < c < d
    assert "makes the study invalid" in said
    assert "Do not rely on any number on this page" in said
    assert "97.3 % (96.1 to 98.4)" in said.replace("\N{NO-BREAK SPACE}", " ")


def test_numbers_carry_their_interval_at_matching_digits(pages):
    said = Reader(pages["not_earned"]).said().replace("\N{NO-BREAK SPACE}", " ")
    assert "58.1 51.2 to 64.9" in said
    assert "0.952 0.934 to 0.968" in said
    assert "−69 % 95 % interval −108 % to −35 %" in said


def test_ranking_figures_are_said_not_to_be_the_operating_point(pages):
    said = Reader(pages["not_earned"]).said()
    assert said.index("Detection rate") < said.index("not the operating point") < said.index("AUC")


def test_the_verdict_is_said_once():
    result = dataclasses.replace(fake.undecided(), sentence="Undecided: it may be chance")
    page = html.render(result, [])
    assert '<p class="sentence">It may be chance.</p>' in page


def test_a_gain_over_the_best_of_all_explains_its_interval(pages):
    assert "whichever baseline is best" not in pages["not_earned"]  # there both are the same
    other = dataclasses.replace(fake.GAINS[2], low=-1.5)
    page = html.render(dataclasses.replace(fake.not_earned(), gain=other), [])
    assert "whichever baseline is best in each resample" in page


def test_settings_that_are_not_set_are_named_together(pages):
    said = Reader(pages["not_earned"]).said()
    assert "Not set: time ." in said
    assert "learning_rate 0.001" in said


def test_no_gain_shows_no_gain(pages):
    said = Reader(pages["no_labels"]).said()
    assert "Gain" not in said
    assert "strongest" not in said
    assert "nothing to compare" in said
    assert "opened no test part" in said


def test_what_does_not_fit_is_said_to_be_elsewhere(pages):
    said = Reader(pages["large"]).said()
    assert "The first 300 of 10,000 columns; all are in result.json." in said
    assert "and 440 more, in result.json" in said
    assert "and 9,970 more" in said


def test_figures_beyond_the_budget_are_left_to_the_folder(monkeypatch, drawn):
    monkeypatch.setattr(html, "FIGURE_BUDGET", 10)
    page = html.render(fake.not_earned(), drawn)
    assert "Too large for this page" in page
    assert "var(--fig-normal)" not in page.split("</style>")[1]


def test_a_large_figure_is_a_picture_and_a_broken_one_a_sentence():
    drawn = figures.render(fake.not_earned(), (fake.CLOUD, fake.BROKEN))
    page = html.render(fake.not_earned(), drawn)
    assert page.count('src="data:image/png;base64,iVBOR') == 1
    assert "could not be drawn (KeyError" in page


def test_the_same_result_gives_the_same_page(pages, drawn):
    assert html.render(fake.not_earned(), drawn) == pages["not_earned"]


def test_writes_the_page(tmp_path):
    path = tmp_path / "new" / "pump.html"
    fake.hostile().report(path)
    text = path.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert [p.name for p in path.parent.iterdir()] == ["pump.html"]


def test_a_page_that_cannot_be_written_is_a_study_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudyError, match="could not be written") as caught:
        html.write(fake.earned(), tmp_path / "file" / "pump.html")
    assert caught.value.hint


def gain(estimate, low, high):
    return Gain(estimate, low, high, "b")


def test_zero_is_inside_the_axis_and_on_the_right_side():
    for g in (gain(0.3, 0.2, 0.4), gain(-0.3, -0.4, -0.2), gain(0.01, -0.2, 0.2)):
        axis = graphics.axis([g])
        bar = graphics.bar(g, axis)
        assert 5 < axis.zero < 95
        assert (bar.left > axis.zero) == (g.low > 0)
        assert (bar.left + bar.width < axis.zero) == (g.high < 0)
        assert bar.left < bar.dot < bar.left + bar.width
        assert bar.holds_zero == (g.low <= 0 <= g.high)


def test_positions_are_linear_in_the_gain():
    axis = graphics.axis([gain(0.2, -0.4, 0.5)])
    assert axis.place(0.25) - axis.place(0.0) == pytest.approx(
        axis.place(0.5) - axis.place(0.25), abs=0.02
    )
    places = dict((text, at) for at, text in axis.ticks)
    assert places["0 %"] == axis.zero


def test_a_disaster_does_not_squeeze_the_others():
    gains = [gain(-30.0, -45.0, -20.0), gain(0.3, 0.2, 0.4)]
    axis = graphics.axis(gains)
    disaster, fine = (graphics.bar(g, axis) for g in gains)
    assert disaster.cut_low
    assert disaster.dot == 0
    assert fine.width > 5


def test_gains_that_are_no_numbers_are_not_drawn():
    nan = float("nan")
    assert graphics.axis([gain(nan, nan, nan)]) is None
    axis = graphics.axis([gain(0.1, 0.0, 0.2)])
    assert graphics.bar(gain(nan, nan, nan), axis) is None
    assert graphics.bar(gain(0.1, 0.0, 0.2), None) is None


def test_an_end_at_infinity_is_cut_and_said():
    g = gain(-1.28, -float("inf"), 1.0)
    bar = graphics.bar(g, graphics.axis([g]))
    assert (bar.left, bar.cut_low, bar.cut_high) == (0, True, False)
    assert bar.holds_zero
    assert words.gain_text(g) == ("-128 %", "not bounded")
    assert words.gain_text(gain(0.5, 0.2, float("inf"))) == ("+50 %", "+20 % and up")
    assert words.gain_text(gain(-4343.0, -193999.0, -95.0)) == (
        "4,300 times larger", "96 to 190,000 times larger"
    )  # fmt: skip
    assert words.gain_text(gain(-11.0, float("-inf"), 1.0)) == ("12 times larger", "not bounded")


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0.9, 0.8, 0.95), ("10 times smaller", "5.0 to 20 times smaller")),
        ((0.0, -1.0, 0.5), ("as large", "2.0 times smaller to 2.0 times larger")),
        ((-1e22, -1e300, 1.0), ("1.0e22 times larger", "too wide to be of use")),
        ((-1e22, -2e22, -5e21), ("1.0e22 times larger", "5.0e21 to 2.0e22 times larger")),
        ((1.0, 1.0, 1.0), ("none left", "none left to none left")),
        ((-3.0, float("-inf"), 1.0), ("4.0 times larger", "not bounded")),
    ],
)
def test_factors_are_one_scale_on_both_sides_of_equal(numbers, said):
    assert words.gain_text(gain(*numbers), factors=True) == said


def test_ratios_of_losses_stand_on_a_scale_of_powers_with_labels():
    gains = fake.factors().gains
    axis = graphics.axis(gains, factors=True)
    places = {text: at for at, text in axis.ticks}
    assert places["equal"] == axis.zero == axis.place(0.0)
    assert places["÷ 100"] == axis.place(0.99)
    dots = [graphics.bar(g, axis).dot for g in gains]
    assert dots == sorted(dots)
    assert dots[0] < axis.zero < dots[1]
    assert axis.place(0.9) - axis.zero == pytest.approx(axis.zero - axis.place(-9.0), abs=0.02)
    assert graphics.bar(gains[1], axis).cut_low
    assert graphics.bar(gain(1.0, 1.0, 1.0), axis).dot == 100  # nothing is left of the loss


@pytest.mark.parametrize(
    ("estimate", "ticks"),
    [
        (-0.1, {"× 1.1", "equal"}),
        (-1.0, {"× 2", "equal"}),
        (0.9, {"equal", "÷ 2", "÷ 5", "÷ 10"}),
        (-999.0, {"× 1,000", "× 100", "× 10", "equal"}),
        (-1e9, {"× 1e9", "equal"}),
    ],
)
def test_a_scale_of_ratios_has_round_ticks_near_and_far(estimate, ticks):
    axis = graphics.axis([gain(estimate, estimate, estimate)], factors=True)
    assert ticks <= {text for _, text in axis.ticks}
    assert 2 <= len(axis.ticks) <= 6


def test_the_axes_of_a_page_have_labels(pages):
    for name, said in (("factors", "equal"), ("not_earned", "0 %")):
        shown = re.findall(r'<text class="iv-label[^>]*middle">([^<]*)<', pages[name])
        shown = [text.replace("\N{NO-BREAK SPACE}", " ") for text in shown]
        assert shown.count(said) == 2  # at the top, and against each baseline
        assert len(shown) >= 5


def test_a_gain_without_width_is_drawn():
    g = gain(0.0, 0.0, 0.0)
    assert graphics.bar(g, graphics.axis([g])).width == 0


def test_margin_not_met_is_no_defeat():
    better = Gain(0.05, 0.02, 0.08, "PCA Q")
    page = html.render(dataclasses.replace(fake.not_earned(), gain=better), [])
    assert "not by the margin that was asked for" in page
