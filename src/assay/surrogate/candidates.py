"""The methods of a surrogate study: the candidate and the baselines, wrapped for many outputs."""

import dataclasses
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.estimators import configured
from assay.study import Method
from assay.surrogate.baselines import BASELINES
from assay.surrogate.brought import bring
from assay.surrogate.choices import check_decay
from assay.surrogate.ensemble import MOST_MEMBERS, DeepEnsemble
from assay.surrogate.gp import GaussianProcess
from assay.surrogate.mlp import MLPSurrogate
from assay.surrogate.nearest import NearestRuns
from assay.surrogate.neural_ode import NeuralODE
from assay.surrogate.outputs import PCAOutputs
from assay.surrogate.resnet import ResNetSurrogate
from assay.surrogate.response_surface import MeanOutput

# The names that `candidate` takes, what they stand for, and how the report calls one and several.
NETWORKS = (
    ("mlp", MLPSurrogate, "MLP", "MLPs"),
    ("resnet", ResNetSurrogate, "Residual network", "residual networks"),
    ("neural_ode", NeuralODE, "Neural ODE", "neural ODEs"),
)
# They average rows of outputs as they are: components would add nothing but an error.
WHOLE = (MeanOutput, NearestRuns)
# Above so many fit runs the length scales of the Gaussian process are searched on a part of them
# (predictions use all), and above the second number it learns from a part.
MOST_SEARCHED, MOST_GP_RUNS = 3_000, 8_000


@dataclasses.dataclass(frozen=True, eq=False)
class Making:
    """What the methods of one study share.

    Attributes
    ----------
    bounds : (d, 2) array or None [units of the inputs]
    members : int
        Networks of the default candidates.
    many : bool
        Whether the outputs go through principal components.
    modes : int, float or None
        Of `PCAOutputs`.
    sigma : float or None [unit of the outputs]
        Of `PCAOutputs`: the smallest noise of any output.
    weight_decay : float >= 0, "validation" or None
        Of the default candidates; None is their own default.
    """

    bounds: np.ndarray | None
    members: int
    many: bool
    modes: Any
    sigma: float | None
    weight_decay: Any = None

    def wrapped(self, model: Any) -> Any:
        """Return `model` itself, or behind the principal components of the outputs."""
        if not self.many or isinstance(model, WHOLE):
            return model
        return PCAOutputs(model, modes=self.modes, sigma=self.sigma)

    def baseline(self, entry: Any, seed: int) -> Any:
        """Return a fresh clone of an entry of `BASELINES` with the study's settings."""
        return self.wrapped(configured(entry, {"bounds": self.bounds}, seed))

    def network(self, kind: type, seed: int) -> Any:
        """Return one network of a kind, or an ensemble of them."""
        member = kind(bounds=self.bounds, weight_decay=self.weight_decay, random_state=seed)
        if self.members > 1:
            member = DeepEnsemble(member, size=self.members, random_state=seed)
        return self.wrapped(member)


def candidate_method(candidate: Any, making: Making) -> Method:
    """Return the method on trial.

    Parameters
    ----------
    candidate : str, estimator, function, array or path
        A name in `NETWORKS`, or what the user brought.
    making : Making

    Raises
    ------
    StudyError
        For a number of members that makes no ensemble, a weight decay that no network takes or that
        is meant for what the user brought, and for what cannot be brought.
    """
    check_decay(making.weight_decay)
    whole = isinstance(making.members, int | np.integer) and not isinstance(making.members, bool)
    if not whole or not 1 <= making.members <= MOST_MEMBERS:
        raise StudyError(
            f"`members` must be a whole number from 1 to {MOST_MEMBERS}, got {making.members!r}.",
            hint="5 members are usual; 1 is a single network, without a spread.",
        )
    for name, kind, one, several in NETWORKS:
        if isinstance(candidate, str) and candidate == name:
            called = f"Ensemble of {making.members} {several}" if making.members > 1 else one
            about = DeepEnsemble.about if making.members > 1 else kind.about
            return Method(
                called, lambda seed, k=kind: making.network(k, seed), _about(about, making)
            )
    if making.weight_decay is not None:
        raise StudyError(
            f"`weight_decay` is for {', '.join(name for name, *_ in NETWORKS)}, and the candidate "
            "was brought.",
            hint="Leave it out, or give it to the object that you bring.",
        )
    method = bring(candidate)
    if any(method.name == b.name for b in BASELINES):
        return dataclasses.replace(method, name=f"{method.name} (candidate)")
    return method


def baseline_methods(making: Making) -> tuple[Method, ...]:
    """Return one method for each entry of `BASELINES`."""
    return tuple(
        Method(
            b.name,
            lambda seed, b=b: making.baseline(b, seed),
            b.about if isinstance(b, WHOLE) else _about(b.about, making),
        )
        for b in BASELINES
    )


def _about(text: str, making: Making) -> str:
    return text + (" Of the outputs' principal components." if making.many else "")


def thinned(estimator: Any, n: int, seed: int) -> np.ndarray | None:
    """Return the runs (ascending) that a Gaussian process learns from; None for all of them.

    Its search is limited here too, where there are many runs: it has no clock of its own.
    """
    inner = estimator.model if isinstance(estimator, PCAOutputs) else estimator
    if not isinstance(inner, GaussianProcess):
        return None
    if n > MOST_SEARCHED and inner.final_rows is None:
        inner.set_params(final_rows=MOST_SEARCHED)
    if n <= MOST_GP_RUNS:
        return None
    return np.sort(np.random.default_rng(seed).choice(n, MOST_GP_RUNS, replace=False))
