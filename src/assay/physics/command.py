"""What ``assay physics`` and ``assay run`` call: options as typed."""

from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.physics.loading import load_problem
from assay.result import Result


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
    resample: int | str | None = "auto",
    windows: int = 1,
    precision: str = "float64",
    curriculum: dict[str, list[float]] | None = None,
    harmonics: int = 1,
    learning_rate: float = 1e-3,
    schedule: str = "constant",
    sampling: str = "auto",
    face_points: int = 100,
    initialisation: str = "glorot",
    features: str | None = None,
    candidate: str | None = None,
    network_seconds: float | None = None,
    network_random_state: int = 0,
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
    points, windows, harmonics, face_points : int
    resample : int, "auto" or None
    curriculum : dict of str to list of float
    learning_rate : float
    schedule, sampling, initialisation : str
    features, candidate : str
        What was on trial in Python: refused, because no file holds it.
    network_seconds : float [s]
        Budget of one training.
    network_random_state : int
        Added to the seeds.
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
    _refuse(features=features, candidate=candidate)
    declared = load_problem(problem, None if home is None else Path(home))
    # What is wrong with a declaration is said before the slow imports.
    from assay.physics.pinn import PINN
    from assay.physics.study import PhysicsStudy

    network = {
        "hidden": hidden, "activation": activation, "body": body, "conditions": conditions,
        "weights": weights, "optimiser": optimiser, "steps": steps, "points": points,
        "scaling": scaling, "resample": resample, "windows": windows, "precision": precision,
        "curriculum": curriculum, "harmonics": harmonics, "learning_rate": learning_rate,
        "schedule": schedule, "sampling": sampling, "face_points": face_points,
        "initialisation": initialisation, "seconds": network_seconds,
        "random_state": network_random_state,
    }  # fmt: skip
    network = {k: tuple(v) if isinstance(v, list) else v for k, v in network.items()}
    study = PhysicsStudy(
        declared,
        candidate=PINN(**network),
        tolerance=tolerance,
        seconds=seconds,
        source=problem,
    )
    wanted = 3 if seeds is None else seeds
    return study.run(seed, seeds=wanted, margin=margin, folder=out, progress=progress)


def _refuse(**brought: str | None) -> None:
    for name, value in brought.items():
        if value is not None:
            raise StudyError(
                f"The {name} of this study was handed over in Python ({value}): no file holds it.",
                hint="Run the script that made the study again.",
            )
