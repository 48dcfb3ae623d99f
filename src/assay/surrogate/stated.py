"""What a user states about a problem: the noise of the outputs and the box of the inputs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.surrogate.domain import check_bounds
from assay.surrogate.naming import matching
from assay.surrogate.runs import Runs

_SIGMA = "Give the standard deviation of the noise in the unit of the output: 2.0, or 'u=2,v=0.1'."
_BOUNDS = "Give lower and upper end of every input: 'k=1:5'."


def sigma_of(sigma: Any, runs: Runs) -> np.ndarray | None:
    """Return the noise of every output.

    Parameters
    ----------
    sigma : float, array of shape (m,), dict, text or None [units of the outputs]
        One number for all outputs, one for each in their order, or by name or pattern: a dict,
        or text such as ``"2"`` and ``"u_*=2,v=0.1"``.
    runs : Runs
        Whose outputs they are.

    Returns
    -------
    array of shape (m,), or None

    Raises
    ------
    StudyError
        If a number is not positive, a name fits no output, or an output is left without.

    Examples
    --------
    >>> runs = Runs(np.ones((3, 1)), np.ones((3, 2)), ("k",), ("u", "v"))
    >>> sigma_of(2, runs), sigma_of("v=0.1,u=2", runs)
    (array([2., 2.]), array([2. , 0.1]))
    """
    if sigma is None:
        return None
    if isinstance(sigma, str) or _is_texts(sigma):
        sigma = _told([sigma] if isinstance(sigma, str) else sigma, runs.outputs, "sigma")
    if isinstance(sigma, Mapping):
        return _by_name(sigma, runs)
    try:
        each = np.asarray(sigma, float)
        if each.shape not in ((), (1,), (runs.n_outputs,)):
            raise ValueError
    except (TypeError, ValueError):
        raise StudyError(
            f"`sigma` must be one number, or one for each of the {runs.n_outputs} outputs, got "
            f"{_short(sigma)}.",
            hint=_SIGMA,
        ) from None
    each = np.broadcast_to(each, (runs.n_outputs,)).copy()
    for value, name in zip(each, runs.outputs, strict=True):
        _require_positive(value, name)
    return each


def _by_name(sigma: Mapping, runs: Runs) -> np.ndarray:
    each = np.full(runs.n_outputs, np.nan)
    for name, value in sigma.items():
        found = matching((name,), runs.outputs, what="output of sigma", source=runs.source)
        _require_positive(value, name)
        each[found] = float(value)
    missing = [name for name, value in zip(runs.outputs, each, strict=True) if np.isnan(value)]
    if missing:
        raise StudyError(
            f"`sigma` says nothing about {', '.join(map(repr, missing[:5]))}.",
            hint="Give every output its noise, or one number for all.",
        )
    return each


def _require_positive(value: Any, name: str) -> None:
    try:
        fits = np.isfinite(float(value)) and float(value) > 0.0
    except (TypeError, ValueError):
        fits = False
    if not fits or isinstance(value, bool):
        raise StudyError(
            f"`sigma` of '{name}' must be a positive number, got {_short(value)}.", hint=_SIGMA
        )


def bounds_of(bounds: Any, runs: Runs) -> np.ndarray | None:
    """Return the box of the inputs, in their order.

    Parameters
    ----------
    bounds : array of shape (d, 2), dict, list of texts or None [units of the inputs]
        In the order of the inputs, or by name: ``{"k": (1, 5)}``, ``["k=1:5"]``.
    runs : Runs
        Which must lie inside.

    Returns
    -------
    array of shape (d, 2), or None

    Raises
    ------
    StudyError
        If an input has none, two or empty bounds, a name is no input, or a run lies outside.

    Examples
    --------
    >>> runs = Runs(np.ones((3, 1)), np.ones((3, 1)), ("k",), ("u",))
    >>> bounds_of(["k=0:5"], runs)
    array([[0., 5.]])
    """
    if bounds is None or (isinstance(bounds, Sequence) and not len(bounds)):
        return None
    if isinstance(bounds, str) or _is_texts(bounds):
        bounds = _told([bounds] if isinstance(bounds, str) else bounds, runs.inputs, "bounds")
    if isinstance(bounds, Mapping):
        bounds = _in_order(bounds, runs)
    box = np.column_stack(check_bounds(bounds, runs.n_inputs))
    slack = 1e-9 * np.abs(box).max(axis=1)
    outside = (runs.X < box[:, 0] - slack) | (runs.X > box[:, 1] + slack)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        low, high = box[column]
        raise StudyError(
            f"'{runs.source}', row {runs.row_numbers[row]}: '{runs.inputs[column]}' is "
            f"{runs.X[row, column]:.6g} and its bounds are {low:g} to {high:g} "
            f"({int(outside.any(axis=1).sum())} runs lie outside).",
            hint="Widen the bounds, or leave these runs out.",
        )
    return box


def _in_order(bounds: Mapping, runs: Runs) -> list:
    by_input: dict[int, Any] = {}
    for name, ends in bounds.items():
        (k,) = matching((name,), runs.inputs, what="input of bounds", source=runs.source)[:1]
        if k in by_input:
            raise StudyError(f"`bounds` names '{runs.inputs[k]}' twice.", hint=_BOUNDS)
        try:
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError):
            raise StudyError(
                f"`bounds` of '{name}' must be two numbers, got {_short(ends)}.", hint=_BOUNDS
            ) from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise StudyError(
                f"`bounds` of '{name}' must be finite with the lower end first, got {low:g} to "
                f"{high:g}.",
                hint=_BOUNDS,
            )
        by_input[k] = (low, high)
    missing = [name for k, name in enumerate(runs.inputs) if k not in by_input]
    if missing:
        raise StudyError(
            f"`bounds` says nothing about {', '.join(map(repr, missing[:5]))}.",
            hint="Give every input its bounds, or none; the range of the runs is taken then.",
        )
    return [by_input[k] for k in range(runs.n_inputs)]


def _is_texts(value: Any) -> bool:
    listed = isinstance(value, list | tuple) and len(value) > 0
    return listed and all(isinstance(part, str) for part in value)


def _told(texts: Sequence[str], names: tuple[str, ...], what: str) -> Any:
    """Return what ``name=value`` texts say, as a dict; or a plain number where there is no name."""
    parts = [part.strip() for text in texts for part in _parts(text, names)]
    if what == "sigma" and len(parts) == 1 and "=" not in parts[0]:
        return parts[0]
    said: dict[str, Any] = {}
    for part in parts:
        name, equals, value = part.rpartition("=")  # a name may hold an equals sign itself
        name = name.strip()
        if not equals or name in said:
            raise StudyError(
                f"`{what}` must be NAME=VALUE, each name once, got '{part}'.",
                hint=_SIGMA if what == "sigma" else _BOUNDS,
            )
        said[name] = value if what == "sigma" else value.split(":")
    return said


def _parts(text: str, names: tuple[str, ...]) -> list[str]:
    """Split at commas, but not at those inside a name."""
    pieces, whole = text.split(","), []
    while pieces:
        piece = pieces.pop(0)
        while pieces and "=" not in piece and any("," in name for name in names):
            piece = f"{piece},{pieces.pop(0)}"
        whole += [piece] if piece.strip() else []
    return whole


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
