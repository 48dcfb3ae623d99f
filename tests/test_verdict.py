"""The rule, the gain and its interval on cases with known answers."""

import itertools
import json
import math
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats

from assay.bootstrap import bootstrap_gain, draw_weights, patterns
from assay.errors import DataError, StudyError
from assay.intervals import TAIL_SHARE, clear_skewness, widened
from assay.result import Finding, Gain
from assay.units import block_ids, block_length, codes, correlation_time
from assay.verdict import decide, more_data, paired_gain


def finding(outcome, severity="fail"):
    return Finding("A01", "Leak", outcome, severity, 1.0, 0.5, "Rows are in both parts.")


# ------------------------------------------------------------------ the rule


@pytest.mark.parametrize(
    ("low", "high", "margin", "word"),
    [
        (0.1, 0.3, 0.0, "earned"),
        (0.0, 0.3, 0.0, "undecided"),  # touching the margin is not above it
        (-0.1, 0.3, 0.0, "undecided"),
        (-0.3, 0.0, 0.0, "undecided"),
        (-0.3, -0.1, 0.0, "not_earned"),
        (0.1, 0.3, 0.05, "earned"),
        (0.1, 0.3, 0.2, "undecided"),
        (0.1, 0.3, 0.4, "not_earned"),
        (-math.inf, 0.3, 0.0, "undecided"),
        (-math.inf, -math.inf, 0.0, "not_earned"),
    ],
)
def test_rule(low, high, margin, word):
    estimate = low if math.isinf(high) else high - 0.1
    verdict = decide(Gain(estimate, low, high, against="PCA"), (), margin=margin)
    assert verdict.word == word
    assert "PCA" in verdict.sentence


@pytest.mark.parametrize(
    ("outcome", "severity", "word"),
    [
        ("fail", "fail", "invalid"),
        ("fail", "warn", "earned"),
        ("warn", "fail", "earned"),
        ("pass", "fail", "earned"),
        ("error", "fail", "earned"),
        ("not_applicable", "fail", "earned"),
    ],
)
def test_only_a_failed_check_of_severity_fail_makes_a_study_invalid(outcome, severity, word):
    verdict = decide(Gain(0.2, 0.1, 0.3, against="PCA"), [finding(outcome, severity)])
    assert verdict.word == word
    if word == "invalid":
        assert "A01" in verdict.sentence
    if outcome == "error":
        assert "Not checked" in verdict.sentence


def test_without_a_gain_nothing_is_decided():
    assert decide(None, ()).word == "undecided"
    assert decide(None, [finding("fail")]).word == "invalid"


@pytest.mark.parametrize("bad", [Gain(math.nan, 0, 1, "x"), Gain(0.5, 0.6, 0.4, "x")])
def test_rule_refuses_what_is_no_interval(bad):
    with pytest.raises(StudyError, match="low <= high"):
        decide(bad, ())


def test_margin_must_be_reachable():
    with pytest.raises(StudyError, match="below 1"):
        decide(Gain(0.5, 0.4, 0.6, "x"), (), margin=1.0)


def test_more_data_is_the_squared_ratio_of_half_width_to_distance():
    gain = Gain(0.1, -0.2, 0.4, against="PCA")
    assert more_data(gain) == 9.0
    assert more_data(gain, margin=0.2) == 9.0
    assert more_data(Gain(0.0, -0.2, 0.2, "x")) is None
    assert more_data(Gain(0.2, 0.1, 0.3, "x")) is None
    assert "9.0 times" in decide(gain, ()).sentence


def test_the_estimate_of_more_data_holds():
    """Repeating the same items that many times (and some) decides, and fewer do not."""
    rng = np.random.default_rng(3)
    b = rng.gamma(3.0, size=200)
    c = b + rng.normal(-0.06, 1.0, size=200)
    factor = paired_gain(c, b).more_data
    assert factor is not None
    assert factor > 2
    times = math.ceil(1.2 * factor)
    assert decide(paired_gain(np.tile(c, times), np.tile(b, times)), ()).word != "undecided"
    times = int(0.8 * factor)
    assert decide(paired_gain(np.tile(c, times), np.tile(b, times)), ()).word == "undecided"


# -------------------------------------------------------- the interval, items


