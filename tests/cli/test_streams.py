"""Streams that are closed, full, or whose reader has left: the exit code stays the answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# A command that says much and ends with 3, as `assay check` does for rows outside.
ENDS_WITH_3 = """
import sys, click
from assay.cli import main as entry
from assay.cli.streams import tell
def run():
    tell("line\\n" * 100_000)
    return 3
entry._MODULES["boom"] = ""
entry.cli.get_command = lambda ctx, name: click.Command("boom", callback=run)
sys.exit(entry.main(["boom"]))
"""


def shell(redirected, program=ENDS_WITH_3):
    """Run `program` with its streams redirected; return (exit code, stderr)."""
    command = f"'{sys.executable}' -c \"$PROGRAM\" {redirected}"
    run = subprocess.run(
        ["bash", "-c", command],
        env=os.environ | {"PROGRAM": program},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stderr


@pytest.mark.parametrize(
    "redirected", ["| true; exit ${PIPESTATUS[0]}", "| head -n 1; exit ${PIPESTATUS[0]}", ">&-"]
)
def test_a_reader_that_has_left_does_not_change_the_exit_code(redirected):
    assert shell(redirected) == (3, "")


def test_a_closed_stderr_does_not_either():
    assert shell("2>&- >/dev/null") == (3, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_in_two_lines():
    code, told = shell(">/dev/full")
    assert code == 1
    assert [line.split(":")[0] for line in told.splitlines()] == ["error", "hint"]
    assert "No space left" in told


def test_the_help_takes_a_reader_that_has_left():
    program = "import sys; from assay.cli.main import main; sys.exit(main(['--help']))"
    assert shell("| true; exit ${PIPESTATUS[0]}", program) == (0, "")
