"""``FILE.py:NAME`` as typed, what is said of a file that cannot be used, and ``assay run``."""

import json
import subprocess
import sys
import tomllib

import pytest

from assay.cli.main import main
from assay.errors import StudyError
from assay.physics.command import run
from assay.physics.loading import load_problem

GOOD = """
from assay.physics import Initial, Problem
from rates import RATE

problem = Problem(lambda d: d.u_t + d.k * d.u, {"t": (0.0, 1.0)}, conditions=(Initial("u", 1.0),),
                  parameters={"k": RATE}, name="decay")
def made():
    return problem.replace(name="made")
def needs(rate):
    return problem
def fails():
    return 1 / 0
def none():
    pass
number = 7
if __name__ == "__main__":
    raise SystemExit("not when it is read")
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a file that imports its neighbour, in a folder that is not the current one."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "rates.py").write_text("RATE = 3.0\n", "utf-8")
    path = tmp_path / "model" / "decay.py"
    path.write_text(GOOD, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_LEDGER", str(tmp_path / "ledger.jsonl"))
    return path


def test_a_problem_or_a_function_that_returns_one_is_loaded(file):
    assert load_problem("model/decay.py:problem").known == {"k": 3.0}
    assert load_problem("model/decay.py:made").name == "made"
    assert load_problem("model/decay.py").name == "decay"  # the only problem in it
    assert load_problem(f"{file}:problem").name == "decay"
    assert load_problem("gallery:heat").name == "heat, 0.25"
    assert load_problem("gallery:oscillator_inverse").unknown
    assert sorted(p.name for p in file.parent.iterdir() if p.suffix) == ["decay.py", "rates.py"]


def test_a_file_is_looked_for_beside_the_study_as_well(file, tmp_path):
    away = tmp_path / "model" / "runs" / "first"
    away.mkdir(parents=True)
    assert load_problem("decay.py:problem", away).name == "decay"
    with pytest.raises(StudyError, match=r"There is no file decay\.py"):
        load_problem("decay.py:problem", tmp_path / "elsewhere" / "a" / "b")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("model/deca.py:problem", "no file model/deca.py. Did you mean 'decay.py'"),
        ("model:problem", "is a folder"),
        ("model/decay.py:problm", "no 'problm'. Did you mean 'problem'"),
        ("model/decay.py:number", "an object of type int; a Problem is needed"),
        ("model/decay.py:needs", "takes rate; it must be callable without arguments"),
        ("model/decay.py:fails", "decay.py, line 12 fails: ZeroDivisionError: division by zero"),
        ("model/decay.py:none", r"none\(\) returns None; a Problem is needed"),
        ("gallery:oscilator", "Did you mean 'oscillator'"),
        ("", "There is no file|is a folder"),
    ],
)
def test_what_cannot_be_loaded_is_said_with_a_cure(file, source, said):
    with pytest.raises(StudyError, match=said) as caught:
        load_problem(source)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\nb = = 2\n", r"bad.py, line 2 is no Python: .*: b = = 2"),
        ("a = 1\nb = a.c\n", "bad.py, line 2 fails: AttributeError"),
        ("import nowhere_to_be_found\n", "bad.py, line 1 fails: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", "line 2 fails: it ends the program"),
        ("x = 1\n", "holds no Problem; it has nothing"),
        ("def f(): pass\n", "holds no Problem; it has f"),
        (
            "from assay.physics import Problem\n\nq = Problem(lambda d: d.v, {'t': (0, 1)})\n",
            "bad.py, line 3: The problem has no 'v'",
        ),
        ("\x00", "bad.py"),
    ],
)
def test_a_file_that_cannot_be_run_is_told_with_its_line(tmp_path, text, said):
    path = tmp_path / "bad.py"
    path.write_text(text, "utf-8")
    with pytest.raises(StudyError, match=said) as caught:
        load_problem(str(path))
    assert caught.value.hint


def test_two_problems_must_be_told_apart(file):
    file.write_text(GOOD + "other = problem\n", "utf-8")
    with pytest.raises(StudyError, match="problem, other: say which one"):
        load_problem(str(file))


def test_an_error_is_one_line_and_a_hint(file, capsys):
    assert main(["physics", "model/decay.py:problm"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("hint: ")
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["candidate", "features"])
def test_what_was_handed_over_in_python_cannot_be_run_from_a_file(name):
    with pytest.raises(StudyError, match=f"{name} of this study was handed over in Python"):
        run(problem="gallery:heat", **{name: "brought: mine"})


def test_a_study_from_the_file_and_run_again(file, tmp_path, capsys, monkeypatch):
    typed = ["physics", "model/decay.py:problem", "--hidden", "8", "--steps", "15", "--points"]
    typed += ["20", "--seeds", "1", "--tolerance", "1e-6", "--json", "--out", "runs/decay"]
    code = main(typed)
    told = json.loads(capsys.readouterr().out)
    assert told["need"] == "physics"
    assert code == {"earned": 0, "not_earned": 3, "invalid": 4, "undecided": 5}[told["verdict"]]
    settings = tomllib.loads((tmp_path / "runs/decay/study.toml").read_text("utf-8"))
    wanted = {"problem": "model/decay.py:problem", "hidden": [8], "steps": 15, "points": 20}
    assert wanted.items() <= settings.items()
    assert (tmp_path / "runs" / "decay" / "figures" / "speed.svg").exists()
    monkeypatch.chdir("/")  # the file is found from the folder of the study
    main(["run", str(tmp_path / "runs" / "decay" / "study.toml"), "--json"])
    again = json.loads(capsys.readouterr().out)
    error = [r["candidate"]["metrics"]["error"] for r in (told, again)]
    assert error[0] == error[1]
    assert (tmp_path / "runs" / "decay-again" / "report.html").exists()


def test_a_wrong_declaration_is_told_before_the_slow_imports(file):
    wrong = 'p = Problem(lambda d: d.u_t - d.u_xx, {"t": (0.0, 1.0), "x": (0.0, 1.0)}, '
    wrong += 'conditions=(Initial("u", 0.0), Boundary("u", "x", 0.0, side="left")))\n'
    file.write_text(f"from assay.physics import Boundary, Initial, Problem\n{wrong}", "utf-8")
    script = (
        "import sys\nfrom assay.cli.main import main\n"
        "code = main(['physics', 'model/decay.py:p'])\n"
        "slow = {'assay.physics.pinn', 'optax', 'sklearn', 'diffrax'} & set(sys.modules)\n"
        "print(code, sorted(slow))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[0] == "1 []"
    assert "'low', 'high' or a number, got 'left'" in ran.stderr


@pytest.mark.slow
def test_the_command_ends_when_it_is_through(file):
    typed = [sys.executable, "-m", "assay", "physics", "model/decay.py:problem", "--hidden", "8"]
    typed += ["--steps", "5", "--points", "20", "--seeds", "1", "--tolerance", "1e-4", "--json"]
    ran = subprocess.run(typed, capture_output=True, text=True, timeout=120, check=False)
    told = json.loads(ran.stdout)
    assert ran.returncode == {"not_earned": 3, "invalid": 4, "undecided": 5}[told["verdict"]]