def test_lower_end_agrees_with_the_paired_t_test():
    """An end on the margin means that the t test at that margin sits on its critical value."""
    rng = np.random.default_rng(0)
    b = rng.normal(5.0, 1.0, size=400)
    c = 0.9 * b + rng.normal(0.0, 0.5, size=400)
    gain = paired_gain(c, b)
    for end in (gain.low, gain.high):
        tail = stats.ttest_rel((1 - end) * b, c).pvalue / 2
        # Skewness and kurtosis of 400 nearly normal differences move it only a little.
        assert tail == pytest.approx(0.025 * TAIL_SHARE, rel=0.1)
    assert gain.estimate == pytest.approx(1 - c.mean() / b.mean())


def test_interval_agrees_with_fieller_in_closed_form():
    """Independent normal means: Fieller's limits as printed by Finney (1978), eq. 4.12."""
    rng = np.random.default_rng(1)
    b, c = rng.normal(3.0, 1.0, size=(2, 5000))
    gain = paired_gain(c, b, level=0.9)
    t = stats.t.isf(0.05 * TAIL_SHARE, 4999)
    cov = np.cov(np.array([b, c])) / 5000
    g = t**2 * cov[0, 0] / b.mean() ** 2
    ratio = c.mean() / b.mean()
    root = math.sqrt(
        cov[1, 1]
        - 2 * ratio * cov[0, 1]
        + ratio**2 * cov[0, 0]
        - g * (cov[1, 1] - cov[0, 1] ** 2 / cov[0, 0])
    )
    centre, half = ratio - g * cov[0, 1] / cov[0, 0], t / b.mean() * root
    assert gain.low == pytest.approx(1 - (centre + half) / (1 - g), abs=2e-4)
    assert gain.high == pytest.approx(1 - (centre - half) / (1 - g), abs=2e-4)


def test_scale_and_order_do_not_matter():
    rng = np.random.default_rng(2)
    c, b = rng.lognormal(size=(2, 60))
    gain = paired_gain(c, b)
    order = rng.permutation(60)
    for other in (paired_gain(1e-9 * c, 1e-9 * b), paired_gain(c[order], b[order])):
        assert [other.estimate, other.low, other.high] == pytest.approx(
            [gain.estimate, gain.low, gain.high], rel=1e-9
        )


def test_seeds_are_averaged():
    rng = np.random.default_rng(4)
    c, b = rng.lognormal(size=(3, 50)), rng.lognormal(size=50)
    assert paired_gain(c, b) == paired_gain(c.mean(axis=0), b)
    assert paired_gain(c, np.stack([b, b])) == paired_gain(c, b)


def test_a_wider_level_gives_a_wider_interval():
    rng = np.random.default_rng(5)
    c, b = rng.lognormal(size=(2, 50))
    wide, narrow = paired_gain(c, b, level=0.99), paired_gain(c, b, level=0.8)
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


# ------------------------------------------------------------- awkward losses


def test_a_single_unit_decides_nothing():
    for gain in (paired_gain([0.1], [9.0]), paired_gain([0.1] * 50, [9.0] * 50, units=[1] * 50)):
        assert gain.low == -math.inf
        assert gain.high == 1.0
        assert gain.more_data is None
        assert decide(gain, ()).word == "undecided"


def test_identical_losses_are_undecided_and_no_data_would_help():
    rng = np.random.default_rng(6)
    loss = rng.lognormal(size=50)
    gain = paired_gain(loss, loss)
    assert (gain.estimate, gain.low, gain.high) == (0.0, 0.0, 0.0)
    verdict = decide(gain, ())
    assert verdict.word == "undecided"
    assert verdict.more_data is None
    assert "No amount" in verdict.sentence


def test_five_units_that_agree_are_not_enough():
    """All five in favour happens by chance in 1 of 32 studies without a gain."""
    assert paired_gain([0.2] * 5, [0.3] * 5).low == -math.inf
    assert paired_gain([0.2] * 20, [0.3] * 20).low > 0
    assert paired_gain([0.21, 0.14, 0.7, 0.35, 0.07], [0.3, 0.2, 1.0, 0.5, 0.1]).low == -math.inf


@pytest.mark.parametrize("n", [20, 50, 1000, 100_000])
def test_a_handful_of_yes_no_differences_is_not_enough(n):
    """Five items of five in favour: the exact sign test has 3.1 %; nine of nine has 0.2 %."""
    wrong = np.zeros(n)
    wrong[:5] = 1
    assert paired_gain(np.zeros(n), wrong).low <= 0
    shared = (np.arange(n) >= n - 5).astype(float)
    if n > 20:
        assert paired_gain(shared, wrong + shared).low <= 0
    wrong[:9] = 1
    assert paired_gain(shared, np.maximum(wrong, shared)).low > 0


