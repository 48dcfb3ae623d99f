"""``assay physics``: whether a network solves an equation better than a classical solver."""

from pathlib import Path

import click

from assay.cli.options import Common, common, names, study


class Widths(click.ParamType):
    """Whole numbers from 1 with commas between them: 32,32,32."""

    name = "widths"

    def convert(self, value, param, ctx):
        """Return a list of int, or say what is taken."""
        if isinstance(value, list):
            return value
        try:
            widths = [int(part) for part in str(value).split(",")]
        except ValueError:
            widths = [0]
        if min(widths) < 1:
            self.fail(f"{value!r} must be whole numbers from 1 with commas between, as 32,32.")
        return widths


class Weights(click.ParamType):
    """``balanced``, or numbers by name: condition=100,reading=10."""

    name = "weights"

    def convert(self, value, param, ctx):
        """Return the word or a dictionary, or say what is taken."""
        if not isinstance(value, str) or value == "balanced":
            return value
        try:
            pairs = [part.split("=") for part in value.split(",")]
            return {name.strip(): float(number) for name, number in pairs}
        except ValueError:
            return self.fail(f"{value!r} is neither 'balanced' nor such as condition=100.")


@click.command("physics")
@click.argument("problem", metavar="FILE.py:NAME")
@click.option(
    "--hidden",
    type=Widths(),
    metavar="N,N",
    help="Widths of the hidden layers.  [default: by the number of variables]",
)
@click.option(
    "--activation",
    default="tanh",
    show_default=True,
    metavar="NAME",
    help="A smooth one: tanh, sin, gelu, ...",
)
@click.option(
    "--body",
    type=click.Choice(["mlp", "resnet", "modified"]),
    default="mlp",
    show_default=True,
    help="How the layers are linked.",
)
@click.option(
    "--conditions",
    type=click.Choice(["auto", "hard", "soft"]),
    default="auto",
    show_default=True,
    help="Built into the network where that can be, or terms of the loss.",
)
@click.option(
    "--weights",
    type=Weights(),
    metavar="W",
    help="Of the terms of the loss: 'balanced', or such as condition=100.  [default: 1 each]",
)
@click.option(
    "--optimiser",
    multiple=True,
    callback=names,
    metavar="NAME",
    help="gauss_newton, lbfgs or adam; several run one after another.  [default: by size]",
)
@click.option(
    "--steps",
    type=Widths(),
    metavar="N",
    help="Of training, one number for each optimiser.  [default: 500, 5000, 10000]",
)
@click.option(
    "--points",
    type=click.IntRange(1),
    metavar="N",
    help="Where the equation is asked.  [default: by the number of variables]",
)
@click.option(
    "--scaling",
    type=click.Choice(["auto", "none"]),
    default="auto",
    show_default=True,
    help="Sizes of order 1, or raw units.",
)
@click.option(
    "--resample",
    type=click.IntRange(1),
    metavar="N",
    help="After so many steps, new points where the residual is large.  [default: where needed]",
)
@click.option(
    "--windows",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Parts of the time, one after the other.  [default: 1]",
)
@click.option(
    "--precision", type=click.Choice(["float64", "float32"]), default="float64", show_default=True
)
@click.option(
    "--network-seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Budget of one training.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=1e-8,
    show_default=True,
    metavar="E",
    help="Relative error at which the classical solver stops refining.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="S",
    help="Budget of the classical solver.",
)
@common
def command(*, common: Common, problem: str, hidden, steps, optimiser, weights, **options) -> int:
    r"""Find out whether a network solves an equation better than a classical solver.

    FILE.py is a Python file of yours, and NAME a Problem in it or a function that returns one.
    The file is run, as `python FILE.py` would run it: give it only files that you trust.
    gallery:NAME takes a problem that comes with Assay.

    \b
      assay physics oscillator.py:problem --seeds 3 --out runs/oscillator
      assay physics gallery:heat --steps 200 --hidden 20,20
    """
    settings = {
        "problem": problem,
        "hidden": hidden or "auto",
        "steps": steps if steps is None or len(steps) > 1 else steps[0],
        "optimiser": list(optimiser) if len(optimiser) > 1 else "".join(optimiser) or "auto",
        "weights": weights,
        **options,
        "resample": options["resample"] or "auto",
    }
    return study("physics", common.folder("physics", [label_of(problem)]), common, settings)


def label_of(source: str) -> str:
    """Return what a folder for a problem is called.

    Examples
    --------
    >>> label_of("models/oscillator.py:problem"), label_of("gallery:heat")
    ('oscillator-problem', 'heat')
    """
    where, _, name = source.rpartition(":")
    if where == "gallery" or not where:
        return Path(name).stem
    return f"{Path(where).stem}-{name}"
