"""What every test gets: strict JAX, Ctrl-C, a ledger of its own, the shared data if it is there."""

import os
import signal
from pathlib import Path

import pytest

# Read by JAX when it is first imported, here or in a subprocess: silent promotions are errors in
# tests. The library itself never changes global configuration.
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ.setdefault("JAX_NUMPY_RANK_PROMOTION", "raise")
os.environ.setdefault("MPLBACKEND", "Agg")

# A job in the background is started with Ctrl-C ignored: tests that press it need Python's handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True, scope="session")
def _ledger_of_the_session(tmp_path_factory):
    """Keep studies in fixtures of a wider scope away from the user's ledger."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_LEDGER", str(tmp_path_factory.mktemp("ledger") / "ledger.jsonl"))
        yield


@pytest.fixture(autouse=True)
def ledger_path(tmp_path, monkeypatch):
    """Give each test a ledger of its own: openings by other tests must not show in it."""
    path = tmp_path / "ledger" / "ledger.jsonl"
    monkeypatch.setenv("ASSAY_LEDGER", str(path))
    return path


@pytest.fixture(scope="session")
def root():
    """Return the folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared():
    """Return the folder with real data files, which are not part of the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the real data files in ../shared/data, which are not here")
    return folder
