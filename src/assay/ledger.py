"""The ledger: every opening of a test part, one JSON object a line, only ever appended to.

A line is ``{"kind": "opening", "id", "time", "study", "need", "rows_hash", "n_rows", "sketch"}``
or, written later, ``{"kind": "verdict", "id", "time", "verdict"}``.
"""

import contextlib
import datetime
import json
import os
import time as _time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.fingerprint import shared_rows
from assay.result import LedgerSummary

# Two sets count as the same test data from this share of ours on.
LEAST_SHARED = 0.01
# Error at each end of a 95 % interval: what one look may cost.
ONE_LOOK = 0.025
# The verdict of a study that ended in an error before anything of the test part was shown.
FAILED = "failed"


def default_path(out: str | os.PathLike | None = None) -> Path:
    """Say where the ledger is kept: ``$ASSAY_LEDGER``, beside the runs, or with the user's data.

    Parameters
    ----------
    out : path, optional
        The folder that the study writes; the ledger lies beside it.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> default_path("runs/pump").as_posix()  # doctest: +SKIP
    'runs/ledger.jsonl'
    """
    if named := os.environ.get("ASSAY_LEDGER"):
        return Path(named)
    if out is not None:
        return Path(out).parent / "ledger.jsonl"
    import platformdirs

    return Path(platformdirs.user_data_dir("assay", appauthor=False)) / "ledger.jsonl"


