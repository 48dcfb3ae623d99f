"""Every check has a page that says how it works, and its thresholds are the ones in the code."""

import dataclasses
import re
from pathlib import Path

import pytest

from assay.anomaly.checks import CHECKS as ANOMALY
from assay.compress.checks import CHECKS as COMPRESS
from assay.physics.checks import CHECKS as PHYSICS
from assay.surrogate.checks import CHECKS as SURROGATE

PAGES = Path(__file__).resolve().parents[2] / "docs" / "checks"
ALL = (*ANOMALY, *COMPRESS, *SURROGATE, *PHYSICS)
HEADINGS = (
    "How it is detected",
    "Why it matters",
    "How to reduce the risk",
    "When it is wrong",
)


def page(check):
    return (PAGES / f"{check.code.lower()}.md").read_text("utf-8")


@pytest.mark.parametrize("check", ALL, ids=lambda c: c.code)
def test_page_has_title_severity_and_headings(check):
    text = page(check)
    assert text.startswith(f"# {check.code} {check.title}\n")
    assert f"Severity **{check.severity}**" in text
    assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == HEADINGS
    sections = re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]
    assert all(len(section.split()) >= 12 for section in sections)


@pytest.mark.parametrize("check", ALL, ids=lambda c: c.code)
def test_page_names_the_thresholds_with_their_defaults(check):
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", page(check), re.MULTILINE))
    fields = {f.name: f.default for f in dataclasses.fields(check)}
    assert {name: float(value) for name, value in told.items()} == fields


def test_index_lists_every_check_once():
    text = (PAGES / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \| ([^|]+) \| (\w+) \|", text, re.MULTILINE)
    assert rows == [(c.code, c.code.lower(), c.title, c.severity) for c in ALL]


def test_no_page_without_a_check():
    assert {p.stem for p in PAGES.glob("*.md")} == {"index", *(c.code.lower() for c in ALL)}


@pytest.mark.parametrize("check", ALL, ids=lambda c: c.code)
def test_every_check_is_a_value_with_documented_thresholds(check):
    assert check == type(check)()
    assert hash(check) == hash(type(check)())
    doc = type(check).__doc__
    assert f"({check.code})" in doc
    for field in dataclasses.fields(check):
        assert re.search(rf"^    [\w, ]*\b{field.name}\b[\w, ]* : float \[-\]", doc, re.MULTILINE)


def test_every_code_has_a_test_file_of_its_own():
    names = [p.name for p in Path(__file__).parent.glob("test_*.py")]
    assert [
        c.code for c in ALL if not any(n.startswith(f"test_{c.code.lower()}_") for n in names)
    ] == []
