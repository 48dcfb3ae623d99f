"""``assay demo``: a whole study on images that ship with scikit-learn."""

from pathlib import Path

import click

from assay.cli.options import Common, common, finish, prepare
from assay.cli.shell import say, working


@click.command("demo")
@common
def command(*, common: Common) -> int:
    """Run a whole anomaly study on real data that ships with scikit-learn.

    Images of handwritten digits: 0 to 8 are normal operation, 9 is a fault that nobody foresaw.
    Writes the two tables beside the report, so that you see what your own files may look like.
    Opens nothing by itself.
    """
    folder = common.folder("demo")
    prepare(folder)
    from assay.anomaly.command import run

    normal, test = write_digits(folder.with_name(f"{folder.name}-data"))
    if not common.quiet:
        say(f"This is: assay anomaly {normal} --test {test} --label fault --scaling none")
    with working(quiet=common.quiet) as progress:
        result = run(
            normal=(str(normal),),
            test=(str(test),),
            label="fault",
            scaling="none",
            seed=common.seed,
            seeds=common.seeds,
            margin=common.margin,
            out=folder,
            progress=progress,
        )
    return finish(result, common, folder)


def write_digits(folder: Path) -> tuple[Path, Path]:
    """Write the digits as two tables, split as in the chapter's lab: normal.csv and test.csv.

    Parameters
    ----------
    folder : Path
        Made if it is not there.

    Returns
    -------
    tuple of (Path, Path)
        1,293 normal images (0 to 8); 360 test images with the column ``fault`` (1 for a 9).
        Pixels are in [0, 1].
    """
    import polars as pl
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, digit = load_digits(return_X_y=True)
    pixels = pixels / 16.0
    X_train, X_test, y_train, y_test = train_test_split(
        pixels, digit, test_size=0.2, stratify=digit, random_state=0
    )
    columns = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    folder.mkdir(parents=True, exist_ok=True)
    normal, test = folder / "normal.csv", folder / "test.csv"
    pl.DataFrame(X_train[y_train <= 8], schema=columns).write_csv(normal)
    fault = pl.Series("fault", (y_test == 9).astype(int))
    pl.DataFrame(X_test, schema=columns).with_columns(fault).write_csv(test)
    return normal, test
