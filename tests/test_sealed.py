"""The sealed test part: out of reach, opened once, and recorded before."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from assay.errors import StudyError
from assay.ledger import Ledger
from assay.splits import SealedTest, hash_rows


class Secret:
    """A payload that can be recognised."""

    def __repr__(self):
        return "the secret"


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


def sealed(payload=None):
    return SealedTest(payload or Secret(), rows_hash="77", n_rows=5)


def test_opens_once(ledger):
    payload = Secret()
    test = sealed(payload)
    assert not test.is_open
    assert test.open(ledger, study="a", need="anomaly") is payload
    assert test.is_open
    with pytest.raises(StudyError, match="opens only once"):
        test.open(ledger, study="a")
    (entry,) = ledger.entries()
    assert (entry["id"], entry["study"], entry["need"]) == (test.opening, "a", "anomaly")
    assert (entry["rows_hash"], entry["n_rows"]) == ("77", 5)


def test_nothing_that_one_does_in_passing_shows_the_payload():
    payload = Secret()
    test = sealed(payload)
    assert "secret" not in repr(test) + str(test) + f"{test}"
    for name in dir(test):
        value = getattr(test, name, None)
        assert value is not payload
        assert "secret" not in repr(value)
    with pytest.raises(TypeError):
        vars(test)
    for name in ("payload", "_payload", "__payload", "data", "X"):
        assert not hasattr(test, name)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copy_can_be_opened_again(duplicate):
    with pytest.raises(StudyError, match="copied or pickled"):
        duplicate(sealed())


def test_equality_compares_rows_without_opening():
    one, two = sealed(), sealed()
    assert one == two
    assert hash(one) == hash(two)
    assert one != SealedTest(Secret(), rows_hash="78", n_rows=5)
    assert one != "77"
    assert not one.is_open


def test_nothing_is_kept_after_the_opening(ledger):
    test = sealed()
    payload = test.open(ledger, study="a")
    watch = weakref.ref(payload)
    del payload
    gc.collect()
    assert watch() is None


def test_an_opening_that_cannot_be_recorded_leaves_it_sealed(tmp_path, ledger):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    test = sealed()
    with pytest.raises(StudyError, match="without a record"):
        test.open(Ledger(blocked / "ledger.jsonl"), study="a")
    assert not test.is_open
    assert isinstance(test.open(ledger, study="a"), Secret)


def test_sealing_rows(ledger):
    X = np.random.default_rng(0).normal(size=(40, 3))
    test = SealedTest.of(X)
    assert test.rows_hash == hash_rows(X)
    assert (test.n_rows, len(test.sketch)) == (40, 40)
    assert test.open(ledger, study="a") is X
    assert SealedTest.of(X, "labels").open(ledger, study="a") == "labels"
