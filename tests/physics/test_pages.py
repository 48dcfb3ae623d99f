"""The pages on equations: every example runs, and prints what the page says."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
LONG = ("PINN()", ".run(")  # trainings

BLOCKS = {
    f"{page}-{i}": block
    for page in ("physics", "physics-inverse")
    for i, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", (DOCS / f"{page}.md").read_text("utf-8"), re.S | re.M)
    )
}
SHORT = [name for name, block in BLOCKS.items() if not any(word in block for word in LONG)]


def run(name, capsys):
    """Run an example; return the numbers that it printed, and those beside its prints."""
    block = BLOCKS[name]
    exec(compile(block, name, "exec"), {"__name__": name})
    said = " ".join(re.findall(r"^print.*?#(.*)$", block, re.M))
    number = r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?"
    return [float(n) for n in re.findall(number, capsys.readouterr().out)], [
        (float(n), len(n.partition(".")[2])) for n in re.findall(number, said)
    ]


@pytest.mark.parametrize("name", SHORT)
def test_declarations_on_the_pages_give_what_they_say(name, capsys):
    printed, said = run(name, capsys)
    assert said, "the page says no number beside a print"
    for found, (number, digits) in zip(printed, said, strict=True):
        assert round(found, digits) == number


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in SHORT])
def test_trainings_on_the_pages_run(name, capsys):
    printed, said = run(name, capsys)
    assert printed
    assert not said


def test_the_pages_have_examples():
    assert len(SHORT) >= 3
