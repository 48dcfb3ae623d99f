"""Points along one variable, and how to differentiate and interpolate on them."""

import dataclasses
import math

import numpy as np

# Points of a finite difference stencil: sixth order for u_x and u_xx inside.
STENCIL = 7


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """Points along one variable.

    Attributes
    ----------
    name : str
    kind : {"Chebyshev", "Fourier", "graded"}
    ends : (float, float)
    nodes : array of shape (n,)
        Rising. Fourier points leave the upper end out, which is the lower one again.
    operators : tuple
        For derivatives of order 0, 1, 2 ...: a matrix (n, n), or a stencil: indices and weights,
        both (n, w).
    finer : array of shape (m,), and blend : array of shape (m, n)
        Where the interpolant of the points is tabulated for splines, and how to get there.
    """

    name: str
    kind: str
    ends: tuple[float, float]
    nodes: np.ndarray
    operators: tuple
    finer: np.ndarray
    blend: np.ndarray | None

    @property
    def is_dense(self) -> bool:
        """Whether each derivative looks at all points."""
        return self.kind != "graded"


def chebyshev(name: str, ends: tuple[float, float], n: int, highest: int) -> Axis:
    """Return n Chebyshev points of the second kind, both ends among them.

    Derivative matrices by the recursion of Welfert for barycentric weights.
    """
    theta = np.pi * np.arange(n)[::-1] / (n - 1)
    unit = np.cos(theta)
    half = (ends[1] - ends[0]) / 2.0
    weights = (-1.0) ** np.arange(n)
    weights[[0, -1]] *= 0.5
    i, j = np.meshgrid(theta, theta, indexing="ij")
    gaps = -2.0 * np.sin((i + j) / 2.0) * np.sin((i - j) / 2.0)  # unit[i] - unit[j], no rounding
    np.fill_diagonal(gaps, 1.0)
    operators = [np.eye(n)]
    ratio = weights[None, :] / weights[:, None]
    for order in range(1, highest + 1):
        last = operators[-1]
        now = order / gaps * (ratio * np.diag(last)[:, None] - last)
        np.fill_diagonal(now, 0.0)
        np.fill_diagonal(now, -now.sum(axis=1))
        operators.append(now)
    scaled = tuple(matrix / half**k for k, matrix in enumerate(operators))
    nodes = ends[0] + half * (unit + 1.0)
    nodes[0], nodes[-1] = ends
    fine = np.cos(np.pi * np.arange(4 * n)[::-1] / (4 * n - 1))
    return Axis(
        name,
        "Chebyshev",
        ends,
        nodes,
        scaled,
        np.clip(ends[0] + half * (fine + 1.0), *ends),
        barycentric(unit, weights, fine),
    )


