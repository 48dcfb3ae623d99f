"""A10: what the study could not check about what was brought."""

import dataclasses

import numpy as np
import pytest

from assay.anomaly.checks import Unchecked
from assay.anomaly.row_norm import RowNorm
from assay.checks import NotApplicable

CHECK = Unchecked()


def view_with(anomaly_view, candidates, seed=0):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    return anomaly_view(X, X, X, candidate=candidates)


@pytest.mark.parametrize("seed", range(5))
def test_lists_what_the_candidate_says(anomaly_view, Given, seed):
    brought = Given(unchecked=("How it was trained is not known.", "Nor on which rows."))
    found = CHECK(view_with(anomaly_view, [brought, brought], seed))
    assert found.outcome == "warn"
    assert found.threshold is None  # what could not be checked has no measure
    assert found.sentence == "How it was trained is not known. Nor on which rows."


def test_scores_made_elsewhere(anomaly_view, judge):
    X = np.random.default_rng(0).normal(size=(60, 2))
    made = dataclasses.replace(judge(RowNorm(), X, X, X), estimator=None)
    found = CHECK(view_with(anomaly_view, [made]))
    assert found.outcome == "warn"
    assert "made elsewhere" in found.sentence


@pytest.mark.parametrize("seed", range(5))
def test_silent_on_what_was_fitted_here(anomaly_view, Given, seed):
    for candidate in (RowNorm(), Given(unchecked=()), Given(unchecked=None)):
        with pytest.raises(NotApplicable, match="fitted in this study"):
            CHECK(view_with(anomaly_view, [candidate], seed))
