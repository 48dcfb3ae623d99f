"""Printable text, progress that keeps stdout clean, one-line warnings."""

import contextlib
import signal
import sys
import unicodedata
import warnings

import pytest

from assay.cli import shell


@pytest.mark.parametrize("text", ["plain", "Förderhöhe [m³/h]", "温度", "a\tb\nc", "ß∞≤"])
def test_ordinary_text_stays(text):
    assert shell.printable(text) == text


def test_nothing_that_controls_survives():
    every = "".join(map(chr, range(0x3000))) + "\ud800\ue000\U000e0001"
    left = shell.printable(every)
    kinds = {unicodedata.category(c) for c in left if c not in "\n\t"}
    assert kinds.isdisjoint({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def test_no_bar_where_nobody_looks(capsys):
    with shell.working(quiet=False) as progress:
        progress("fitting", 0.5)
    assert capsys.readouterr() == ("", "")


def test_a_file_gets_a_plain_line_where_nothing_was_said_for_long(capsys, monkeypatch):
    now = iter([0.0, 1.0, 25.0, 25.0, 26.0])
    monkeypatch.setattr(shell.time, "monotonic", lambda: next(now))
    with shell.working(quiet=False) as progress:
        progress("splitting", 0.02)
        progress("fitting the\nnetwork", 0.5)
        progress("comparing", 0.9)
    assert capsys.readouterr() == ("", "50 %: fitting the network\n")


def test_what_libraries_print_does_not_reach_stdout(capsys):
    with shell.working(quiet=True):
        print("chatter")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "chatter\n"


def test_a_bar_on_a_terminal_is_drawn_on_stderr(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with shell.working(quiet=False) as progress:
        progress("fitting [red]pca[/red] \x1b[2J", 0.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\x1b[2J" not in err


def test_a_warning_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    shell.soften_streams()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", shell._one_line_warning)
        warnings.warn("two\nlines", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: two lines (UserWarning)\n"


def test_a_ctrl_c_that_was_swallowed_is_raised_at_the_next_report(capsys):
    """As where it strikes in a callback whose exceptions Python ignores."""
    # A job in the background is started with Ctrl-C ignored.
    given = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with shell.working(quiet=True) as report:
            report("first", 0.1)
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                report("second", 0.2)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, given)
