"""``assay surrogate``: whether a network in place of a slow simulator beats a Gaussian process."""

import math

import click

from assay.cli.options import Common, FilesAfterOption, common, names, study

_FILE = click.Path(path_type=str, readable=False)


class Modes(click.ParamType):
    """A whole number from 1, or a share of variance between 0 and 1."""

    name = "modes"

    def convert(self, value, param, ctx):
        """Return the number, or say what is taken."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if 0.0 < number < 1.0 or (number >= 1.0 and number == int(number)):
            return number
        return self.fail(f"{value!r} is neither a whole number from 1 nor a share below 1.")


class Decay(click.ParamType):
    """A finite number from 0, or the word that has it chosen."""

    name = "weight decay"

    def convert(self, value, param, ctx):
        """Return the number or the word, or say what is taken."""
        if value == "validation":
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if math.isfinite(number) and number >= 0.0:
            return number
        return self.fail(f"{value!r} is neither a number from 0 nor the word 'validation'.")


@click.command("surrogate", cls=FilesAfterOption, greedy=("--test",))
@click.argument("data", nargs=-1, required=True, type=_FILE, metavar="RUNS...")
@click.option(
    "--outputs",
    multiple=True,
    callback=names,
    metavar="A,B",
    help="Columns that come out of the simulator; patterns such as 'u_*' are taken, and names that "
    "hold a comma as in CSV: '\"u, inner\",v'.",
)
@click.option(
    "--inputs",
    multiple=True,
    callback=names,
    metavar="A,B",
    help="Columns that go into it, named likewise.  [default: all other columns of numbers]",
)
@click.option(
    "--outputs-file",
    type=_FILE,
    metavar="FILE",
    help="The outputs, run by run, where they are in a file of their own.",
)
@click.option(
    "--test",
    multiple=True,
    type=_FILE,
    metavar="FILE...",
    help="Test runs: takes every file name that follows; with --outputs-file two, inputs and "
    "outputs.  [default: a sealed quarter of RUNS]",
)
@click.option(
    "--sigma",
    metavar="S",
    help="Noise of the data that predictions will be compared with: 2.0, or 'u=2,v=0.1'.",
)
@click.option(
    "--bounds",
    multiple=True,
    metavar="A=LOW:HIGH",
    help="Box of the inputs, one option an input.  [default: the range of the runs]",
)
@click.option(
    "--candidate",
    type=click.Choice(["mlp", "resnet", "neural-ode", "neural_ode"]),
    default="mlp",
    metavar="[mlp|resnet|neural-ode]",
    help="The network on trial.  [default: mlp]",
)
@click.option(
    "--candidate-rows",
    type=_FILE,
    metavar="FILE",
    help="Put predictions of the test runs on trial that were made elsewhere.",
)
@click.option(
    "--members",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Networks in the ensemble; 1 is a single one, without a spread.",
)
@click.option(
    "--weight-decay",
    type=Decay(),
    metavar="W",
    help="Of the network: a number from 0, or 'validation', which chooses it on held-out runs "
    "(6 to 30 more fits).  [default: a usual prior on the weights]",
)
@click.option(
    "--modes",
    type=Modes(),
    metavar="N",
    help="Principal components of many outputs: how many, or the share of variance they keep.",
)
@click.option(
    "--group", metavar="NAME", help="Column that says which runs belong together (a campaign)."
)
@click.option("--drop", multiple=True, callback=names, metavar="A,B", help="Columns to leave out.")
@common
def command(
    *,
    common: Common,
    data: tuple[str, ...],
    test: tuple[str, ...],
    outputs_file: str | None,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    sigma: str | None,
    bounds: tuple[str, ...],
    candidate: str,
    candidate_rows: str | None,
    members: int,
    weight_decay: float | str | None,
    modes: float | None,
    group: str | None,
    drop: tuple[str, ...],
) -> int:
    r"""Find out whether a network in place of a slow simulator beats a Gaussian process.

    RUNS... are tables with one row a run (CSV of any dialect, Parquet, NPZ, HDF5).

    \b
      assay surrogate runs.csv --inputs a,b,c --outputs y --sigma 2.0
      assay surrogate runs.parquet --outputs 'u_*' --out runs/afterslip
    """
    settings = {
        "data": data,
        "test": test,
        "outputs_file": outputs_file,
        "inputs": inputs,
        "outputs": outputs,
        "sigma": sigma,
        "bounds": list(bounds) or None,
        "candidate": candidate,
        "candidate_rows": candidate_rows,
        "members": members,
        "weight_decay": weight_decay,
        "modes": modes,
        "group": group,
        "drop": drop,
    }
    return study("surrogate", common.folder("surrogate", data), common, settings)
