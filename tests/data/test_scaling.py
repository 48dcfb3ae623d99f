import json
import tracemalloc

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from assay.data import Scaler
from assay.errors import DataError, ModelError


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 4)) * [1.0, 1e6, 1e-9, 3.0] + [0.0, -5e6, 1.0, 7.0]


def test_standard_is_that_of_scikit_learn(X):
    scaler, peer = Scaler.fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(scaler.centre, peer.mean_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scaler.scale, peer.scale_, rtol=1e-9)
    np.testing.assert_allclose(scaler.forward(X, dtype=np.float64), peer.transform(X), rtol=1e-6)


def test_unit_is_that_of_scikit_learn(X):
    scaler, peer = Scaler.fit(X, "unit"), MinMaxScaler().fit(X)
    np.testing.assert_allclose(scaler.forward(X, dtype=float), peer.transform(X), atol=1e-6)
    assert scaler.low.tolist() == X.min(axis=0).tolist()


def test_none_changes_nothing(X):
    scaler = Scaler.fit(X, "none")
    np.testing.assert_array_equal(scaler.forward(X, dtype=np.float64), X)
    assert scaler.high.tolist() == X.max(axis=0).tolist()


@pytest.mark.parametrize("kind", ["standard", "unit", "none"])
def test_inverse_and_json(X, kind):
    scaler = Scaler.fit(X, kind)
    again = Scaler.from_dict(json.loads(json.dumps(scaler.to_dict())))
    Z = again.forward(X, dtype=np.float64)
    np.testing.assert_array_equal(Z, scaler.forward(X, dtype=np.float64))
    np.testing.assert_allclose(again.inverse(Z), X, rtol=1e-12)
    assert scaler.forward(X).dtype == np.float32


def test_constant_columns_get_scale_one():
    X = np.column_stack([np.full(50, 0.1), np.arange(50.0), np.full(50, 1e9)])
    for kind in ("standard", "unit"):
        scaler = Scaler.fit(X, kind)
        assert scaler.constant == (0, 2)
        assert scaler.scale[[0, 2]].tolist() == [1.0, 1.0]
        assert np.all(scaler.forward(X)[:, [0, 2]] == 0)


def test_an_offset_does_not_make_a_column_constant():
    X = (1e9 + np.random.default_rng(0).normal(size=(1000, 1))).astype(np.float64)
    scaler = Scaler.fit(X)
    assert scaler.constant == ()
    assert scaler.scale[0] == pytest.approx(np.std(X - 1e9), rel=1e-6)


def test_blocks_do_not_change_the_result(X, monkeypatch):
    from assay.data import scaling

    whole = Scaler.fit(X)
    monkeypatch.setattr(scaling, "_CHUNK_VALUES", 28)
    parts = Scaler.fit(X)
    np.testing.assert_allclose(parts.centre, whole.centre, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.scale, whole.scale, rtol=1e-9)


def test_no_full_float64_copy():
    X = np.ones((600_000, 50), dtype=np.float32)
    X[::2] = 3
    tracemalloc.start()
    scaler = Scaler.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes
    assert scaler.centre[0] == 2.0
    assert scaler.scale[0] == 1.0


def test_absurd_readings_stay_finite_and_extreme():
    scaler = Scaler.fit(np.array([[0.0], [1.0]]))
    Z = scaler.forward(np.array([[1e300], [-1e300], [5.0]]))
    assert np.isfinite(Z).all()
    assert np.isfinite(Z**2).all()
    assert Z[0] > Z[2] > Z[1]


def test_refusals(X):
    with pytest.raises(DataError, match="`kind` must be"):
        Scaler.fit(X, "robust")
    with pytest.raises(DataError, match="must have 4 columns, got 3"):
        Scaler.fit(X).forward(X[:, :3])
    with pytest.raises(DataError, match="shape"):
        Scaler.fit(X).inverse(X[:, :3])
    with pytest.raises(DataError, match="Column 1 of `X` spans"):
        Scaler.fit(np.array([[0.0, -1e308], [1.0, 1e308]]))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "evil"},
        {"scale": [0.0]},
        {"scale": [-1.0]},
        {"scale": "x"},
        {"centre": [1.0, 2.0]},
        {"low": [float("nan")]},
        {"constant": [5]},
        {"constant": ["a"]},
        {"centre": None},
    ],
)
def test_hostile_dictionaries(change):
    values = Scaler.fit(np.array([[1.0], [2.0]])).to_dict() | change
    with pytest.raises(ModelError, match="scaling of the model"):
        Scaler.from_dict(values)
    with pytest.raises(ModelError):
        Scaler.from_dict([])
