"""``assay compress``: whether an autoencoder compresses better than PCA."""

from pathlib import Path
from typing import Any

import click

from assay.cli.options import Common, common, finish, names, prepare
from assay.cli.shell import working


@click.command("compress")
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=str), metavar="DATA...")
@click.option(
    "--components", type=click.IntRange(1), metavar="N", help="Size of the code, and of PCA's."
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
    "--test-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    metavar="P",
    help="Share of the rows that is sealed for the test.",
)
@click.option("--candidate", metavar="NAME", help="The network on trial (see `assay list`).")
@click.option(
    "--scaling",
    type=click.Choice(["standard", "none", "unit"]),
    default="standard",
    show_default=True,
    help="How columns are scaled, from training rows.",
)
@common
def command(*, common: Common, data: tuple[str, ...], **options: Any) -> int:
    r"""Find out whether an autoencoder beats PCA at the same code size.

    DATA... are tables (CSV of any dialect, Parquet, NPZ, HDF5).

    \b
      assay compress spectra.parquet --components 8 --out runs/spectra
    """
    folder = common.folder("compress", data)
    prepare()
    from assay.compress.command import run

    with working(quiet=common.quiet) as progress:
        result = run(
            data=data,
            seed=common.seed,
            seeds=common.seeds,
            out=folder,
            progress=progress,
            **options,
        )
    return finish(result, common, Path(folder))
