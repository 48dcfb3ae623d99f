"""Readings kept aside, where no solution is known that a field could be held against."""

import dataclasses
from typing import Any

import numpy as np

LEAST = 40  # readings of fields from which some are held back: fewer are all needed for the fit
SHARE = 0.2  # of each series of readings that is held back


@dataclasses.dataclass(frozen=True, eq=False)
class Readings:
    """Readings of fields that methods are graded on.

    Attributes
    ----------
    points : array of shape (n, n_variables)
    columns : array of int of shape (n,)
        Which field was read.
    values : array of shape (n,)
    sizes : array of shape (n,)
        What a miss is counted in: the declared standard deviation of each reading, or, where one
        is unknown, the standard deviation of all values of that field.
    known_noise : bool
        Whether `sizes` are the declared noise.
    held_back : bool
        Whether no method saw them.
    """

    points: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    sizes: np.ndarray
    known_noise: bool
    held_back: bool

    def misses(self, fields: np.ndarray) -> np.ndarray:
        """Return (field - reading) / size, (n,), from fields (n, n_fields) at the points."""
        at = np.asarray(fields, np.float64)[np.arange(len(self.values)), self.columns]
        return (at - self.values) / self.sizes

    @property
    def unit(self) -> str:
        """What a miss is counted in, for the report."""
        return "standard deviations of a reading" if self.known_noise else "spreads of the readings"


def hold_back(problem: Any, seed: int) -> tuple[Any, Readings]:
    """Return the problem that is fitted, without its exact solution, and what it is graded on.

    From 40 readings of fields a fifth of each series is drawn and taken out of the problem. Of
    fewer all are fitted, and the same ones are returned: how well they are met is no test then.

    Parameters
    ----------
    problem : Problem
    seed : int
        Of the draw.

    Returns
    -------
    problem : Problem
    readings : Readings

    Examples
    --------
    >>> from assay.physics.gallery_inverse import oscillator_inverse
    >>> kept, aside = hold_back(oscillator_inverse(n=50), seed=0)
    >>> len(kept.readings[0].values), len(aside.values), aside.held_back
    (40, 10, True)
    >>> kept, aside = hold_back(oscillator_inverse(n=12), seed=0)
    >>> len(kept.readings[0].values), len(aside.values), aside.held_back
    (12, 12, False)
    """
    total = sum(len(r.values) for r in problem.readings if r.name in problem.fields)
    if total < LEAST:
        return problem.replace(exact=None), _readings(problem, problem.readings, held_back=False)
    rng, kept, aside = np.random.default_rng(seed), [], []
    for reading in problem.readings:
        n = len(reading.values)
        out = np.zeros(n, bool)
        if reading.name in problem.fields:  # only fields: derivatives cannot be asked of all
            out[rng.permutation(n)[: round(SHARE * n)]] = True
        kept.append(_part(reading, ~out))
        if out.any():
            aside.append(_part(reading, out))
    fitted = problem.replace(exact=None, readings=tuple(kept))
    return fitted, _readings(problem, aside, held_back=True)


def _part(reading, rows):
    at = {name: places[rows] for name, places in reading.at.items()}
    sigma = reading.sigma
    sigma = sigma[rows] if np.ndim(sigma) else sigma
    return dataclasses.replace(reading, at=at, values=reading.values[rows], sigma=sigma)


def _readings(problem, readings, *, held_back):
    """Return the readings of fields as one table."""
    kept = [reading for reading in readings if reading.name in problem.fields]
    known = all(reading.sigma is not None for reading in kept)
    sizes = []
    for reading in kept:
        same = [r.values for r in problem.readings if r.name == reading.name]
        spread = float(np.std(np.concatenate(same))) or 1.0
        sizes.append(np.broadcast_to(reading.sigma if known else spread, len(reading.values)))
    points = [np.stack([r.at[name] for name in problem.box], axis=1) for r in kept]
    columns = [np.full(len(r.values), problem.fields.index(r.name)) for r in kept]
    empty = np.zeros((0, len(problem.box)))
    return Readings(
        np.concatenate([empty, *points]),
        np.concatenate([np.zeros(0, int), *columns]).astype(int),
        np.concatenate([np.zeros(0), *(r.values for r in kept)]),
        np.concatenate([np.zeros(0), *sizes]),
        known_noise=bool(kept) and known,
        held_back=held_back,
    )
