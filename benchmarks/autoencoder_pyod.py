"""PyOD's AutoEncoder with the same layers: ``peer_pyod.py THREADS EPOCHS [plain]``.

As it comes it adds batch normalisation and dropout; ``plain`` switches both off, so that the
arithmetic is the same as on the other sides.
"""

import json
import sys
import time

from common import BATCH, CODE, HIDDEN, RATE, images, pin

pin(int(sys.argv[1]))

import torch  # noqa: E402 - PyTorch counts its cores when it is imported
from pyod.models.auto_encoder import AutoEncoder  # noqa: E402


def train(x, epochs, *, plain):
    """Fit a fresh detector; return the seconds."""
    off = {"batch_norm": False, "dropout_rate": 0.0} if plain else {}
    detector = AutoEncoder(
        lr=RATE,
        epoch_num=epochs,
        batch_size=BATCH,
        hidden_neuron_list=[HIDDEN, CODE],
        verbose=0,
        **off,
    )
    clock = time.perf_counter()
    detector.fit(x)
    return time.perf_counter() - clock


def main():
    """Train, measure and print."""
    torch.set_num_threads(int(sys.argv[1]))
    x, plain = images(), "plain" in sys.argv
    train(x, 1, plain=plain)  # warm: nothing of PyOD's own start is counted
    print(json.dumps({"seconds": train(x, int(sys.argv[2]), plain=plain)}))


if __name__ == "__main__":
    main()
