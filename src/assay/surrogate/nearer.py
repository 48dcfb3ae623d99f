"""On how many test runs one method is nearer to the truth than another: what a mean hides."""

import dataclasses

import numpy as np

from assay.surrogate.scoring import share_interval
from assay.units import codes


@dataclasses.dataclass(frozen=True)
class Nearer:
    """On how many test runs the candidate has the smaller loss.

    Attributes
    ----------
    wins, n : int
        Of `n` independent test runs (groups, designs) the candidate is nearer on `wins`. Those
        where both are equally near are not among them.
    low, high : float [-]
        Clopper and Pearson's exact 95 % interval on that share: without a difference it holds
        one half.
    unit : str
        What is counted: ``"run"``, ``"group"`` or ``"run of equal inputs"``.
    """

    wins: int
    n: int
    low: float
    high: float
    unit: str = "run"

    @classmethod
    def of(cls, ours, theirs, units=None, unit: str = "run") -> "Nearer":
        """Count from losses of each run (n,) [-]; `units` (n,) says what was drawn independently.

        Examples
        --------
        >>> found = Nearer.of(np.array([1.0, 1.0, 3.0]), np.array([2.0, 2.0, 2.0]))
        >>> found.wins, found.n, found.decided
        (2, 3, False)
        """
        gap = np.asarray(ours, float) - np.asarray(theirs, float)
        if units is not None:
            gap = np.bincount(codes(units, len(gap))[0], weights=gap)
        n, wins = int(np.sum(gap != 0.0)), int(np.sum(gap < 0.0))
        if not n:
            return cls(0, 0, 0.0, 1.0, unit)
        low, high = share_interval(100.0 * wins / n, n)
        return cls(wins, n, low / 100.0, high / 100.0, unit)

    @property
    def decided(self) -> bool:
        """Whether the interval leaves one half out: one of the two is nearer on most runs."""
        return self.low > 0.5 or self.high < 0.5

    @property
    def ours(self) -> bool:
        """Whether it is the candidate that is nearer on more of them."""
        return 2 * self.wins > self.n

    def said(self, ours: str, theirs: str) -> str:
        """Return ``"the Gaussian process is nearer on 29 of 30 test runs"``, without a full stop.

        Parameters
        ----------
        ours, theirs : str
            What the methods are called inside a sentence.

        Examples
        --------
        >>> Nearer(1, 30, 0.001, 0.172).said("MLP", "Gaussian process")
        'the Gaussian process is nearer on 29 of 30 test runs'
        """
        count = self.wins if self.ours else self.n - self.wins
        what = {"run": "test runs", "group": "groups of test runs"}.get(self.unit, "test designs")
        return f"the {ours if self.ours else theirs} is nearer on {count:,} of {self.n:,} {what}"

    @property
    def share(self) -> str:
        """Return the interval on the share of the method that is nearer: ``"83 to 100 %"``."""
        ends = (self.low, self.high) if self.ours else (1.0 - self.high, 1.0 - self.low)
        low, high = (f"{100.0 * end:.3g}" if end > 0.99 else f"{100.0 * end:.2g}" for end in ends)
        return f"{low} to {high} %"
