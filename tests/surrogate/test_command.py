"""Options as typed become a study: noise, box, files of outputs and of test runs."""

import inspect
import types

import msgspec
import numpy as np
import pytest

from assay.errors import DataError, StudyError
from assay.surrogate import command
from assay.surrogate.runs import Runs
from assay.surrogate.stated import bounds_of, sigma_of

RUNS = Runs(
    np.random.default_rng(0).uniform(1.0, 2.0, size=(25, 2)),
    np.random.default_rng(1).normal(size=(25, 3)),
    ("k", "span, inner"),
    ("u_1", "u_2", "v=w"),
)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        (2, [2, 2, 2]),
        ("2.5", [2.5, 2.5, 2.5]),
        ([1, 2, 3], [1, 2, 3]),
        ("u_1=1,u_2=2,v=w=0.5", [1, 2, 0.5]),
        ("v=w=0.5, u_*=3", [3, 3, 0.5]),
        (["u_*=3", "v=w=4"], [3, 3, 4]),
        ({"U_1": 1, "u_2": 2, "v=w": 3}, [1, 2, 3]),
        (np.array([1.0]), [1, 1, 1]),
    ],
)
def test_sigma(told, wanted):
    assert sigma_of(told, RUNS).tolist() == wanted


@pytest.mark.parametrize(
    "told",
    [0, -1, np.nan, np.inf, "", "two", [1, 2], [1, 2, 0], "u_1=1", "u_1=1,u_1=2,u_2=1,v=w=1",
     "u_*=a,v=w=1", {"z": 1}, {"u_*": True, "v=w": 1}, [[1, 2, 3]], "u_*=-2,v=w=1"],
)  # fmt: skip
def test_sigma_that_cannot_be_used(told):
    with pytest.raises(StudyError):
        sigma_of(told, RUNS)


@pytest.mark.parametrize(
    "told",
    [
        [[0, 5], [1, 2]],
        {"span, inner": (1, 2), "k": (0, 5)},
        ["k=0:5", "span, inner=1:2"],
        ["span, inner=1:2,k=0:5"],
        "k=0:5, span, inner=1:2",
    ],
)
def test_bounds(told):
    assert bounds_of(told, RUNS).tolist() == [[0, 5], [1, 2]]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (["k=0:5"], "'span, inner'"),
        (["k=0:5", "k=0:6", "span, inner=1:2"], "once"),
        (["k=0:5", "K=0:6", "span, inner=1:2"], "twice"),
        (["k=nan:5", "span, inner=1:2"], "finite"),
        (["k=5:0", "span, inner=1:2"], "lower end first"),
        (["k=a:b", "span, inner=1:2"], "two numbers"),
        (["k=1", "span, inner=1:2"], "two numbers"),
        (["z=1:2"], "'z'"),
        ([[0, 5]], "each of the 2 inputs"),
        ([[0, np.nan], [1, 2]], "missing or infinite"),
    ],
)
def test_bounds_that_cannot_be_used(told, said):
    with pytest.raises((StudyError, DataError), match=said):
        bounds_of(told, RUNS)


def test_a_run_outside_the_bounds_is_named():
    runs = Runs(RUNS.X, RUNS.Y, RUNS.inputs, RUNS.outputs, row_numbers=np.arange(25) + 2)
    runs.X[3, 0] = 9.0
    with pytest.raises(StudyError, match=r"row 5: 'k' is 9 and its bounds are 0 to 5"):
        bounds_of([[0, 5], [1, 2]], runs)
    runs.X[3, 0] = 1.5


@pytest.fixture
def study(monkeypatch):
    """Stand in for the study; keep what it was told."""
    kept = types.SimpleNamespace()

    class Study:
        def __init__(self, *given, **told):
            kept.given, kept.told = given, told

        left_out = ("a line",)

        def run(self, seed, **told):
            kept.seed, kept.run = seed, told
            return "a result"

    monkeypatch.setattr(command, "SurrogateStudy", Study)
    return kept


def test_options_become_a_study(study, tmp_path):
    assert command.run(data=["a.csv"], test=("t.csv",), candidate="neural-ode") == "a result"
    assert study.given == ("a.csv", None)
    assert study.told["test"] == "t.csv"
    assert study.told["candidate"] == "neural_ode"
    assert study.run["seeds"] == 3
    command.run(data=["a.csv", "b.csv"], outputs=["y"], modes=4.0)
    assert study.given[0] == ["a.csv", "b.csv"]
    assert study.told["outputs"] == ("y",)
    assert study.told["modes"] == 4
    assert isinstance(study.told["modes"], int)
    command.run(data="X.csv", outputs_file="Y.csv", test=["tx.csv", "ty.csv"])
    assert study.given == ("X.csv", "Y.csv")
    assert study.told["test"] == ("tx.csv", "ty.csv")
    command.run(data="a.csv", test="t.csv", candidate_rows="p.csv")
    assert str(study.told["candidate"]) == "p.csv"
    assert study.run["seeds"] == 1
    said = []
    command.run(data="a.csv", note=said.append, weight_decay="validation")
    assert said == ["a line"]
    assert study.told["weight_decay"] == "validation"


@pytest.mark.parametrize(
    "told",
    [
        {"candidate_rows": "p.csv"},
        {"outputs_file": "Y.csv", "test": ["t.csv"]},
        {"outputs_file": "Y.csv", "data": ["a.csv", "b.csv"]},
    ],
)
def test_options_that_contradict_each_other(study, told):
    with pytest.raises(StudyError):
        command.run(**({"data": ["a.csv"]} | told))


def test_every_setting_has_a_type_that_a_file_can_be_held_against():
    for name, parameter in inspect.signature(command.run).parameters.items():
        if name not in ("data", "test", "out", "progress"):
            msgspec.convert(parameter.default, parameter.annotation)
    kinds = inspect.signature(command.run).parameters
    msgspec.convert([1.0, 2.0], kinds["sigma"].annotation)
    msgspec.convert([[0.0, 1.0], [2.0, 3.0]], kinds["bounds"].annotation)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(3.0, kinds["bounds"].annotation)
