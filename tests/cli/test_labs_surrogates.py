"""The labs on network surrogates: their rows have scripts, and the cheap ones hold."""

import importlib
from pathlib import Path

import pytest

from assay.cli import labs


@pytest.fixture(scope="module")
def run():
    return labs.labs_module()


def test_every_row_has_a_lab_and_every_lab_a_script(run):
    facts = run.read_facts()
    names = [lab for lab, _ in run.LABS]
    assert {fact.lab for fact in facts} == set(names)
    assert len({fact.id for fact in facts}) == len(facts)
    folder = Path(run.__file__).parent
    assert all((folder / f"{script}.py").is_file() for _, script in run.LABS)


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("surrogates_euler", ("measure",)),
        ("surrogates_slice", ("problems", "functions", "forward_pass")),
    ],
)
def test_what_needs_no_training_holds(run, script, parts):
    module = importlib.import_module(script)
    facts = {fact.id: fact for fact in run.read_facts()}
    measured = {}
    for part in parts:
        measured |= getattr(module, part)()
    off = [i for i, numbers in measured.items() if not run.judge(facts[i], numbers).held]
    assert not off


@pytest.mark.parametrize(("order", "held"), [(1, True), (2, False)])
def test_the_slope_row_knows_a_first_order_from_a_second(run, order, held):
    module = importlib.import_module("surrogates_euler")
    fact = next(fact for fact in run.read_facts() if fact.id == "000-s10-slope")
    slope = module.slope({layers: layers**-order for layers in map(float, module.LAYERS)})
    numbers = {"slope": slope, "others lowest": -1.0, "others highest": -1.0}
    assert run.judge(fact, numbers).held is held
