import io
import re

import pytest

from assay.report import terminal

from . import fake


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", fake.ALL)
def test_fits_the_terminal(name, width):
    lines = terminal.text(fake.ALL[name](), width).splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("name", fake.ALL)
def test_no_control_characters_reach_the_terminal(name):
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", terminal.text(fake.ALL[name]()))


def test_says_what_matters():
    text = terminal.text(fake.not_earned())
    assert "NOT EARNED" in text
    assert "Gain -69 % (95 % interval -108 % to -35 %) against kNN distance" in text
    assert re.search(r"^> Autoencoder +58\.1 \(51\.2–64\.9\)", text, re.MULTILINE)
    assert re.search(r"^\* kNN distance +75\.2", text, re.MULTILINE)
    assert "Checks: 1 warning, 1 error, 4 passed, 1 not applicable." in text
    assert "Fix 1: Look at rows 1204" in text
    assert "Threshold from too few rows" not in text  # it passed
    assert "opened twice before" in text


def test_intervals_move_below_where_it_is_narrow():
    lines = terminal.text(fake.not_earned(), 70).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("> Autoencoder"))
    assert "51.2–64.9" in lines[place + 1]
    assert max(map(len, lines)) <= 70


def test_a_failed_check_comes_first():
    text = terminal.text(fake.invalid())
    assert text.index("FAILED   A03") < text.index("WARNING  A02") < text.index("ERROR    A08")
    assert "Measured 97.3 % (96.1 to 98.4), limit 7.2 %." in " ".join(text.split())
    assert "not to be relied on" in text


@pytest.mark.parametrize("width", range(60, 100))
def test_a_number_and_its_per_cent_sign_stay_on_one_line(width):
    text = terminal.text(fake.not_earned(), width)
    assert not re.search(r"^ *%", text, re.MULTILINE)
    assert "\N{NO-BREAK SPACE}" not in text  # so that what is printed can be searched for


def test_without_a_gain_no_gain_is_claimed():
    text = terminal.text(fake.no_labels())
    assert "Gain" not in text
    assert "strongest" not in text


def test_a_result_prints_itself():
    assert str(fake.earned()) == terminal.text(fake.earned())


@pytest.mark.parametrize("name", ["not_earned", "hostile"])
def test_show_says_the_same_as_text(name):
    from rich.console import Console

    result = fake.ALL[name]()
    plain = Console(file=io.StringIO(), width=88, no_color=True)
    terminal.show(result, plain)
    said = [line.rstrip() for line in plain.file.getvalue().splitlines()]
    assert said == terminal.text(result, 88).splitlines()


def test_show_colours_the_verdict():
    from rich.console import Console

    console = Console(file=io.StringIO(), width=88, force_terminal=True, color_system="standard")
    terminal.show(fake.invalid(), console)
    assert "\x1b[1;31mINVALID" in console.file.getvalue()
