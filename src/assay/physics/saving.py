"""A saved network: weights and tables instead of functions."""

import dataclasses
import functools as ft
from typing import Any

import jax
import numpy as np

from assay.errors import ModelError
from assay.nn import from_arrays, to_arrays
from assay.nn.features import Fourier
from assay.physics.ansatz import Network, NetworkSpec, arrays_of, whole
from assay.physics.conditions import UnknownField
from assay.physics.ending import ending
from assay.physics.faces import Bound
from assay.physics.fitting import Setup
from assay.physics.hard import FaceSet, FieldPlan, Frame, value_of
from assay.physics.pieces import Piece
from assay.physics.residuals import Shared, System
from assay.physics.scaling import Scales
from assay.physics.space import Space
from assay.physics.tables import SIZES, coefficients, grid
from assay.train.descent import Stop

CURVES = ("step", "loss", "residual", "condition", "reading", "seconds")
CHECKED = 200  # places where a table is compared with the function it stands for


@dataclasses.dataclass(frozen=True, eq=False)
class Shell:
    """What a loaded network knows of its problem: names, but no equation."""

    space: Space
    fields: tuple[str, ...]
    box: dict[str, tuple[float, float]]
    time: str | None
    coefficients: dict[str, UnknownField]
    unknown: dict


def to_saved(model) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return (config, arrays) of a fitted PINN."""
    system = model.pieces_[0].setup.system
    problem = system.problem
    arrays = {f"history.{key}": np.asarray(model.history_[key], np.float64) for key in CURVES}
    worst = 0.0
    for i, piece in enumerate(model.pieces_):
        arrays |= _weights_to(piece, f"piece{i}.")
        frame = piece.setup.shared.frame
        arrays |= {f"piece{i}.frame.{k}": np.asarray(getattr(frame, k)) for k in FRAME}
        arrays[f"piece{i}.sizes"] = np.asarray(piece.setup.shared.sizes, np.float64)
        for j, bound in enumerate(_built_in(system)):
            table, error = _table(problem, bound, frame)
            arrays[f"piece{i}.table{j}"] = table
            worst = max(worst, error)
    config = {
        "params": _plain_params(model),
        "box": {name: list(ends) for name, ends in problem.box.items()},
        "fields": list(problem.fields),
        "time": problem.time,
        "coefficients": [
            {"name": n, "of": list(c.of), "low": c.low, "high": c.high, "scale": c.scale}
            for n, c in problem.coefficients.items()
        ],
        "network": _spec_to(system.network),
        "coefficient_networks": [_spec_to(spec) for _, spec in system.coefficients],
        "plans": [_plan_to(plan) for plan in system.plans],
        "scaled": system.scaled,
        "pieces": len(model.pieces_),
        "table_error": worst,
        "parameters": model.parameters_,
        "scales": dataclasses.asdict(model.scales_),
        "soft": [list(pair) for pair in model.soft_],
        "stop": int(model.stop_),
        "steps": int(model.steps_),
    }
    return config, arrays


FRAME = ("low", "high", "pace")


def from_saved(cls, config, arrays):
    """Return the fitted PINN from what `to_saved` returned."""
    given = dict(config["params"])
    given["hidden"] = given["hidden"] if given["hidden"] == "auto" else tuple(given["hidden"])
    given["features"] = None if given["features"] is None else _fourier(given["features"])
    model = cls(**given)
    shell = _shell(config)
    system = System(
        problem=shell,
        network=_spec_from(config["network"]),
        coefficients=tuple(
            (name, _spec_from(spec))
            for name, spec in zip(shell.coefficients, config["coefficient_networks"], strict=True)
        ),
        plans=tuple(_plan_from(plan, shell) for plan in config["plans"]),
        scaled=bool(config["scaled"]),
    )
    scales = _scales_from(config["scales"])
    with model._precise():
        model.pieces_ = tuple(
            _piece_from(system, scales, arrays, f"piece{i}.") for i in range(config["pieces"])
        )
    if not model.pieces_:
        raise ModelError("The saved network has no windows.", hint="Save the model again.")
    model.problem_, model.data_, model.scales_ = shell, None, scales
    model.history_ = {key: arrays[f"history.{key}"] for key in CURVES}
    model.parameters_ = {str(k): float(v) for k, v in config["parameters"].items()}
    model.soft_ = tuple((str(label), str(why)) for label, why in config["soft"])
    model.stop_ = Stop(config["stop"])
    model.steps_ = int(config["steps"])
    model.status_ = ending(model.stop_, model.history_, model.steps_)
    model.n_fields_, model.n_variables_ = len(shell.fields), len(shell.box)
    leaves = jax.tree.leaves(model.pieces_[0].params)
    model.n_parameters_ = sum(int(np.size(leaf)) for leaf in leaves)
    model.fit_seconds_ = float(model.history_["seconds"][-1])
    model.compile_seconds_ = 0.0
    return model


def _plain_params(model):
    params = model.get_params(deep=False)
    params["hidden"] = params["hidden"] if params["hidden"] == "auto" else list(params["hidden"])
    if params["features"] is not None:
        params["features"] = dataclasses.asdict(params["features"])
    if params["curriculum"]:
        params["curriculum"] = {k: [float(v) for v in c] for k, c in params["curriculum"].items()}
    for name in ("optimiser", "steps"):
        if isinstance(params[name], tuple):
            params[name] = list(params[name])
    return params


def _fourier(saved):
    return Fourier(
        **{**saved, "frequencies": tuple(saved["frequencies"]), "of": tuple(saved["of"])}
    )


def _spec_to(spec):
    return dataclasses.asdict(spec)


def _spec_from(saved):
    tuples = {name: tuple(saved[name]) for name in ("inputs", "periodic", "hidden")}
    features = None if saved["features"] is None else _fourier(saved["features"])
    return NetworkSpec(**{**saved, **tuples, "features": features})


def _shell(config):
    coefficients = {
        c["name"]: UnknownField(tuple(c["of"]), c["low"], c["high"], c["scale"])
        for c in config["coefficients"]
    }
    box = {str(k): (float(low), float(high)) for k, (low, high) in config["box"].items()}
    fields = tuple(config["fields"])
    space = Space(tuple(box), (*fields, *coefficients))
    if config["time"] is not None and config["time"] not in box:
        raise ModelError("The saved time is no variable.", hint="Save the model again.")
    return Shell(space, fields, box, config["time"], coefficients, {})


def _built_in(system):
    """Return the conditions that are built in, each once, in order."""
    bounds = [b for plan in system.plans for one in plan.sets for b, _, _ in one.bounds]
    return list({bound.label: bound for bound in bounds}.values())


def _plan_to(plan):
    return {
        "field": plan.field,
        "sets": [
            {
                "place": one.place,
                "low": [_bound_to(b) for b in one.low],
                "high": [_bound_to(b) for b in one.high],
                "saturating": one.saturating,
            }
            for one in plan.sets
        ],
    }


def _bound_to(bound):
    names = ("label", "kind", "along", "at", "end", "name")
    return {name: getattr(bound, name) for name in names}


def _plan_from(saved, shell):
    sets = tuple(
        FaceSet(
            int(one["place"]),
            tuple(_bound_from(b, shell) for b in one["low"]),
            tuple(_bound_from(b, shell) for b in one["high"]),
            bool(one["saturating"]),
        )
        for one in saved["sets"]
    )
    return FieldPlan(str(saved["field"]), shell.space.variables, sets)


def _bound_from(saved, shell):
    key = shell.space.key(saved["name"])
    return Bound(**saved, equation=None, keys=(key,))


def _table(problem, bound, frame) -> tuple[np.ndarray, float]:
    """Return the table of a condition, and its largest error over the largest value."""
    if bound.label in frame.tables:
        return np.asarray(frame.tables[bound.label]), 0.0
    others = [i for i, name in enumerate(problem.box) if name != bound.along]
    rng = np.random.default_rng(0)
    unit = grid(len(others))
    check = rng.uniform(-1.0, 1.0, (CHECKED, len(others)))
    low, high = np.asarray(frame.low), np.asarray(frame.high)

    def values(scaled, use):
        points = np.tile(low, (len(scaled), 1))
        points[:, others] = low[others] + (scaled + 1) / 2 * (high - low)[others]
        with jax.enable_x64(True):  # noqa: FBT003
            one = ft.partial(value_of, bound, tuple(problem.box), use)
            return np.asarray(jax.vmap(one)(points), np.float64)

    table = coefficients(values(unit, frame), len(others))
    exact = values(check, frame)
    made = values(check, dataclasses.replace(frame, tables={bound.label: table}))
    return table, float(np.max(np.abs(made - exact)) / max(np.max(np.abs(exact)), 1e-300))


def _weights_to(piece, prefix):
    system, params = piece.setup.system, piece.params
    arrays = to_arrays(whole(system.network, params["net"]), f"{prefix}net.")
    for name, spec in system.coefficients:
        net = whole(spec, params["coefficients"][name])
        arrays |= to_arrays(net, f"{prefix}coefficient.{name}.")
    return arrays


def _piece_from(system, scales, arrays, prefix):
    def network(spec, name):
        return arrays_of(from_arrays(Network, (spec,), arrays, prefix + name))

    params = {
        "net": network(system.network, "net."),
        "coefficients": {
            name: network(spec, f"coefficient.{name}.") for name, spec in system.coefficients
        },
        "unknown": {},
    }
    n = len(system.problem.box)
    tables = {}
    for j, bound in enumerate(_built_in(system)):
        table = arrays[f"{prefix}table{j}"]
        if table.shape != SIZES[n - 1]:
            raise ModelError(
                f"The saved table of {bound.label} must have the shape {SIZES[n - 1]}, got "
                f"{table.shape}.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        tables[bound.label] = table
    frame = Frame(*(_vector(arrays, f"{prefix}frame.{k}", n) for k in FRAME), tables)
    shared = Shared(
        frame, _vector(arrays, f"{prefix}sizes", len(system.problem.fields)), np.ones(1), {}
    )
    return Piece(Setup(system, shared, scales, (), {}), params)


def _vector(arrays, name, n):
    if arrays[name].shape != (n,):
        raise ModelError(
            f"The saved {name} must have {n} numbers, got {arrays[name].shape}.",
            hint="The folder is damaged or was edited; save the model again.",
        )
    return arrays[name]


def _scales_from(saved):
    return Scales(
        fields=dict(saved["fields"]),
        lengths=dict(saved["lengths"]),
        residuals=tuple(saved["residuals"]),
        terms=tuple(dict(t) for t in saved["terms"]),
        conditions=dict(saved["conditions"]),
        scaled=bool(saved["scaled"]),
    )
