"""The validity domain: how often it refuses what is inside, and that it refuses the rest."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from assay.errors import DataError, ModelError
from assay.surrogate import Domain


def uniform(n, d, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d)) * np.arange(1, d + 1)


@pytest.mark.parametrize(("n", "d"), [(100, 2), (400, 8)])
def test_further_rows_of_the_same_distribution_pass(n, d):
    rates = []
    for seed in range(10):
        domain = Domain.fit(uniform(n, d, seed))
        rates.append(domain.parts(uniform(1000, d, 100 + seed))["density"].mean())
    # (n + 1) q, rounded up: the share that passes is q to q + 1 / (n + 1), on average.
    assert 0.98 <= np.mean(rates) <= 1.0


def test_distance_is_to_the_nearest_training_row_in_standard_deviations():
    X, new = uniform(50, 3), uniform(20, 3, seed=1)
    domain = Domain.fit(X, share=0.9)
    apart = np.sort(cdist(X / X.std(axis=0), X / X.std(axis=0)), axis=1)[:, 1]
    limit = np.sort(apart)[46 - 1]  # 51 * 0.9 = 45.9
    assert domain.limit == pytest.approx(limit)
    expected = cdist(new / X.std(axis=0), X / X.std(axis=0)).min(axis=1) / limit
    np.testing.assert_allclose(domain.distance(new), expected)


def test_a_hole_inside_the_box_is_refused():
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    domain = Domain.fit(np.c_[np.cos(angle), np.sin(angle)])
    parts = domain.parts([[0.0, 0.0], [0.0, 1.0]])
    assert parts["box"].tolist() == [True, True]
    assert parts["density"].tolist() == [False, True]
    assert domain.inside([[0.0, 0.0], [0.0, 1.0]]).tolist() == [False, True]


def test_box_estimates_the_ends_of_a_uniform_distribution():
    ends = [Domain.fit(uniform(20, 1, seed)).high[0] for seed in range(2000)]
    assert np.mean(ends) == pytest.approx(1.0, abs=0.005)  # the largest row alone is at 0.952


def test_known_bounds_are_the_box():
    domain = Domain.fit(uniform(50, 2), bounds=[[0.0, 1.0], [0.0, 2.0]])
    np.testing.assert_array_equal([domain.low, domain.high], [[0.0, 0.0], [1.0, 2.0]])
    assert domain.parts([[0.0, 2.0], [0.0, 2.001]])["box"].tolist() == [True, False]


def test_training_rows_are_inside_whatever_their_offset():
    X = 1e9 + uniform(100, 3)
    assert Domain.fit(X).inside(X).all()


def test_a_constant_input_must_stay_what_it_was():
    X = np.c_[uniform(50, 1), np.full(50, 3.0)]
    found = Domain.fit(X).inside([[0.5, 3.0], [0.5, 3.1]])
    assert found.tolist() == [True, False]


def test_repeated_designs_do_not_shrink_the_domain():
    X = uniform(50, 2)
    assert Domain.fit(np.repeat(X, 5, axis=0)).limit == pytest.approx(Domain.fit(X).limit)


def test_one_row_and_absurd_rows():
    assert Domain.fit([[1.0, 2.0]]).inside([[1.0, 2.0], [1.0, 2.5]]).tolist() == [True, False]
    assert not Domain.fit(uniform(50, 2)).inside([[1e300, 0.5]]).any()


def test_points_between_are_inside():
    domain = Domain.fit(uniform(200, 3))
    points = domain.between()
    assert points.shape == (200, 3)
    assert domain.parts(points)["box"].all()
    assert domain.parts(points)["density"].mean() > 0.95
    assert domain.distance(points).min() > 0


def test_limit_on_the_disagreement():
    domain = Domain.fit(uniform(50, 2)).with_spread(np.linspace(0.0, 1.0, 101))
    assert domain.spread == pytest.approx(1.98)
    rows = [[0.5, 1.0], [0.5, 1.0]]
    assert domain.inside(rows, spread=[1.9, 2.1]).tolist() == [True, False]
    assert domain.inside(rows).all()  # nothing known of the disagreement


def test_saved_and_loaded():
    domain = Domain.fit(uniform(50, 2)).with_spread([0.1, 0.2])
    config, arrays = domain.to_saved()
    again, new = Domain.from_saved(config, arrays), uniform(100, 2, seed=1)
    np.testing.assert_array_equal(again.distance(new), domain.distance(new))
    assert again.spread == domain.spread
    with pytest.raises(ModelError, match="domain"):
        Domain.from_saved(config, arrays | {"domain.rows": np.zeros((3, 5))})


def test_refusals():
    with pytest.raises(DataError, match="share"):
        Domain.fit(uniform(9, 2), share=1.0)
    with pytest.raises(DataError, match="2 columns"):
        Domain.fit(uniform(9, 2)).inside([[1.0]])
