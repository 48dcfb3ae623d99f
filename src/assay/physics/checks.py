"""The checks of a physics study, in the order of the report.

To add one: a frozen dataclass in the file of its subject, one line here, a page in
``docs/checks/``, and a test with a planted failure and a healthy run.
"""

from assay.physics.checks_declared import IllPosed, ReferenceNotConverged, UnequalTerms
from assay.physics.checks_fields import LateTimes, NotSolved, SpectralBias
from assay.physics.checks_inverse import DataInConflict, FoundElsewhere, Unidentifiable
from assay.physics.checks_network import (
    NetworkTooSmall,
    PrecisionFloor,
    SeedSpread,
    TrainingNotFinished,
    Unchecked,
)
from assay.physics.checks_solution import (
    ConditionsDoNotBind,
    ResidualBetweenPoints,
    TrivialSolution,
)

CHECKS = (
    IllPosed(),
    ReferenceNotConverged(),
    UnequalTerms(),
    TrivialSolution(),
    ConditionsDoNotBind(),
    ResidualBetweenPoints(),
    LateTimes(),
    SpectralBias(),
    PrecisionFloor(),
    NetworkTooSmall(),
    TrainingNotFinished(),
    SeedSpread(),
    Unidentifiable(),
    DataInConflict(),
    Unchecked(),
    NotSolved(),
    FoundElsewhere(),
)