def study_identity(settings: dict[str, Any]) -> str:
    """Name a study by its settings: equal settings, equal name, whatever the order of keys.

    Parameters
    ----------
    settings : dict
        Everything that is needed to run the study again; what JSON lacks is written as text.

    Returns
    -------
    str
        16 hexadecimal digits.

    Examples
    --------
    >>> study_identity({"seed": 0, "width": 8}) == study_identity({"width": 8, "seed": 0})
    True
    """
    import hashlib

    text = json.dumps(settings, sort_keys=True, default=str, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Ledger:
    """An append-only file of openings, safe to share between processes.

    Parameters
    ----------
    path : path
        Created, with its folder, at the first record.

    Examples
    --------
    >>> import tempfile
    >>> ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.jsonl")
    >>> opening = ledger.record(study="a1", need="anomaly", rows_hash="77", n_rows=50)
    >>> ledger.add_verdict(opening, "earned")
    >>> [entry["verdict"] for entry in ledger.entries()]
    ['earned']
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)

    def __repr__(self):
        return f"Ledger({str(self.path)!r})"

    def record(
        self, *, study: str, need: str, rows_hash: str, n_rows: int, sketch: tuple[int, ...] = ()
    ) -> str:
        """Write down one opening and return its id.

        Parameters
        ----------
        study : str
            Identity of the study (`study_identity`).
        need : str
        rows_hash : str
            From `assay.splits.hash_rows`.
        n_rows : int
        sketch : tuple of int, optional
            From `assay.fingerprint.sketch_of`; without it only equal sets are recognised.

        Returns
        -------
        str
            For `add_verdict`.

        Raises
        ------
        StudyError
            If the ledger cannot be written.
        """
        opening = uuid.uuid4().hex
        self._append(
            {
                "kind": "opening",
                "id": opening,
                "time": _now(),
                "study": study,
                "need": need,
                "rows_hash": rows_hash,
                "n_rows": int(n_rows),
                "sketch": [f"{h:016x}" for h in sketch],
            }
        )
        return opening

    def add_verdict(self, opening: str, verdict: str) -> None:
        """Write down how the study of an opening ended."""
        self._append({"kind": "verdict", "id": opening, "time": _now(), "verdict": verdict})

    def entries(self) -> list[dict[str, Any]]:
        """Read all openings, oldest first, each with its `verdict` (None so far) and `sketch`."""
        return self._read()[0]

    @property
    def corrupt(self) -> int:
        """Number of lines that could not be read; they stay in the file."""
        return self._read()[1]

    def earlier(
        self, rows_hash: str, sketch: tuple[int, ...] = (), *, n_rows: int = 0, but: str = ""
    ) -> list[dict[str, Any]]:
        """Find earlier openings of the same or overlapping rows.

        Parameters
        ----------
        rows_hash : str
        sketch : tuple of int, optional
        n_rows : int, optional
            Number of our rows; an overlap of less than 1 % of them is not reported.
        but : str, optional
            Id of an opening to leave out (this one).

        Returns
        -------
        list of dict
            `time`, `study`, `need`, `verdict`, `n_rows`, and `rows`: how many of ours it shared
            (estimated where both are large).
        """
        return _overlapping(self.entries(), rows_hash, sketch, n_rows, but)

    def summary(
        self,
        *,
        rows_hash: str,
        n_rows: int,
        sketch: tuple[int, ...] = (),
        study: str = "",
        opening: str = "",
    ) -> LedgerSummary:
        """Say how often these rows have been opened, and what that does to the claim.

        Parameters
        ----------
        rows_hash, n_rows, sketch
            As recorded.
        study : str
            Our identity: the same study run again is no new look, and is counted apart.
        opening : str
            Id of our own opening.

        Returns
        -------
        LedgerSummary
            `openings` counts this one too.
        """
        entries, corrupt = self._read()
        found = _overlapping(entries, rows_hash, sketch, n_rows, opening)
        sentence = _sentence(found, study, n_rows)
        if corrupt:
            sentence += (
                f" {corrupt} line{'s' if corrupt > 1 else ''} of the ledger could not be read, so "
                "there may have been more."
            )
        return LedgerSummary(str(self.path), rows_hash, len(found) + 1, tuple(found), sentence)

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab+") as file, _locked(file, self.path):
                # A writer that was killed leaves half a line: it is kept, and ended here.
                if file.seek(0, os.SEEK_END) and not _ends_a_line(file):
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as reason:
            raise StudyError(
                f"The ledger {self.path} cannot be written ({reason.strerror or reason}); no test "
                "part is opened without a record.",
                hint="Set ASSAY_LEDGER to a file that you may write to.",
            ) from None

    def _read(self) -> tuple[list[dict[str, Any]], int]:
        """All openings in order, and how many lines were no entries."""
        try:
            with open(self.path, "rb") as file:
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return [], 0
        except OSError as reason:
            raise StudyError(
                f"The ledger {self.path} cannot be read ({reason.strerror or reason}).",
                hint="Set ASSAY_LEDGER to a file that you may read and write.",
            ) from None
        openings: dict[str, dict[str, Any]] = {}
        corrupt = 0
        for line in lines:
            if not line.strip():
                continue
            entry = _parsed(line)
            if entry is None:
                corrupt += 1
            elif entry["kind"] == "opening":
                openings[entry["id"]] = entry
            elif entry["id"] in openings:
                openings[entry["id"]]["verdict"] = entry["verdict"]
        return list(openings.values()), corrupt


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the entry of a line, or None for anything that is not one."""
    try:
        entry = json.loads(line)
        if entry["kind"] == "verdict":
            return {"kind": "verdict", "id": str(entry["id"]), "verdict": str(entry["verdict"])}
        if entry["kind"] != "opening":
            return None
        texts = {k: str(entry[k]) for k in ("kind", "id", "time", "study", "need", "rows_hash")}
        sketch = tuple(sorted(int(h, 16) for h in entry.get("sketch", ())))
        return {**texts, "n_rows": int(entry["n_rows"]), "sketch": sketch, "verdict": None}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _overlapping(entries, rows_hash, sketch, n_rows, but) -> list[dict[str, Any]]:
    """Pick the openings that share rows with ours, as the summary shows them."""
    found = []
    for entry in entries:
        if entry["id"] == but:
            continue
        if entry["rows_hash"] == rows_hash:
            rows = entry["n_rows"]
        else:
            rows = round(shared_rows(sketch, entry["sketch"]))
            rows = min(rows, entry["n_rows"], n_rows or rows)
            if rows < max(1.0, LEAST_SHARED * n_rows):
                continue
        shown = {k: entry[k] for k in ("time", "study", "need", "verdict", "n_rows")}
        found.append({**shown, "rows": rows})
    return found


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _sentence(found: list[dict[str, Any]], study: str, n_rows: int) -> str:
    """Say what the earlier openings do to the claim."""
    failed = sum(1 for entry in found if entry["verdict"] == FAILED)
    if failed:
        shown = [entry for entry in found if entry["verdict"] != FAILED]
        ended = f"{_times(failed)} a study of them ended in an error before it showed anything."
        if not shown:
            return f"Nothing of these test rows was shown before: {ended}"
        return f"{_sentence(shown, study, n_rows)} {ended.capitalize()}"
    others = {entry["study"] for entry in found if not study or entry["study"] != study}
    again = sum(1 for entry in found if study and entry["study"] == study)
    if not found:
        return "These test rows have been opened for the first time, as far as this ledger knows."
    rerun = f"This same study has opened them {_times(again)} before, which is no new look."
    if not others:
        return f"No other study has opened these test rows. {rerun}"
    k = len(others)
    partly = [entry["rows"] for entry in found if entry["rows"] < n_rows]
    part = (
        f" (in part: up to {max(partly)} of the {n_rows} rows)" if len(partly) == len(found) else ""
    )
    chance = min(1.0, (k + 1) * ONE_LOOK)
    studies = "1 other study" if k == 1 else f"{k} other studies"
    text = (
        f"These test rows have been opened before by {studies}{part}. If what those showed led to "
        f"choices in this one, the chance of a false EARNED is no longer {ONE_LOOK:.1%} but up to "
        f"about {chance:.1%}: treat the verdict as exploratory and confirm it on rows that nobody "
        "has seen."
    ).replace("%", " %")
    return f"{text} {rerun}" if again else text


def _now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _ends_a_line(file) -> bool:
    """Tell whether the last byte ends a line."""
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


@contextlib.contextmanager
def _locked(file, path: Path) -> Iterator[None]:
    """Hold the ledger alone: an advisory lock, or a lock file where there is none."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):  # Windows, and some network file systems
        with _lock_file(path.with_name(path.name + ".lock")):
            yield
        return
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextlib.contextmanager
def _lock_file(path: Path, *, patience_s: float = 10.0, stale_s: float = 60.0) -> Iterator[None]:
    """Hold a lock by creating a file that must not exist."""
    deadline = _time.monotonic() + patience_s
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            with contextlib.suppress(OSError):
                # A killed writer leaves its lock behind; no write takes a minute.
                if _time.time() - path.stat().st_mtime > stale_s:
                    path.unlink()
                    continue
            if _time.monotonic() > deadline:
                raise OSError(f"{path} is held by another process") from None
            _time.sleep(0.01)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
