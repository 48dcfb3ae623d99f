"""``assay list``: what there is, read from the tuples that everything else goes through."""

import importlib
import inspect
import json
from typing import Any

import click

from assay.cli.shell import printable
from assay.cli.streams import tell

# (need, its question, the tuples: what they hold, module, names); a class stands for itself.
NEEDS = (
    (
        "anomaly",
        "Does a network find the faults that monitoring misses?",
        (
            ("candidates", "assay.anomaly.candidates", ("CANDIDATES",)),
            ("baselines", "assay.anomaly.baselines", ("BASELINES",)),
            ("checks", "assay.anomaly.checks", ("CHECKS",)),
        ),
    ),
    (
        "compress",
        "Does an autoencoder compress better than PCA at the same code size?",
        (
            ("candidates", "assay.compress", ("Autoencoder",)),
            ("baselines", "assay.compress.baselines", ("BASELINES",)),
            ("checks", "assay.compress.checks", ("CHECKS",)),
        ),
    ),
    (
        "surrogate",
        "Does a network in place of a slow simulator beat the Gaussian process?",
        (
            ("candidates", "assay.surrogate", ("MLPSurrogate", "ResNetSurrogate", "NeuralODE")),
            ("baselines", "assay.surrogate.baselines", ("BASELINES",)),
            ("checks", "assay.surrogate.checks", ("CHECKS",)),
        ),
    ),
    (
        "physics",
        "Does a network solve an equation better than the classical solver in the same time?",
        (
            ("candidates", "assay.physics", ("PINN",)),
            ("baselines", "assay.physics.baselines", ("BASELINES",)),
            ("baselines for unknowns", "assay.physics.inverse_baseline", ("INVERSE_BASELINES",)),
            ("checks", "assay.physics.checks", ("CHECKS",)),
            ("gallery", "assay.physics.gallery", ("PROBLEMS",)),
            ("gallery of unknowns", "assay.physics.gallery_inverse", ("INVERSE",)),
        ),
    ),
)


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON on stdout.")
def command(*, as_json: bool) -> int:
    """List the needs, the families of networks, the baselines and the checks."""
    found = [
        {"need": need, "question": question}
        | {kind: entries(module, *wanted) for kind, module, wanted in tuples}
        for need, question, tuples in NEEDS
    ]
    if as_json:
        tell(json.dumps(found, indent=2))
    else:
        tell(printable("\n\n".join(as_text(need) for need in found)))
    return 0


def entries(module: str, *names: str) -> list[tuple[str, str]]:
    """Return (name or code, a line about it) of each entry of some tuples.

    Parameters
    ----------
    module : str
        Where they are.
    *names : str
        The tuples, or classes that stand for themselves.

    Examples
    --------
    >>> entries("assay.anomaly.baselines", "BASELINES")[0][0]
    'PCA Q'
    """
    found = [getattr(importlib.import_module(module), name) for name in names]
    return [_entry(x) for each in found for x in (each if isinstance(each, tuple) else (each,))]


def _entry(item: Any) -> tuple[str, str]:
    if hasattr(item, "code"):
        return f"{item.code}", f"{item.title} ({item.severity})"
    kind = item if hasattr(item, "__name__") else type(item)  # a class or function is itself
    # A name may be a property, which a class does not answer for.
    name = item.name if isinstance(getattr(item, "name", None), str) else kind.__name__
    return name, getattr(item, "about", "") or _line_about(kind)


def _line_about(kind: Any) -> str:
    """Return the first line of a docstring, as what it is and not what a function does."""
    line = inspect.getdoc(kind).splitlines()[0]
    told = line.removeprefix("Return ")
    return told if told[1:2] == "_" else told[:1].upper() + told[1:]  # u_t is no word


def as_text(need: dict[str, Any]) -> str:
    """Return one need for a reader.

    Parameters
    ----------
    need : dict
        An entry of what ``--json`` prints.

    Examples
    --------
    >>> print(as_text({"need": "x", "question": "Why?", "checks": [("X01", "Leak (fail)")]}))
    x: Why?
      checks
        X01  Leak (fail)
    """
    lines = [f"{need['need']}: {need['question']}"]
    for kind, found in need.items():
        if not isinstance(found, list):
            continue
        width = max((len(name) for name, _ in found), default=0)
        lines += [f"  {kind}", *(f"    {name:<{width}}  {about}" for name, about in found)]
    return "\n".join(lines)
