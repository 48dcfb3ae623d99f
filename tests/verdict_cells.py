"""Simulated studies without any gain: the cells in which EARNED must stay rare.

Run this file to print the figures of ``docs/verdict.md``. Nothing here uses the library: a cell
yields candidate losses, baseline losses and the arguments that say what is independent.
"""

import dataclasses
import zlib

import numpy as np
from scipy.signal import lfilter
from scipy.stats import norm

LAWS = ("normal", "lognormal", "binary")
ERROR_RATE = 0.2
STUDIES = 2000


@dataclasses.dataclass(frozen=True)
class Cell:
    """One set-up: losses of one law, with what makes them dependent."""

    kind: str  # "items", "groups" or "series"
    law: str
    n: int  # items; for groups the number of groups
    correlation: float  # between candidate and baseline (series: 0.5), see `within`
    seeds: int = 1
    within: float = 0.0  # correlation within a group, or the AR(1) coefficient
    uneven: bool = False  # groups of very different size

    @property
    def name(self):
        parts = [self.kind, self.law, str(self.n), f"pair {self.correlation}"]
        if self.kind != "items":
            parts.append(f"within {self.within}")
        if self.uneven:
            parts.append("uneven")
        return ", ".join([*parts, f"{self.seeds} seed" + "s" * (self.seeds > 1)])


ITEMS = tuple(
    Cell("items", law, n, rho, seeds)
    for law in LAWS
    for n in (20, 50, 200, 1000)
    for rho in (0.0, 0.5, 0.9)
    for seeds in (1, 3)
)
GROUPS = tuple(
    Cell("groups", law, n, 0.5, seeds, within, uneven)
    for law in LAWS
    for n in (5, 10, 30)
    for within in (0.3, 0.7)
    for uneven in (False, True)
    for seeds in (1, 3)
)
SERIES = tuple(
    Cell("series", law, n, 0.5, seeds, within)
    for law in LAWS
    for n in (200, 1000)
    for within in (0.3, 0.6, 0.9)
    for seeds in (1, 3)
)


def losses(z, law):
    """Losses of mean > 0 from standard normal variables."""
    if law == "normal":
        return 5.0 + z
    return np.exp(z) if law == "lognormal" else (z < norm.ppf(ERROR_RATE)).astype(float)


def simulate(cell, *, studies=STUDIES, gain=0.0, salt=""):
    """Candidate and baseline losses of shape (studies, items), and keyword arguments.

    `gain` scales the candidate's losses down by that share.
    """
    rng = np.random.default_rng(zlib.crc32((cell.name + salt).encode()))
    ids = None
    if cell.kind == "groups":
        sizes = np.full(cell.n, 20)
        if cell.uneven:
            sizes = np.maximum(2, 20 * np.exp(0.8 * rng.standard_normal(cell.n))).astype(int)
        ids = np.repeat(np.arange(cell.n), sizes)
    n = cell.n if ids is None else ids.size

    def noise():
        z = rng.standard_normal((studies, n + (300 if cell.kind == "series" else 0)))
        if cell.kind == "groups":
            group = rng.standard_normal((studies, cell.n))[:, ids]
            return np.sqrt(cell.within) * group + np.sqrt(1 - cell.within) * z
        if cell.kind == "series":
            phi = cell.within
            return lfilter([np.sqrt(1 - phi * phi)], [1, -phi], z, axis=1)[:, 300:]
        return z

    shared = noise()

    def contender():
        rho = cell.correlation
        return losses(np.sqrt(rho) * shared + np.sqrt(1 - rho) * noise(), cell.law)

    baseline = contender()
    candidate = sum(contender() for _ in range(cell.seeds)) / cell.seeds
    extra = {"items": {}, "groups": {"units": ids}, "series": {"blocks": "auto"}}[cell.kind]
    return candidate * (1.0 - gain), baseline, extra


def earned(cell, *, word="earned", ignore=False, margin=0.0, **options):
    """Share of simulated studies that end in EARNED, or in another word [-]."""
    from assay.verdict import decide, paired_gain

    candidate, baseline, extra = simulate(cell, **options)
    extra = {} if ignore else extra
    words = [
        decide(paired_gain(c, b, **extra), (), margin=margin).word
        for c, b in zip(candidate, baseline, strict=True)
    ]
    return words.count(word) / len(words)


if __name__ == "__main__":
    for cells in (ITEMS, GROUPS, SERIES):
        for cell in cells:
            ignored = "" if cell.kind == "items" else f"  ignoring {earned(cell, ignore=True):.2%}"
            print(f"{cell.name:60s} {earned(cell):.2%}{ignored}", flush=True)