def barycentric(nodes: np.ndarray, weights: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the matrix (m, n) from values at nodes to values of their polynomial at places."""
    gaps = places[:, None] - nodes[None, :]
    hit = np.abs(gaps) < 1e-15
    parts = weights / np.where(hit, 1.0, gaps)
    blend = parts / parts.sum(axis=1, keepdims=True)
    on_node = hit.any(axis=1)
    blend[on_node] = hit[on_node]
    return blend


def fourier(name: str, ends: tuple[float, float], n: int, highest: int) -> Axis:
    """Return n even points (n even) on a ring."""
    length = ends[1] - ends[0]
    step = length / n
    waves = 2.0 * np.pi * np.fft.fftfreq(n, step)
    spectrum = np.fft.fft(np.eye(n), axis=0)
    operators = []
    for order in range(highest + 1):
        factor = (1j * waves) ** order
        if order % 2:
            factor[n // 2] = 0.0  # the saw-tooth has no slope that the points could see
        operators.append(np.fft.ifft(factor[:, None] * spectrum, axis=0).real)
    nodes = ends[0] + step * np.arange(n)
    finer = np.linspace(*ends, 4 * n + 1)
    padded = np.zeros((4 * n, n), complex)
    padded[: n // 2], padded[-(n // 2) + 1 :] = spectrum[: n // 2], spectrum[n // 2 + 1 :]
    padded[n // 2] = padded[-(n // 2)] = spectrum[n // 2] / 2.0
    blend = 4.0 * np.fft.ifft(padded, axis=0).real
    return Axis(
        name, "Fourier", ends, nodes, tuple(operators), finer, np.vstack([blend, blend[:1]])
    )


def graded(name: str, ends: tuple[float, float], nodes: np.ndarray, highest: int) -> Axis:
    """Return given points with finite differences on the nearest seven (or nine)."""
    width = min(STENCIL if highest <= 2 else STENCIL + 2, len(nodes))
    first = np.clip(np.arange(len(nodes)) - width // 2, 0, len(nodes) - width)
    index = first[:, None] + np.arange(width)
    weights = stencil_weights(nodes, nodes[index], highest)
    operators = tuple((index, weights[order]) for order in range(highest + 1))
    return Axis(name, "graded", ends, nodes, operators, nodes, None)


def stencil_weights(at: np.ndarray, nodes: np.ndarray, highest: int) -> np.ndarray:
    """Return weights of derivatives 0 to `highest` at places, from nodes around each.

    Parameters
    ----------
    at : array of shape (n,)
    nodes : array of shape (n, w), w > highest
    highest : int >= 0
        Order of the highest derivative.

    Returns
    -------
    array of shape (highest + 1, n, w)

    References
    ----------
    .. [1] B. Fornberg, Calculation of weights in finite difference formulas, SIAM Review 40
       (1998) 685-691.
    """
    n, width = nodes.shape
    scale = np.ptp(nodes, axis=1) / width  # else powers of small spacings underflow the recursion
    nodes, at = nodes / scale[:, None], at / scale
    weights = np.zeros((highest + 1, n, width))
    weights[0, :, 0] = 1.0
    before, gap = np.ones(n), nodes[:, 0] - at
    for i in range(1, width):
        product, last_gap, gap = np.ones(n), gap, nodes[:, i] - at
        old = weights[:, :, i - 1].copy()
        for j in range(i):
            apart = nodes[:, i] - nodes[:, j]
            product = product * apart
            for k in range(min(i, highest), -1, -1):
                lower = weights[k - 1, :, j] if k else 0.0
                weights[k, :, j] = (gap * weights[k, :, j] - k * lower) / apart
        for k in range(min(i, highest), -1, -1):
            lower = old[k - 1] if k else 0.0
            weights[k, :, i] = before / product * (k * lower - last_gap * old[k])
        before = product
    return weights / np.array([scale**k for k in range(highest + 1)])[:, :, None]


def graded_nodes(ends: tuple[float, float], density: "Density", n: int) -> np.ndarray:
    """Return n points, ends among them, as many in each part as the density asks for."""
    from scipy.interpolate import PchipInterpolator

    nodes = PchipInterpolator(density.share, density.places)(np.linspace(0.0, 1.0, n))
    nodes[0], nodes[-1] = ends
    return nodes


@dataclasses.dataclass(frozen=True, eq=False)
class Density:
    """Where points are needed: `share` (m,) of them lies below each of the `places` (m,)."""

    places: np.ndarray
    share: np.ndarray


# The spacing may change by a factor of about e^STEEPEST over all points.
STEEPEST = 6.0


def even_density(ends: tuple[float, float], denser: float) -> Density:
    """Return points that are even inside and so much denser at the ends."""
    places = np.linspace(*ends, 801)
    return density_of(places, np.zeros_like(places), denser)


def density_of(places: np.ndarray, need: np.ndarray, denser: float) -> Density:
    """Return the density for a need: half of the points even, half by need, and smooth.

    Parameters
    ----------
    places : array of shape (m,)
        Rising, from end to end.
    need : array of shape (m,) [1 / unit of the places]
        The larger, the smaller what has to be resolved there.
    denser : float >= 1
        By how much the points are at least denser at the ends.
    """
    length = places[-1] - places[0]
    whole = float(np.sum((need[1:] + need[:-1]) / 2.0 * np.diff(places)))
    spacing = 1.0 / (1.0 / length + need / (whole if whole > 0 else 1.0))
    spacing[[0, -1]] = np.minimum(spacing[[0, -1]], length / denser)
    count = len(places)
    fine = np.interp(np.linspace(0, count - 1, 4 * count - 3), np.arange(count), places)
    wanted = np.interp(fine, places, spacing)
    # The largest spacing below what is wanted that grows no faster than allowed.
    for order in (slice(None), slice(None, None, -1)):
        place, size = fine[order], wanted[order]
        gaps = np.abs(np.diff(place)) * STEEPEST
        for i in range(1, len(size)):
            size[i] = min(size[i], size[i - 1] + gaps[i - 1])
    dense = 1.0 / wanted
    share = np.concatenate([[0.0], np.cumsum((dense[1:] + dense[:-1]) / 2.0 * np.diff(fine))])
    return Density(fine, share / share[-1])


def roughness(axis: Axis, values: np.ndarray) -> float:
    """Return how much of the values lies in the last fifth of their spectrum: 0 to 1.

    Parameters
    ----------
    axis : Axis
        Chebyshev or Fourier.
    values : array of shape (n, m)
        Along the axis, for m times and fields.
    """
    from scipy.fft import dct, rfft

    n = len(axis.nodes)
    amplitude = np.abs(
        dct(values, type=1, axis=0) if axis.kind == "Chebyshev" else rfft(values.T).T
    )
    tail = amplitude[math.floor(0.8 * len(amplitude)) :].max(initial=0.0)
    return float(tail / (amplitude.max(initial=0.0) or 1.0)) if n > 4 else 1.0
