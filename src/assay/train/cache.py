"""Keeping compiled programs on the disk between runs."""

import os
import stat
from pathlib import Path

from assay.errors import StudyError

MAX_BYTES = 256 * 1024**2  # some thousand programs


def enable_compilation_cache(path: Path | str | None = None) -> Path:
    """Let JAX keep compiled programs in a private folder of the user.

    This changes JAX's configuration for the whole process, so the library never does it by itself;
    the command line does. Whoever can write to the folder can run code in your processes: it is
    made readable and writable by you alone, and one that belongs to somebody else is refused.

    Parameters
    ----------
    path : path, optional
        The folder; by default ``assay/compiled`` in the user's cache folder.

    Returns
    -------
    Path
        The folder in use.

    Raises
    ------
    StudyError
        If the folder cannot be made, or others may write to it.
    """
    import platformdirs

    folder = Path(path) if path is not None else platformdirs.user_cache_path("assay") / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.name == "posix":
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                raise PermissionError(0, "it belongs to somebody else")
            folder.chmod(0o700)
    except OSError as error:
        raise StudyError(
            f"The folder {folder} cannot keep compiled programs: {error.strerror}.",
            hint="Give another path, or run without the cache.",
        ) from None
    import jax

    jax.config.update("jax_compilation_cache_dir", str(folder))
    # Ours compile in 0.1 to 2 s; JAX's own default of 1 s would leave most of them out.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    _prune(folder)
    return folder


def _prune(folder):
    """Delete the programs that have not been written for longest, down to half of the limit.

    JAX's own limit needs another package and writes a file at every look-up. A program that is
    missing is compiled again, so nothing can go wrong here.
    """
    kept = []
    for path in folder.iterdir():
        try:
            kept.append((path.stat().st_mtime, path.stat().st_size, path))
        except OSError:  # another process was faster
            continue
    total = sum(size for _, size, _ in kept)
    if total <= MAX_BYTES:
        return
    for _, size, path in sorted(kept):
        path.unlink(missing_ok=True)
        total -= size
        if total <= MAX_BYTES // 2:
            return
