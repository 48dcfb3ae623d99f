"""What every study offers a user: `run`, the same for all needs."""

import abc
from typing import Any

from assay.result import Result
from assay.study import AbstractNeed, check_setting, run_in


class AbstractStudy(abc.ABC):
    """A study of some need: what it takes is its own, how it is run is the same for all."""

    @abc.abstractmethod
    def _need_for(self, seed: int) -> AbstractNeed:
        """Return the pieces of the study, where the first seed is `seed`."""

    def run(
        self,
        seed: int = 0,
        *,
        seeds: int = 3,
        margin: float = 0.0,
        folder: Any = None,
        progress: Any = None,
    ) -> Result:
        """Run the study.

        Parameters
        ----------
        seed : int
            First seed; where rows are split, it draws the split too.
        seeds : int
            How many times the candidate is fitted.
        margin : float [-]
            The relative gain that is asked for.
        folder : path, optional
            Where the files of the run will go: the ledger is kept beside it, and an interrupted
            run is resumed from there.
        progress : callable, optional
            Called with a sentence and the share done in [0, 1].

        Returns
        -------
        Result

        Raises
        ------
        DataError, StudyError
            If the data, or the problem, cannot carry the study.
        """
        check_setting(seed, seeds, margin)
        need = self._need_for(seed)
        return run_in(need, seed=seed, seeds=seeds, margin=margin, folder=folder, progress=progress)
