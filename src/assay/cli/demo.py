"""``assay demo``: a whole study on images that ship with scikit-learn."""

from pathlib import Path

import click

from assay.cli.options import Common, common, prepare, study
from assay.cli.shell import say

# The lab's network and code size. Pixels share one unit, so they are not scaled.
SETTINGS = {"candidate": "autoencoder", "components": 8, "scaling": "none"}


@click.command("demo")
@common
def command(*, common: Common) -> int:
    """Run a whole anomaly study on real data that ships with scikit-learn.

    Images of handwritten digits: 0 to 8 are normal operation, 9 is a fault that nobody foresaw.
    Writes the tables beside the report, so that you see what your own files may look like. Opens
    nothing by itself.
    """
    folder = common.folder("demo")
    prepare(folder)  # before anything is written beside it
    normal, held, test = write_digits(folder.with_name(f"{folder.name}-data"))
    if not common.quiet:
        typed = " ".join(f"--{name} {value}" for name, value in SETTINGS.items())
        say(
            f"This is: assay anomaly {normal} --calibration {held} --test {test} --label fault "
            f"{typed}"
        )
    settings = {"normal": (str(normal),), "calibration": (str(held),), "test": (str(test),)}
    return study("anomaly", folder, common, settings | {"label": "fault"} | SETTINGS)


def write_digits(folder: Path) -> tuple[Path, Path, Path]:
    """Write the digits as tables, split as in the chapter's lab.

    Parameters
    ----------
    folder : Path
        Made if it is not there.

    Returns
    -------
    tuple of (Path, Path, Path)
        ``normal.csv`` (1,034 images of 0 to 8), ``calibration.csv`` (259 more, which set the
        threshold), ``test.csv`` (360 images with the column ``fault``, 1 for a 9). Pixels are in
        [0, 1].
    """
    import polars as pl
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, digit = load_digits(return_X_y=True)
    pixels = pixels / 16.0
    X_train, X_test, y_train, y_test = train_test_split(
        pixels, digit, test_size=0.2, stratify=digit, random_state=0
    )
    fit, held = train_test_split(X_train[y_train <= 8], test_size=0.2, random_state=0)
    columns = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / name for name in ("normal.csv", "calibration.csv", "test.csv"))
    fault = pl.Series("fault", (y_test == 9).astype(int))
    tables = [pl.DataFrame(rows, schema=columns) for rows in (fit, held, X_test)]
    tables[-1] = tables[-1].with_columns(fault)
    for path, table in zip(paths, tables, strict=True):
        table.write_csv(path)
    return paths
