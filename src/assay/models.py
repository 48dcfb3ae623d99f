"""Saved models: a folder with ``model.json`` and ``weights.safetensors``.

There are no pickles, and loading runs nothing that the folder brings along: the family is looked
up in a tuple, names and sizes are checked against each other and against the files before anything
is read, and weights are plain numbers.
"""

import hashlib
import importlib
import json
import math
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import AssayError, ModelError, did_you_mean
from assay.families import FAMILIES

JSON_NAME, WEIGHTS_NAME = "model.json", "weights.safetensors"
FORMAT = 1
MAX_JSON_BYTES = 16 * 1024**2
MAX_WEIGHT_BYTES = 4 * 1024**3
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_DTYPES = {
    "bool": "BOOL", "uint8": "U8", "int32": "I32", "int64": "I64",
    "float16": "F16", "float32": "F32", "float64": "F64",
}  # fmt: skip
_SPOILT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_HINT_DAMAGED = "The folder is damaged or was edited; save the model again."


def save_model(
    folder: Path | str,
    *,
    family: str,
    config: dict[str, Any],
    arrays: dict[str, np.ndarray],
    extra: dict[str, Any] | None = None,
) -> Path:
    """Write a model so that a reader meets the whole of it or nothing.

    Parameters
    ----------
    folder : path
        A new or empty folder, or one that holds a saved model, which is replaced.
    family : str
        Name of a family, see `FAMILIES`.
    config : dict
        What rebuilds the model: strings, whole and finite numbers, booleans, None, lists, dicts.
    arrays : dict of str to numpy.ndarray
        Finite arrays of bool, uint8, int32, int64, float16, float32 or float64.
    extra : dict, optional
        Whatever else should be kept beside it (units, training range, versions).

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ModelError
        If something cannot be written so that it comes back the same, or the folder holds
        anything else.
    """
    from safetensors.numpy import save as to_bytes

    folder = Path(folder)
    arrays = {name: _checked_array(name, array) for name, array in arrays.items()}
    weights = to_bytes(arrays)
    _require_name(family, "family")
    text = _to_json(
        {
            "format": FORMAT,
            "family": family,
            "config": config,
            "arrays": {
                name: {"dtype": array.dtype.name, "shape": list(array.shape)}
                for name, array in arrays.items()
            },
            "weights_digest": _digest(weights),
            "extra": extra or {},
        }
    )
    files = {JSON_NAME: text.encode(), WEIGHTS_NAME: weights}
    try:
        _put(folder, files)
    except OSError as error:
        raise ModelError(
            f"The model could not be saved in {folder}: {error.strerror}.",
            hint="Choose a folder that you may write to, on a disk with space left.",
        ) from None
    return folder


