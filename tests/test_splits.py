"""Splits: what must never be on both sides, and what a split refuses."""

import numpy as np
import pytest

from assay.errors import DataError, StudyError
from assay.splits import block_holdout, group_holdout, holdout, holdout_of, stratified


def parts_of(split, n, *, complete=True):
    """Check what every split promises and return both parts."""
    first, second = split
    for part in (first, second):
        assert part.dtype.kind == "i"
        assert part.size > 0
        assert (np.diff(part) > 0).all()
        assert part[0] >= 0
        assert part[-1] < n
    assert np.intersect1d(first, second).size == 0
    if complete:
        assert first.size + second.size == n
    return first, second


@pytest.mark.parametrize("n", [2, 3, 10, 1001])
@pytest.mark.parametrize("fraction", [0.01, 0.25, 0.5, 0.99])
def test_holdout(n, fraction):
    _, second = parts_of(holdout(n, fraction, 0), n)
    assert abs(second.size - n * fraction) <= 1


def test_the_same_seed_gives_the_same_split_and_another_does_not():
    labels = np.arange(300) % 3
    for make in (
        lambda seed: holdout(300, 0.3, seed),
        lambda seed: stratified(labels, 0.3, seed),
        lambda seed: group_holdout(np.arange(300) // 10, 0.3, seed),
        lambda seed: block_holdout(300, 0.3, 3, 2, seed),
    ):
        assert all(np.array_equal(a, b) for a, b in zip(make(1), make(1), strict=True))
        assert not np.array_equal(make(1)[1], make(2)[1])


def test_every_row_has_the_same_chance():
    held = np.zeros(20)
    for seed in range(2000):
        held[holdout(20, 0.25, seed)[1]] += 1
    assert held / 2000 == pytest.approx(np.full(20, 0.25), abs=0.04)


def test_stratified_keeps_the_shares_of_classes():
    labels = np.array(["ok"] * 90 + ["worn"] * 8 + ["broken"] * 2)
    first, second = parts_of(stratified(labels, 0.25, 0), 100)
    for name, rows in (("ok", 22), ("worn", 2), ("broken", 1)):
        assert (labels[second] == name).sum() == pytest.approx(rows, abs=0.5)
        assert (labels[first] == name).any()


def test_stratified_names_the_class_that_is_too_small():
    with pytest.raises(StudyError, match="class broken has one"):
        stratified(["ok", "ok", "broken"], 0.5, 0)


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_on_both_sides(seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.array(list("abcdefgh")), rng.integers(1, 60, size=8)))
    first, second = parts_of(group_holdout(groups, 0.3, seed), len(groups))
    assert not set(groups[first]) & set(groups[second])
    # No worse than half of the largest group away from what was asked.
    largest = np.unique(groups, return_counts=True)[1].max()
    assert abs(second.size - 0.3 * len(groups)) <= largest


def test_one_huge_group_leaves_both_parts_filled():
    groups = ["a"] * 1000 + ["b"]
    for seed in range(4):
        parts_of(group_holdout(groups, 0.3, seed), 1001)


def stretches(rows):
    """Cut ascending rows into contiguous stretches."""
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)


@pytest.mark.parametrize("seed", range(8))
def test_blocks_are_contiguous_spread_and_kept_at_a_distance(seed):
    n, gap = 1003, 7
    first, second = parts_of(block_holdout(n, 0.2, 4, gap, seed), n, complete=False)
    assert second.size == pytest.approx(0.2 * n, abs=4)
    assert len(stretches(second)) <= 4
    # One stretch in each quarter of the record.
    assert (np.bincount(np.minimum(second * 4 // n, 3), minlength=4) > 30).all()
    distance = np.abs(first[:, None] - second[None, :]).min()
    assert distance == gap + 1
    dropped = n - first.size - second.size
    assert gap <= dropped <= 4 * 2 * gap


def test_blocks_without_a_gap_use_every_row():
    parts_of(block_holdout(100, 0.3, 5, 0, 0), 100)


def test_refusals():
    with pytest.raises(StudyError, match="at least 2 rows"):
        holdout(1, 0.5, 0)
    with pytest.raises(StudyError, match="at least 2 groups"):
        group_holdout(["a", "a"], 0.5, 0)
    for fraction in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(StudyError, match="between 0 and 1"):
            holdout(10, fraction, 0)
    with pytest.raises(StudyError, match="each segment has 5 rows"):
        block_holdout(20, 0.25, 4, 3, 0)
    with pytest.raises(StudyError, match="gap >= 0"):
        block_holdout(100, 0.25, 4, -1, 0)
    with pytest.raises(DataError, match="labels"):
        stratified(np.zeros((4, 2)), 0.5, 0)


def test_copies_of_a_single_row_cannot_be_split():
    with pytest.raises(StudyError, match="All 5 rows are copies of one row"):
        holdout_of(np.zeros(5, dtype=int), 5, 0.5, 0)
