"""The check of the Gaussian process: a rival that was not found is no rival."""

import dataclasses
from typing import ClassVar, Literal

import numpy as np

from assay.checks import NotApplicable, finding
from assay.result import Finding
from assay.surrogate.checks_parts import insides
from assay.surrogate.gp import GaussianProcess
from assay.surrogate.search import LENGTHS, MOST_NUGGET, SAME
from assay.surrogate.view import SurrogateView

NEAR = 1.05  # of a limit


@dataclasses.dataclass(frozen=True)
class BaselineNotConverged:
    """The Gaussian process was not found, so that beating it shows nothing (S09).

    Attributes
    ----------
    most_failed : float [-]
        Share of the starts that may fail for want of a Cholesky factor (ours: fewer than half).
    most_jitter : float [-]
        What may have to be added to the diagonal of the covariance, as a share of it, before a
        warning: rounding alone asks for no more [1]_ (ours: ten digits are left).

    References
    ----------
    .. [1] R. B. Gramacy, H. K. H. Lee, Cases for the nugget in modeling computer experiments,
       Statistics and Computing 22 (2012) 713-722.
    """

    code: ClassVar[str] = "S09"
    title: ClassVar[str] = "Baseline not converged"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    most_failed: float = 0.5
    most_jitter: float = 0.000001

    def __call__(self, view: SurrogateView) -> Finding:
        """Read how the searches of the process ended."""
        processes = [
            one
            for baseline in view.baselines
            for one in insides(baseline)
            if isinstance(one, GaussianProcess)
        ]
        if not processes:
            raise NotApplicable("There is no Gaussian process among the baselines.")
        lost = [process for process in processes if not process.converged_]
        doubts = [text for process in processes for text in self._doubts(process)]
        doubts += self._no_better(view)
        first = processes[0]
        final, starts = first.final_, first.restarts_
        same = sum(r.value - min(q.value for q in starts) <= SAME for r in starts)
        told = (
            f"The Gaussian process {'did not converge' if lost else 'converged'}"
            + (f" (largest slope left {final.slope:.2g} nats)" if final is not None else "")
            + (f"; {same} of {len(starts)} starts ended at the best" if starts else "")
            + (f"; but {'; '.join(doubts)}" if doubts else "")
        )
        bad = bool(lost or doubts)
        return finding(
            self,
            "fail" if lost else "warn" if bad else "pass",
            f"{told}.",
            measured=len(lost),
            threshold=0,
            unit="unconverged searches",
            cause="The search for length scales and nugget ended early or on a limit: runs that "
            "repeat each other, absurd inputs, or too few steps and starts."
            if bad
            else "",
            fix=(
                "Give the process more steps and starts (in Python: most_steps=1000, starts=20).",
                "Give `--bounds`, and look for absurd values in the inputs.",
                "Remove runs that repeat each other, or raise `nugget_floor`.",
            )
            if bad
            else (),
        )

    def _doubts(self, process: GaussianProcess) -> list[str]:
        starts, found = process.restarts_, []
        failed = sum(not np.isfinite(r.value) for r in starts)
        if starts and failed / len(starts) >= self.most_failed:
            found.append(f"{failed} of {len(starts)} starts failed for want of a Cholesky factor")
        if process.jitter_ >= self.most_jitter:
            found.append(f"a jitter of {process.jitter_:g} was needed")
        short = int(np.sum(process.scaled_lengths_ <= LENGTHS[0] * NEAR))
        if short:
            found.append(
                f"{short} of {len(process.scaled_lengths_)} length scales are at their lower limit,"
                " where neighbouring runs say nothing about each other"
            )
        if process.nugget_ >= MOST_NUGGET / NEAR:
            found.append("the nugget is at its upper limit: all of the outputs count as noise")
        return found

    def _no_better(self, view: SurrogateView) -> list[str]:
        """Compare the process with the other baselines on the validation runs."""
        ranks = np.asarray(view.baseline_ranks, float)
        if len(ranks) != len(view.baselines) or len(ranks) < 2:
            return []
        at = [
            i
            for i, baseline in enumerate(view.baselines)
            if any(isinstance(one, GaussianProcess) for one in insides(baseline))
        ]
        others = np.delete(ranks, at)
        own = ranks[at].min()
        # The mean of the runs is among the others: to be no better than the worst is to be lost.
        if others.size >= 2 and own >= others.max() and others.min() < 0.5 * own:
            return ["on the validation runs it is no better than the worst of the other baselines"]
        return []