def load_model(
    folder: Path | str,
) -> tuple[str, dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save_model` wrote: (family, config, arrays, extra).

    Raises
    ------
    ModelError
        If a file is missing, damaged, too large, or does not fit the other one. Sizes are compared
        before anything is allocated.
    """
    folder = Path(folder)
    described = _read_description(folder / JSON_NAME)
    arrays = _read_weights(folder / WEIGHTS_NAME, described["arrays"], described["weights_digest"])
    return described["family"], described["config"], arrays, described["extra"]


def load(folder: Path | str) -> Any:
    """Return the fitted estimator that was saved in `folder`.

    Parameters
    ----------
    folder : path
        A folder written by an estimator's ``save``.

    Raises
    ------
    ModelError
        If the folder holds no model, a damaged one, or one of an unknown family.
    """
    family, config, arrays, _ = load_model(folder)
    return rebuild(family, config, arrays, where=str(folder))


def rebuild(
    family: str, config: Any, arrays: dict[str, np.ndarray], *, where: str = "The folder"
) -> Any:
    """Return the fitted estimator of what a class's ``to_saved`` returned.

    Parameters
    ----------
    family : str
        Name of a family, see `FAMILIES`.
    config, arrays
        As from ``to_saved``.
    where : str
        How messages call the place.

    Raises
    ------
    ModelError
        If the family is unknown or the rest does not belong to it.
    """
    places = dict(FAMILIES)
    if not isinstance(family, str) or family not in places:
        raise ModelError(
            f"{where} holds a model of the unknown family {str(family)[:60]!r}.",
            hint=did_you_mean(str(family)[:60], places) + " A newer version of Assay may know it.",
        )
    module, name = places[family].split(":")
    kind = getattr(importlib.import_module(module), name)
    try:
        return kind.from_saved(config, arrays)
    except AssayError:
        raise
    except _SPOILT as error:
        raise ModelError(
            f"{where} does not hold a usable model of the family {family!r}: "
            f"{type(error).__name__}: {str(error)[:200]}.",
            hint=_HINT_DAMAGED,
        ) from None


def _read_description(path):
    raw = _read_file(path, MAX_JSON_BYTES)
    try:
        found = json.loads(raw, parse_constant=_no_constant, parse_float=_finite_float)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"{path} is not the description of a model: {str(error)[:200]}.", hint=_HINT_DAMAGED
        ) from None
    fields = {
        "format": int, "family": str, "config": dict, "arrays": dict, "weights_digest": str,
        "extra": dict,
    }  # fmt: skip
    if not isinstance(found, dict) or set(found) != set(fields):
        given = sorted(map(str, found))[:10] if isinstance(found, dict) else type(found).__name__
        raise ModelError(
            f"{path} must have exactly the entries {', '.join(sorted(fields))}, got {given}.",
            hint=_HINT_DAMAGED,
        )
    for name, kind in fields.items():
        if not isinstance(found[name], kind) or isinstance(found[name], bool):
            raise ModelError(
                f"{path}: {name!r} must be of type {kind.__name__}, got "
                f"{type(found[name]).__name__}.",
                hint=_HINT_DAMAGED,
            )
    if found["format"] != FORMAT:
        raise ModelError(
            f"{path} has format {found['format']}, this version of Assay reads {FORMAT}.",
            hint="Load it with the version that wrote it.",
        )
    _require_name(found["family"], f"{path}: family")
    return found


def _read_weights(path, described, digest):
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    total = sum(_described_bytes(path, name, item) for name, item in described.items())
    if total > MAX_WEIGHT_BYTES:
        raise ModelError(
            f"{path.parent / JSON_NAME} asks for {total} bytes of weights, more than the "
            f"{MAX_WEIGHT_BYTES} that are allowed.",
            hint=_HINT_DAMAGED,
        )
    # The header of a safetensors file is JSON that names every array once: far below 1 KB each.
    raw = _read_file(path, total + 8 + 1024 * (len(described) + 1))
    if _digest(raw) != digest:
        raise ModelError(
            f"{path} is not the file that {JSON_NAME} was written with.", hint=_HINT_DAMAGED
        )
    try:
        arrays = from_bytes(raw)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} is not a readable safetensors file: {str(error)[:200]}.", hint=_HINT_DAMAGED
        ) from None
    if set(arrays) != set(described):
        odd = sorted(set(arrays) ^ set(described))[0]
        raise ModelError(
            f"{path} and {JSON_NAME} name different arrays, {odd!r} for one.", hint=_HINT_DAMAGED
        )
    for name, array in arrays.items():
        asked = (described[name]["dtype"], tuple(described[name]["shape"]))
        if (array.dtype.name, array.shape) != asked:
            raise ModelError(
                f"{path}: array {name!r} must be {asked[0]}{asked[1]}, got "
                f"{array.dtype.name}{array.shape}.",
                hint=_HINT_DAMAGED,
            )
        _checked_array(name, array)
    return {name: arrays[name] for name in described}


def _described_bytes(path, name, item):
    """Return the bytes that a described array takes; whole numbers only, so it cannot overflow."""
    _require_name(name, f"{path.parent / JSON_NAME}: array name")
    fine = (
        isinstance(item, dict)
        and set(item) == {"dtype", "shape"}
        and isinstance(item["dtype"], str)
        and item["dtype"] in _DTYPES
        and isinstance(item["shape"], list)
        and len(item["shape"]) <= 32
        and all(type(n) is int and 0 <= n <= MAX_WEIGHT_BYTES for n in item["shape"])
    )
    if not fine:
        raise ModelError(
            f"{path.parent / JSON_NAME}: array {name!r} must have a dtype of {', '.join(_DTYPES)} "
            f"and a shape of whole numbers, got {str(item)[:100]}.",
            hint=_HINT_DAMAGED,
        )
    return math.prod(item["shape"]) * np.dtype(item["dtype"]).itemsize


def _read_file(path, limit):
    """Read a regular file of at most `limit` bytes."""
    try:
        if not path.parent.is_dir():
            raise ModelError(
                f"{path.parent} is not the folder of a saved model.",
                hint="Give the folder that holds model.json and weights.safetensors.",
            )
        if not path.is_file():
            raise ModelError(
                f"{path.parent} holds no saved model: {path.name} is missing.",
                hint="Give the folder that holds model.json and weights.safetensors.",
            )
        size = path.stat().st_size
        if size > limit:
            raise ModelError(
                f"{path} has {size} bytes, at most {limit} were expected.", hint=_HINT_DAMAGED
            )
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{path} could not be read: {error.strerror}.", hint="Check that you may read it."
        ) from None


def _put(folder, files):
    """Write `files` into `folder`: by renaming a whole folder if it is new, else file by file."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    present = set(os.listdir(folder)) if folder.is_dir() else set()
    if present - set(files) or (folder.exists() and not folder.is_dir()):
        odd = sorted(present - set(files))[:3] or "a file"
        raise ModelError(
            f"{folder} cannot hold a saved model: it already holds {odd}.",
            hint="Choose a new folder; nothing of yours is ever overwritten.",
        )
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, content in files.items():
            with open(temporary / name, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        if present:
            # A reader between the two renames finds weights of another digest, and is told so.
            for name in (WEIGHTS_NAME, JSON_NAME):
                os.replace(temporary / name, folder / name)
        else:
            temporary.chmod(0o777 & ~_umask())
            os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _checked_array(name, array):
    _require_name(name, "array name")
    array = np.asarray(array, order="C")
    if array.dtype.name not in _DTYPES:
        raise ModelError(
            f"Array {name!r} must have a dtype of {', '.join(_DTYPES)}, got {array.dtype}.",
            hint="Convert it before saving.",
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelError(
            f"Array {name!r} holds values that are infinite or not a number.",
            hint="Such a model predicts nothing; train it again.",
        )
    return array


def _to_json(content):
    try:
        text = json.dumps(content, allow_nan=False, indent=1, default=_plain)
    except (ValueError, TypeError, RecursionError) as error:
        raise ModelError(
            f"The description of the model cannot be written as JSON: {error}.",
            hint="Keep to strings, finite numbers, booleans, None, lists and dicts; arrays go "
            "into `arrays`.",
        ) from None
    if len(text) > MAX_JSON_BYTES:
        raise ModelError(
            f"The description of the model has {len(text)} bytes, at most {MAX_JSON_BYTES} fit.",
            hint="Put long lists of numbers into `arrays`.",
        )
    return text


def _plain(value):
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _no_constant(name):
    raise ValueError(f"{name} is not a finite number")


def _finite_float(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not a finite number")
    return value


def _require_name(name, what):
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ".." in name:
        raise ModelError(
            f"The {what} {str(name)[:60]!r} is not allowed.",
            hint="Use letters, digits, dots, dashes and underscores.",
        )


def _digest(raw):
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
