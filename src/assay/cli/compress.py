"""``assay compress``: whether an autoencoder compresses better than PCA."""

import click

from assay.cli.options import Common, FilesAfterOption, common, names, study

_FILE = click.Path(path_type=str, readable=False)


@click.command("compress", cls=FilesAfterOption, greedy=("--test",))
@click.argument("data", nargs=-1, required=True, type=_FILE, metavar="DATA...")
@click.option(
    "--test",
    multiple=True,
    type=_FILE,
    metavar="FILE...",
    help="Test rows: takes every file name that follows.  [default: a sealed quarter of DATA]",
)
@click.option(
    "--code-size",
    type=click.IntRange(1),
    metavar="N",
    help="Numbers in a code.  [default: what PCA needs for 90 % of the variance]",
)
@click.option("--drop", multiple=True, callback=names, metavar="A,B", help="Columns to leave out.")
@click.option(
    "--columns", multiple=True, callback=names, metavar="A,B", help="Use these columns only."
)
@click.option("--time", metavar="NAME", help="Column with the time; the split is then by blocks.")
@click.option(
    "--group", metavar="NAME", help="Column that says which rows belong together (machine, run)."
)
@click.option(
    "--candidate-rows",
    type=_FILE,
    metavar="FILE",
    help="Put test rows on trial that were coded and decoded elsewhere.",
)
@click.option(
    "--scaling",
    type=click.Choice(["standard", "none", "unit"]),
    default="standard",
    show_default=True,
    help="How columns are scaled, from training rows.",
)
@common
def command(
    *,
    common: Common,
    data: tuple[str, ...],
    test: tuple[str, ...],
    code_size: int | None,
    drop: tuple[str, ...],
    columns: tuple[str, ...],
    time: str | None,
    group: str | None,
    candidate_rows: str | None,
    scaling: str,
) -> int:
    r"""Find out whether an autoencoder beats PCA at the same code size.

    DATA... are tables (CSV of any dialect, Parquet, NPZ, HDF5); several files count as groups.

    \b
      assay compress spectra.parquet --code-size 8 --out runs/spectra
    """
    settings = {
        "data": data,
        "test": test,
        "code_size": code_size,
        "drop": drop,
        "columns": columns,
        "time": time,
        "group": group,
        "candidate_rows": candidate_rows,
        "scaling": scaling,
    }
    return study("compress", common.folder("compress", data), common, settings)
