"""Models that learned from a part of the runs, and what the model of all runs has over them."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.surrogate.domain import Domain
from assay.surrogate.folds import folds as parts_of
from assay.surrogate.network import check_runs
from assay.surrogate.spread import predict_with_spread

FEWEST_PROBES = 50  # inside the domain; below it nothing is corrected
LEAST_SHARE = 0.5  # a fifth of the runs more seldom halves an error


@dataclasses.dataclass(frozen=True, eq=False)
class OutOfFold:
    """What the models of the folds predicted.

    Attributes
    ----------
    errors, spread : (n, m) arrays [units of the outputs]
        On runs that the model did not see: prediction minus truth, and standard deviation (None
        where there is none).
    probes : (k, d) array [units of the inputs]
        Points that are no runs.
    inside : (k,) bool array
        Which of them are inside the runs' validity domain.
    at_probes, spread_at_probes : (folds, k, m) arrays [units of the outputs]
        What each fold's model predicts there; the second is None where there is no spread.
    """

    errors: np.ndarray
    spread: np.ndarray | None
    probes: np.ndarray
    inside: np.ndarray
    at_probes: np.ndarray
    spread_at_probes: np.ndarray | None

    def share_left(self, model: Any) -> np.ndarray:
        r"""Return how much of the folds' error the model of all runs is left with: (m,) [-].

        If what the further runs teach is independent of the error that stays, the mean squares are
        :math:`E_\mathrm{all}^2 = E_\mathrm{fold}^2 - D^2`, with :math:`D` the difference of the
        two predictions at a new point. This is exact for a posterior mean (law of total variance);
        where all runs help more than that, the share is too large, and intervals too wide.

        :math:`D` is taken at the probes. They are not spread as the runs are, so there are two
        estimates, and the larger counts: the probes inside the domain, as if they were new runs;
        and all probes, over the folds' variance there and times that at the runs left out.

        Parameters
        ----------
        model : fitted estimator
            The one of all runs.

        Returns
        -------
        (m,) array
            From 0.5 to 1; 1 where nothing is known: no spread, or too few probes inside.
        """
        m = self.errors.shape[1]
        if self.spread_at_probes is None or self.inside.sum() < FEWEST_PROBES:
            return np.ones(m)
        mean = np.asarray(model.predict(self.probes), float).reshape(len(self.probes), m)
        apart = (self.at_probes - mean) ** 2
        before = np.mean(self.errors**2, axis=0)
        here = np.mean(self.spread**2, axis=0)
        there = np.mean(self.spread_at_probes**2, axis=(0, 1))
        gains = (apart[:, self.inside].mean(axis=(0, 1)),
                 apart.mean(axis=(0, 1)) * here / np.where(there > 0.0, there, 1.0))  # fmt: skip
        known = (before > 0.0) & (there > 0.0)
        left = 1.0 - np.minimum(*gains) / np.where(known, before, 1.0)
        return np.where(known, np.sqrt(np.clip(left, LEAST_SHARE**2, 1.0)), 1.0)


def out_of_fold(
    make: Callable[[], Any], X, Y, *, folds: int = 5, seed: int = 0, groups=None, probes: int = 0
) -> OutOfFold:
    """Fit a model for each fold on the other folds, and predict with it.

    Parameters and errors are those of `assay.surrogate.cross_errors`; `probes` is how many points
    that are no runs are drawn.
    """
    X, Y, one = check_runs(X, Y)
    learned = Y[:, 0] if one else Y
    if groups is None:
        groups = np.unique(X, axis=0, return_inverse=True)[1]
    labels = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    n_groups = int(labels.max()) + 1
    if folds < 2 or n_groups < 2:
        raise StudyError(
            f"Out-of-fold errors need at least 2 folds and 2 different runs, got {folds} and "
            f"{n_groups}.",
            hint="Use 5 folds, and give more runs.",
        )
    new_points, inside = _probes(X, probes)
    errors, spreads, means, deviations = np.empty_like(Y), np.empty_like(Y), [], []
    for fit, held in parts_of(n_groups, seed, most=folds):
        known, new = np.isin(labels, fit), np.isin(labels, held)
        both = np.vstack([X[new], new_points])
        mean, std = predict_with_spread(make().fit(X[known], learned[known]), both)
        mean, k = mean.reshape(len(both), -1), int(new.sum())
        std = np.full_like(mean, np.nan) if std is None else std.reshape(len(both), -1)
        errors[new], spreads[new] = mean[:k] - Y[new], std[:k]
        means.append(mean[k:])
        deviations.append(std[k:])
    without = bool(np.isnan(spreads).any())
    return OutOfFold(
        errors, None if without else spreads, new_points, inside,
        np.array(means), None if without else np.array(deviations),
    )  # fmt: skip


def _probes(X, k):
    """Return points (k, d) and which are inside the domain (k,).

    Each input is from its own distribution, independent of the others.
    """
    points = np.empty((0, X.shape[1]))
    if not k:
        return points, np.empty(0, bool)
    domain = Domain.fit(X)
    shares = np.random.default_rng(0).random((k, X.shape[1]))
    drawn = [np.quantile(column, share) for column, share in zip(X.T, shares.T, strict=True)]
    points = np.stack(drawn, axis=1)
    points = points[domain.distance(points) > 1e-9]  # at a run the model of all runs knows all
    return points, domain.inside(points) if len(points) else np.empty(0, bool)