def test_a_perfect_candidate_does_not_gain_with_certainty():
    gain = paired_gain(np.zeros(20), np.ones(20))
    # No error in 20 leaves up to 3/20 at 95 % (rule of three), more at 97.5 %.
    assert gain.low < 1 - 3 / 20
    assert gain.low > 0.5
    assert gain.high == 1.0


def test_a_perfect_baseline_cannot_be_beaten():
    worse = paired_gain([0.0] * 30 + [1.0] * 30, np.zeros(60))
    assert decide(worse, ()).word == "not_earned"
    perhaps = paired_gain([0.0] * 59 + [1.0], np.zeros(60))
    assert decide(perhaps, ()).word == "undecided"
    both = paired_gain(np.zeros(60), np.zeros(60))
    assert both.estimate == 0.0
    assert decide(both, ()).word == "undecided"
    assert "inf" not in decide(worse, ()).sentence


def test_a_baseline_that_is_hardly_ever_wrong_leaves_the_gain_open_below():
    b = np.zeros(100)
    b[0] = 1.0
    c = np.zeros(100)
    c[1:4] = 1.0
    gain = paired_gain(c, b)
    assert gain.low == -math.inf
    assert gain.high > 0


def test_losses_below_zero_are_allowed_while_their_mean_is_not():
    rng = np.random.default_rng(7)
    b = rng.normal(0.5, 1.0, size=100)
    assert math.isfinite(paired_gain(b - 0.1, b).estimate)
    with pytest.raises(StudyError, match="negative"):
        paired_gain(b, -b - 10)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_losses_that_are_no_numbers_are_refused_with_their_place(bad):
    c = np.ones((2, 5))
    c[1, 3] = bad
    with pytest.raises(DataError, match="item 3 of seed 1"):
        paired_gain(c, np.ones(5))


@pytest.mark.parametrize(
    ("candidate", "baseline"),
    [([], []), ([1.0], [1.0, 2.0]), (["a"], [1.0]), (np.ones((2, 2, 2)), np.ones(2)), (1.0, 1.0)],
)
def test_wrong_shapes_are_refused(candidate, baseline):
    with pytest.raises(DataError):
        paired_gain(candidate, baseline)


# ------------------------------------------------------------ groups and time


def test_copies_of_an_item_in_its_group_add_nothing():
    rng = np.random.default_rng(8)
    c, b = rng.lognormal(size=(2, 12))
    once = paired_gain(c, b)
    copied = paired_gain(np.repeat(c, 9), np.repeat(b, 9), units=np.repeat(np.arange(12), 9))
    assert [copied.low, copied.high] == pytest.approx([once.low, once.high], rel=1e-9)
    assert paired_gain(np.repeat(c, 9), np.repeat(b, 9)).low > once.low


def test_units_of_any_kind():
    rng = np.random.default_rng(9)
    c, b = rng.lognormal(size=(2, 40))
    number = np.arange(40) % 7
    names = np.array([f"pump {i}" for i in number])
    mixed = np.array([("a", int(i)) for i in number] + [None], dtype=object)[:-1]
    expected = paired_gain(c, b, units=number)
    for units in (names, names.astype(object), -number * 1.5, mixed):
        got = paired_gain(c, b, units=units)
        assert [got.low, got.high] == pytest.approx([expected.low, expected.high], rel=1e-12)
    with pytest.raises(DataError, match="units"):
        paired_gain(c, b, units=number[:-1])


def test_correlation_time_of_a_first_order_process():
    rng = np.random.default_rng(10)
    from scipy.signal import lfilter

    for phi in (0.0, 0.5, 0.9):
        x = lfilter([1.0], [1.0, -phi], rng.standard_normal(100_000))
        assert correlation_time(x) == pytest.approx((1 + phi) / (1 - phi), rel=0.15)


def test_correlation_time_sees_overlapping_windows():
    """A moving mean of 20: correlation falls linearly, the time is 20 (not what lag one says)."""
    rng = np.random.default_rng(11)
    x = np.convolve(rng.standard_normal(50_000), np.ones(20) / 20, mode="valid")
    assert correlation_time(x) > 17


