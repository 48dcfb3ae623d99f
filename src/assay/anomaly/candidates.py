"""What can be on trial: the networks by name, and whatever the user brings."""

from typing import Any

from assay.anomaly.denoising import DenoisingDetector

from assay.study import Method

CANDIDATES = (DenoisingDetector,)
DEFAULT = DenoisingDetector


def candidate_method(options: Any, inputs: Any) -> Method:
    """Return the candidate of a study as a method."""
    raise NotImplementedError
