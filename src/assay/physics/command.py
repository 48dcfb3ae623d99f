"""What ``assay physics`` and ``assay run`` call: options as typed."""

from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.physics.loading import load_problem
from assay.physics.study import PhysicsStudy
from assay.result import Result

# Options of the network by their name in `PINN`.
NETWORK = (
    "hidden", "activation", "conditions", "weights", "optimiser", "steps", "points", "scaling",
    "resample", "windows", "precision", "body",
)  # fmt: skip


def run(
    *,
    problem: str,
    hidden: str | list[int] = "auto",
    activation: str = "tanh",
    body: str = "mlp",
    conditions: str = "auto",
    weights: str | dict[str, float] | None = None,
    optimiser: str | list[str] = "auto",
    steps: int | list[int] | None = None,
    points: int | None = None,
    scaling: str = "auto",
    resample: int | None = None,
    windows: int = 1,
    precision: str = "float64",
    network_seconds: float | None = None,
    tolerance: float = 1e-8,
    seconds: float = 60.0,
    margin: float = 0.0,
    seed: int = 0,
    seeds: int | None = None,
    home: Any = None,
    out: Any = None,
    progress: Any = None,
) -> Result:
    """Run a physics study from options as typed; see `PINN` and `PhysicsStudy`.

    Parameters
    ----------
    problem : str
        ``FILE.py:NAME`` or ``gallery:NAME``; the file is run.
    hidden : list of int or "auto"
        Widths of the hidden layers.
    activation, body, conditions, optimiser, scaling, precision : str
        Of `PINN`; several optimisers run one after another.
    weights : dict or "balanced"
    steps : int or list of int
    points, resample, windows : int
    network_seconds : float [s]
        Budget of one training.
    tolerance : float [-]
        Where the classical solver stops refining.
    seconds : float [s]
        Budget of the classical side.
    margin : float
    seed, seeds : int
    home : path
        Folder of the ``study.toml``, where `problem` is looked for as well.
    out : path
        Where the files of the run will go.
    progress : callable

    Returns
    -------
    Result

    Raises
    ------
    StudyError, DataError
        If the file cannot be run, holds no such problem, or the options make no sense.
    """
    from assay.physics.pinn import PINN

    declared = load_problem(problem, None if home is None else Path(home))
    given = {
        "hidden": hidden, "activation": activation, "body": body, "conditions": conditions,
        "weights": weights, "optimiser": optimiser, "steps": steps, "points": points,
        "scaling": scaling, "resample": resample, "windows": windows, "precision": precision,
    }  # fmt: skip
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    if not (0 < tolerance < 1 and seconds > 0):
        raise StudyError(
            f"`tolerance` must lie between 0 and 1 and `seconds` above 0, got {tolerance:g} and "
            f"{seconds:g}.",
            hint="Leave them out: 1e-8 and 60 s.",
        )
    study = PhysicsStudy(
        declared,
        candidate=PINN(**options, seconds=network_seconds),
        tolerance=tolerance,
        seconds=seconds,
        source=problem,
    )
    return study.run(seed, seeds=3 if seeds is None else seeds, margin=margin, folder=out,
                     progress=progress)  # fmt: skip
