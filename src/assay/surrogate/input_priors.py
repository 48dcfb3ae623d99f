"""What is known of the inputs before the data: a distribution each, kept inside the training box.

A surrogate says something outside the box too, and a sampler would go there and believe it.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import StudyError
from assay.surrogate.domain import check_bounds

MOST_OUTSIDE = 0.5  # share of a prior beyond the box from which an inversion makes no sense
NOTED_OUTSIDE = 0.01
_INSIDE_ONE = 1.0 - 2.0**-53  # the largest share below 1


@dataclasses.dataclass(frozen=True)
class Uniform:
    """Equally likely from `low` to `high` [unit of the input].

    Examples
    --------
    >>> float(Uniform(0.0, 4.0).share_below(1.0))
    0.25
    """

    low: float
    high: float

    def __post_init__(self):
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StudyError(
                f"A uniform prior needs a finite low below high, got {self.low!r}, {self.high!r}.",
                hint="Give Uniform(low, high) in the unit of the input.",
            )

    def share_below(self, x):
        """Return the prior probability [-] of less than `x`."""
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def quantile(self, share, xp=np):
        """Return the value that a `share` [-] lies below; `xp` is NumPy or ``jax.numpy``."""
        del xp  # the same in both
        return self.low + (self.high - self.low) * share


@dataclasses.dataclass(frozen=True)
class Normal:
    """Normal with `mean` and standard deviation `sd` > 0 [unit of the input].

    Examples
    --------
    >>> float(Normal(1.0, 2.0).quantile(0.5))
    1.0
    """

    mean: float
    sd: float

    def __post_init__(self):
        if not (math.isfinite(self.mean) and math.isfinite(self.sd) and self.sd > 0.0):
            raise StudyError(
                f"A normal prior needs a finite mean and a positive standard deviation, got "
                f"{self.mean!r}, {self.sd!r}.",
                hint="Give Normal(mean, sd) in the unit of the input.",
            )

    def share_below(self, x):
        """Return the prior probability [-] of less than `x`."""
        from scipy.special import ndtr

        return ndtr((x - self.mean) / self.sd)

    def quantile(self, share, xp=np):
        """Return the value that a `share` [-] lies below; `xp` is NumPy or ``jax.numpy``."""
        if xp is np:
            from scipy.special import ndtri
        else:
            from jax.scipy.special import ndtri
        return self.mean + self.sd * ndtri(share)


@dataclasses.dataclass(frozen=True)
class LogUniform:
    """Uniform in the logarithm, from `low` > 0 to `high` [unit of the input].

    Examples
    --------
    >>> round(float(LogUniform(0.01, 100.0).quantile(0.5)), 6)
    1.0
    """

    low: float
    high: float

    def __post_init__(self):
        if not (0.0 < self.low < self.high < math.inf):
            raise StudyError(
                f"A log-uniform prior needs 0 < low < high, got {self.low!r}, {self.high!r}.",
                hint="Give LogUniform(low, high) in the unit of the input; both positive.",
            )

    def share_below(self, x):
        """Return the prior probability [-] of less than `x`."""
        inside = np.clip(x, self.low, self.high)
        return np.log(inside / self.low) / math.log(self.high / self.low)

    def quantile(self, share, xp=np):
        """Return the value that a `share` [-] lies below; `xp` is NumPy or ``jax.numpy``."""
        return self.low * xp.exp(math.log(self.high / self.low) * share)


PRIORS = (Uniform, Normal, LogUniform)


@dataclasses.dataclass(frozen=True, eq=False)
class BoxedPrior:
    """Independent priors, cut off at the training box.

    Attributes
    ----------
    priors : tuple of Uniform, Normal or LogUniform, one per input
    names : tuple of str
    box : (d, 2) float64 [units of the inputs]
        Where samples may lie: the box and, for bounded priors, their ends.
    ends : (d, 2) float64 [-]
        Shares of the priors below the ends of the box.
    at_box : (d, 2) bool
        Whether an end of `box` is one of the training box, and not one of the prior.
    findings : tuple of str
        Which priors lie partly outside.
    """

    priors: tuple[Any, ...]
    names: tuple[str, ...]
    box: np.ndarray
    ends: np.ndarray
    at_box: np.ndarray
    findings: tuple[str, ...]

    def place(self, unit) -> np.ndarray:
        """Return inputs (..., d) [their units] from shares `unit` (..., d) of the cut priors."""
        return place(self.priors, self.ends, unit)

    @property
    def quantiles(self) -> np.ndarray:
        """Return the values (101, d) [units of the inputs] that 0, 1, ..., 100 % lie below."""
        shares = np.linspace(0.0, 1.0, 101)[:, None]
        return self.place(np.repeat(shares, len(self.priors), axis=1))

    def sample(self, n: int, seed: int) -> np.ndarray:
        """Return `n` independent draws (n, d) [units of the inputs]."""
        return self.place(np.random.default_rng(seed).random((n, len(self.priors))))


def place(priors, ends, unit, xp=np):
    """Return inputs (..., d) [their units] from shares of priors between `ends`.

    Parameters
    ----------
    priors : tuple
        One per input.
    ends : (d, 2) array [-]
        Shares of the priors below the ends of the box.
    unit : (..., d) array in [0, 1]
        Shares of what is between.
    xp : module, default numpy
        NumPy or ``jax.numpy``.
    """
    shares = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * unit
    # Rounding must not reach the share 1, which is infinitely far out for a normal prior.
    shares = xp.clip(shares, 1e-300, _INSIDE_ONE)
    columns = [prior.quantile(shares[..., j], xp) for j, prior in enumerate(priors)]
    return xp.stack(columns, axis=-1)


def training_box(surrogate: Any) -> np.ndarray | None:
    """Return the box (d, 2) [units of the inputs] of the runs a surrogate learned from, or None."""
    domain = getattr(surrogate, "domain_", None)
    if domain is not None:
        return np.array([domain.low, domain.high]).T
    scaler = getattr(surrogate, "scaler_", None)
    if getattr(surrogate, "bounds", None) is not None:
        return np.array(check_bounds(surrogate.bounds, surrogate.n_features_in_)).T
    return None if scaler is None else np.array([scaler.low, scaler.high]).T


def boxed_prior(prior, box, *, bounds=None, names=None) -> BoxedPrior:
    """Cut priors off at the training box.

    Parameters
    ----------
    prior : sequence of Uniform, Normal, LogUniform or None, one per input; or None
        None is uniform in the bounds, or in the box.
    box : (d, 2) array [units of the inputs]
        Training box.
    bounds : array of shape (d, 2), optional [units of the inputs]
        Where the inputs may be; what lies outside the box is cut off.
    names : sequence of str, optional

    Raises
    ------
    StudyError
        If a prior is none of these, or more than half of it lies outside the box.

    Examples
    --------
    >>> cut = boxed_prior([Normal(0.0, 1.0)], np.array([[-1.0, 3.0]]), names=["x"])
    >>> cut.findings[0][:60]
    'Of the prior of x, 16 % lies outside the training box, [-1, '
    """
    d = len(box)
    names = input_names(names, d)
    wanted = box if bounds is None else np.array(check_bounds(bounds, d)).T
    given = (None,) * d if prior is None else tuple(prior)
    if len(given) != d:
        raise StudyError(
            f"`prior` must have one entry for each of the {d} inputs, got {len(given)}.",
            hint="Give Uniform, Normal, LogUniform or None for each, in the order of the inputs.",
        )
    priors = tuple(
        _checked(one, ends, name) for one, ends, name in zip(given, wanted, names, strict=True)
    )
    each = zip(priors, box, names, strict=True)
    findings = [said for one, ends, name in each for said in _outside(one, ends, name)]
    edges = np.array([[p.quantile(1e-300), p.quantile(_INSIDE_ONE)] for p in priors])
    inner = np.stack(
        [
            np.max([box[:, 0], wanted[:, 0], edges[:, 0]], axis=0),
            np.min([box[:, 1], wanted[:, 1], edges[:, 1]], axis=0),
        ],
        axis=1,
    )
    ends = np.array([one.share_below(pair) for one, pair in zip(priors, inner, strict=True)])
    if (ends[:, 0] >= ends[:, 1]).any():
        j = int(np.argmax(ends[:, 0] >= ends[:, 1]))
        raise StudyError(
            f"The prior of {names[j]} and its bounds have nothing in common.",
            hint="Leave `bounds` out where there is a prior.",
        )
    slack = 1e-9 * (box[:, 1] - box[:, 0])
    at_box = np.array([inner[:, 0] <= box[:, 0] + slack, inner[:, 1] >= box[:, 1] - slack]).T
    return BoxedPrior(priors, names, inner, ends, at_box, tuple(findings))


def input_names(names, d: int) -> tuple[str, ...]:
    """Return `names` as a tuple of `d` texts, or x1, x2, ... where there are none."""
    if names is None:
        return tuple(f"x{j + 1}" for j in range(d))
    names = tuple(str(name) for name in names)
    if len(names) != d or len(set(names)) != d:
        raise StudyError(
            f"`names` must be {d} different names, got {list(names)}.",
            hint="Give the names of the inputs in their order.",
        )
    return names


def check_box(box) -> np.ndarray:
    """Return a training box (d, 2) as float64, or say what is wrong."""
    box = as_matrix(box, name="bounds", n_columns=2)
    return np.array(check_bounds(box, len(box)), dtype=np.float64).T


def _checked(prior, ends, name):
    prior = Uniform(*ends.tolist()) if prior is None else prior
    if not isinstance(prior, PRIORS):
        raise StudyError(
            f"The prior of {name} must be Uniform, Normal, LogUniform or None, got "
            f"{type(prior).__name__}.",
            hint="Import them from assay.surrogate.",
        )
    return prior


def _outside(prior, box, name):
    """Return what to say about the part of a prior outside the box; refuse if it is most of it."""
    below, above = prior.share_below(box)
    outside = float(1.0 - (above - below))
    if outside > MOST_OUTSIDE:
        raise StudyError(
            f"Of the prior of {name}, {100.0 * outside:.0f} % lies outside the training box, "
            f"[{box[0]:.6g}, {box[1]:.6g}], where the surrogate knows nothing.",
            hint="Run the simulator where the prior is, and train the surrogate on these runs.",
        )
    if outside <= NOTED_OUTSIDE:
        return []
    return [
        f"Of the prior of {name}, {100.0 * outside:.0f} % lies outside the training box, "
        f"[{box[0]:.6g}, {box[1]:.6g}], and is cut off: the posterior is that of the rest."
    ]
