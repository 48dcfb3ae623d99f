"""The classical surrogates that a candidate must beat, all of them, in every study.

To add one: write an estimator in a file of its own (`nearest.py` is the shortest to copy: `name`,
`about`, `fit(X, Y)`, `predict(X)`, `settings`) and put an instance of it into `BASELINES`. Nothing
else: the study, the table, the verdict and the conformance tests go through this tuple.
"""

from assay.surrogate.boosting import Boosting
from assay.surrogate.gp import GaussianProcess
from assay.surrogate.nearest import NearestRuns
from assay.surrogate.response_surface import MeanOutput, ResponseSurface

# An entry is never fitted itself: a study fits clones, with its own `bounds` and `random_state`
# where there are any. The order is the order of the table.
BASELINES = (
    GaussianProcess(),
    ResponseSurface(degree=2),
    ResponseSurface(degree=1),
    Boosting(),
    NearestRuns(),
    MeanOutput(),
)
