"""Deep ensembles: mean and spread of their members, one compilation, cost, and the UCI sets."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import assay
from assay.errors import AssayError, StudyError
from assay.models import load_model, save_model
from assay.surrogate import DeepEnsemble, MLPSurrogate, ResNetSurrogate
from assay.surrogate.ensemble import member_seeds
from assay.train import trace_count
from assay.train.job import Job

MEMBER = {"hidden": (32, 32), "steps": 1500}


def runs(n=200, seed=0):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, np.c_[10.0 * np.sin(3.0 * X[:, 0]) * X[:, 1], 200.0 + X[:, 1]]


@pytest.fixture(scope="module")
def small():
    return DeepEnsemble(MLPSurrogate(**MEMBER), size=4).fit(*runs())


def test_mean_and_spread_are_those_of_the_members(small):
    X, _ = runs(seed=1)
    each = np.stack([member.predict(X) for member in small.members_])
    mean, std, valid = small.predict(X, return_std=True, return_valid=True)
    np.testing.assert_allclose(mean, each.mean(axis=0))
    np.testing.assert_allclose(std, each.std(axis=0, ddof=1))
    np.testing.assert_array_equal(small.predict_members(X), each)
    assert valid.shape == (200,)
    assert small.n_parameters_ == 4 * small.members_[0].n_parameters_


def test_better_than_its_members(small):
    X, truth = runs(seed=1)
    error = np.mean((small.predict(X) - truth) ** 2)
    assert error < np.mean((small.predict_members(X) - truth) ** 2)


def test_members_are_what_they_would_be_alone(small):
    X, Y = runs()
    seed = small.members_[2].random_state
    alone = MLPSurrogate(**MEMBER, random_state=seed).fit(X, Y)
    np.testing.assert_array_equal(alone.predict(X), small.members_[2].predict(X))


def test_seeds():
    assert len(set(member_seeds(0, 50))) == 50
    assert member_seeds(3, 5)[:3] == member_seeds(3, 3)
    X, Y = runs(n=40)
    make = lambda seed: DeepEnsemble(MLPSurrogate(hidden=(4,), steps=20), 2, random_state=seed)
    one, again, other = (make(seed).fit(X, Y).predict(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0


def test_spread_grows_away_from_the_runs(small):
    X, _ = runs(seed=1)
    _, inside, valid = small.predict(X, return_std=True, return_valid=True)
    _, outside, far = small.predict(3.0 * np.sign(X) + X, return_std=True, return_valid=True)
    assert np.median(outside[:, 0]) > 10.0 * np.median(inside[:, 0])
    assert valid.mean() > 0.93
    assert not far.any()


def test_disagreement_alone_can_refuse(small):
    X, _ = runs(seed=1)
    parts = small.domain_.parts(X, spread=np.linspace(0.0, 3.0 * small.domain_.spread, len(X)))
    assert parts["disagreement"].sum() == np.ceil(len(X) / 3.0)
    assert "disagreement" not in small.domain_.parts(X)


def test_one_compilation_for_all_members():
    X, Y = runs()
    before = trace_count()
    DeepEnsemble(ResNetSurrogate(width=7, depth=2, steps=5)).fit(X, Y)
    assert trace_count() == before + 1


def test_held_out_runs_are_the_same_for_all_members():
    X, Y = runs(n=100)
    member = MLPSurrogate(hidden=(8,), steps=300, validation_fraction=0.2)
    model = DeepEnsemble(member, 3).fit(X, Y[:, 0])
    assert np.isfinite(model.history_["validation"]).all()
    assert model.predict(X).shape == (100,)


def test_saved_and_loaded(small, tmp_path):
    X, _ = runs(seed=2)
    X[0] += 5.0
    loaded = assay.load(small.save(tmp_path / "model"))
    for found, expected in zip(
        loaded.predict(X, return_std=True, return_valid=True),
        small.predict(X, return_std=True, return_valid=True),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    assert loaded.settings() == small.settings()
    assert loaded.domain_.spread == small.domain_.spread


@pytest.mark.parametrize(
    "change",
    [
        {"members": []},
        {"family": "compress.autoencoder"},
        {"family": "surrogate.ensemble"},
        {"family": 3},
        {"domain": {"limit": 1.0}},
    ],
)
def test_damaged_models_are_refused(small, tmp_path, change):
    small.save(tmp_path / "a")
    family, config, arrays, _ = load_model(tmp_path / "a")
    save_model(tmp_path / "b", family=family, config=config | change, arrays=arrays)
    with pytest.raises(AssayError):
        assay.load(tmp_path / "b")


# --- checkpoints ---------------------------------------------------------------------------------


def kept_steps(folder):
    """How far each member's checkpoint is."""
    steps = {}
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        steps[path.name] = json.loads(header["__metadata__"]["assay"])["state"]["numbers"]["step"]
    return steps


