"""Profile likelihood: which values of an unknown the readings allow, with the others refitted."""

import dataclasses
import itertools

import numpy as np

from assay.physics.misfit import Misfit

CHI2_95 = 3.841458820694124  # chi-square with one degree of freedom
MOST = 10  # evaluations a side


@dataclasses.dataclass(frozen=True, eq=False)
class Profile:
    """How the misfit rises when one unknown is held and the others are refitted.

    Attributes
    ----------
    name : str
    values : array of shape (n,) [unit of the unknown]
        Rising.
    rise : array of shape (n,) [-]
        Of chi-square above the best fit; of chi-square over the estimated variance where the
        noise is not given.
    interval : tuple of two floats [unit of the unknown]
        Where the rise stays below 3.84 (95 %), cut at the declared range.
    ends : tuple of two bool
        Whether the readings, rather than the declared range, set the lower and the upper end.
    """

    name: str
    values: np.ndarray
    rise: np.ndarray
    interval: tuple[float, float]
    ends: tuple[bool, bool]

    @property
    def identifiable(self) -> bool:
        """Whether the readings bound the unknown on both sides."""
        return all(self.ends)

    @property
    def sentence(self) -> str:
        """The result in words."""
        low, high = self.interval
        if self.identifiable:
            return f"{self.name} lies between {low:.4g} and {high:.4g} (95 %)."
        if any(self.ends):
            side = "above" if self.ends[0] else "below"
            known = low if self.ends[0] else high
            return f"{self.name} is not identifiable: the readings say {side} {known:.4g} only."
        return f"{self.name} is not identifiable: the readings allow every value of its range."


def profile_of(misfit: Misfit, best: np.ndarray, name: str, *, spread: float, unit: float = 1.0):
    r"""Return the Profile of one unknown.

    On both sides of the best fit the unknown is moved, and the others are refitted, until

    .. math:: \chi^2(\theta_i) - \chi^2(\hat\theta) > 3.84 .

    Parameters
    ----------
    misfit : Misfit
    best : array of shape (n_unknown,)
        Shares of the best fit.
    name : str
        The unknown.
    spread : float [-]
        Standard error as a share of the range: sets the steps.
    unit : float
        What chi-square is divided by: 1, or the estimated variance of a reading.

    References
    ----------
    .. [1] A. Raue et al., Structural and practical identifiability analysis of partially observed
       dynamical models by exploiting the profile likelihood, Bioinformatics 25 (2009) 1923-1929.
    """
    i = misfit.names.index(name)
    lowest = misfit.chi2(best)
    found = {float(best[i]): 0.0}
    ends, edges = [], []
    for side in (-1.0, 1.0):
        edge, closed = _side(misfit, best, i, side, spread, lowest, unit, found)
        edges.append(edge)
        ends.append(closed)
    shares = np.array(sorted(found))
    at = [misfit.values(np.where(np.arange(len(best)) == i, s, best))[name] for s in shares]
    ends_at = [misfit.values(np.where(np.arange(len(best)) == i, s, best))[name] for s in edges]
    return Profile(
        name, np.array(at), np.array([found[s] for s in shares]), tuple(ends_at), tuple(ends)
    )


def _side(misfit, best, i, side, spread, lowest, unit, found):
    """Walk to one side until the misfit has risen enough; return (edge, whether it did)."""
    others = [j for j in range(len(best)) if j != i]
    limit = 1.0 if side > 0 else 0.0
    room = abs(limit - best[i])
    if room < 1e-9:
        return limit, False
    step = float(np.clip(np.sqrt(CHI2_95) * spread, 1e-8, 0.25))
    here, before = best.copy(), (0.0, 0.0)

    def rise_at(distance):
        here[i] = limit if distance >= room else best[i] + side * distance
        moved, chi2 = misfit.descend(here, free=others, evaluations=10)
        if others and np.isfinite(chi2):
            here[:] = moved
        rise = float(min((chi2 - lowest) / unit, 1e12))
        found[float(here[i])] = rise
        return rise

    distance = min(step, room)
    for count in itertools.count(1):
        rise = rise_at(distance)
        if rise > CHI2_95:
            break
        if distance >= room or count >= MOST:
            return limit, False
        before = (distance, max(rise, 0.0))
        factor = np.sqrt(CHI2_95 / max(rise, 0.1 * CHI2_95)) * 1.05  # rises like a square
        distance = min(distance * float(max(factor, 1.05)), room)
    # The root of the rise is nearly linear: one more point between, then interpolate.
    after = (distance, rise)
    between = _crossing(before, after)
    middle = (between, max(rise_at(between), 0.0))
    before, after = (middle, after) if middle[1] < CHI2_95 else (before, middle)
    return best[i] + side * _crossing(before, after), True


def _crossing(before, after):
    (a, low), (b, high) = before, after
    low, high = np.sqrt(low), np.sqrt(high)
    return a + (b - a) * float((np.sqrt(CHI2_95) - low) / max(high - low, 1e-300))
