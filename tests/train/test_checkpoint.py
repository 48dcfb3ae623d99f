"""A fit that was killed goes on and ends where the unbroken one ends, to the bit."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.errors import StudyError
from assay.train import FitStatus, Hyper, fit

from .common import CODER, rows
from .killed_fit import everything, run

SCRIPT = Path(__file__).with_name("killed_fit.py")


def start(checkpoint, out, mode, moment, n):
    return subprocess.Popen(
        [sys.executable, SCRIPT, checkpoint, out, mode, moment, str(n)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


# Nine checkpoints are written in the plain fit, with two calls of fsync each (file and folder).
@pytest.mark.parametrize(
    ("mode", "moments"),
    [
        ("plain", [("progress", 2), ("fsync", 3), ("replace", 2), ("fsync", 2)]),
        ("stopping", [("progress", 2), ("replace", 2)]),
        # Nineteen are written in all, by two threads at a time.
        ("many", [("progress", 3), ("fsync", 7), ("replace", 4), ("progress", 2)]),
    ],
)
def test_killed_again_and_again_it_ends_bit_for_bit_the_same(tmp_path, mode, moments):
    out = tmp_path / "out.npz"
    for moment, n in moments:
        process = start(tmp_path / "state", out, mode, moment, n)
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        assert not out.exists()
    process = start(tmp_path / "state", out, mode, "never", 0)
    lines = process.communicate(timeout=120)[0].split()
    assert process.returncode == 0
    unbroken = everything(run(mode, None))
    assert int(lines[0]) > 10, "it started again instead of going on"
    resumed = np.load(out)
    assert set(resumed) == set(unbroken)
    for name, array in unbroken.items():
        np.testing.assert_array_equal(resumed[name], array, err_msg=name)
    expected = "stopped_early" if mode == "stopping" else "budget"
    assert str(unbroken["1.status" if mode == "many" else "status"]) == expected


def test_killed_from_outside_at_no_particular_moment(tmp_path):
    process = start(tmp_path / "state", tmp_path / "out.npz", "stopping", "never", 0)
    for _ in range(4):
        process.stdout.readline()
    process.kill()
    process.communicate()
    resumed, unbroken = (
        everything(run("stopping", tmp_path / "state")),
        everything(run("stopping", None)),
    )
    for name, array in unbroken.items():
        np.testing.assert_array_equal(resumed[name], array, err_msg=name)


def test_ctrl_c_leaves_a_state_that_goes_on(tmp_path):
    def progress(step, steps, loss):
        if step == 40:
            raise KeyboardInterrupt

    broken = run("plain", tmp_path / "state", progress)
    assert broken.status is FitStatus.INTERRUPTED
    resumed, unbroken = run("plain", tmp_path / "state"), run("plain", None)
    for name, array in everything(unbroken).items():
        np.testing.assert_array_equal(everything(resumed)[name], array, err_msg=name)
    assert resumed.seconds > broken.seconds


def test_a_finished_fit_is_read_back(tmp_path):
    done = run("plain", tmp_path / "state")
    again = run("plain", tmp_path / "state", lambda *_: pytest.fail("it trained again"))
    for name, array in everything(done).items():
        np.testing.assert_array_equal(everything(again)[name], array, err_msg=name)


def test_no_temporary_file_is_left(tmp_path):
    run("plain", tmp_path / "deep" / "state")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["state"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"hyper": Hyper(steps=21)}, r"hyper\.steps"),
        ({"hyper": Hyper(steps=20, learning_rate=2e-3)}, r"hyper\.learning_rate"),
        ({"x": rows(seed=9)}, "x"),
        ({"validation": (rows(), None)}, "validation x"),
        ({"chunk": 5}, "chunk"),
    ],
)
def test_the_checkpoint_of_another_fit_is_refused_and_kept(tmp_path, change, named):
    arguments = {"hyper": Hyper(steps=20), "x": rows(), "seed": 0, "chunk": 10}
    path = tmp_path / "state"
    fit(CODER, **arguments, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(StudyError, match=f"belongs to another fit: {named} differ"):
        fit(CODER, **(arguments | change), checkpoint=path)
    assert path.read_bytes() == before


def flip(content):
    middle = len(content) - 40  # inside the numbers
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: b"not a checkpoint at all, but a poem",
        lambda content: (2**60).to_bytes(8, "little") + content[8:],
        lambda content: content.replace(b"digest", b"tsegid"),
        flip,
    ],
    ids=["empty", "half", "short", "poem", "bomb", "header", "one bit"],
)
def test_a_damaged_checkpoint_is_refused_and_kept(tmp_path, damage):
    path = tmp_path / "state"
    run("plain", path)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(StudyError, match="damaged"):
        run("plain", path)
    assert path.read_bytes() == before


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(StudyError, match="could not be read"):
        run("plain", tmp_path)


def test_the_file_holds_numbers_and_json_alone(tmp_path):
    run("plain", tmp_path / "state")
    content = (tmp_path / "state").read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert "__metadata__" in json.loads(content[8 : 8 + length])
