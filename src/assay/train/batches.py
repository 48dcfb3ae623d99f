"""Which rows go into which step, drawn on the host.

Shuffling inside the compiled program made compiling four times and a step three to forty times as
expensive (docs/why-slow.md). The order is a pure function of seed and epoch, so that a resumed fit
needs no state of a generator.
"""

import math

import numpy as np

from assay.errors import StudyError


def epochs_to_steps(n_rows: int, batch: int, epochs: int) -> int:
    """Return the steps of `epochs` passes over the rows, the short last batch included.

    Parameters
    ----------
    n_rows, batch, epochs : int
        At least 1 each.

    Raises
    ------
    StudyError
        If one of them is below 1.

    Examples
    --------
    >>> epochs_to_steps(1437, 64, 200)
    4600
    """
    if min(n_rows, batch, epochs) < 1:
        raise StudyError(
            f"Rows, batch and epochs must be at least 1, got {n_rows}, {batch} and {epochs}.",
            hint="Give at least one row and one epoch.",
        )
    return math.ceil(n_rows / batch) * int(epochs)


class Batches:
    """Row numbers of every step: a fresh shuffle each epoch, the last batch of an epoch short."""

    def __init__(self, n_rows: int, batch: int, seed: int):
        self.n_rows = n_rows
        self.batch = batch
        self.seed = seed
        self.per_epoch = math.ceil(n_rows / batch)
        self._epoch = -1
        self._order = np.empty((0, batch), np.int64)

    def rows(self, first: int, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers (n, batch) and counts (n,) of steps `first` to `first + n`.

        Entries past a step's count repeat a row of the same batch, so that what is masked out is
        never worse than what is used.
        """
        parts, step = [], first
        while step < first + n:
            epoch, at = divmod(step, self.per_epoch)
            take = min(self.per_epoch - at, first + n - step)
            parts.append(self._shuffled(epoch)[at : at + take])
            step += take
        counts = np.full(n, self.batch, np.int32)
        last = (np.arange(first, first + n) + 1) % self.per_epoch == 0
        counts[last] = self.n_rows - (self.per_epoch - 1) * self.batch
        return np.concatenate(parts), counts

    def _shuffled(self, epoch):
        if epoch != self._epoch:
            order = np.random.default_rng((self.seed, 1, epoch)).permutation(self.n_rows)
            short = self.per_epoch * self.batch - self.n_rows
            if short:
                final = order[(self.per_epoch - 1) * self.batch :]
                order = np.concatenate([order, np.resize(final, short)])
            self._order = order.reshape(self.per_epoch, self.batch)
            self._epoch = epoch
        return self._order
