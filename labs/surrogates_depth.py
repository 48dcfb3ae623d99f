"""Section 9: plain and residual networks of depth 24, from three sizes of initial weights."""

import numpy as np
from surrogates import N_MODES, Modes, float64, in_float64, layer_gradients, patch, patch_mlp, rms

from assay.nn import MLP, ResNet, from_arrays, initialise, to_arrays
from assay.problems import AFTERSLIP
from assay.surrogate import DeepEnsemble, PCAOutputs, ResNetSurrogate

DEPTH, WIDTH, STEPS, RUNS = 24, 32, 2000, 400
SEEDS = 3  # starts that are trained
UNTRAINED = 20  # starts whose gradients are looked at
SCALES = {"s05": 0.5, "s10": 1.0, "s20": 2.0}
KINDS = ("plain", "residual")


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    cases = [(kind, name) for kind in KINDS for name in SCALES]
    gradient = {case: gradients(*case) for case in cases}
    error = {case: errors(*case) for case in cases}
    found = {"000-s09-alpha": {"alpha": alpha()}}
    for (kind, name), sizes in gradient.items():
        ends = {"first": sizes[:, 0], "middle": sizes[:, 11], "last": sizes[:, -1]}
        found[f"000-s09-{kind}-{name}-grad"] = {
            where: np.median(values) for where, values in ends.items()
        }
        found[f"000-s09-{kind}-{name}-val"] = {"median": np.median(error[kind, name])}
    return found | at_the_start(gradient) | after_training(error)


def network(kind):
    """Return (build, build_args) of a network with 24 hidden layers."""
    if kind == "plain":
        return MLP, (3, N_MODES, (WIDTH,) * DEPTH, "tanh")
    return ResNet, (3, N_MODES, WIDTH, DEPTH - 1, "tanh")


def gradients(kind, name):
    """Return the gradient sizes of the 23 square layers before training: (seeds, 23)."""
    runs = patch()
    modes = Modes.of(runs.Y[:RUNS])
    x, y = AFTERSLIP.to_unit(runs.X[:RUNS]), modes.coefficients(runs.Y[:RUNS]) / modes.scale
    build, arguments = network(kind)
    square = {
        "plain": lambda model: model.layers[1:-1],
        "residual": lambda model: model.blocks,
    }[kind]
    with float64():
        empty = build(*arguments)
    sizes = []
    for seed in range(UNTRAINED):
        rng = np.random.default_rng(seed)
        net = initialise(empty, rng, rule="lecun", scale=SCALES[name])
        sizes.append(layer_gradients(square, net, x, y))
    return np.array(sizes)


def errors(kind, name):
    """Train three networks; return their validation errors [mm]."""
    runs, scale = patch(), SCALES[name]
    net = patch_mlp(STEPS, (WIDTH,) * DEPTH, init_scale=scale, precision="float32")
    if kind == "residual":
        shared = {k: v for k, v in net.get_params().items() if k != "hidden"}
        net = ResNetSurrogate(width=WIDTH, depth=DEPTH - 1, **shared)
    model = PCAOutputs(DeepEnsemble(net, size=SEEDS), modes=N_MODES)
    model.fit(runs.X[:RUNS], runs.Y[:RUNS])
    held = runs.X[runs.validation]
    each = model.mean_ + model.scale_ * model.model_.predict_members(held) @ model.components_
    return np.array([rms(one - runs.Y[runs.validation]) for one in each])


def alpha():
    """Return what a block adds for a unit of its activation, from a network made for it."""
    shape = (1, 1, 1, DEPTH - 1, "identity")

    def chosen(name, value):
        counts = name == "read_out.weight" or (name.startswith("blocks") and "bias" in name)
        return np.full_like(value, float(counts))

    with float64():
        arrays = {name: chosen(name, v) for name, v in to_arrays(ResNet(*shape)).items()}
        net = from_arrays(ResNet, shape, arrays)
    return in_float64(net, np.zeros((1, 1)))[0, 0] / (DEPTH - 1)


def at_the_start(gradient):
    """Return what is said of the gradients before training; the worst of the seeds."""
    others = min(sizes.min() for case, sizes in gradient.items() if case != ("plain", "s05"))
    flat = {name: gradient["residual", name] for name in SCALES}
    return {
        "000-s09-plain-s05-vanish": {"ratio": gradient["plain", "s05"].max() / others},
        "000-s09-res-flat": {
            name: (sizes.max(axis=1) / sizes.min(axis=1)).max() for name, sizes in flat.items()
        },
    }


def after_training(error):
    """Return what is said of the errors after training, from the medians over the seeds."""
    plain, residual = (
        {name: float(np.median(error[kind, name])) for name in SCALES} for kind in KINDS
    )
    uneven = [max(one.values()) / min(one.values()) for one in (plain, residual)]
    runs = patch()
    spread = rms(runs.Y[runs.validation] - runs.Y[runs.validation].mean(axis=0))
    return {
        "000-s09-best-is-plain-s1": {
            "plain": plain["s10"], "over residual": plain["s10"] / min(residual.values()),
        },
        "000-s09-sensitivity": {"plain over residual": uneven[0] / uneven[1]},
        "000-s09-plain-bad-starts": {
            "plain small": plain["s05"] / plain["s10"], "plain large": plain["s20"] / plain["s10"],
            "residual small or 1": max(residual["s05"], residual["s10"]),
            "residual large": residual["s20"] / max(residual["s05"], residual["s10"]),
            "residual over plain": residual["s20"] / plain["s20"],
        },
        "000-s09-adam-partial-rescue": {
            "of the spread": plain["s05"] / spread, "over plain": plain["s05"] / plain["s10"],
        },
    }  # fmt: skip