def test_blocks_never_cross_a_group_and_short_ends_join():
    groups = np.repeat([0, 1, 2], [7, 2, 6])
    ids = block_ids(15, 3, groups=groups)
    assert ids.tolist() == [0] * 3 + [1] * 4 + [2] * 2 + [3] * 3 + [4] * 3
    assert block_length(100, 1.0) == 1
    assert block_length(100, 1000.0) == 25
    with pytest.raises(StudyError, match="auto"):
        block_ids(10, 0)


def test_blocks_as_length_ids_or_auto():
    rng = np.random.default_rng(12)
    c, b = rng.lognormal(size=(2, 200))
    by_length = paired_gain(c, b, blocks=10)
    assert by_length == paired_gain(c, b, blocks=np.arange(200) // 10)
    assert by_length == paired_gain(c, b, units=np.arange(200) // 10)
    files = np.repeat(["a", "b"], 100)
    assert by_length == paired_gain(c, b, blocks=10, units=files)
    local = np.tile(np.arange(100) // 10, 2)  # block numbers that start anew in each file
    assert by_length == paired_gain(c, b, blocks=local, units=files)
    assert math.isfinite(paired_gain(c, b, blocks="auto", units=files).low)
    with pytest.raises(StudyError, match="auto"):
        paired_gain(c, b, blocks="weekly")


def test_codes_are_dense():
    number, count = codes(np.array([7, 7, 1000, -3]), 4)
    assert count == 3
    assert sorted(set(number.tolist())) == [0, 1, 2]
    assert codes(np.array([5, 2, 5]), 3)[0].tolist() == [1, 0, 1]


# ------------------------------------------------------------------ the parts


def test_johnson_correction_inverts_his_modified_t():
    """His statistic t + k/6 (1 + 2 t^2) at the corrected value is the quantile, to first order."""
    for skewness, critical in itertools.product((-0.001, -0.01), (2.0, 3.0)):
        t = widened(critical, skewness)
        assert t > critical
        back = t + skewness / 6 * (1 + 2 * t**2)
        assert back == pytest.approx(critical, abs=0.02 * (t - critical) + 50 * skewness**2)
    assert widened(2.0, 0.3) == 2.0  # never narrower
    assert widened(math.inf, -0.3) == math.inf


def test_skewness_moves_the_end_that_would_be_too_short():
    """A few bad failures of the candidate: the t interval promises too much at its lower end."""
    rng = np.random.default_rng(22)
    c = rng.lognormal(size=60)
    gain = paired_gain(c, np.full(60, 2.0))
    t = stats.t.isf(0.025 * TAIL_SHARE, 59)
    half = t * c.std(ddof=1) / math.sqrt(60) / 2.0
    assert gain.low < gain.estimate - 1.05 * half
    # The other end only has fewer degrees of freedom, from the heavy tail.
    assert gain.high - gain.estimate == pytest.approx(half, rel=0.05)


def test_clear_skewness_ignores_what_chance_gives():
    values = np.random.default_rng(13).standard_normal((2000, 20))
    of_mean = stats.skew(values, axis=1) / math.sqrt(20)
    assert np.mean([clear_skewness(k, 20.0) != 0 for k in of_mean]) < 0.25
    assert clear_skewness(-0.6, 20.0) == pytest.approx(-0.6, abs=0.05)


# ------------------------------------------------------- whole-sample losses


def error_rates(wrong):
    def statistic(weights):
        rates = weights @ wrong / weights.sum()
        return rates[0], rates[1:]

    return statistic


def test_bootstrap_agrees_with_the_closed_form_for_mean_losses():
    rng = np.random.default_rng(14)
    losses = rng.gamma(2.0, size=(300, 2)) * [0.8, 1.0]
    exact = paired_gain(losses[:, 0], losses[:, 1])
    gain, (only,) = bootstrap_gain(error_rates(losses), 300, repeats=4000)
    assert gain == only
    assert gain.estimate == pytest.approx(exact.estimate)
    width = exact.high - exact.low
    assert gain.low == pytest.approx(exact.low, abs=0.06 * width)
    assert gain.high == pytest.approx(exact.high, abs=0.06 * width)


def test_patterns_give_the_same_answer_as_items():
    rng = np.random.default_rng(15)
    wrong = (rng.random((500, 4)) < [0.1, 0.3, 0.25, 0.2]).astype(int)
    distinct, counts = patterns(wrong)
    assert counts.sum() == 500
    assert np.array_equal(counts @ distinct, wrong.sum(axis=0))
    items, _ = bootstrap_gain(error_rates(wrong), 500, repeats=3000)
    packed, _ = bootstrap_gain(error_rates(distinct), len(counts), counts=counts, repeats=3000)
    assert packed.estimate == items.estimate
    assert packed.low == pytest.approx(items.low, abs=0.03)


def test_earned_over_the_best_means_earned_over_each():
    rng = np.random.default_rng(16)
    for seed in range(20):
        wrong = rng.random((60, 5)) < [0.1, 0.25, 0.25, 0.25, 0.3]
        names = tuple("abcd")
        gain, gains = bootstrap_gain(error_rates(wrong), 60, names=names, repeats=200, seed=seed)
        assert gain.low <= min(g.low for g in gains)
        assert gain.low <= gain.high
        assert gain.estimate == min(g.estimate for g in gains)
        assert gain.against == min(gains, key=lambda g: g.estimate).against


def test_bootstrap_of_a_group_statistic_uses_groups_as_units():
    """The caller spreads the weights of groups over their rows."""
    rng = np.random.default_rng(17)
    ids = np.repeat(np.arange(8), 25)
    shift = rng.normal(0, 0.3, size=(8, 2))[ids]
    losses = np.exp(rng.normal(0, 0.3, size=(200, 2)) + shift)

    def statistic(weights):
        mean = weights[ids] @ losses / weights[ids].sum()
        return mean[0], mean[1:]

    by_group, _ = bootstrap_gain(statistic, 8, repeats=4000)
    exact = paired_gain(losses[:, 0], losses[:, 1], units=ids)
    assert by_group.low == pytest.approx(exact.low, abs=0.1 * (exact.high - exact.low))


def test_same_seed_same_interval():
    wrong = np.random.default_rng(18).random((80, 3)) < 0.3
    one, two = (bootstrap_gain(error_rates(wrong), 80, repeats=200, seed=5) for _ in range(2))
    assert one == two


def test_draw_weights():
    rng = np.random.default_rng(19)
    drawn = np.array(list(draw_weights(50, 4000, rng)))
    assert (drawn.sum(axis=1) == 50).all()
    assert drawn.dtype.kind == "i"
    # Multinomial: variance 1 - 1/n for each unit.
    assert drawn.var(axis=0).mean() == pytest.approx(1 - 1 / 50, rel=0.02)
    packed = np.array(list(draw_weights(2, 4000, rng, counts=[10, 40])))
    assert (packed.sum(axis=1) == 50).all()
    assert packed.mean(axis=0) == pytest.approx([10, 40], rel=0.02)


def test_undefined_losses():
    def sometimes(weights):
        return (math.nan if weights[0] == 0 else 0.1), np.array([0.2])

    with pytest.raises(StudyError, match="undefined on"):
        bootstrap_gain(sometimes, 30, repeats=200)  # unit 0 is missing from 36 % of the samples
    with pytest.raises(StudyError, match="whole test part"):
        bootstrap_gain(lambda w: (math.nan, np.ones(2)), 30)
    with pytest.raises(StudyError, match="repeats"):
        bootstrap_gain(lambda w: (0.1, np.ones(2)), 30, repeats=20)


def test_a_constant_loss_decides_nothing_with_one_unit():
    gain, _ = bootstrap_gain(lambda w: (0.1, np.array([0.2])), 1, repeats=200)
    assert gain.low == -math.inf


# ------------------------------------------------------------------- big data


def test_two_million_items_take_two_seconds():
    rng = np.random.default_rng(20)
    b = rng.random(2_000_000)
    c = 0.99 * b + 0.1 * rng.random(2_000_000)
    start = time.process_time()
    gain = paired_gain(c, b)
    assert time.process_time() - start < 2.0
    assert gain.high - gain.low < 0.001
    start = time.process_time()
    paired_gain(c, b, units=np.arange(2_000_000) // 1000)
    assert time.process_time() - start < 2.0


def test_two_million_yes_no_items_are_bootstrapped_in_seconds():
    rng = np.random.default_rng(21)
    wrong = rng.random((2_000_000, 3)) < [0.1, 0.101, 0.102]
    start = time.process_time()
    distinct, counts = patterns(wrong)
    gain, _ = bootstrap_gain(error_rates(distinct), len(counts), counts=counts)
    assert time.process_time() - start < 5.0
    assert gain.high - gain.low < 0.02


def test_importing_the_rule_loads_nothing_heavy():
    code = (
        "import sys, json, assay.verdict, assay.bootstrap, assay.splits;"
        "print(json.dumps([m for m in ('jax', 'scipy', 'sklearn', 'pandas') if m in sys.modules]))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) == []
