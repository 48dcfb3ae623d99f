"""What is typed becomes what the study gets."""

import json
import sys
import types

import click
import pytest

from assay.cli.main import main
from assay.cli.options import Common, FilesAfterOption, names


def parsed(args):
    seen = {}

    @click.command(cls=FilesAfterOption, greedy=("--test",))
    @click.argument("normal", nargs=-1)
    @click.option("--test", multiple=True)
    @click.option("--label")
    @click.option("--flag", is_flag=True)
    def command(**told):
        seen.update(told)

    command.main(args, standalone_mode=False)
    return seen


@pytest.mark.parametrize(
    ("args", "normal", "test"),
    [
        (["a", "--test", "b", "c"], ("a",), ("b", "c")),
        (["a", "b", "--test", "c", "--label", "y"], ("a", "b"), ("c",)),
        (["--label", "y", "a", "--test", "b", "--test", "c", "d"], ("a",), ("b", "c", "d")),
        (["a", "--test=b", "--flag"], ("a",), ("b",)),
        (["a", "--test", "b", "--", "-c.csv"], ("a", "-c.csv"), ("b",)),
        (["a"], ("a",), ()),
    ],
)
def test_test_takes_the_files_that_follow(args, normal, test):
    told = parsed(args)
    assert (told["normal"], told["test"]) == (normal, test)


def test_names_come_with_commas_or_repeated():
    assert names(None, None, ("a, b", "c,,")) == ("a", "b", "c")
    assert names(None, None, ()) == ()


def test_names_that_hold_a_comma_are_quoted_as_in_csv():
    assert names(None, None, ('"flow rate, in",b',)) == ("flow rate, in", "b")
    assert names(None, None, ('b, "flow rate, in"', "c")) == ("b", "flow rate, in", "c")
    assert names(None, None, ('"say ""y"", twice"',)) == ('say "y", twice',)
    assert names(None, None, ('5" pipe,b',)) == ('5" pipe', "b")
    with pytest.raises(click.BadParameter, match="doubled"):
        names(None, None, ('"flow rate, in',))
    with pytest.raises(click.BadParameter, match="doubled"):
        names(None, None, ('"flow rate, in" [m],b',))


