"""The same network in the usual eager PyTorch loop: ``peer_torch.py THREADS EPOCHS``."""

import json
import sys
import time

from common import BATCH, CODE, COLUMNS, HIDDEN, RATE, images, pin

pin(int(sys.argv[1]))

import torch  # noqa: E402 - PyTorch counts its cores when it is imported
from torch import nn  # noqa: E402


def train(x, epochs):
    """Train a fresh network; return (network, seconds)."""
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Linear(COLUMNS, HIDDEN),
        nn.GELU(),
        nn.Linear(HIDDEN, CODE),
        nn.Linear(CODE, HIDDEN),
        nn.GELU(),
        nn.Linear(HIDDEN, COLUMNS),
        nn.Sigmoid(),
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    clock = time.perf_counter()
    for _ in range(epochs):
        # Splitting a shuffle, because a DataLoader would only add its own cost to the peer's side.
        for rows in torch.randperm(len(x)).split(BATCH):
            batch = x[rows]
            loss = nn.functional.mse_loss(network(batch), batch)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return network, time.perf_counter() - clock


def main():
    """Train, measure and print."""
    torch.set_num_threads(int(sys.argv[1]))
    x = torch.from_numpy(images())
    train(x, 1)  # warm: nothing of PyTorch's own start is counted
    network, seconds = train(x, int(sys.argv[2]))
    with torch.no_grad():
        mse = float(((network(x) - x) ** 2).mean())
    print(json.dumps({"seconds": seconds, "mse": mse}))


if __name__ == "__main__":
    main()
