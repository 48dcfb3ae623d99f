"""The public names: one list, all of them real, and none of them paid for at import."""

import ast
import subprocess
import sys

import pytest

import assay

HEAVY = ("jax", "numpy", "sklearn", "scipy", "matplotlib", "pandas", "polars", "rich", "msgspec")


def names_for_type_checkers(path):
    tree = ast.parse(path.read_text("utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and n.test.id == "TYPE_CHECKING")
    return {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }


def test_type_checkers_see_the_same_names(root):
    assert names_for_type_checkers(root / "src" / "assay" / "__init__.py") == assay._LAZY


def test_all_is_sorted_and_listed():
    assert assay.__all__ == sorted(assay._LAZY)
    assert set(assay.__all__) <= set(dir(assay))
    assert len(assay.__all__) <= 20


@pytest.mark.parametrize("name", assay.__all__)
def test_every_public_name_resolves(name):
    value = getattr(assay, name)
    assert value.__name__ == name
    assert value.__doc__


def test_no_public_name_hides_a_module(root):
    modules = {p.stem for p in (root / "src" / "assay").iterdir()}
    assert modules.isdisjoint(assay.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Anomaly'"):
        _ = assay.Anomaly


def test_importing_assay_and_its_command_line_loads_nothing_heavy():
    code = f"import sys, assay, assay.cli.main\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
