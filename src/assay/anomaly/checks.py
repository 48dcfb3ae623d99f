"""The known failures of anomaly detection, in the order in which a report shows them.

To add one: write a frozen dataclass as in the files beside this one (`checks_threshold.py` has the
shortest), put an instance of it into `CHECKS`, and give it a page in docs/checks and a test with a
planted failure and a healthy run in tests/checks.
"""

from assay.anomaly.checks_data import ConditionShifted as ConditionShifted
from assay.anomaly.checks_data import Contaminated as Contaminated
from assay.anomaly.checks_data import TrainingRowsInTest as TrainingRowsInTest
from assay.anomaly.checks_detector import Collapsed as Collapsed
from assay.anomaly.checks_detector import IdentityDetector as IdentityDetector
from assay.anomaly.checks_detector import NothingOverNorm as NothingOverNorm
from assay.anomaly.checks_detector import TrainingNotFinished as TrainingNotFinished
from assay.anomaly.checks_detector import Unchecked as Unchecked
from assay.anomaly.checks_threshold import AnomaliesLookNormal as AnomaliesLookNormal
from assay.anomaly.checks_threshold import FewThresholdRows as FewThresholdRows
from assay.anomaly.checks_threshold import SeedSpread as SeedSpread

CHECKS = (
    FewThresholdRows(),
    Contaminated(),
    ConditionShifted(),
    Collapsed(),
    IdentityDetector(),
    TrainingRowsInTest(),
    AnomaliesLookNormal(),
    NothingOverNorm(),
    TrainingNotFinished(),
    Unchecked(),
    SeedSpread(),
)
