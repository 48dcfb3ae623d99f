"""What the documents say is true: links, commands, options, files, numbers, docstrings."""

import doctest
import importlib
import inspect
import math
import os
import pkgutil
import re
import shlex
from pathlib import Path

import pytest
from scipy import stats

import assay
from assay.cli.main import COMMANDS, cli
from assay.cli.shell import EXIT_OF_VERDICT

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(m.name for m in pkgutil.walk_packages(assay.__path__, "assay."))

# What a module's examples are run with; slow ones move to `make slow`.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
SLOW_EXAMPLES: tuple[str, ...] = ()


def page_id(path):
    return str(path.relative_to(ROOT))


def anchor(heading):
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return text.replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, place = target.partition("#")
        there = (page.parent / name) if name else page
        if not there.exists():
            broken.append(target)
        elif place and place not in map(
            anchor, re.findall(r"^#+ (.+)$", there.read_text("utf-8"), re.MULTILINE)
        ):
            broken.append(target)
    assert not broken


def code_lines(text):
    """Yield lines of code blocks, fenced or indented by four."""
    for line in re.sub(r"^```\w*$", "", text, flags=re.MULTILINE).splitlines():
        yield line.strip()
    yield from re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_and_options_exist(page):
    names = {name for name, _, _ in COMMANDS}
    wrong = []
    for line in code_lines(page.read_text("utf-8")):
        if not re.match(r"assay [a-z-]", line):
            continue
        words = shlex.split(line.split("#")[0])
        if words[1] == "--help" or words[1] == "--version":
            continue
        if words[1] not in names:
            wrong.append(line)
            continue
        command = cli.get_command(None, words[1])
        valid = {o for p in command.params for o in p.opts} | {"--help", "-h"}
        wrong += [f"{line}: {w}" for w in words[2:] if w.startswith("--") and w not in valid]
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_make_targets_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lines = code_lines(page.read_text("utf-8"))
    used = {m[1] for line in lines if (m := re.match(r"make ([a-z]+)\b", line))}
    assert used <= targets


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_files_that_are_named_exist(page):
    named = re.findall(
        r"`((?:src|tests|docs|labs|benchmarks|requirements)/[\w./-]*)`", page.read_text("utf-8")
    )
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_readme_says_how_to_start():
    text = (ROOT / "README.md").read_text("utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_the_exit_codes_are_the_documented_ones():
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    told = dict(re.findall(r"^\| (\d+) \| ([A-Z ]+?) ?[|(]", text, re.MULTILINE))
    for word, code in EXIT_OF_VERDICT.items():
        assert told[str(code)] == word.upper().replace("_", " ")


def rows_that_pin_the_rate(rate):
    """Return the fewest calibration rows whose realised rate is within half and double, 95 %."""
    n = math.ceil(1 / rate) - 1
    while True:
        k = math.floor(rate * (n + 1) + 1e-9)
        low, high = stats.beta.ppf([0.025, 0.975], k, n + 1 - k)
        if low >= rate / 2 and high <= 2 * rate:
            return n
        n += 1


@pytest.mark.parametrize("rate", [0.05, 0.01])
def test_the_table_of_rows_for_a_threshold(rate):
    text = (ROOT / "docs" / "how-to-choose.md").read_text("utf-8")
    row = re.search(rf"^\| {rate * 100:g} % \| (\d+) \| ([\d,]+) \|$", text, re.MULTILINE)
    assert int(row[1]) == math.ceil(1 / rate) - 1
    assert int(row[2].replace(",", "")) == rows_that_pin_the_rate(rate)


@pytest.mark.parametrize("need", ["anomaly", "compress", "surrogate", "physics"])
def test_every_check_has_a_page(need):
    checks = importlib.import_module(f"assay.{need}.checks").CHECKS
    pages = {p.stem.upper() for p in (ROOT / "docs" / "checks").glob("*.md")}
    assert [c.code for c in checks if not any(p.startswith(c.code) for p in pages)] == []


def members(module):
    """Yield what a module itself defines and shows: functions, classes and their methods."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            yield name, value
            for inner, method in vars(value).items():
                # A field whose default is a function stands here too, by another name.
                own = inspect.isfunction(method) and method.__name__ == inner
                if own and not inner.startswith("_"):
                    yield f"{name}.{inner}", method


def documented(doc, section="Parameters"):
    """Return the names of a numpydoc section, or None where there is no such section."""
    match = re.search(
        rf"^{section}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL
    )
    if not match:
        return None
    heads = [line.split(" :")[0] for line in match[1].splitlines() if re.match(r"\S", line)]
    return [name.strip(" *`") for head in heads for name in head.split(",")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_match_signatures(name):
    module = importlib.import_module(name)
    assert module.__doc__, "a module says in a sentence what it is for"
    wrong = []
    for title, value in members(module):
        doc = inspect.getdoc(value)
        if not doc:
            wrong.append(f"{title}: no docstring")
            continue
        told = documented(doc)
        if told is None:
            continue
        taken = [p for p in inspect.signature(value).parameters if p not in ("self", "cls")]
        unknown = sorted(set(told) - set(taken))
        missing = sorted(set(taken) - set(told) - {"y"})  # y is there for scikit-learn's pipelines
        if unknown or missing:
            wrong.append(f"{title}: unknown {unknown}, missing {missing}")
    assert not wrong


def run_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0, f"{failed} of {tried} examples, see above"


@pytest.mark.parametrize("name", [m for m in MODULES if m not in SLOW_EXAMPLES])
def test_examples_run(name, tmp_path, monkeypatch):
    run_examples(name, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_EXAMPLES)
def test_slow_examples_run(name, tmp_path, monkeypatch):
    run_examples(name, tmp_path, monkeypatch)


def test_the_ci_script_can_be_run():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text("utf-8")
