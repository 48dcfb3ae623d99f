"""The oscillator in the usual eager PyTorch loop: ``physics_torch.py THREADS STEPS``."""

import json
import sys
import time

from common import (
    DAMPING,
    OSCILLATOR_POINTS,
    PERIODS,
    PHYSICS_LAYERS,
    PHYSICS_RATE,
    PHYSICS_WIDTH,
    oscillation,
    pin,
)

pin(int(sys.argv[1]))

import math  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402 - PyTorch counts its cores when it is imported
from torch import nn  # noqa: E402

TARGET = 4e-4


def slope(u, s):
    """Return du/ds, itself differentiable."""
    return torch.autograd.grad(u.sum(), s, create_graph=True)[0]


def train(steps):
    """Train; return (seconds, seconds to the target or None, best error)."""
    torch.manual_seed(0)
    end = 2.0 * math.pi * PERIODS
    layers = [nn.Linear(1, PHYSICS_WIDTH), nn.Tanh()]
    for _ in range(PHYSICS_LAYERS - 1):
        layers += [nn.Linear(PHYSICS_WIDTH, PHYSICS_WIDTH), nn.Tanh()]
    network = nn.Sequential(*layers, nn.Linear(PHYSICS_WIDTH, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=PHYSICS_RATE)
    s = torch.linspace(0.0, end, OSCILLATOR_POINTS)[:, None].requires_grad_()
    start = torch.zeros(1, 1, requires_grad=True)
    times = np.linspace(0.0, end, 1000)
    exact, at = oscillation(times), torch.tensor(times, dtype=torch.float32)[:, None] / end
    spent, reached, lowest = 0.0, None, math.inf
    for step in range(steps):
        clock = time.perf_counter()
        u = network(s / end)
        v = slope(u, s)
        residual = slope(v, s) + 2.0 * DAMPING * v + u
        u0 = network(start / end)
        condition = (u0 - 1.0) ** 2 + slope(u0, start) ** 2
        loss = (residual**2).mean() + condition.mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        spent += time.perf_counter() - clock
        if step % 100 == 99:  # looking is not charged
            with torch.no_grad():
                error = network(at)[:, 0].numpy() - exact
            error = float(np.linalg.norm(error) / np.linalg.norm(exact))
            lowest = min(lowest, error)
            if error <= TARGET and reached is None:
                reached = spent
    return spent, reached, lowest


def main():
    """Train, measure and print."""
    torch.set_num_threads(int(sys.argv[1]))
    steps = int(sys.argv[2])
    train(20)  # warm
    spent, reached, lowest = train(steps)
    told = {"step_us": 1e6 * spent / steps, "seconds": spent, "reached_s": reached}
    print(json.dumps(told | {"error": lowest}))


if __name__ == "__main__":
    main()
