"""Which rows go into which step."""

import numpy as np
import pytest

from assay.errors import StudyError
from assay.train import epochs_to_steps
from assay.train.batches import Batches


@pytest.mark.parametrize(("n", "batch"), [(100, 16), (96, 16), (17, 16), (1437, 64)])
def test_every_epoch_visits_every_row_once(n, batch):
    batches = Batches(n, batch, seed=0)
    per_epoch = epochs_to_steps(n, batch, 1)
    for epoch in range(3):
        index, counts = batches.rows(epoch * per_epoch, per_epoch)
        used = np.concatenate([row[:count] for row, count in zip(index, counts, strict=True)])
        np.testing.assert_array_equal(np.sort(used), np.arange(n))


def test_padding_repeats_rows_of_the_same_batch():
    index, counts = Batches(20, 16, seed=0).rows(1, 1)
    assert counts[0] == 4
    assert set(index[0]) == set(index[0, :4])


def test_order_does_not_depend_on_how_steps_are_chunked():
    whole = Batches(100, 16, seed=5).rows(0, 60)
    pieces = [Batches(100, 16, seed=5).rows(first, 20) for first in (0, 20, 40)]
    for i in range(2):
        np.testing.assert_array_equal(whole[i], np.concatenate([piece[i] for piece in pieces]))


def test_epochs_and_seeds_differ():
    batches = Batches(64, 16, seed=0)
    first, second = batches.rows(0, 4)[0], batches.rows(4, 4)[0]
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, Batches(64, 16, seed=1).rows(0, 4)[0])


def test_epochs_to_steps():
    assert epochs_to_steps(1437, 64, 200) == 4600
    assert epochs_to_steps(64, 64, 3) == 3
    with pytest.raises(StudyError, match="at least 1"):
        epochs_to_steps(0, 64, 3)
