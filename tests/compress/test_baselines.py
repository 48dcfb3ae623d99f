"""PCA against scikit-learn, and the figures quoted for digits."""

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from assay.compress import baselines
from assay.compress.baselines import PCA, principal_axes
from assay.data import Scaler
from assay.errors import DataError, StudyError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(200, 7), (20, 60), (8, 8)])
def test_agrees_with_scikit_learn(shape, rng):
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 10.0
    Z = StandardScaler().fit_transform(X)
    theirs = decomposition.PCA(3, svd_solver="full").fit(Z)
    ours = PCA(code_size=3).fit(X)
    np.testing.assert_allclose(ours.axes_.variances[:3], theirs.explained_variance_, rtol=1e-9)
    codes = ours.transform(X)
    np.testing.assert_allclose(np.abs(codes), np.abs(theirs.transform(Z)), atol=1e-9)
    expected = np.mean((Z - theirs.inverse_transform(theirs.transform(Z))) ** 2, axis=1)
    np.testing.assert_allclose(ours.errors(X), expected, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(codes), ours.reconstruct(X))
    assert ours.score(X) == pytest.approx(-expected.mean())


def test_share_of_variance_picks_as_scikit_learn_does(rng):
    X = rng.normal(size=(300, 10)) * np.arange(1, 11)
    for share in (0.1, 0.5, 0.9, 0.99):
        theirs = decomposition.PCA(share, svd_solver="full").fit(X).n_components_
        assert PCA(code_size=share, scaling="none").fit(X).code_size_ == theirs


def test_blocks_change_nothing(rng, monkeypatch):
    X = rng.normal(size=(500, 6)) + 1e4
    whole = principal_axes(X, Scaler.fit(X, "none"))
    monkeypatch.setattr(baselines, "BLOCK_VALUES", 64)
    pieces = principal_axes(X, Scaler.fit(X, "none"))
    np.testing.assert_allclose(pieces.variances, whole.variances, rtol=1e-10)
    np.testing.assert_allclose(pieces.axes, whole.axes, atol=1e-8)


def test_axes_are_orthonormal_and_ordered(rng):
    axes = PCA().fit(rng.normal(size=(50, 9))).axes_
    np.testing.assert_allclose(axes.axes @ axes.axes.T, np.eye(9), atol=1e-12)
    assert np.all(np.diff(axes.variances) <= 0.0)


def test_full_code_reconstructs_exactly(rng):
    X = rng.normal(size=(30, 4)) * [1e-3, 1.0, 1e3, 1e6]
    np.testing.assert_allclose(PCA(code_size=4).fit(X).reconstruct(X), X, rtol=1e-9)


@pytest.mark.parametrize(("size", "error"), [(2, 0.0532), (8, 0.0246)])
def test_digits(size, error):
    X, y = load_digits(return_X_y=True)
    train, test = train_test_split(X / 16.0, test_size=0.2, random_state=0, stratify=y)
    pca = PCA(code_size=size, scaling="none").fit(train)
    assert -pca.score(test) == pytest.approx(error, abs=5e-5)


def test_constant_rows():
    pca = PCA(code_size=1).fit(np.ones((5, 3)))
    np.testing.assert_allclose(pca.reconstruct(np.ones((2, 3))), 1.0)


def test_bad_input(rng):
    X = rng.normal(size=(10, 3))
    with pytest.raises(StudyError, match="at least 2 rows"):
        PCA().fit(X[:1])
    with pytest.raises(StudyError, match="whole number"):
        PCA(code_size=0).fit(X)
    with pytest.raises(DataError, match="2 columns"):
        PCA(code_size=2).fit(X).inverse_transform(X)
