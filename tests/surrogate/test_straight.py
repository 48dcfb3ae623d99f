"""The map that straightens a posterior: one to one, with the determinant that it claims."""

import jax
import numpy as np
import pytest

from assay.surrogate.straight import straightened, unchanged


def bent(d, n=3000):
    """Return draws of a bent ridge whose width changes along it."""
    z = np.random.default_rng(d).normal(size=(n, d))
    made = z.copy()
    made[:, 0] = 4.0 * z[:, 0]
    for k in range(1, d):
        made[:, k] = 0.5 * z[:, 0] ** 2 + np.exp(0.5 * z[:, 0]) * z[:, k]
    return made @ np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0] + 2.0


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_back_undoes_logits(d):
    straight = straightened(bent(d))
    with jax.enable_x64(True):
        for w in np.random.default_rng(1).normal(scale=2.0, size=(5, d)):
            u, _ = straight.logits(w)
            np.testing.assert_allclose(straight.back(u), w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_determinant_is_that_of_the_jacobian(d):
    """Up to one constant, which no ratio of densities sees."""
    straight, found = straightened(bent(d)), []
    with jax.enable_x64(True):
        for w in np.random.default_rng(2).normal(scale=2.0, size=(5, d)):
            slope = jax.jacfwd(lambda at: straight.logits(at)[0])(w)
            found.append(np.linalg.slogdet(np.asarray(slope))[1] - straight.logits(w)[1])
    np.testing.assert_allclose(found, found[0], atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_a_bent_ridge_becomes_nearly_normal(d):
    draws = bent(d)
    straight = straightened(draws)
    with jax.enable_x64(True):
        w = np.asarray(jax.vmap(straight.back)(draws))
    np.testing.assert_allclose(w.std(axis=0), 1.0, atol=0.25)
    assert abs(np.corrcoef(w[:, 0] ** 2, w[:, 1])[0, 1]) < 0.2


def test_unchanged_changes_nothing():
    w = np.array([0.3, -1.0])
    with jax.enable_x64(True):
        u, log = unchanged(2).logits(w)
    np.testing.assert_array_equal(u, w)
    assert float(log) == 0.0
