"""S13: what the study could not check about what was brought."""

import numpy as np
import pytest

from assay.checks import NotApplicable
from assay.surrogate import GaussianProcess
from assay.surrogate.checks import Unchecked

CHECK = Unchecked()


def parts_of(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    return [(X, X[:, :1])] * 3


@pytest.mark.parametrize("seed", range(5))
def test_lists_what_the_candidate_says(surrogate_view, Given, seed):
    brought = Given(unchecked=("How it was made is not known.", "Nor from which runs."))
    found = CHECK(surrogate_view(*parts_of(seed), [brought, brought]))
    assert found.outcome == "warn"
    assert found.sentence == "How it was made is not known. Nor from which runs."


@pytest.mark.parametrize("seed", range(5))
def test_predictions_made_elsewhere(surrogate_view, Given, seed):
    found = CHECK(surrogate_view(*parts_of(seed), [Given()], fit_predictions=None))
    assert found.outcome == "warn"
    assert "made elsewhere" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_what_was_fitted_here(surrogate_view, Given, seed):
    parts = parts_of(seed)
    for candidate in (GaussianProcess(starts=1).fit(*parts[0]), Given(unchecked=())):
        with pytest.raises(NotApplicable, match="fitted in this study"):
            CHECK(surrogate_view(*parts, [candidate]))
