"""The weight decay of a network, chosen on runs that it did not learn from."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import ModelError, StudyError
from assay.train import FitStatus, fit_many, predict

CHOSEN = "validation"  # what `weight_decay` is set to
# Weight decays times runs and outputs; 0.005 is the default. No decay is one of the choices.
STRENGTHS = (0.0, 0.0005, 0.005, 0.05, 0.5, 5.0)
FOLDS = 5
ENOUGH_HELD = 200  # runs that judge a decay; fewer are made more by further folds
FEWEST = 10  # runs that can be cut into folds


@dataclasses.dataclass(frozen=True)
class DecaySearch:
    r"""Which weight decays were tried, and how well each predicted held-out runs.

    Attributes
    ----------
    strengths : tuple of float
        :math:`\lambda n m = 2 \sigma^2 / s_w^2`, see `weight_decay_of`: it does not depend on the
        number of runs, so what is chosen on fewer holds for all.
    errors : tuple of float [scaled units squared]
        Mean squared error of each on the held-out runs; infinite if training broke down.
    folds : int
        0 if the held-out runs were given, or a share set aside for early stopping.
    """

    strengths: tuple[float, ...]
    errors: tuple[float, ...]
    folds: int

    @property
    def strength(self) -> float:
        """Return the strength with the smallest error."""
        return self.strengths[int(np.argmin(self.errors))]

    def weight_decay(self, n_rows: int, n_outputs: int) -> float:
        """Return the chosen weight decay of a training on so many runs and outputs."""
        return self.strength / (n_rows * n_outputs)

    @property
    def sentence(self) -> str:
        """What was chosen and how, for a reader."""
        where = f"{self.folds} folds" if self.folds > 1 else "held-out runs"
        prior = "no weight decay"
        if self.strength:
            ratio = float(np.sqrt(2.0 / self.strength))
            prior = f"a normal prior on the weights of {ratio:.3g} times the noise"
        return f"Of {len(self.strengths)} weight decays {prior} predicted {where} best."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"strengths": [*self.strengths], "errors": [*self.errors], "folds": self.folds}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "DecaySearch":
        """Return what `to_dict` was called on."""
        strengths, errors = (tuple(map(float, saved[key])) for key in ("strengths", "errors"))
        if not strengths or len(strengths) != len(errors):
            raise ModelError(
                "The saved weight decays and their errors are not equally many.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        return cls(strengths, errors, int(saved["folds"]))


def search_decay(ready: Any, *, seed: int, checkpoint: Path | str | None = None) -> DecaySearch:
    """Try the weight decays of `STRENGTHS` with one compiled program.

    Where there are validation runs, each network is trained as the final one is, early stopping
    included, and judged by its smallest error on them. Else it is cross-validation: a fifth of the
    runs is held out in turn, until at least 200 runs have judged, but at most five times.

    Parameters
    ----------
    ready : Prepared
        What training is called with; its own weight decay is not looked at.
    seed : int
        Of the initial weights, the same for all, and of the folds.
    checkpoint : path, optional
        Folder that an interrupted search goes on from.

    Raises
    ------
    StudyError
        If there are fewer than 10 runs and no validation runs.
    """
    if ready.validation is not None:
        fits = _fits(ready, ready.x, ready.y, seed, checkpoint, ready.validation)
        errors = [_least(one.history.validation) for one in fits]
        return DecaySearch(STRENGTHS, tuple(errors), 0)
    n = len(ready.x)
    if n < FEWEST:
        raise StudyError(
            f"Choosing the weight decay on held-out runs needs at least {FEWEST} runs, got {n}.",
            hint="Give more runs, pass `validation=(X, Y)`, or give `weight_decay` as a number.",
        )
    size = n // FOLDS  # equal, so that all folds share a program
    folds = int(np.clip(-(-ENOUGH_HELD // size), 1, FOLDS))
    order = np.random.default_rng((seed, 2)).permutation(n)
    errors = np.zeros(len(STRENGTHS))
    for fold in range(folds):
        held = order[fold * size : (fold + 1) * size]
        x, y = (np.delete(rows, held, axis=0) for rows in (ready.x, ready.y))
        place = None if checkpoint is None else Path(checkpoint) / str(fold)
        fits = _fits(ready, x, y, seed, place, None)
        errors += [_error(one, ready.x[held], ready.y[held]) / folds for one in fits]
    return DecaySearch(STRENGTHS, tuple(errors.tolist()), folds)


def _fits(ready, x, y, seed, checkpoint, validation):
    """Return one fit for each strength."""
    hypers = [
        dataclasses.replace(ready.hyper, weight_decay=strength / y.size) for strength in STRENGTHS
    ]
    fits = fit_many(
        ready.spec, hypers, x, y, seeds=seed, validation=validation,
        patience=ready.patience if validation is not None else None, checkpoint=checkpoint,
    )  # fmt: skip
    return [one.unless_interrupted() for one in fits]


def _error(done, x, y):
    if done.status is FitStatus.NONFINITE:
        return np.inf
    return float(np.mean((predict(done.model, x) - y) ** 2, dtype=float))


def _least(losses):
    finite = losses[np.isfinite(losses)]
    return float(finite.min()) if len(finite) else np.inf
