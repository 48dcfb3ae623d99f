"""Coordinates in which a curved posterior is nearly a standard normal one.

Steps of a sampler have one size. A ridge that bends, or is narrow at one end and wide at the other,
asks for as many sizes as it has places; in these coordinates it is straight and equally wide.
"""

import itertools
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

LEADING = 3  # directions of largest spread that the others may bend along
DEGREE = 3
REACH = 3.0  # standard deviations, beyond which curves go on level
MOST_LOG = 3.0  # of the logarithm of a ridge's width over its mean width
_RIDGE = 1e-3  # on coefficients, relative to the number of draws
_LOG_CHI = -1.2704  # mean of the logarithm of a squared standard normal number


class Straight(eqx.Module):
    r"""A triangular map [1]_ from coordinates w to logits u.

    .. math:: u = c + A z, \qquad z_k = m_k(z_{<k}) + \exp(s_k(z_{<k}))\, w_k,

    with principal axes A of draws, largest spread first, and polynomials m and s of degree three in
    :math:`3 \tanh(z / 3)`, the latter kept within 3 in the same way. It is one to one whatever its
    coefficients.

    Attributes
    ----------
    centre : (d,) [-]
    axes : (d, d) [-]
    shift, width : (d, t) [-]
        Coefficients of m and s, a row each coordinate, zero where a term has a later coordinate.

    References
    ----------
    .. [1] M. Parno, Y. Marzouk, Transport map accelerated Markov chain Monte Carlo, SIAM/ASA J.
       Uncertainty Quantification 6 (2018) 645-682, sec. 2.
    """

    centre: Any
    axes: Any
    shift: Any
    width: Any

    def logits(self, w):
        """Return logits (d,) at `w` (d,) and the log determinant that goes with them [-]."""
        d, z = len(self.centre), jnp.asarray(w)
        for k in range(1, d):
            last = k >= _leading(d)  # no later coordinate is in a term: the rest in one go
            rows = slice(k, d) if last else slice(k, k + 1)
            terms = _terms(z, jnp)
            moved = self.shift[rows] @ terms + jnp.exp(_kept(self.width[rows] @ terms)) * w[rows]
            z = z.at[rows].set(moved)
            if last:
                break
        return self.centre + self.axes @ z, _kept(self.width @ _terms(z, jnp)).sum()

    def back(self, u):
        """Return the coordinates (d,) of logits `u` (d,)."""
        z = jnp.linalg.solve(self.axes, u - self.centre)
        terms = _terms(z, jnp)
        return (z - self.shift @ terms) * jnp.exp(-_kept(self.width @ terms))


def unchanged(d: int) -> Straight:
    """Return the map that leaves `d` logits as they are."""
    flat = np.zeros((d, len(_powers(d))))
    return Straight(np.zeros(d), np.eye(d), flat, flat)


def straightened(logits) -> Straight:
    """Return the map in which draws (n, d) of logits are nearly standard normal.

    Examples
    --------
    >>> a, b = np.random.default_rng(0).normal(size=(2, 2000))
    >>> bent = np.stack([3.0 * a, a**2 + 0.1 * b], axis=1)
    >>> straight = straightened(bent)
    >>> import jax
    >>> with jax.enable_x64(True):
    ...     w = np.asarray(jax.vmap(straight.back)(bent))
    >>> for each in (bent, w):  # most of the bend is gone
    ...     bool(np.abs(np.corrcoef(each[:, 0] ** 2, each[:, 1])[0, 1]) < 0.5)
    False
    True
    """
    n, d = logits.shape
    centre = logits.mean(axis=0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(logits.T)))
    sd = np.sqrt(np.maximum(values[::-1], 1e-12 * values[-1]))
    axes = vectors[:, ::-1] * sd
    z = (logits - centre) @ vectors[:, ::-1] / sd
    terms, powers = _terms(z.T, np).T, _powers(d)
    shift, width = np.zeros((2, d, len(powers)))
    for k in range(1, d):
        mine = powers[:, k:].sum(axis=1) == 0
        own = terms[:, mine]
        weights = np.ones(n)
        for _ in range(3):
            shift[k, mine] = _fit(own, z[:, k], weights)
            left = z[:, k] - own @ shift[k, mine]
            logs = np.log(left**2 + 1e-3 * np.mean(left**2)) - _LOG_CHI
            width[k, mine] = 0.5 * _fit(own, logs, np.ones(n))
            weights = np.exp(-2.0 * MOST_LOG * np.tanh(own @ width[k, mine] / MOST_LOG))
            weights /= weights.mean()
    return Straight(centre, axes, shift, width)


def _fit(terms, values, weights):
    scaled = terms * weights[:, None]
    matrix = terms.T @ scaled + _RIDGE * len(terms) * np.eye(terms.shape[1])
    return np.linalg.solve(matrix, scaled.T @ values)


def _kept(logs):
    return MOST_LOG * jnp.tanh(logs / MOST_LOG)


def _leading(d):
    return min(LEADING, d - 1)


def _powers(d):
    """Return the exponents (t, d) of all terms."""
    lead = _leading(d)
    each = [p for p in itertools.product(range(DEGREE + 1), repeat=lead) if sum(p) <= DEGREE]
    return np.pad(np.array(each, dtype=int).reshape(len(each), lead), ((0, 0), (0, d - lead)))


def _terms(z, xp):
    """Return the terms (t, ...) of coordinates (d, ...)."""
    d = len(z)
    reached = REACH * xp.tanh(z / REACH)
    powers = [xp.stack([reached[j] ** p for p in range(DEGREE + 1)]) for j in range(_leading(d))]
    columns = _powers(d)
    found = xp.ones((len(columns), *z.shape[1:]), dtype=z.dtype)
    for j, table in enumerate(powers):
        found = found * table[columns[:, j]]
    return found
