"""The labs command finds the source tree's labs, or says that they are not here."""

import json
import sys
import types

import pytest

from assay.cli import labs
from assay.cli.main import main


def test_an_unknown_lab_is_an_error(capsys):
    assert main(["labs", "no-such-lab"]) == 1
    err = capsys.readouterr().err
    assert "error: There is no lab and no fact 'no-such-lab'." in err


def test_without_a_source_tree_the_labs_are_said_to_be_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(labs, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert main(["labs"]) == 1
    assert "clone the repository" in capsys.readouterr().err


@pytest.mark.parametrize(("held", "code"), [(True, 0), (False, 1)])
def test_a_fact_that_is_off_is_exit_1(held, code, monkeypatch, capsys):
    module = labs.labs_module()
    fact = module.read_facts()[0]
    bounds = {name: (low + high) / 2 for name, low, high in fact.bounds}
    measured = bounds if held else dict.fromkeys(bounds, float("nan"))
    monkeypatch.setattr(module, "LABS", ((fact.lab, "made_up"),))
    lab = types.SimpleNamespace(measure=lambda: {fact.id: measured})
    monkeypatch.setitem(sys.modules, "made_up", lab)
    monkeypatch.setattr(labs, "labs_module", lambda: module)
    assert main(["labs", fact.id, "--json"]) == code
    assert json.loads(capsys.readouterr().out)[0]["held"] is held
