"""``assay labs``: the chapters' experiments, quoted against measured."""

import importlib.util
import sys
from pathlib import Path

import click

from assay.cli.options import prepare
from assay.errors import StudyError


@click.command("labs")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON on stdout.")
def command(*, ids: tuple[str, ...], as_json: bool) -> int:
    """Run the chapters' experiments and hold what was quoted against what is measured.

    IDs name labs or single facts; without any, all of them run. Exits with 1 if one is off.
    """
    prepare()
    return labs_module().main(list(ids), as_json=as_json)


def labs_module():
    """Import ``labs/run.py`` of the source tree.

    The labs are scripts on the public API and no part of the installed package.

    Raises
    ------
    StudyError
        When there is no source tree around this package.
    """
    folder = Path(__file__).resolve().parents[3] / "labs"
    script = folder / "run.py"
    if not script.is_file():
        raise StudyError(
            "the labs are not here: they belong to the source tree and not to the package.",
            hint="clone the repository and run `make labs` there.",
        )
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("assay_labs", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up here
    spec.loader.exec_module(module)
    return module
