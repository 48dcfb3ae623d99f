"""Section 10: residual layers with shared weights against the differential equation."""

import numpy as np
from scipy.integrate import solve_ivp

LAYERS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
END = 2.0
STARTS = np.array([[1.0, 0.0], [0.0, -1.2], [-0.8, 0.8]])


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    rng = np.random.default_rng(9)
    weight = np.array([[0.3, -2.0], [2.0, 0.3]]) + 0.5 * rng.normal(size=(2, 2))
    bias = 0.3 * rng.normal(size=2)
    error = errors(weight, bias)
    slopes = [slope(errors(*draw(seed))) for seed in range(10)]
    halving = [error[n] / error[2 * n] for n in LAYERS[1:-1]]
    each = {f"000-s10-err-L{n}": {"difference": error[n]} for n in LAYERS}
    return each | {
        "000-s10-slope": {
            "slope": slope(error), "others lowest": min(slopes), "others highest": max(slopes),
        },
        "000-s10-halving": {"lowest": min(halving), "highest": max(halving)},
        "000-s10-coarse-fine": {"ratio": error[4] / error[16]},
    }  # fmt: skip


def draw(seed):
    """Return other weights and biases of the same law."""
    rng = np.random.default_rng((9, seed))
    rotation = np.array([[0.3, -2.0], [2.0, 0.3]])
    return rotation + 0.5 * rng.normal(size=(2, 2)), 0.3 * rng.normal(size=2)


def errors(weight, bias):
    """Return, for each number of layers, the largest difference to the equation at the end."""

    def block(h):
        return np.tanh(h @ weight.T + bias)

    def rate(_, flat):
        return block(flat.reshape(STARTS.shape)).ravel()

    exact = solve_ivp(rate, (0.0, END), STARTS.ravel(), method="DOP853", rtol=1e-12, atol=1e-12)
    exact, found = exact.y[:, -1].reshape(STARTS.shape), {}
    for n in LAYERS:
        h = STARTS
        for _ in range(n):
            h = h + END / n * block(h)
        found[n] = np.abs(h - exact).max()
    return found


def slope(error):
    """Return the slope of the log error against the log of the layers, from 16 layers on."""
    fine = LAYERS[3:]
    return np.polyfit(np.log(fine), np.log([error[n] for n in fine]), 1)[0]
