"""The known failures of surrogates, in the order in which a report shows them.

To add one: write a frozen dataclass as in the files beside this one (`checks_baseline.py` has the
shortest), put an instance of it into `CHECKS`, and give it a page in docs/checks and a test with a
planted failure and a healthy run in tests/checks.
"""

from assay.surrogate.checks_baseline import BaselineNotConverged as BaselineNotConverged
from assay.surrogate.checks_data import FewTestRuns as FewTestRuns
from assay.surrogate.checks_data import OutsideDomain as OutsideDomain
from assay.surrogate.checks_data import Unchecked as Unchecked
from assay.surrogate.checks_scaling import BadInitialisation as BadInitialisation
from assay.surrogate.checks_scaling import NotScaled as NotScaled
from assay.surrogate.checks_seen import RunsSeenBefore as RunsSeenBefore
from assay.surrogate.checks_training import OverFitting as OverFitting
from assay.surrogate.checks_training import RateTooHigh as RateTooHigh
from assay.surrogate.checks_training import TrainingNotFlattened as TrainingNotFlattened
from assay.surrogate.checks_uncertainty import IntervalsDoNotHold as IntervalsDoNotHold
from assay.surrogate.checks_uncertainty import SpreadTooSmall as SpreadTooSmall
from assay.surrogate.checks_uncertainty import TruncationDominates as TruncationDominates

CHECKS = (
    RunsSeenBefore(),
    FewTestRuns(),
    OutsideDomain(),
    NotScaled(),
    BadInitialisation(),
    TrainingNotFlattened(),
    RateTooHigh(),
    OverFitting(),
    BaselineNotConverged(),
    SpreadTooSmall(),
    TruncationDominates(),
    IntervalsDoNotHold(),
    Unchecked(),
)
