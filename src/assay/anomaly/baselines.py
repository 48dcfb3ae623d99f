"""The classical detectors that a candidate must beat, all of them, in every study.

To add one: write an estimator in a file of its own (`row_norm.py` is the shortest to copy: `name`,
`about`, `fit`, `anomaly_score`, `settings`) and put an instance of it into `BASELINES`. Nothing
else: the study, the table, the verdict and the conformance tests go through this tuple.
"""

from assay.anomaly.isolation import IsolationForest
from assay.anomaly.neighbours import KNNDistance
from assay.anomaly.pca_monitor import PCAQ, HotellingT2, Mahalanobis, QT2Combined
from assay.anomaly.row_norm import RowNorm

# A new baseline joins here. An entry is never fitted itself: a study fits clones, with its own
# `scaling` (and `seed`, where there is one). The order is the order of the table.
BASELINES = (
    PCAQ(),
    HotellingT2(),
    QT2Combined(),
    RowNorm(),
    Mahalanobis(),
    KNNDistance(k=5),
    KNNDistance(k=1),
    IsolationForest(),
)
