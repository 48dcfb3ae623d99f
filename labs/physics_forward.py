"""Lab 4, steps 1 to 6: the trivial solution, a weight against it, and units against it."""

import functools as ft

import numpy as np
from physics_shared import END, W0, ZETA, at, middle, natural, starts, together, train

from assay.physics.gallery import oscillator
from assay.physics.known import oscillator_exact

SHORT, LONG = 3000, 10_000
LATE = LONG - LONG // 5


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of these steps."""
    prepare()
    return {**known(), **untrained(), **trivial(), **unweighted(), **weighted(), **in_units()}


def prepare():
    """Train whatever these steps look at, two networks at a time."""
    together([unit_weight, no_weight, weight_100, natural_units, cosine, automatic])


@ft.cache
def unit_weight():
    """Train in seconds, condition weight 1."""
    return starts(oscillator(), SHORT)


@ft.cache
def no_weight():
    """Train in seconds without the conditions."""
    return train(oscillator(), SHORT, condition=0.0)


@ft.cache
def weight_100():
    """Train in seconds, condition weight 100."""
    return starts(oscillator(), LONG, condition=100.0)


@ft.cache
def natural_units():
    """Train in natural units, condition weight 1."""
    return starts(natural(), LONG)


@ft.cache
def cosine():
    """Train in natural units, with a rate that falls to zero."""
    return starts(natural(), LONG, schedule="cosine")


@ft.cache
def automatic():
    """Train in seconds, scaled by Assay."""
    return train(oscillator(), LONG, scaling="auto")


def known():
    """Describe the exact solution."""
    damped = W0 * np.sqrt(1.0 - ZETA**2)
    t = np.linspace(0.0, END, 1000)
    u = oscillator_exact(t)
    size = np.sqrt(np.mean(u**2))
    start, quarter, end = oscillator_exact(np.array([0.0, 0.25, END]))
    return {
        "004-lab4-freq": {"Hz": damped / (2.0 * np.pi)},
        "004-lab4-values": {"u 0": start, "u 0p25": quarter, "u 2": end},
        "004-lab4-late-max": {"largest": np.abs(u[t > 1.0]).max()},
        "004-lab4-envelope": {
            "exponential": np.exp(-ZETA * W0 * END),
            "with amplitude": np.exp(-ZETA * W0 * END) / np.sqrt(1.0 - ZETA**2),
        },
        "004-lab4-unit-error": {"residual": W0**2, "squared": W0**4},
        "004-lab4-rms": {"rms": size, "relative noise": 0.02 / size},
    }


def untrained():
    """Look at the networks before the first step."""
    raw, units = unit_weight(), natural_units()
    residual, condition = at(raw, "residual", 0), at(raw, "condition", 0)
    ratio = lambda r: r.residual[0] / r.condition[0]
    return {
        "004-lab4-params": {"parameters": raw[0].net.n_parameters_},
        "004-lab4-init": {
            "residual": residual, "condition": condition, "ratio": middle(raw, ratio),
        },
        "004-lab4-init-ratio": {"seconds": middle(raw, ratio), "units": middle(units, ratio)},
        "004-lab4-lam1-0-res": {"residual": residual},
        "004-lab4-lam1-0-ic": {"condition": condition},
        "004-lab4-lam1-0-err": {"error": middle(raw, lambda r: r.errors[0])},
        "004-lab4-lam1-0-max": {"largest": max(r.largest[0] for r in raw)},
        "004-lab4-nd-init": {
            "residual": at(units, "residual", 0), "condition": at(units, "condition", 0),
            "ratio": middle(units, ratio),
        },
    }  # fmt: skip


def trivial():
    """Follow condition weight 1 into the trivial solution."""
    runs, found = unit_weight(), {}
    for step in (1000, SHORT):
        name = f"004-lab4-lam1-{step}"
        found |= {
            f"{name}-res": {"residual": at(runs, "residual", step)},
            f"{name}-ic": {"condition": at(runs, "condition", step)},
            f"{name}-err": {"error": at(runs, "errors", step)},
            f"{name}-max": {"largest": at(runs, "largest", step)},
        }
    found["004-lab4-trivial"] = {
        "loss": max(r.residual[-1] + r.condition[-1] for r in runs),
        "residual": max(r.residual[-1] for r in runs),
        "error": min(r.errors[-1] for r in runs),
    }
    return found


def unweighted():
    """Leave the conditions out."""
    run = no_weight()
    u, slope = (run.net.derivatives([[0.0]], name)[0, 0] for name in ("u", "u_t"))
    return {
        "004-lab4-lam0-res": {"residual": run.residual[-1]},
        "004-lab4-lam0-ic": {"condition": (u - 1.0) ** 2 + slope**2},
        "004-lab4-lam0-err": {"error": run.errors[-1]},
        "004-lab4-lam0-max": {"largest": run.largest[-1]},
    }


def weighted():
    """Weigh the conditions by 100."""
    runs, found = weight_100(), {}
    for step in (1000, 5000, LONG):
        found[f"004-lab4-lam100-{step}-err"] = {"error": at(runs, "errors", step)}
        found[f"004-lab4-lam100-{step}-terms"] = {
            "residual": at(runs, "residual", step),
            "condition": at(runs, "condition", step),
            "largest": at(runs, "largest", step),
        }
    found[f"004-lab4-lam100-{LONG}-err"]["best"] = middle(runs, lambda r: r.best)
    found["004-lab4-lam100-tail"] = {
        "median": middle(runs, lambda r: np.median(r.after(LONG - 1000))),
        "largest": max(r.after(LONG - 1000).max() for r in runs),
    }
    return found


def in_units():
    """Measure time in units of one over the frequency, with weight 1."""
    runs, calm, steps = natural_units(), cosine(), (2500, 5000, 7500, LONG)
    found = {f"004-lab4-nd-{step}-err": {"error": at(runs, "errors", step)} for step in steps}
    late = lambda r: r.after(6000)
    jump = lambda errors: errors.max() / errors.min()
    return found | {
        "004-lab4-nd-res": {
            "at 2500": at(runs, "residual", 2500),
            "late": middle(runs, lambda r: min(r.residual[7500], r.residual[LONG])),
        },
        "004-lab4-nd-ic": {f"at {step}": at(runs, "condition", step) for step in steps},
        "004-lab4-nd-max": {f"at {step}": at(runs, "largest", step) for step in steps},
        "004-lab4-nd-jumps": {
            "ratio": middle(runs, lambda r: jump(late(r))),
            "largest": max(late(r).max() for r in runs),
        },
        "004-lab4-nd-best": {"best": middle(runs, lambda r: r.best)},
        "004-lab4-nd-vs-weighted": {
            "units": middle(runs, lambda r: r.best),
            "seconds": min(r.best for r in unit_weight()),
            "scaled by Assay": automatic().best,
        },
        "004-lab4-decay": {
            "late ratio": middle(calm, lambda r: jump(r.after(LATE))),
            "fixed rate": middle(runs, lambda r: jump(r.after(LATE))),
            "kept over last": middle(runs, lambda r: r.kept / r.errors[-1]),
        },
        "004-lab4-ms": {"ms": middle(runs, lambda r: r.net.fit_seconds_ / LONG * 1e3)},
    }
