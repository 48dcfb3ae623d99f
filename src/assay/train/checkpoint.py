"""Checkpoints: the whole state of a fit in one file, written so that no kill can spoil it.

The file is a safetensors file (no code in it) whose header carries a fingerprint of everything the
run depends on, and a digest of its arrays. It is written beside its place, flushed to the disk and
renamed, so that at any moment either the old or the new one is whole.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import StudyError

FORMAT = 1


class CheckpointError(StudyError):
    """What is kept at a path is damaged, or of another fit; it is left as it is."""


def fingerprint(parts: dict[str, Any]) -> dict[str, str]:
    """Return one short text per part: arrays by digest, functions by name, the rest by `repr`."""
    return {name: _describe(value) for name, value in parts.items()}


def _describe(value):
    if isinstance(value, np.ndarray):
        digest = hashlib.blake2b(np.ascontiguousarray(value).data, digest_size=16).hexdigest()
        return f"{value.dtype}{list(value.shape)}:{digest}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, tuple):
        return "(" + ", ".join(_describe(item) for item in value) + ")"
    return repr(value)


def save(path: Path, arrays: dict[str, np.ndarray], state: dict, marks: dict[str, str]) -> None:
    """Write a checkpoint atomically.

    Parameters
    ----------
    path : Path
        Its folder is made if need be.
    arrays : dict of str to numpy.ndarray
    state : dict
        JSON-able rest of the state.
    marks : dict of str to str
        The fingerprint.
    """
    from safetensors.numpy import save as to_bytes

    # Not np.ascontiguousarray, which turns a number into an array of one number.
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    header = {"format": FORMAT, "digest": _digest(arrays), "state": state, "fingerprint": marks}
    write_atomically(path, to_bytes(arrays, metadata={"assay": json.dumps(header)}))


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` into `path` so that a reader, or a kill, never meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if hasattr(os, "O_DIRECTORY"):  # makes the rename itself durable where the system offers it
        folder = os.open(path.parent, os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(path: Path, marks: dict[str, str]) -> tuple[dict[str, np.ndarray], dict] | None:
    """Read the checkpoint of this very fit; None if there is no file.

    Raises
    ------
    CheckpointError
        If the file is damaged, or belongs to another fit. It is never overwritten then, because it
        may be hours of somebody's work.
    StudyError
        If it cannot be read.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StudyError(
            f"The checkpoint {path} could not be read: {error.strerror}.",
            hint="Give another path, or make it a readable file.",
        ) from None
    try:
        arrays = from_bytes(content)
        length = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["assay"])
        whole = header["format"] == FORMAT and header["digest"] == _digest(arrays)
        saved, state = dict(header["fingerprint"]), dict(header["state"])
    except (SafetensorError, KeyError, ValueError, TypeError):
        whole = False
    if not whole:
        raise CheckpointError(
            f"The checkpoint {path} is damaged or no checkpoint of this version of Assay.",
            hint="Delete it to train from the start, or give another path.",
        )
    different = [name for name in sorted(saved | marks) if saved.get(name) != marks.get(name)]
    if different:
        raise CheckpointError(
            f"The checkpoint {path} belongs to another fit: {', '.join(different)} differ.",
            hint="Delete it to train from the start, give another path, or run with the settings "
            "and data it was made with.",
        )
    return arrays, state


def _digest(arrays):
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name}:{arrays[name].dtype}:{arrays[name].shape};".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()
