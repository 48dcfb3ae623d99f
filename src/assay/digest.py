"""What somebody brought, as a short name: another content gets another name.

A study is known on the ledger by its settings. A model that was handed over is no setting: its
class has a name, and so has every other model of that class. So it is known by what is in it: the
bytes of a file or an array, the code of a function with all that it refers to, the state of an
object.
"""

import functools
import hashlib
import os
import pickle
import types
from pathlib import Path
from typing import Any

import numpy as np

_DEEPEST = 100
_PLAIN = (type(None), bool, int, float, complex, str, type(Ellipsis))


def digest_of(thing: Any) -> str:
    """Name a model, a function, an array or a file by its content.

    Parameters
    ----------
    thing : object
        A path is read, if there is such a file. Functions are known by their code, their default
        values, and the variables around them that they use; objects by their class, its code and
        their state. What cannot be looked into at all is known by its type.

    Returns
    -------
    str
        16 hexadecimal digits. Equal contents mostly have equal names, also in another process;
        different contents have different ones.

    Examples
    --------
    >>> digest_of(lambda X: X + 1.0) == digest_of(lambda X: X + 1.0)
    True
    >>> digest_of(lambda X: X + 1.0) == digest_of(lambda X: X + 2.0)
    False
    """
    return _digest(thing, {}, 0).hex()[:16]


def _digest(thing: Any, known: dict[int, tuple[Any, bytes]], depth: int) -> bytes:
    """Return the digest of anything; `known` holds those of what was met, by its id."""
    if isinstance(thing, _PLAIN):
        return _hash(type(thing).__name__, repr(thing).encode("utf-8", "surrogatepass"))
    if isinstance(thing, bytes | bytearray):
        return _hash("bytes", bytes(thing))
    if id(thing) in known:
        return known[id(thing)][1]
    # Kept with the object, so that no other gets its id; what refers to itself stops here.
    known[id(thing)] = (thing, _hash("around", type(thing).__name__.encode()))
    try:
        kind, parts = _parts(thing)
        if depth >= _DEEPEST:
            parts = ()
        found = _hash(kind, *(_digest(part, known, depth + 1) for part in parts))
    except Exception:  # foreign code may do anything, and a name is all that is wanted
        found = _hash("unknown", _class_name(type(thing)).encode())
    known[id(thing)] = (thing, found)
    return found


def _hash(kind: str, *parts: bytes) -> bytes:
    made = hashlib.sha256(kind.encode())
    for part in parts:
        made.update(len(part).to_bytes(8, "little") + part)
    return made.digest()


def _parts(thing: Any) -> tuple[str, tuple]:
    """Return a kind, and what a thing of it is made of."""
    if isinstance(thing, os.PathLike):
        path = Path(thing)
        return "file", (path.read_bytes() if path.is_file() else str(path),)
    if isinstance(thing, dict):
        items = sorted(thing.items(), key=lambda item: str(item[0]))
        return "dict", tuple(part for item in items for part in item)
    if isinstance(thing, list | tuple):
        return type(thing).__name__, tuple(thing)
    if isinstance(thing, set | frozenset):
        return "set", tuple(sorted(_digest(one, {}, 0) for one in thing))
    if isinstance(thing, types.CodeType):
        return "code", (thing.co_code, thing.co_consts, thing.co_names)
    if isinstance(thing, types.FunctionType):
        return "function", _of_function(thing)
    if isinstance(thing, types.MethodType):
        return "method", (thing.__func__, thing.__self__)
    if isinstance(thing, functools.partial):
        return "partial", (thing.func, thing.args, thing.keywords)
    if hasattr(thing, "__wrapped__") and not isinstance(thing, type):  # compiled or cached
        return "wrapped", (thing.__wrapped__,)
    if isinstance(thing, types.ModuleType | types.BuiltinFunctionType):
        return "named", (getattr(thing, "__module__", None) or "", thing.__name__)
    if isinstance(thing, type):
        return "class", _of_class(thing)
    if isinstance(thing, np.ndarray | np.generic) or hasattr(thing, "__array__"):
        return "array", _of_array(thing)
    return "object", (type(thing), _state(thing))


def _of_function(function: types.FunctionType) -> tuple:
    around = []
    for cell in function.__closure__ or ():
        try:
            around.append(cell.cell_contents)
        except ValueError:  # a variable that has no value yet
            around.append(None)
    used = {
        name: function.__globals__[name]
        for name in sorted(_names(function.__code__))
        if name in function.__globals__
    }
    return function.__code__, function.__defaults__, function.__kwdefaults__, around, used


def _names(code: types.CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _of_class(kind: type) -> tuple:
    """Return the name of a class, and the code of those in its line that its own module defines."""
    own = [k for k in kind.__mro__ if k.__module__ == kind.__module__ != "builtins"]
    code = [
        (name, getattr(value, "__func__", value).__code__)
        for k in own
        for name, value in sorted(vars(k).items())
        if hasattr(getattr(value, "__func__", value), "__code__")
    ]
    return _class_name(kind), code


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _of_array(thing: Any) -> tuple:
    try:
        array = np.asarray(thing)
    except Exception:  # a tensor that keeps its gradient, say
        return (thing.tolist(),)
    if array.dtype.hasobject:
        return array.shape, array.tolist()
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def _state(thing: Any) -> Any:
    """Return what an object holds: as it says itself, else its attributes, else its pickle."""
    if type(thing).__getstate__ is not object.__getstate__:
        return thing.__getstate__()
    held = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                held[name] = getattr(thing, name)
    return held or pickle.dumps(thing, protocol=5)
