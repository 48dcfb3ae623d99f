"""S02: too few test runs to tell a tenth."""

import dataclasses

import numpy as np
import pytest

from assay.problems import ISHIGAMI
from assay.surrogate.checks import FewTestRuns
from assay.verdict import paired_gain

CHECK = FewTestRuns()
SEEDS = [*range(5), *(pytest.param(s, marks=pytest.mark.slow) for s in range(5, 20))]


def run(surrogate_view, Given, n, seed, better=0.05, groups=None, noise=1.0):
    """Give a candidate losses that are lower by a share, up to noise between the runs."""
    rng = np.random.default_rng(seed)
    X = ISHIGAMI.sample(n, seed, kind="random")
    theirs = rng.gamma(2.0, size=n)
    ours = (1.0 - better) * theirs * np.exp(noise * rng.normal(size=n) - 0.5 * noise**2)
    gain = paired_gain(ours, theirs, against="the process", units=groups)
    parts = [(X, X[:, :1])] * 3
    return CHECK(surrogate_view(*parts, [Given()], gain=gain, groups=groups))


@pytest.mark.parametrize("seed", SEEDS)
def test_warns_on_few_runs(surrogate_view, Given, seed):
    found = run(surrogate_view, Given, 12, seed)
    assert found.outcome == "warn"
    assert (found.measured, found.threshold, found.unit) == (12, 20, "runs")


# Not 10: a gain of nought is taken for decided once in twenty draws, and then nothing is to say.
@pytest.mark.parametrize("seed", [s for s in SEEDS if getattr(s, "values", (s,)) != (10,)])
def test_warns_on_a_wide_interval(surrogate_view, Given, seed):
    found = run(surrogate_view, Given, 60, seed, better=0.0)
    assert found.outcome == "warn"
    assert found.measured > 0.1
    assert "cannot tell" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_silent_on_many_runs_and_on_a_clear_gain(surrogate_view, Given, seed):
    assert run(surrogate_view, Given, 2000, seed, better=0.02, noise=0.5).outcome == "pass"
    assert run(surrogate_view, Given, 60, seed, better=0.8).outcome == "pass"


def test_groups_count_and_not_their_runs(surrogate_view, Given):
    groups = np.repeat(np.arange(10), 30)
    found = run(surrogate_view, Given, 300, 0, groups=groups)
    assert found.outcome == "warn"
    assert found.measured == 10
    assert "groups of runs" in found.sentence


def test_the_number_that_is_asked_for_would_do(surrogate_view, Given):
    found = run(surrogate_view, Given, 60, 1, better=0.0)
    needed = 60 * (found.measured / 0.1) ** 2
    assert f"about {int(np.ceil(needed)):,} test runs" in found.fix[0]


def test_without_a_gain_only_the_number_counts(surrogate_view, Given):
    X = ISHIGAMI.sample(20, 0)
    parts = [(X, X[:, :1])] * 3
    assert CHECK(surrogate_view(*parts, [Given()])).outcome == "pass"
    parts[2] = (X[:19], X[:19, :1])
    assert CHECK(surrogate_view(*parts, [Given()])).outcome == "warn"


def test_an_interval_without_an_end_names_no_number_of_runs(surrogate_view, Given):
    X = ISHIGAMI.sample(60, 0)
    gain = dataclasses.replace(paired_gain(X[:, 0] ** 2, X[:, 0] ** 2, against="it"), low=-np.inf)
    gain = dataclasses.replace(gain, high=0.5)
    found = CHECK(surrogate_view(*[(X, X[:, :1])] * 3, [Given()], gain=gain))
    assert found.outcome == "warn"
    assert found.measured is None
    assert "several times as many test runs as these 60" in found.fix[0]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-np.inf, 1.0, "put no bound on the gain over it"),
        (-np.inf, 0.5, "put the gain over it at +50 % or less"),
        (-0.25, 0.305, "put the gain over it at −25 % to +30 %"),
        (-12.0, -0.05, "put the gain over it at −1,200 % to −5 %"),
    ],
)
def test_a_gain_is_told_in_per_cent_and_an_end_that_says_nothing_is_no_end(
    surrogate_view, Given, low, high, said
):
    X = ISHIGAMI.sample(60, 0)
    gain = dataclasses.replace(
        paired_gain(X[:, 0] ** 2, X[:, 0] ** 2, against="it"), low=low, high=high
    )
    found = CHECK(surrogate_view(*[(X, X[:, :1])] * 3, [Given()], gain=gain))
    assert said in found.sentence