@pytest.mark.parametrize(
    "settings", [{}, {"weight_decay": "validation", "validation_fraction": 0.2}]
)
def test_ctrl_c_leaves_members_that_go_on(tmp_path, monkeypatch, settings):
    X, Y = runs(n=100)
    member = MLPSurrogate(hidden=(8,), steps=400, **settings)
    make = lambda: DeepEnsemble(member, 3)
    unbroken = make().fit(X, Y)
    finish, count = Job.finish, [0]
    pressed_at = 5 if not settings else 6 * 4 + 5

    def pressed(self, *arguments):
        count[0] += 1
        if count[0] == pressed_at:
            os.kill(os.getpid(), signal.SIGINT)  # as from the keyboard: to the main thread
            threading.Event().wait(0.2)
        return finish(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "finish", pressed)
        with pytest.raises(KeyboardInterrupt):
            make().fit(X, Y, checkpoint=tmp_path / "kept")
        reached = kept_steps(tmp_path / "kept")
        assert set(reached) == {"0", "1", "2"}
        assert 0 < sum(reached.values()) < 1200
        patch.setattr(Job, "finish", finish)
        count[0], dispatch = 0, Job.dispatch

        def counted(self, *arguments):
            count[0] += 1
            return dispatch(self, *arguments)

        patch.setattr(Job, "dispatch", counted)
        resumed = make().fit(X, Y, checkpoint=tmp_path / "kept")
    assert count[0] == (1200 - sum(reached.values())) // 100
    np.testing.assert_array_equal(resumed.predict_members(X), unbroken.predict_members(X))
    assert resumed.settings() == unbroken.settings()
    assert resumed.status_ == unbroken.status_
    for key, values in unbroken.history_.items():
        np.testing.assert_array_equal(resumed.history_[key], values)


def test_members_of_another_ensemble_are_refused(tmp_path):
    X, Y = runs(n=50)
    member = MLPSurrogate(hidden=(4,), steps=20)
    DeepEnsemble(member, 2).fit(X, Y, checkpoint=tmp_path / "kept")
    with pytest.raises(StudyError, match="belongs to another fit"):
        DeepEnsemble(member, 2, random_state=1).fit(X, Y, checkpoint=tmp_path / "kept")


def surrogate(runs, out, **more):
    typed = [sys.executable, "-m", "assay.cli.main", "surrogate", runs, "--outputs", "u_*"]
    typed += ["--seeds", "1", "--out", str(out)]
    # A job in the background is started with Ctrl-C ignored, and hands that on to its own.
    given = signal.signal(signal.SIGINT, signal.default_int_handler)
    environment = os.environ | {"ASSAY_LEDGER": str(out.with_name("ledger-" + out.name))}
    try:
        return subprocess.Popen(
            typed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, env=environment, **more,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, given)


@pytest.mark.slow
def test_the_command_goes_on_with_the_ensemble_that_ctrl_c_stopped(tmp_path):
    """The default candidate, behind the principal components of a series."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2))
    Y = X[:, :1] * np.exp(-3.0 * X[:, 1:] * np.linspace(0.0, 1.0, 20)) + 1e-3 * rng.normal(size=20)
    head = "a,b," + ",".join(f"u_{i}" for i in range(20))
    np.savetxt(tmp_path / "runs.csv", np.c_[X, Y], delimiter=",", header=head, comments="")
    out, whole = tmp_path / "stopped", tmp_path / "whole"
    process = surrogate(str(tmp_path / "runs.csv"), out)
    partial, deadline = out.with_name("stopped.partial"), time.monotonic() + 300
    members = lambda: [p for p in partial.rglob("*") if p.name.isdigit() and p.is_file()]
    while not members() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "the same command again" in err
    reached = kept_steps(members()[0].parent)
    assert sum(reached.values()) > 0
    assert not out.exists()
    found = []
    for folder in (out, whole):
        process = surrogate(str(tmp_path / "runs.csv"), folder)
        _, err = process.communicate(timeout=600)
        assert process.returncode in (0, 3, 4, 5), err
        told = json.loads((folder / "result.json").read_text("utf-8"))
        found.append([told["verdict"], told["gain"], told["candidate"]["metrics"]])
    assert not partial.exists()
    assert found[0] == found[1]


def test_seconds_are_those_of_all_members():
    X, Y = runs(n=50)
    member = MLPSurrogate(hidden=(8,), steps=300)
    DeepEnsemble(member, 2).fit(X, Y)  # compiles
    clock = time.perf_counter()
    model = DeepEnsemble(member, 12).fit(X, Y)
    spent = time.perf_counter() - clock
    assert 0.5 * spent < model.fit_seconds_ <= spent


def test_untrained(small):
    X, Y = runs()
    assert small.untrained_.score(X, Y) < 0.5 < small.score(X, Y)


@pytest.mark.parametrize("size", [1, 2.0, True, 10**6])
def test_size_is_checked(size):
    with pytest.raises(StudyError, match="`size`"):
        DeepEnsemble(size=size).fit(*runs(n=20))


def test_member_must_be_a_network():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(StudyError, match="LinearRegression"):
        DeepEnsemble(LinearRegression()).fit(*runs(n=20))


# --- the UCI sets of Hernandez-Lobato and Adams (2015), their splits ------------------------------


def uci(shared, name, split):
    folder = shared / "uci" / name
    data = np.loadtxt(folder / "data.txt")
    inputs = np.loadtxt(folder / "index_features.txt", dtype=float).astype(int)
    output = int(np.loadtxt(folder / "index_target.txt"))
    parts = [
        np.loadtxt(folder / f"index_{part}_{split}.txt", dtype=float).astype(int)
        for part in ("train", "test")
    ]
    return [(data[part][:, inputs], data[part][:, output]) for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("energy", 0.54), ("concrete", 5.0), ("yacht", 0.70)])
def test_uci(shared, name, most):
    errors = []
    for split in range(5):
        train, (X, y) = uci(shared, name, split)
        errors.append(np.sqrt(np.mean((DeepEnsemble().fit(*train).predict(X) - y) ** 2)))
    assert np.mean(errors) <= most
