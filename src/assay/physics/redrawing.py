"""New points for the equation during a training: whether they are needed, and where."""

from typing import Any

import numpy as np

from assay.physics.fitting import Setup, row_data
from assay.physics.points import in_box, resampled
from assay.train.rows import all_rows

CANDIDATES = 20  # times as many points are looked at as are drawn again
EVEN_SHARE = 0.2  # of them; more leaves too few for a shock (Burgers: 2e-4 with 1, 9e-5 with 0.2)
OVERFITTED = 3.0  # residual between the points over that at them
MORE_DRAWS = 3  # that join the points of the last steps
MATTERS = 1e-4  # residual between the points, in sizes of the terms, below which nobody minds


def may_draw(setup: Setup) -> bool:
    """Return whether points may be drawn again unasked: not where readings hold the solution."""
    return not setup.system.problem.readings


def overfitted(setup: Setup, params: Any, data: Any, places: tuple, seed: int) -> bool:
    """Return whether the residual between the points is much larger than at them.

    Parameters
    ----------
    setup : Setup
    params : weights
    data : RowData
        Of the training.
    places : tuple of arrays
        Its points; the first ones are those of the equation.
    seed : int
        Of as many fresh points.
    """
    fresh = in_box(_box(setup), len(places[0]), "latin", seed=seed)
    between = _size(setup, params, row_data(setup, (fresh, *places[1:])))
    return between > max(OVERFITTED * _size(setup, params, data), MATTERS)


def drawn_again(setup: Setup, params: Any, places: tuple, seed: int) -> np.ndarray:
    """Return as many points as before, half of them new, more where the residual is large.

    Parameters
    ----------
    setup, params, places
        As in `overfitted`.
    seed : int
        Another one each time, so that a draw never repeats the last one.
    """
    n = len(places[0])
    new = _new(setup, params, places, seed)
    # Half of the points stay: with all of them new, the weights swing between two sets.
    stay = np.random.default_rng(seed).choice(n, n // 2, replace=False)
    return np.concatenate([new, places[0][np.sort(stay)]])


def many_drawn(setup: Setup, params: Any, places: tuple, seed: int) -> np.ndarray:
    """Return all points so far, and `MORE_DRAWS` times the new ones of `drawn_again`.

    Parameters
    ----------
    setup, params, places, seed
        As in `drawn_again`.
    """
    new = [_new(setup, params, places, seed + i) for i in range(MORE_DRAWS)]
    return np.concatenate([places[0], *new])


def _new(setup, params, places, seed):
    """Return half as many points as there are."""
    n = len(places[0])
    many = in_box(_box(setup), CANDIDATES * n, "latin", seed=seed)
    size = []
    for start in range(0, len(many), n):
        # As many every time: one program serves all.
        some = (many[start : start + n], *places[1:])
        rows = all_rows(setup.terms, params, row_data(setup, some))[0]
        size.append(np.linalg.norm(np.asarray(rows), axis=1))
    return resampled(many, np.concatenate(size), n - n // 2, share=EVEN_SHARE, seed=seed)


def _box(setup):
    frame = setup.shared.frame
    return {v: (frame.low[i], frame.high[i]) for i, v in enumerate(setup.system.problem.box)}


def _size(setup, params, data):
    return float(np.linalg.norm(np.asarray(all_rows(setup.terms, params, data)[0])))
