"""Turning what a study holds into plain values that JSON and TOML can carry."""

import dataclasses
import datetime
import enum
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return `value` as None, bool, int, float, str, list or dict, all the way down.

    A float that is not finite becomes None: JSON has no word for it, and a reader of the file
    must not take it for a number. Arrays become lists, paths and times strings, dataclasses
    dictionaries; anything else its ``str``.

    Examples
    --------
    >>> plain({"a": np.float32(0.5), "b": (np.nan, 3), "c": np.array([True])})
    {'a': 0.5, 'b': [None, 3], 'c': [True]}
    """
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, np.ndarray | np.generic):
        value = _from_numpy(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return _text(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _text(str(value) if isinstance(value, PurePath) else _name(value))


def flat(settings: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return nested settings as (dotted name, value) in order.

    Examples
    --------
    >>> flat({"seed": 0, "network": {"hidden": [8, 3]}})
    [('seed', 0), ('network.hidden', [8, 3])]
    """
    rows = []
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            rows.extend(flat(value, f"{prefix}{key}."))
        else:
            rows.append((f"{prefix}{key}", value))
    return rows


def without_none(value: Any) -> Any:
    """Return `value` without the None in it: TOML leaves out what is not set."""
    if isinstance(value, dict):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_none(v) for v in value if v is not None]
    return value


def toml(settings: Mapping[str, Any]) -> str:
    """Return `settings` as TOML, as ``study.toml`` holds them; what is None is left out."""
    import tomli_w

    return tomli_w.dumps(without_none(plain(settings)))


def _from_numpy(value: np.ndarray | np.generic) -> Any:
    if value.dtype.kind in "mM":
        return np.datetime_as_string(value).tolist() if value.dtype.kind == "M" else str(value)
    return value.tolist()


def _text(value: str) -> str:
    # File names may hold bytes that are no UTF-8 (lone surrogates): a file must still be written.
    return value.encode("utf-8", "replace").decode("utf-8")


def _name(value: Any) -> str:
    # A function or class is named, so that no memory address makes two equal runs differ.
    return getattr(value, "__qualname__", None) or str(value)
