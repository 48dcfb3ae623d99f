import os

import pytest

from assay.data import read_table
from assay.errors import DataError

from .broken import BROKEN


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_broken_file_gets_one_clear_line(case, tmp_path):
    path = case.write(tmp_path)
    with pytest.raises(DataError) as caught:
        read_table(path, **case.options)
    error = caught.value
    assert case.expected in str(error)
    assert path.name in error.message or "`rows`" in error.message
    assert error.hint
    assert "\n" not in str(error)
    assert len(error.message) < 500


def test_there_are_enough_broken_files():
    assert len(BROKEN) >= 60
    assert len({case.name for case in BROKEN}) == len(BROKEN)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read"):
        read_table(path)


def test_unreadable_file_by_the_system(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")

    def refuse(self, *args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match="may not be read"):
        read_table(path)


def test_h5py_absent(tmp_path, monkeypatch):
    import sys

    h5py = pytest.importorskip("h5py")
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        file["X"] = [[1.0, 2.0]]
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match=r"h5py is not installed.*pip install"):
        read_table(path)