def test_half_of_a_name_with_a_comma_is_told_how_to_type_it(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    path.write_text('"flow rate, in",b,y\n1,2,3\n2,3,5\n', encoding="utf-8")
    for typed in (["--inputs", "flow rate, in"], ["--drop", "flow rate, in"]):
        assert main(["surrogate", str(path), "--outputs", "y", *typed]) == 1
        assert """'"flow rate, in"'""" in capsys.readouterr().err
    assert main(["surrogate", str(path), "--outputs", "y", "--inputs", '"flow rate, in']) == 2
    assert "--inputs" in capsys.readouterr().err


def test_the_default_folder_is_named_after_need_and_file():
    common = Common(None, 0, 3, 0.0, as_json=False, quiet=False, exit_zero=False)
    assert common.folder("anomaly", ["x/valve1-0.csv"]).as_posix() == "runs/anomaly-valve1-0"
    assert common.folder("demo").as_posix() == "runs/demo"


class FakeResult:
    def __init__(self, verdict):
        self.verdict = verdict
        self.saved = None

    def save(self, folder):
        self.saved = folder


@pytest.fixture
def study(monkeypatch):
    """Stand in for the needs' commands and for the report; keep what they were told."""
    kept = types.SimpleNamespace(told=None, result=FakeResult("earned"))

    def run(**told):
        kept.told = told
        return kept.result

    for need in ("anomaly", "compress", "surrogate", "physics"):
        module = types.ModuleType(f"assay.{need}.command")
        module.run = run
        monkeypatch.setitem(sys.modules, f"assay.{need}.command", module)
    report = types.ModuleType("assay.report.json")
    report.dumps = lambda result: json.dumps({"verdict": result.verdict})
    monkeypatch.setitem(sys.modules, "assay.report.json", report)
    return kept


def test_what_is_typed_reaches_the_study(study, tmp_path):
    typed = ["anomaly", "n1.csv", "n2.csv", "--test", "t1.csv", "t2.csv", "--label", "state"]
    typed += ["--drop", "a,b", "--drop", "c", "--false-alarm-rate", "0.01", "--seed", "7"]
    assert main([*typed, "--out", str(tmp_path / "x"), "--quiet"]) == 0
    told = study.told
    assert told["normal"] == ("n1.csv", "n2.csv")
    assert told["test"] == ("t1.csv", "t2.csv")
    assert told["label"] == "state"
    assert told["drop"] == ("a", "b", "c")
    assert told["false_alarm_rate"] == 0.01
    assert (told["seed"], told["seeds"]) == (7, None)
    assert study.result.saved == tmp_path / "x"


def test_what_is_typed_reaches_a_surrogate_study(study, tmp_path):
    typed = ["surrogate", "r.csv", "--inputs", "a,b", "--outputs", "u_*", "--outputs", "v"]
    typed += ["--test", "x.csv", "y.csv", "--bounds", "a=0:1", "--bounds", "b=-1:1e3"]
    typed += ["--sigma", "u_*=2,v=0.1", "--candidate", "neural-ode", "--modes", "0.99"]
    assert main([*typed, "--out", str(tmp_path / "x"), "--quiet"]) == 0
    told = study.told
    assert (told["inputs"], told["outputs"]) == (("a", "b"), ("u_*", "v"))
    assert told["test"] == ("x.csv", "y.csv")
    assert told["bounds"] == ["a=0:1", "b=-1:1e3"]
    assert told["sigma"] == "u_*=2,v=0.1"
    assert (told["candidate"], told["modes"], told["members"]) == ("neural-ode", 0.99, 5)
    assert told["weight_decay"] is None


@pytest.mark.parametrize(
    ("typed", "told"), [("validation", "validation"), ("0", 0.0), ("1e-4", 1e-4)]
)
def test_a_weight_decay_is_a_number_or_a_word(study, tmp_path, typed, told):
    args = ["surrogate", "r.csv", "--outputs", "y", "--weight-decay", typed, "--quiet"]
    assert main([*args, "--out", str(tmp_path / "x")]) == 0
    assert study.told["weight_decay"] == told


@pytest.mark.parametrize("typed", ["-1", "nan", "inf", "auto", "Validation"])
def test_another_weight_decay_is_wrong_use(study, typed, capsys):
    assert main(["surrogate", "r.csv", "--outputs", "y", "--weight-decay", typed]) == 2
    assert "'validation'" in capsys.readouterr().err
    assert study.told is None


def test_what_is_typed_reaches_a_physics_study(study, tmp_path):
    typed = ["physics", "f.py:p", "--hidden", "20,20", "--steps", "100,500", "--optimiser"]
    typed += ["adam,lbfgs", "--weights", "condition=100,reading=2", "--conditions", "soft"]
    assert main([*typed, "--out", str(tmp_path / "x"), "--quiet"]) == 0
    told = study.told
    assert (told["problem"], told["hidden"], told["steps"]) == ("f.py:p", [20, 20], [100, 500])
    assert told["optimiser"] == ["adam", "lbfgs"]
    assert told["weights"] == {"condition": 100.0, "reading": 2.0}
    assert (told["conditions"], told["tolerance"], told["seconds"]) == ("soft", 1e-8, 60.0)
    assert main(["physics", "f.py:p", "--steps", "9", "--out", str(tmp_path / "x"), "--quiet"]) == 0
    assert (study.told["steps"], study.told["hidden"], study.told["optimiser"]) == (
        9,
        "auto",
        "auto",
    )


@pytest.mark.parametrize(
    ("verdict", "code"), [("earned", 0), ("not_earned", 3), ("invalid", 4), ("undecided", 5)]
)
@pytest.mark.parametrize("need", ["anomaly", "compress", "surrogate", "physics"])
def test_the_verdict_is_the_exit_code(study, need, verdict, code, tmp_path):
    study.result = FakeResult(verdict)
    args = [need, "x.csv", "--quiet", "--out", str(tmp_path / "x")]
    assert main(args) == code
    assert main([*args, "--exit-zero"]) == 0


def test_json_is_alone_on_stdout(study, tmp_path, capsys):
    study.result = FakeResult("undecided")
    assert main(["compress", "x.csv", "--json", "--out", str(tmp_path / "x")]) == 5
    out, err = capsys.readouterr()
    assert json.loads(out) == {"verdict": "undecided"}
    assert err == ""
