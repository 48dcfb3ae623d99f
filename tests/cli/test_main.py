"""How the command line starts, refuses and ends."""

import os
import subprocess
import sys
import time

import click
import pytest

from assay.cli import main as entry
from assay.cli.main import COMMANDS, cli, main
from assay.errors import DataError


@pytest.fixture
def ending_with(monkeypatch):
    """Add a command `boom` that ends with the given exception, or returns the given value."""

    def add(ending):
        def run():
            if isinstance(ending, BaseException):
                raise ending
            return ending

        known = cli.get_command
        monkeypatch.setitem(entry._MODULES, "boom", "")
        monkeypatch.setattr(
            cli,
            "get_command",
            lambda ctx, name: (
                click.Command("boom", callback=run) if name == "boom" else known(ctx, name)
            ),
        )

    return add


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, _, line in COMMANDS:
        assert name in shown
        assert line in shown


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS])
def test_every_command_has_a_help_of_its_own(name, capsys):
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"Usage: assay {name}" in shown
    assert "\\b" not in shown  # what keeps the lines of an example apart is not to be seen


@pytest.mark.parametrize("name", ["anomaly", "compress", "surrogate", "physics", "run", "demo"])
def test_every_study_takes_the_common_options(name, capsys):
    main([name, "--help"])
    shown = capsys.readouterr().out
    for option in ("--out", "--seed ", "--seeds", "--json", "--quiet", "--exit-zero"):
        assert option in shown


def test_help_answers_at_once():
    # The best of five: other work on the machine may slow any one of them.
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "assay.cli.main", "--help"],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.3


def test_version(capsys):
    from assay import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"assay {__version__}\n"


def test_without_a_command_the_help_is_shown_as_wrong_use(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Commands:" in err


def test_unknown_command_names_the_nearest(capsys):
    assert main(["anomly", "x.csv"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: There is no command 'anomly'. Did you mean 'anomaly'?")
    assert "\nhint: `assay --help`" in err


def test_unknown_option_names_the_nearest(capsys):
    assert main(["anomaly", "x.csv", "--lable", "state"]) == 2
    err = capsys.readouterr().err
    assert "error: No such option '--lable'" in err
    assert "'--label'" in err
    assert "hint: `assay anomaly --help`" in err


@pytest.mark.parametrize(
    "args",
    [
        ["anomaly"],
        ["anomaly", "x.csv", "--false-alarm-rate", "0"],
        ["anomaly", "x.csv", "--false-alarm-rate", "5%"],
        ["anomaly", "x.csv", "--scaling", "robust"],
        ["anomaly", "x.csv", "--window", "0"],
        ["anomaly", "x.csv", "--seeds", "0"],
        ["anomaly", "x.csv", "--test"],
        ["anomaly", "x.csv", "--test", "--label", "y"],
        ["compress"],
        ["surrogate"],
        ["surrogate", "x.csv", "--outputs", "y", "--candidate", "mpl"],
        ["surrogate", "x.csv", "--outputs", "y", "--members", "0"],
        ["surrogate", "x.csv", "--outputs", "y", "--modes", "1.5"],
        ["physics"],
        ["physics", "f.py:p", "--hidden", "wide"],
        ["physics", "f.py:p", "--hidden", "32,0"],
        ["physics", "f.py:p", "--weights", "condition"],
        ["physics", "f.py:p", "--precision", "float16"],
        ["physics", "f.py:p", "--tolerance", "0"],
        ["run"],
        ["check", "model"],
    ],
)
def test_wrong_use_is_two_lines_and_exit_2(args, capsys):
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]


def test_an_error_of_ours_is_two_lines_and_exit_1(ending_with, capsys):
    ending_with(DataError("pump.csv has no rows.", hint="give it a table\nwith rows."))
    assert main(["boom"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: pump.csv has no rows.\nhint: give it a table with rows.\n"


def test_hostile_text_in_an_error_cannot_command_the_terminal(ending_with, capsys):
    ending_with(DataError("column '\x1b]0;owned\x07\x1b[2J\u202e\udcff' is text."))
    assert main(["boom"]) == 1
    err = capsys.readouterr().err
    assert err == "error: column '\\x1b]0;owned\\x07\\x1b[2J\\u202e\\udcff' is text.\n"


def test_a_defect_names_itself_without_a_traceback(ending_with, capsys, monkeypatch):
    monkeypatch.delenv("ASSAY_DEBUG", raising=False)
    ending_with(ZeroDivisionError("division by zero"))
    assert main(["boom"]) == 1
    err = capsys.readouterr().err
    assert "error: a defect in Assay (ZeroDivisionError: division by zero)." in err
    assert "ASSAY_DEBUG=1" in err
    assert "Traceback" not in err


def test_a_defect_shows_its_traceback_when_asked(ending_with, monkeypatch):
    monkeypatch.setenv("ASSAY_DEBUG", "1")
    ending_with(ZeroDivisionError("division by zero"))
    with pytest.raises(ZeroDivisionError):
        main(["boom"])


def test_the_file_system_is_no_defect(ending_with, capsys):
    ending_with(PermissionError(13, "Permission denied", "runs/pump"))
    assert main(["boom"]) == 1
    assert capsys.readouterr().err.startswith("error: runs/pump: Permission denied.\nhint: ")


def test_ctrl_c_says_how_to_go_on(ending_with, capsys):
    ending_with(KeyboardInterrupt())
    assert main(["boom"]) == 130
    assert "the same command again goes on" in capsys.readouterr().err


def test_what_a_command_returns_is_the_exit_code(ending_with):
    ending_with(5)
    assert main(["boom"]) == 5


def test_a_closed_pipe_is_no_error():
    run = subprocess.run(
        f"'{sys.executable}' -m assay.cli.main list | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert "Traceback" not in run.stderr
    assert "error" not in run.stderr
