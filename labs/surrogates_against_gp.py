"""Section 8: a network trained for long against the Gaussian process, on the same runs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from surrogates import N_MODES, Modes, patch, patch_mlp, rms, run_errors, spec

from assay.problems import AFTERSLIP
from assay.problems.afterslip import NOISE_MM
from assay.surrogate import GaussianProcess, PCAOutputs
from assay.train import Hyper, fit, predict

LONG, SHORT, RATE = 16_000, 4000, 3e-3
LOOK = 10  # steps between two looks at the validation runs
MOST = 3200


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    with ThreadPoolExecutor(2) as pool:  # one network keeps one core busy
        tasks = [pool.submit(long_network, n) for n in (800, 400)]
        tasks += [pool.submit(short_network, n) for n in (MOST, 800, 400)]
        nets = dict(zip((800, 400), (task.result() for task in tasks[:2]), strict=True))
        short = dict(zip((MOST, 800, 400), (task.result() for task in tasks[2:]), strict=True))
    gps = {n: grade(gaussian_process(n)) for n in (400, 800, MOST)}
    found = {}
    for n, net in nets.items():
        for what, value in net["grade"].items():
            found[f"000-s08-n{n}-nn-{what}"] = {what: value}
        for what, value in gps[n].items():
            found[f"000-s08-n{n}-gp-{what}"] = {what: value}
        found[f"000-s08-n{n}-val4000"] = {"median": net["around"](4000)}
        found[f"000-s08-n{n}-valend"] = {"rms": net["curve"][-1]}
        found[f"000-s08-n{n}-time"] = {"seconds": net["seconds"]}
    return found | comparison(nets, gps) | budgets(nets, short, gps)


def gaussian_process(n):
    """Fit the chapter's process: average mean, one variance, two starts, on `n` runs."""
    runs = patch()
    gp = GaussianProcess(
        bounds=AFTERSLIP.bounds, mean="average", variance="shared", transform="identity",
        search_rows=800, final_rows=800, nugget_floor=1e-12,
        starts=[[0.3, 0.3, 0.3, 1e-4], [0.1, 0.1, 0.3, 1e-8]],
    )  # fmt: skip
    return PCAOutputs(gp, modes=N_MODES).fit(runs.X[:n], runs.Y[:n]).predict(runs.X[runs.test])


def grade(predictions):
    """Grade predictions of the test runs: the numbers the chapter prints."""
    runs = patch()
    error = run_errors(predictions - runs.Y[runs.test])
    return {"rms": rms(error), "median": np.median(error), "share": np.mean(error < NOISE_MM)}


def long_network(n):
    """Train on `n` runs with a look at the validation runs every few steps.

    The weights are the best on the validation runs, at the end of the cosine the last ones or
    close to them.
    """
    runs = patch()
    held, modes = runs.validation, Modes.of(runs.Y[:n])
    scaled = lambda rows: modes.coefficients(runs.Y[rows]) / modes.scale
    x = AFTERSLIP.to_unit(runs.X).astype("f4")
    done = fit(
        spec((3, N_MODES, (64, 64, 64), "tanh"), schedule="cosine"),
        Hyper(steps=LONG, learning_rate=RATE), x[:n], scaled(slice(0, n)).astype("f4"),
        seed=0, validation=(x[held], scaled(held).astype("f4")), chunk=LOOK,
    )  # fmt: skip
    # The loss is that of coefficients; what ten modes leave over comes on top.
    left = runs.Y[held] - modes.outputs(modes.coefficients(runs.Y[held]))
    per_value = modes.scale**2 * N_MODES / runs.Y.shape[1]
    curve = np.sqrt(per_value * done.history.validation + np.mean(left**2))

    def around(step):
        """Return the median of the looks within a twentieth of a step."""
        return float(np.median(curve[np.abs(done.history.steps - step) <= step / 20]))

    says = modes.outputs(modes.scale * predict(done.model, x[runs.test]))
    return {"grade": grade(says), "curve": curve, "around": around, "seconds": done.seconds}


def short_network(n):
    """Train on `n` runs with a complete short schedule; return errors on three parts [mm]."""
    runs = patch()
    model = PCAOutputs(patch_mlp(SHORT, precision="float32"), modes=N_MODES)
    model.fit(runs.X[:n], runs.Y[:n])
    parts = {"own": slice(0, n), "validation": runs.validation, "test": runs.test}
    return {name: rms(model.predict(runs.X[rows]) - runs.Y[rows]) for name, rows in parts.items()}


def comparison(nets, gps):
    """Compare the networks with the processes."""
    ratio = {n: {k: net["grade"][k] / gps[n][k] for k in gps[n]} for n, net in nets.items()}
    return {
        "000-s08-nn-beats-gp": {
            "rms 400": 1.0 / ratio[400]["rms"], "rms 800": 1.0 / ratio[800]["rms"],
            "median 400": ratio[400]["median"], "median 800": ratio[800]["median"],
            "share 400": ratio[400]["share"], "share 800": ratio[800]["share"],
        },
        "000-s08-nn-under-sigma": {
            "network": max(net["grade"]["rms"] for net in nets.values()),
            "process": min(gps[n]["rms"] for n in nets),
        },
        "000-s08-gp-improves": {
            "rms": gps[800]["rms"] / gps[400]["rms"],
            "median": gps[800]["median"] / gps[400]["median"],
        },
    }  # fmt: skip


def budgets(nets, short, gps):
    """Compare steps with runs, and one schedule with a part of a longer one."""
    apart = [
        abs(np.log(nets[400]["around"](step) / nets[800]["around"](step)))
        for step in (100, 300, 1000, 2000, 4000)
    ]
    differ = [abs(short[n]["validation"] / nets[n]["around"](SHORT) - 1.0) for n in (400, 800)]
    return {
        "000-s08-steps-over-runs": {
            "end over early": nets[400]["curve"][-1] / nets[800]["around"](4000),
            "apart": float(np.exp(max(apart))),
        },
        "000-s08-schedule-differs": {"400": differ[0], "800": differ[1]},
        "000-s08-3.01-claim": {
            "own over test": min(one["own"] / one["test"] for one in short.values()),
            "400 over all": short[400]["test"] / short[MOST]["test"],
            "gp rms": gps[MOST]["rms"], "gp median": gps[MOST]["median"],
            "gp share": gps[MOST]["share"],
        },
    }  # fmt: skip
