"""Rows that are in both parts, and honest repeats that are not a leak."""

import time

import numpy as np
import pytest

from assay.errors import DataError
from assay.fingerprint import SKETCH, row_hashes, shared_rows, sketch_of
from assay.leaks import leaks
from assay.splits import hash_rows


def test_exact_duplicates_are_counted_and_shown():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(800, 5)), rng.normal(size=(200, 5))
    test[[3, 50, 199]] = train[[10, 10, 700]]
    found = leaks(train, test)
    assert found.exact == 3
    assert found.exact_share == 3 / 200
    assert found.expected_exact == 0
    assert found.examples[:3] == ((10, 3), (10, 50), (700, 199))
    assert found.near == 0
    assert found.excess == pytest.approx(0.015)


def test_near_duplicates_are_found_whatever_the_units():
    rng = np.random.default_rng(1)
    scale = np.array([1e-6, 1.0, 1e7, 300.0])
    offset = np.array([0.0, 5.0, 1e9, -40.0])
    train, test = rng.normal(size=(1000, 4)), rng.normal(size=(300, 4))
    test[7] = train[5] + 1e-3
    found = leaks(train * scale + offset, test * scale + offset)
    assert found.exact == 0
    assert found.examples == ((5, 7),)
    assert found.near == 1
    assert leaks(train, test, tolerance=0).near == 0


def test_float32_copies_are_near_duplicates():
    rng = np.random.default_rng(2)
    train = rng.normal(size=(500, 6))
    found = leaks(train, train[:50].astype(np.float32))
    assert (found.exact, found.near) == (0, 50)
    assert found.near_share == 1.0


def test_independent_parts_have_no_leak():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = leaks(rng.normal(size=(2000, 6)), rng.normal(size=(500, 6)))
        assert found.excess == 0.0


def test_repeats_on_a_coarse_grid_are_expected():
    rng = np.random.default_rng(3)
    grid = rng.integers(0, 6, size=(4000, 4)).astype(float)
    found = leaks(grid[:3000], grid[3000:])
    assert found.exact_share > 0.8
    assert found.expected_exact == pytest.approx(found.exact_share, abs=0.04)
    assert found.near == 0
    assert found.excess < 0.04


def test_a_leak_on_a_grid_shows_above_what_is_expected():
    rng = np.random.default_rng(4)
    grid = rng.integers(0, 20, size=(4000, 3)).astype(float)
    test = grid[3000:].copy()
    test[:500] = grid[:500]
    assert leaks(grid[:3000], test).excess > 0.25


def test_constant_columns_and_tiny_parts_do_not_break_it():
    train = np.column_stack([np.arange(50.0), np.full(50, 3.7)])
    assert leaks(train, train[:5] + np.array([0.5, 0.0])).excess == 0.0
    assert leaks(train[:1], train[:1]).exact == 1
    assert leaks(train[:0], train).exact == 0
    assert leaks(np.full((9, 2), 4.0), np.full((3, 2), 4.0)).expected_exact == 1.0


def test_refusals():
    with pytest.raises(DataError, match="same columns"):
        leaks(np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(DataError, match="tolerance"):
        leaks(np.ones((3, 2)), np.ones((3, 2)), tolerance=-1)
    with pytest.raises(DataError, match="finite"):
        leaks(np.full((3, 2), np.nan), np.ones((3, 2)))
    with pytest.raises(DataError, match="numbers"):
        row_hashes(np.array([["a"]]))


def test_two_million_rows_take_seconds():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((2_000_000, 10), dtype=np.float32)
    start = time.process_time()
    found = leaks(X[:1_500_000], X[1_500_000:])
    assert time.process_time() - start < 10.0
    assert found.exact == 0


# ------------------------------------------------------------------- hashes


def test_equal_rows_have_equal_hashes_and_others_do_not():
    rng = np.random.default_rng(6)
    grid = rng.integers(0, 50, size=(200_000, 4)) / 8.0  # short binary fractions hash worst
    hashes = row_hashes(grid)
    assert np.unique(hashes).size == np.unique(grid, axis=0).shape[0]
    assert np.array_equal(row_hashes(grid.astype(np.float32)), hashes)
    assert np.array_equal(row_hashes(np.asfortranarray(grid)), hashes)
    a, b, c, d = row_hashes([[0.0, np.nan], [-0.0, -np.nan], [np.nan, 0.0], [1.0, 0.0]])
    assert a == b
    assert len({int(a), int(c), int(d)}) == 3


def test_hashes_are_uniform():
    """The sketch rests on it: 64 equal cells, chi-squared within its usual range."""
    hashes = row_hashes(np.arange(64_000.0)[:, None])
    for shift in (58, 29, 0):
        cells = np.bincount(((hashes >> np.uint64(shift)) & np.uint64(63)).astype(int))
        assert 30 < ((cells - 1000) ** 2 / 1000).sum() < 120


def test_hashes_do_not_change_between_versions():
    """They are kept on ledgers: a new value here means that old ledgers recognise nothing."""
    assert int(row_hashes([[1.0, 2.0, 3.0]])[0]) == 5_045_583_200_632_915_261
    assert hash_rows([[1.0, 2.0, 3.0]]) == "e9af77c231eaf0b7279e705401a74691"


def test_names_depend_on_the_rows_and_not_on_their_order():
    X = np.random.default_rng(7).normal(size=(50, 3))
    assert hash_rows(X) == hash_rows(X[::-1])
    assert hash_rows(X) != hash_rows(X[1:])
    assert hash_rows(np.zeros((4, 1))) != hash_rows(np.zeros((4, 2)))


def test_small_sets_share_exactly():
    X = np.arange(300.0)[:, None]
    a, b = sketch_of(row_hashes(X[:200])), sketch_of(row_hashes(X[150:]))
    assert shared_rows(a, b) == 50
    assert shared_rows(a, ()) == 0


@pytest.mark.parametrize("overlap", [0, 5_000, 50_000, 100_000])
def test_large_sets_share_about(overlap):
    X = np.arange(200_000.0)[:, None]
    a = sketch_of(row_hashes(X[:100_000]))
    b = sketch_of(row_hashes(X[100_000 - overlap : 200_000 - overlap]))
    assert len(a) == SKETCH
    # The number of shared hashes among 256 is binomial.
    noise = 4 * np.sqrt(SKETCH * overlap / 100_000) * 100_000 / SKETCH
    assert shared_rows(a, b) == pytest.approx(overlap, abs=max(noise, 1.0))


def test_sketch_of_many_repeats_is_complete():
    X = np.repeat(np.arange(300.0), 1000)[:, None]
    assert sketch_of(row_hashes(X)) == sketch_of(row_hashes(X[::1000]))
