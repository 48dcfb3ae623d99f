"""The promise of the verdict: without a gain at most 2.5 % EARNED, and a real gain is found."""

import numpy as np
import pytest
from scipy.stats import nct, norm, t

from assay.bootstrap import bootstrap_gain, patterns

from .verdict_cells import GROUPS, ITEMS, SERIES, STUDIES, Cell, earned

MOST = 0.025

QUICK = (
    Cell("items", "normal", 50, 0.5, 3),
    Cell("items", "lognormal", 20, 0.0, 1),
    Cell("items", "binary", 50, 0.9, 1),
    Cell("items", "binary", 1000, 0.0, 1),
    Cell("groups", "normal", 5, 0.5, 1, 0.7),
    Cell("groups", "binary", 10, 0.5, 3, 0.3, uneven=True),
    Cell("series", "normal", 200, 0.5, 1, 0.6),
)


@pytest.mark.parametrize("cell", QUICK, ids=lambda c: c.name)
def test_identical_skill_is_rarely_earned(cell):
    assert earned(cell) <= MOST


@pytest.mark.parametrize(
    "cell",
    [Cell("items", "lognormal", 20, 0.5, 3), Cell("groups", "lognormal", 10, 0.5, 3, 0.7)],
    ids=lambda c: c.name,
)
def test_identical_skill_is_rarely_not_earned(cell):
    """The mean of three seeds is less skewed than one baseline, which favours the baseline."""
    assert earned(cell, word="not_earned") <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("cell", ITEMS + GROUPS + SERIES, ids=lambda c: c.name)
def test_identical_skill_is_rarely_earned_in_every_cell(cell):
    assert earned(cell) <= MOST


@pytest.mark.parametrize("law", ["normal", "lognormal"])
def test_a_gain_that_equals_the_margin_is_rarely_earned(law):
    assert earned(Cell("items", law, 50, 0.5), gain=0.2, margin=0.2) <= MOST


@pytest.mark.parametrize("cell", [c for c in QUICK if c.kind != "items"], ids=lambda c: c.name)
def test_ignoring_groups_or_time_would_break_the_promise(cell):
    assert earned(cell, ignore=True) > 2 * MOST


def expected_power(cell, gain, tail):
    """Power of the paired t test, from the noncentral t distribution."""
    # The candidate's losses are scaled by 1 - gain; both have standard deviation 1 and mean 5.
    scale = 1.0 - gain
    variance = scale**2 / cell.seeds + 1.0 - 2.0 * scale * cell.correlation
    variance += scale**2 * (1.0 - 1.0 / cell.seeds) * cell.correlation
    if cell.kind == "groups":
        variance *= cell.within + (1.0 - cell.within) / 20
    shift = 5.0 * gain * np.sqrt(cell.n / variance)
    return nct.sf(t.isf(tail, cell.n - 1), cell.n - 1, shift)


@pytest.mark.parametrize(
    ("cell", "gain"),
    [
        (Cell("items", "normal", 20, 0.5), 0.14),
        (Cell("items", "normal", 50, 0.0), 0.11),
        (Cell("items", "normal", 200, 0.9, 3), 0.012),
        (Cell("items", "normal", 1000, 0.5), 0.018),
        (Cell("groups", "normal", 10, 0.5, 1, 0.7), 0.2),
        (Cell("groups", "normal", 30, 0.5, 3, 0.3), 0.06),
    ],
    ids=lambda v: v.name if isinstance(v, Cell) else f"{v:.1%}",
)
def test_a_real_gain_is_found_with_the_power_of_a_t_test(cell, gain):
    measured = earned(cell, gain=gain)
    nominal, stated = (expected_power(cell, gain, tail) for tail in (0.025, 0.016))
    assert 0.6 < nominal < 0.97  # where power can be lost
    # Stated is the power of a t test with tails of 1.6 %; 2,000 studies have a noise of 1 point.
    assert stated - 0.04 < measured < stated + 0.03
    assert measured > nominal - 0.1


def test_a_clear_gain_is_found_in_five_groups():
    cell = Cell("groups", "normal", 5, 0.5, 1, 0.3)
    assert expected_power(cell, 0.4, 0.016) > 0.99
    assert earned(cell, gain=0.4) > 0.95


def test_a_clear_gain_is_found_in_a_series():
    cell = Cell("series", "normal", 1000, 0.5, 1, 0.6)
    # Variance of the mean of a first-order process: (1 + phi)/(1 - phi)/n times that of one item.
    shift = 5 * 0.08 / np.sqrt((0.92**2 + 1 - 0.92) * (1.6 / 0.4) / 1000)
    nominal = norm.sf(norm.isf(0.025) - shift)
    assert nominal > 0.99
    assert earned(cell, gain=0.08, studies=500) > nominal - 0.06


def best_of(n, baselines, correlation, *, studies, repeats, gain=0.0):
    """Shares of EARNED and NOT EARNED against several baselines of equal skill, yes/no losses."""
    rng = np.random.default_rng([n, baselines, round(100 * correlation)])
    words = np.zeros(2)
    for study in range(studies):
        z = np.sqrt(correlation) * rng.standard_normal((n, 1))
        z = z + np.sqrt(1 - correlation) * rng.standard_normal((n, 1 + baselines))
        rates = np.full(1 + baselines, 0.2)
        rates[0] *= 1.0 - gain
        wrong, counts = patterns((z < norm.ppf(rates)).astype(np.int8))

        def error_rate(weights, wrong=wrong):
            rates = weights @ wrong / n
            return rates[0], rates[1:]

        found, _ = bootstrap_gain(
            error_rate, len(wrong), counts=counts, repeats=repeats, seed=study
        )
        words += [found.low > 0, found.high < 0]
    return words / studies


@pytest.mark.parametrize("baselines", [1, 7])
def test_many_equal_baselines_do_not_earn_quickly(baselines):
    # 300 studies at a true rate of 2.5 % stay below 5 % with a chance of 99.5 %.
    assert (best_of(100, baselines, 0.5, studies=300, repeats=200) < 0.05).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "baselines"), [(20, 1), (50, 1), (200, 1), (1000, 1), (20, 7), (200, 7)]
)
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_many_equal_baselines_do_not_earn(n, baselines, correlation):
    got, lost = best_of(n, baselines, correlation, studies=STUDIES, repeats=400)
    assert got <= MOST
    assert lost <= MOST


def test_a_gain_over_seven_baselines_is_found():
    assert best_of(400, 7, 0.5, studies=60, repeats=200, gain=0.7)[0] > 0.9
