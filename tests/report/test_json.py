import dataclasses
import datetime
import enum
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from assay.report.json import dumps, to_dict
from assay.report.plain import plain, toml
from assay.result import Contender, Finding, Gain, Result

from . import fake

ROOT = Path(__file__).resolve().parents[2]


def numbers_in(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, float):
        yield value


@pytest.mark.parametrize("name", fake.ALL)
def test_reads_back_as_strict_json(name):
    def refuse(word):
        pytest.fail(f"{word} is no JSON")

    text = dumps(fake.ALL[name]())
    found = json.loads(text, parse_constant=refuse)
    assert all(map(math.isfinite, numbers_in(found)))
    assert text.encode("utf-8")  # no lone surrogates
    assert found["verdict"] == fake.ALL[name]().verdict


def test_holds_the_keys_that_the_design_promises():
    found = to_dict(fake.not_earned())
    promised = "need verdict gain candidate baselines findings split ledger settings versions"
    assert set(promised.split()) <= set(found)
    assert {"estimate", "low", "high", "against"} <= set(found["gain"])
    for method in (found["candidate"], *found["baselines"]):
        assert {"name", "metrics", "cost"} <= set(method)
    for finding in found["findings"]:
        assert {"code", "outcome", "measured", "threshold", "sentence", "fix"} <= set(finding)


@pytest.mark.parametrize(
    ("kind", "part", "left_out"),
    [
        (Result, lambda d: d, {"arrays", "model", "baseline_model"}),
        (Gain, lambda d: d["gain"], set()),
        (Contender, lambda d: d["candidate"], set()),
        (Finding, lambda d: d["findings"][0], set()),
    ],
)
def test_loses_no_field(kind, part, left_out):
    """A field added to the result must be decided on here, not forgotten."""
    fields = {field.name for field in dataclasses.fields(kind)} - left_out
    assert fields <= set(part(to_dict(fake.not_earned())))


def test_every_key_is_documented():
    text = (ROOT / "docs" / "result-json.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", text))

    def keys(value, path):
        # Keys below these are the user's or the study's own words.
        if path in ("settings", "versions", "metrics", "intervals", "spread", "profile"):
            if not (path == "metrics" and isinstance(value, list)):
                return
        if isinstance(value, dict):
            for key, item in value.items():
                yield key
                yield from keys(item, key)
        elif isinstance(value, list):
            for item in value:
                yield from keys(item, "")

    missing = set(keys(to_dict(fake.not_earned()), "")) - named
    assert not missing


def test_no_gain_is_null():
    found = to_dict(fake.no_labels())
    assert found["gain"] is None
    assert found["ledger"] is None
    assert found["gains"] == []


def test_numbers_that_are_none_are_null():
    candidate = to_dict(fake.hostile())["candidate"]
    assert candidate["metrics"]["detection"] is None
    assert candidate["metrics"]["false_alarms"] is None
    assert candidate["cost"] == {"fit_s": None, "predict_us": None, "parameters": None}


def test_plain_values():
    class Kind(enum.Enum):
        A = "a"

    assert plain(np.float32(0.25)) == 0.25
    assert type(plain(np.int64(3))) is int
    assert plain(np.bool_(True)) is True
    assert plain(np.array([[1.5, np.inf]])) == [[1.5, None]]
    assert plain(np.array(["2026-01-01"], "datetime64[D]")) == ["2026-01-01"]
    assert plain(np.datetime64("2026-01-01T00:00:01")) == "2026-01-01T00:00:01"
    assert plain(datetime.date(2026, 1, 2)) == "2026-01-02"
    assert plain(Path("a/b")) == str(Path("a/b"))
    assert plain(Kind.A) == "a"
    assert plain({3: {"b", "a"}}) == {"3": ["a", "b"]}
    assert plain(math.sqrt) == "sqrt"
    assert plain(b"\xff") == "\ufffd"


def test_toml_leaves_out_what_is_not_set():
    import tomllib

    settings = {"seed": np.int64(3), "time": None, "deep": {"a": (1, None, 2.5), "b": None}}
    assert tomllib.loads(toml(settings)) == {"seed": 3, "deep": {"a": [1, 2.5]}}
