"""The same network in the usual eager PyTorch loop: ``surrogate_torch.py THREADS STEPS``."""

import itertools
import json
import sys
import time

from common import INPUTS, LAYERS, OUTPUTS, SURROGATE_RATE, WIDTH, pin, runs

pin(int(sys.argv[1]))

import torch  # noqa: E402 - PyTorch counts its cores when it is imported
from torch import nn  # noqa: E402


def train(x, y, steps):
    """Train a fresh network; return (network, seconds)."""
    torch.manual_seed(0)
    sizes = [INPUTS, *[WIDTH] * LAYERS]
    layers = []
    for m, n in itertools.pairwise(sizes):
        layers += [nn.Linear(m, n), nn.Tanh()]
    network = nn.Sequential(*layers, nn.Linear(WIDTH, OUTPUTS))
    optimiser = torch.optim.Adam(network.parameters(), lr=SURROGATE_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    clock = time.perf_counter()
    for _ in range(steps):
        loss = nn.functional.mse_loss(network(x), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return network, time.perf_counter() - clock


def main():
    """Train, measure and print."""
    torch.set_num_threads(int(sys.argv[1]))
    steps = int(sys.argv[2])
    x, y = map(torch.from_numpy, runs())
    train(x, y, 50)  # warm: nothing of PyTorch's own start is counted
    network, seconds = train(x, y, steps)
    with torch.no_grad():
        mse = float(((network(x) - y) ** 2).mean())
    print(json.dumps({"step_us": 1e6 * seconds / steps, "mse": mse}))


if __name__ == "__main__":
    main()
