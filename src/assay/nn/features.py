"""Sines and cosines of the inputs, before the first layer."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from assay.errors import StudyError


@dataclasses.dataclass(frozen=True)
class Fourier:
    r"""Extra inputs :math:`\sin(k\pi\hat x), \cos(k\pi\hat x)` of inputs scaled to [-1, 1].

    With ``random`` above 0 the frequencies are drawn instead: a matrix of normal numbers of
    standard deviation ``scale`` maps all inputs to the angles [1]_.

    Parameters
    ----------
    frequencies : tuple of float
        The :math:`k`: whole ones make a function that repeats over the box, halves one that does
        not.
    of : tuple of str
        Which variables; all without it.
    random : int
        How many drawn angles, instead of `frequencies`.
    scale : float
        Standard deviation of the drawn angular frequencies over :math:`\pi`.
    seed : int
        Of the draw.

    References
    ----------
    .. [1] M. Tancik et al., Fourier features let networks learn high frequency functions in low
       dimensional domains, NeurIPS 2020, eq. (5).

    Examples
    --------
    >>> Fourier((1, 2, 4)).matrix(("t",)).shape
    (3, 1)
    """

    frequencies: tuple[float, ...] = (1, 2, 4)
    of: tuple[str, ...] = ()
    random: int = 0
    scale: float = 2.0
    seed: int = 0

    def __post_init__(self):
        object.__setattr__(self, "frequencies", tuple(self.frequencies))
        object.__setattr__(self, "of", (self.of,) if isinstance(self.of, str) else tuple(self.of))
        if self.random < 0 or not all(np.isfinite(k) and k > 0 for k in self.frequencies):
            raise StudyError(
                f"Fourier frequencies must be positive, got {self.frequencies!r} and "
                f"random={self.random!r}.",
                hint="frequencies=(1, 2, 4), or random=16.",
            )
        if not 0 < self.scale < np.inf:
            raise StudyError(f"`scale` must be positive, got {self.scale!r}.", hint="Try 2.")

    def matrix(self, names: tuple[str, ...]) -> np.ndarray:
        """Return the angular frequencies (n_angles, n_inputs) for inputs of these names."""
        for name in self.of:
            if name not in names:
                raise StudyError(
                    f"Fourier features of {name!r}, which is no input.",
                    hint=f"Inputs: {', '.join(names)}; a periodic variable has its own.",
                )
        used = [i for i, name in enumerate(names) if not self.of or name in self.of]
        if self.random:
            rng = np.random.default_rng(self.seed)
            rows = np.zeros((self.random, len(names)))
            rows[:, used] = self.scale * rng.normal(size=(self.random, len(used)))
        else:
            rows = np.zeros((len(used) * len(self.frequencies), len(names)))
            for i, column in enumerate(used):
                start = i * len(self.frequencies)
                rows[start : start + len(self.frequencies), column] = self.frequencies
        return np.pi * rows


def waves(angles):
    """Return sines and cosines of angles (n,) as (2 n,)."""
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)])
