"""What can be on trial: the networks by name, and whatever the user brings."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from assay.anomaly.autoencoder import AutoencoderDetector
from assay.anomaly.brought import bring
from assay.anomaly.denoising import DenoisingDetector
from assay.anomaly.forecast import ForecastDetector
from assay.data import read_table
from assay.errors import DataError, StudyError, did_you_mean
from assay.estimators import configured
from assay.study import Method


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A network that can be on trial: what it is called on the command line, and one to copy."""

    name: str
    estimator: Any
    about: str


# The first is the default; a new one joins here. Studies fit clones with their own settings.
CANDIDATES = (
    Candidate("denoising", DenoisingDetector(), DenoisingDetector.about),
    Candidate("autoencoder", AutoencoderDetector(), AutoencoderDetector.about),
    Candidate(
        "denoising-autoencoder",
        AutoencoderDetector(noise=0.3),
        "An autoencoder that was trained to give back clean rows from noisy ones.",
    ),
    Candidate("forecast", ForecastDetector(), ForecastDetector.about),
)


def candidate_method(options: Any, inputs: Any) -> Method:
    """Return the candidate of a study as a method.

    Parameters
    ----------
    options : Options
        Of the study: candidate, scaling, components, window.
    inputs : Inputs
        The rows that scores made elsewhere belong to.

    Raises
    ------
    StudyError
        If there is no candidate of that name, or it does not fit the study.
    """
    asked = options.candidate
    if isinstance(asked, Path):
        return bring(read_scores(asked), inputs=inputs)
    if asked is None or isinstance(asked, str):
        found = _by_name(CANDIDATES[0].name if asked is None else asked)
        return _ours(found.estimator, options, found.about)
    if isinstance(asked, tuple(type(c.estimator) for c in CANDIDATES)):
        return _ours(asked, options, asked.about)
    if isinstance(asked, Method):
        return asked
    return bring(asked, inputs=inputs)


def _by_name(name: str) -> Candidate:
    known = {c.name: c for c in CANDIDATES}
    if name not in known:
        raise StudyError(f"There is no candidate '{name}'.", hint=did_you_mean(name, known))
    return known[name]


def _ours(estimator: Any, options: Any, about: str) -> Method:
    """Return clones of one of our networks with the settings of the study."""
    wanted = {"scaling": options.scaling}
    if options.components is not None:
        wanted["components"] = options.components
    if isinstance(estimator, ForecastDetector):
        if options.window is None or options.window < 2:
            raise StudyError(
                "The forecast network needs windows of at least 2 samples.",
                hint="Give --window 16, say: it foresees the last sample from those before.",
            )
        wanted["window"] = options.window
    return Method(estimator.name, lambda seed: configured(estimator, wanted, seed), about)


def read_scores(path: Path) -> np.ndarray | dict[str, np.ndarray]:
    """Read scores that were made elsewhere.

    Parameters
    ----------
    path : Path
        A table with one column of scores (or one that is called ``score``), one per row of the
        data: of the normal rows, then of the rows to judge. With a column ``part`` that says
        ``normal`` (or ``calibration``) or ``test``, the order between the parts is free.

    Returns
    -------
    array of shape (n,), or dict of part to such an array

    Raises
    ------
    DataError
        If the file has no column of scores, or leaves rows without one.
    """
    try:
        table = read_table(path, kind="part", optional={"kind"})
    except DataError as error:
        raise DataError(f"The scores: {error.message}", hint=error.hint) from error
    at = table.columns.index("score") if "score" in table.columns else 0
    if table.n_columns > 1 and "score" not in table.columns:
        raise DataError(
            f"'{table.source}' has {table.n_columns} columns and none is called 'score'.",
            hint="Call the column of the scores 'score'.",
        )
    gaps = np.flatnonzero(np.diff(table.row_numbers) != 1)
    if len(gaps):
        raise DataError(
            f"'{table.source}' has no score in row {table.row_numbers[gaps[0]] + 1}.",
            hint=" ".join(["Give every row a finite score.", *table.notes]),
        )
    scores = table.X[:, at].astype(np.float64)
    if table.kinds is None:
        return scores
    parts = np.char.lower(np.char.strip(table.kinds.astype(str)))
    return {str(part): scores[parts == part] for part in np.unique(parts)}
