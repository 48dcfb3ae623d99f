"""The compilation cache: private, and only where it is switched on."""

import os
import stat
import subprocess
import sys

import pytest

from assay.errors import StudyError
from assay.train import cache, enable_compilation_cache

# In a process of its own, because it changes JAX's configuration.
SCRIPT = """
import sys
from assay.train import cache, enable_compilation_cache, fit, Hyper
print(enable_compilation_cache(*sys.argv[2:]))
sys.path.insert(0, sys.argv[1])
from train.common import CODER, rows
fit(CODER, Hyper(steps=10), rows(), seed=0)
"""


@pytest.mark.parametrize("given", [True, False])
def test_programs_are_kept_in_a_private_folder(tmp_path, root, given):
    folder = tmp_path / "deep" / "kept"
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", SCRIPT, str(root / "tests"), *([str(folder)] if given else [])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    used = tmp_path / "home" / "assay" / "compiled"
    if given:
        used = folder
    assert done.stdout.strip() == str(used)
    assert stat.S_IMODE(used.stat().st_mode) == 0o700
    assert any("run_chunk" in path.name for path in used.iterdir())


def test_a_folder_of_ours_is_made_private(tmp_path):
    tmp_path.chmod(0o777)
    script = f"from assay.train import cache, enable_compilation_cache as e; e({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_the_oldest_programs_go_when_there_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.train.cache.MAX_BYTES", 1000)
    for age in range(20):
        path = tmp_path / f"program-{age:02d}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (10_000 - age, 10_000 - age))
    cache._prune(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"program-{i:02d}" for i in range(5)]


def test_a_link_or_a_file_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("")
    for name in ("link", "file"):
        with pytest.raises(StudyError, match="cannot keep compiled programs"):
            enable_compilation_cache(tmp_path / name)
