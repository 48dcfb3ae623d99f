"""The same network as scikit-learn's MLPRegressor: ``surrogate_sklearn.py THREADS STEPS``."""

import json
import sys
import time
import warnings

from common import LAYERS, RUNS, SURROGATE_RATE, WIDTH, pin, runs

pin(int(sys.argv[1]))

from sklearn.exceptions import ConvergenceWarning  # noqa: E402 - NumPy counts its cores
from sklearn.neural_network import MLPRegressor  # noqa: E402


def main():
    """Train, measure and print."""
    steps = int(sys.argv[2])
    x, y = runs()
    model = MLPRegressor(
        hidden_layer_sizes=(WIDTH,) * LAYERS, activation="tanh", alpha=0.0, batch_size=RUNS,
        shuffle=False, learning_rate_init=SURROGATE_RATE, max_iter=steps, tol=0.0,
        n_iter_no_change=steps,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as many steps as were asked for
        clock = time.perf_counter()
        model.fit(x, y)
        seconds = time.perf_counter() - clock
    mse = float(((model.predict(x) - y) ** 2).mean())
    print(json.dumps({"step_us": 1e6 * seconds / model.n_iter_, "mse": mse}))


if __name__ == "__main__":
    main()
