"""Specifications compare by value, and refuse what would compile for ever."""

import functools

import pytest

from assay.errors import StudyError
from assay.nn import MLP
from assay.train import FitSpec, Hyper
from assay.train.losses import squared_error


def spec(**change):
    return FitSpec(**({"build": MLP, "build_args": (3, 1, (8,)), "loss": squared_error} | change))


def test_equal_by_value():
    assert spec() == spec()
    assert hash(spec()) == hash(spec())
    assert spec() != spec(batch=32)


def test_functions_must_be_at_the_top_of_a_module():
    def local(model, x, y, key, extra):
        return 0.0

    for function in (lambda *a: 0.0, local, functools.partial(squared_error, extra=())):
        with pytest.raises(StudyError, match="module-level"):
            spec(loss=function)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"build_args": (3, 1, [8])}, "hashable"),
        ({"optimiser": "adma"}, "Did you mean 'adam'"),
        ({"schedule": "cosin"}, "Did you mean 'cosine'"),
        ({"batch": 0}, "`batch`"),
        ({"batch": 2.5}, "`batch`"),
    ],
)
def test_bad_specifications(change, match):
    with pytest.raises(StudyError, match=match):
        spec(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 0}, {"steps": 1.5}, {"steps": 2**31}, {"learning_rate": 0.0},
        {"learning_rate": float("nan")}, {"weight_decay": -1.0}, {"weight_decay": float("inf")},
        {"init_scale": 0.0}, {"init_scale": float("nan")},
    ],
)  # fmt: skip
def test_bad_numbers(change):
    with pytest.raises(StudyError):
        Hyper(**({"steps": 10} | change))
