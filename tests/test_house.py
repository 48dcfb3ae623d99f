"""The house rules that a machine can hold: imports run one way, files stay readable."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "assay"

NEEDS = ("anomaly", "compress", "surrogate", "physics")
OUTSIDE = ("cli", "report", "labs", "__main__")
CORE = (
    "estimators",
    "running",
    "study",
    "setting",
    "digest",
    "checks",
    "verdict",
    "intervals",
    "bootstrap",
    "splits",
    "leaks",
    "fingerprint",
    "sealed",
    "ledger",
    "units",
    "models",
    "families",
    "seed_gain",
    "shared_rows",
    "training_end",
    "symptoms",
)
MACHINERY = ("train", "nn", "data", "problems")
GROUND = ("result", "errors", "figure", "lazy")
# Higher may import lower; `assay` itself (the lazy names) stands beside the rows.
LAYERS = (GROUND, MACHINERY, CORE, NEEDS, OUTSIDE)

# A need may use another need only where the design says so.
BETWEEN_NEEDS = {("anomaly", "compress")}

# (file, what it imports upwards): why. All are inside functions; docs/decisions.md tells the story.
UPWARD = {
    ("result", "report"): "a result can show, report and save itself; rendering stays in report",
    ("families", "anomaly"): "a saved model finds its class by name, at the moment it is loaded",
    ("families", "surrogate"): "a saved model finds its class by name, at the moment it is loaded",
    ("families", "compress"): "a saved model finds its class by name, at the moment it is loaded",
}

# Files above 400 lines, with the reason.
LONG_FILES: dict[str, str] = {}


def source_files():
    return sorted(SOURCE.rglob("*.py"))


def room(path):
    """Return the first part below `assay` of a source file: its place in the house."""
    part = path.relative_to(SOURCE).parts[0]
    return part.removesuffix(".py")


def absolute(node, path):
    """Return the module that a ``from ... import`` names, relative or not."""
    if not node.level:
        return node.module
    folders = ["assay", *path.relative_to(SOURCE).parts[:-1]]
    start = folders[: len(folders) - node.level + 1]
    return ".".join([*start, *([node.module] if node.module else [])])


def imported_rooms(path):
    """Yield (room, line, whether inside a function) for each import of a part of assay."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(n) for f in functions for n in ast.walk(f)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, path)
            names = [f"{base}.{a.name}" for a in node.names] if base == "assay" else [base]
        for name in names:
            if name.startswith("assay."):
                yield name.split(".")[1], node.lineno, id(node) in inside


def layer(name):
    for height, names in enumerate(LAYERS):
        if name in names:
            return height
    return None


@pytest.mark.parametrize("path", source_files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_run_one_way(path):
    here = room(path)
    if here == "__init__":
        return  # the lazy public names may point anywhere
    assert layer(here) is not None, f"{here} has no place in LAYERS: give it one"
    wrong = []
    for there, line, is_lazy in imported_rooms(path):
        if there == here or there == "__version__":
            continue
        if (here, there) in UPWARD and is_lazy:
            continue
        if here in NEEDS and there in NEEDS and (here, there) not in BETWEEN_NEEDS:
            wrong.append(f"line {line}: the need {here} imports the need {there}")
        elif layer(there) is None:
            wrong.append(f"line {line}: {there} has no place in LAYERS")
        elif layer(there) > layer(here):
            wrong.append(f"line {line}: {here} imports {there}, which stands above it")
    assert not wrong, f"{path.relative_to(ROOT)}: " + "; ".join(wrong)


def test_upward_exceptions_are_in_use():
    """An exception that nothing needs any more must go."""
    used = set()
    for path in source_files():
        text = path.read_text("utf-8")
        for there, _, is_lazy in imported_rooms(path):
            if is_lazy:
                used.add((room(path), there))
        if room(path) == "families":  # the classes are found by module name, as strings
            used |= {("families", need) for need in NEEDS if f'"assay.{need}' in text}
    assert set(UPWARD) <= used


def test_files_are_short_enough_to_read():
    long = {}
    for path in source_files():
        lines = len(path.read_text("utf-8").splitlines())
        if lines > 400 and str(path.relative_to(SOURCE)) not in LONG_FILES:
            long[str(path.relative_to(SOURCE))] = lines
    assert not long, "split by concept, or give the reason in LONG_FILES"


def tracked(*folders):
    """Yield the text files of the repository, as git knows them, or as they lie there."""
    asked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode == 0:
        paths = [ROOT / name for name in asked.stdout.split("\0") if name]
    else:  # an exported tree without git
        paths = [p for folder in folders for p in (ROOT / folder).rglob("*")]
    kinds = {".py", ".md", ".toml", ".csv", ".html", ".j2", ".css", ".lock", ".txt", ""}
    for path in sorted(paths):
        if path.is_file() and path.suffix in kinds:
            yield path


MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|tmp|root|home|farm)/")


def test_no_machine_paths():
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked("src", "docs", "labs", "benchmarks", "README.md", "Makefile")
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found


def test_the_machine_path_pattern_catches_what_it_should():
    assert MACHINE_PATH.search('open("/' + 'tmp/x")')
    assert MACHINE_PATH.search("see /" + "root/notes")
    assert not MACHINE_PATH.search("https://example.org/" + "work/page")


def test_nothing_is_left_unfinished():
    mark = re.compile(r"\b(?:TO" + "DO|FIX" + "ME|XX" + r"X)\b|NotImplemented" + "Error")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in source_files()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if mark.search(line)
    ]
    assert not found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "requirements").glob("*.lock")), ids=lambda p: p.name
)
def test_locks_hold_only_names_and_versions(path):
    lines = path.read_text("ascii").splitlines()
    assert lines, f"{path.name} is empty"
    wrong = [x for x in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+", x)]
    assert not wrong
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines]
    assert len(set(names)) == len(names), "a package is pinned twice"


def test_every_dependency_is_pinned():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pinned = {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower()
        for line in (ROOT / "requirements" / "run.lock").read_text("ascii").splitlines()
    }
    wanted = {re.match(r"[A-Za-z0-9._-]+", d).group().lower() for d in project["dependencies"]}
    assert wanted <= pinned


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("data/a.py", "from assay.verdict import decide", "data imports verdict"),
        ("verdict.py", "import assay.anomaly.study", "verdict imports anomaly"),
        ("study.py", "from assay import report", "study imports report"),
        ("compress/a.py", "from assay.anomaly import x", "imports the need anomaly"),
        ("result.py", "from assay.report import html", "result imports report"),
        ("anomaly/a.py", "from ..cli import main", "anomaly imports cli"),
        ("nn/a.py", "import assay.attic", "attic has no place"),
    ],
)
def test_the_import_rule_catches(file, line, said, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(line, "utf-8")
    with pytest.raises(AssertionError, match=said):
        test_imports_run_one_way(path)


def test_the_import_rule_lets_pass_what_it_should(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    for file, text in {
        "result.py": "def f():\n    from assay.report import html",
        "anomaly.py": "from assay.compress import PCA\nfrom assay.data import Scaler",
        "cli.py": "from assay.report import html\nfrom assay.anomaly import x",
        "study.py": "from assay.checks import Check\nimport numpy",
    }.items():
        (tmp_path / file).write_text(text, "utf-8")
        test_imports_run_one_way(tmp_path / file)
