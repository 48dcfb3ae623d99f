"""PyOD's AutoEncoder with the same layers: ``peer_pyod.py THREADS EPOCHS``."""

import json
import sys
import time

from common import BATCH, CODE, HIDDEN, RATE, images, pin

pin(int(sys.argv[1]))

import torch  # noqa: E402 - PyTorch counts its cores when it is imported
from pyod.models.auto_encoder import AutoEncoder  # noqa: E402


def train(x, epochs):
    """Fit a fresh detector; return the seconds."""
    detector = AutoEncoder(
        lr=RATE,
        epoch_num=epochs,
        batch_size=BATCH,
        hidden_neuron_list=[HIDDEN, CODE],
        # Its defaults add batch normalisation and dropout; off, so that the work is the same.
        batch_norm=False,
        dropout_rate=0.0,
        verbose=0,
    )
    clock = time.perf_counter()
    detector.fit(x)
    return time.perf_counter() - clock


def main():
    """Train, measure and print."""
    torch.set_num_threads(int(sys.argv[1]))
    x = images()
    train(x, 1)  # warm: nothing of PyOD's own start is counted
    print(json.dumps({"seconds": train(x, int(sys.argv[2]))}))


if __name__ == "__main__":
    main()
