"""What was brought is known by its content: equal ones by one name, others by another."""

import functools
import subprocess
import sys

import numpy as np
import pytest

from assay.digest import digest_of

OFFSET = 1.0


def shifted(X):
    return X + OFFSET


class Formula:
    def __init__(self, slope, table=None):
        self.slope = slope
        self.table = table

    def fit(self, X, Y):
        self.seen_ = len(X)

    def predict(self, X):
        return self.slope * X


class Slotted:
    __slots__ = ("slope",)

    def __init__(self, slope):
        self.slope = slope


def closing_over(value):
    return lambda X: X + value


def loop():
    found = [1.0]
    found.append(found)
    return found


def forest(**given):
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(**given)


PAIRS = {
    "code": (lambda: lambda X: np.sin(X), lambda: lambda X: np.cos(X)),
    "constant": (lambda: lambda X: X + 1.0, lambda: lambda X: X + 2.0),
    "closure": (lambda: closing_over(1.0), lambda: closing_over(2.0)),
    "closed array": (lambda: closing_over(np.ones(3)), lambda: closing_over(np.zeros(3))),
    "partial": (lambda: functools.partial(max, 1), lambda: functools.partial(max, 2)),
    "object": (lambda: Formula(1.0), lambda: Formula(1.5)),
    "deep": (lambda: Formula(1, {"a": [np.ones(2)]}), lambda: Formula(1, {"a": [np.zeros(2)]})),
    "slots": (lambda: Slotted(1.0), lambda: Slotted(2.0)),
    "method": (lambda: Formula(1.0).predict, lambda: Formula(2.0).predict),
    "array": (lambda: np.arange(3.0), lambda: np.arange(3.0)[::-1]),
    "type": (lambda: np.arange(3.0), lambda: np.arange(3)),
    "list": (lambda: [[1.0], [2.0]], lambda: [[1.0], [2.5]]),
    "cycle": (loop, lambda: [1.0]),
    "estimator": (lambda: forest(max_depth=3), lambda: forest(max_depth=4)),
    "ufunc": (lambda: np.sin, lambda: np.cos),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_equal_contents_have_one_name_and_others_another(kind):
    one, other = PAIRS[kind]
    assert digest_of(one()) == digest_of(one())
    assert digest_of(one()) != digest_of(other())


def test_a_variable_that_a_function_uses_is_part_of_it(monkeypatch):
    before = digest_of(shifted)
    monkeypatch.setitem(globals(), "OFFSET", 2.0)
    assert digest_of(shifted) != before


def test_a_method_of_a_class_is_part_of_its_objects(monkeypatch):
    before = digest_of(Formula(1.0))
    monkeypatch.setattr(Formula, "predict", lambda self, X: -self.slope * X)
    assert digest_of(Formula(1.0)) != before


def test_fitted_is_not_unfitted():
    from sklearn.linear_model import LinearRegression

    X = np.arange(6.0).reshape(3, 2)
    fits = [LinearRegression().fit(X, y) for y in (X[:, 0], X[:, 0], X[:, 1])]
    a, b, c = map(digest_of, fits)
    assert a == b != c
    assert a != digest_of(LinearRegression())


def test_a_file_is_its_bytes(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("y\n1\n")
    before = digest_of(path)
    path.write_text("y\n2\n")
    assert digest_of(path) != before
    assert digest_of(tmp_path / "absent.csv") != digest_of(tmp_path / "absent too.csv")


def test_another_process_gives_the_same_name():
    code = (
        "from assay.digest import digest_of; import numpy as np; "
        "print(digest_of(lambda X: np.sin(X) + {'a', 'b', 'c', 'd'}.__len__()), "
        "digest_of({'b': {1.0, 2.0}, 'a': np.ones(2)}), digest_of(frozenset('abcdef')))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert said[0] == said[1]


class Hostile:
    def __getstate__(self):
        raise RuntimeError("no")

    def __reduce__(self):
        raise RuntimeError("no")


def test_what_cannot_be_looked_into_is_known_by_its_type():
    assert digest_of(Hostile()) == digest_of(Hostile())
    assert digest_of(Hostile()) != digest_of(Formula(1.0))


def test_depth_and_size_are_no_trouble():
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert len(digest_of(deep)) == 16
    assert digest_of(np.zeros(2_000_000)) == digest_of(np.zeros(2_000_000))
