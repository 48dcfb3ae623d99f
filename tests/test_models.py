"""Saved models: exact round trips, the same predictions in a fresh process, and hostile folders."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from assay import models
from assay.errors import ModelError
from assay.models import load, load_model, save_model
from assay.nn import MLP, from_arrays, initialise, to_arrays
from assay.train import predict

CONFIG = {"hidden": [4], "scale": 0.1, "big": 2**60, "name": "é <b>", "flag": True, "none": None}


class Net:
    """The smallest estimator that can be saved."""

    def __init__(self, net):
        self.net = net

    def to_saved(self):
        return {"sizes": [3, 2]}, to_arrays(self.net)

    @classmethod
    def from_saved(cls, config, arrays):
        return cls(from_arrays(MLP, (*config["sizes"], (4,)), arrays))


def arrays():
    rng = np.random.default_rng(0)
    return {
        "net.weight": rng.normal(size=(4, 3)).astype(np.float32),
        "centre": rng.normal(size=3),
        "number": np.array(7, np.int64),
        "empty": np.empty((0, 5), np.float32),
        "mask": np.array([True, False]),
    }


@pytest.fixture
def folder(tmp_path):
    return save_model(
        tmp_path / "model", family="test.net", config=CONFIG, arrays=arrays(), extra={"unit": "K"}
    )


@pytest.fixture
def net_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "FAMILIES", (*models.FAMILIES, ("test.net", f"{__name__}:Net")))
    net = Net(initialise(MLP(3, 2, (4,)), np.random.default_rng(0)))
    config, weights = net.to_saved()
    return net, save_model(tmp_path / "net", family="test.net", config=config, arrays=weights)


def test_round_trip_is_exact(folder):
    family, config, loaded, extra = load_model(folder)
    assert (family, config, extra) == ("test.net", CONFIG, {"unit": "K"})
    assert list(loaded) == list(arrays())
    for name, array in arrays().items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].shape == array.shape
        np.testing.assert_array_equal(loaded[name], array)


def test_the_folder_holds_two_files_and_no_pickle(folder):
    assert sorted(os.listdir(folder)) == ["model.json", "weights.safetensors"]
    assert os.listdir(folder.parent) == ["model"]


def test_numpy_numbers_in_the_description_become_plain(tmp_path):
    config = {"a": np.float64(0.1), "b": np.int64(3), "c": np.bool_(True)}
    save_model(tmp_path / "m", family="test.net", config=config, arrays={})
    assert load_model(tmp_path / "m")[1] == {"a": 0.1, "b": 3, "c": True}


def test_a_saved_model_is_replaced_and_a_folder_of_other_things_is_not(folder, tmp_path):
    save_model(folder, family="test.net", config={}, arrays={"w": np.ones(2)})
    assert set(load_model(folder)[2]) == {"w"}
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(ModelError, match=r"already holds \['thesis\.txt'\]"):
        save_model(folder, family="test.net", config={}, arrays={})
    assert (folder / "thesis.txt").read_text() == "years of work"
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot hold a saved model"):
        save_model(tmp_path / "file", family="test.net", config={}, arrays={})


def test_load_gives_the_estimator_back(net_folder):
    net, path = net_folder
    x = np.random.default_rng(1).normal(size=(20, 3))
    np.testing.assert_array_equal(predict(load(path).net, x), predict(net.net, x))


def test_the_same_prediction_in_a_fresh_process(net_folder, tmp_path):
    net, path = net_folder
    x = np.random.default_rng(1).normal(size=(20, 3))
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys, numpy as np\n"
        "from assay.models import load_model\n"
        "from assay.nn import MLP, from_arrays\n"
        "from assay.train import predict\n"
        "_, config, arrays, _ = load_model(sys.argv[1])\n"
        "net = from_arrays(MLP, (*config['sizes'], (4,)), arrays)\n"
        "np.save(sys.argv[3], predict(net, np.load(sys.argv[2])))\n"
    )
    command = [sys.executable, "-c", script, path, tmp_path / "x.npy", tmp_path / "y.npy"]
    subprocess.run(command, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), predict(net.net, x))


def test_every_family_can_be_named_once():
    names = [family for family, _ in models.FAMILIES]
    assert len(set(names)) == len(names)
    assert all(place.startswith("assay.") and place.count(":") == 1 for _, place in models.FAMILIES)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"config": {"a": float("nan")}}, "cannot be written as JSON"),
        ({"config": {"a": np.ones(3)}}, "ndarray is no JSON value"),
        ({"config": {"a": object()}}, "object is no JSON value"),
        ({"arrays": {"../../etc/passwd": np.ones(2)}}, "not allowed"),
        ({"arrays": {"a/b": np.ones(2)}}, "not allowed"),
        ({"arrays": {"w": np.array([np.inf])}}, "infinite or not a number"),
        ({"arrays": {"w": np.array(["text"])}}, "must have a dtype"),
        ({"arrays": {"w": np.array([object()])}}, "must have a dtype"),
        ({"family": ""}, "not allowed"),
    ],
)
def test_what_would_not_come_back_is_not_written(tmp_path, change, match):
    arguments = {"family": "test.net", "config": {}, "arrays": {}} | change
    with pytest.raises(ModelError, match=match):
        save_model(tmp_path / "m", **arguments)
    assert os.listdir(tmp_path) == []


def edit(**change):
    def apply(path):
        found = json.loads((path / "model.json").read_text())
        (path / "model.json").write_text(json.dumps(found | change))

    return apply


def edit_array(**change):
    def apply(path):
        found = json.loads((path / "model.json").read_text())
        found["arrays"]["net.weight"] |= change
        (path / "model.json").write_text(json.dumps(found))

    return apply


def text(content):
    return lambda path: (path / "model.json").write_text(content)


def remove(name):
    return lambda path: (path / name).unlink()


def without(key):
    def apply(path):
        found = json.loads((path / "model.json").read_text())
        del found[key]
        (path / "model.json").write_text(json.dumps(found))

    return apply


def weights(change):
    def apply(path):
        file = path / "weights.safetensors"
        file.write_bytes(change(file.read_bytes()))

    return apply


def weights_with_their_digest(change):
    """Change the weights and make the description vouch for them."""

    def apply(path):
        weights(change)(path)
        edit(weights_digest=models._digest((path / "weights.safetensors").read_bytes()))(path)

    return apply


def header(raw, change):
    """Rewrite the header of a safetensors file."""
    length = int.from_bytes(raw[:8], "little")
    content = json.loads(raw[8 : 8 + length])
    change(content)
    new = json.dumps(content).encode()
    return len(new).to_bytes(8, "little") + new + raw[8 + length :]


def shape(value):
    return weights_with_their_digest(
        lambda raw: header(raw, lambda content: content["net.weight"].update(shape=value))
    )


def offsets(value):
    return weights_with_their_digest(
        lambda raw: header(raw, lambda content: content["net.weight"].update(data_offsets=value))
    )


HOSTILE = {
    "no description": remove("model.json"),
    "no weights": remove("weights.safetensors"),
    "empty description": text(""),
    "not JSON": text("import os; os.remove('/')"),
    "not text": lambda path: (path / "model.json").write_bytes(b"\xff\xfe\x00"),
    "a list": text("[]"),
    "a number": text("3"),
    "nested without end": text("[" * 200_000),
    "nested and closed": text('{"a":' * 50_000 + "1" + "}" * 50_000),
    "NaN": edit(config={"scale": float("nan")}),
    "infinite": text('{"format": 1e999}'),
    "a number of a million digits": text('{"format": ' + "9" * 1_000_000 + "}"),
    "other format": edit(format=99),
    "format true": edit(format=True),
    "format text": edit(format="1"),
    "extra key": edit(run="rm -rf /"),
    "missing arrays": without("arrays"),
    "missing family": without("family"),
    "family a list": edit(family=[]),
    "family a path": edit(family="../../tmp/evil"),
    "family a module": edit(family="os:system"),
    "config a list": edit(config=[1, 2]),
    "arrays a list": edit(arrays=[]),
    "array null": edit(arrays={"net.weight": None}),
    "array name a path": edit(arrays={"../../x": {"dtype": "float32", "shape": [1]}}),
    "array name empty": edit(arrays={"": {"dtype": "float32", "shape": [1]}}),
    "huge shape": edit_array(shape=[10**6, 10**6]),
    "overflowing shape": edit_array(shape=[2**31] * 8),
    "negative size": edit_array(shape=[-4, -3]),
    "size a float": edit_array(shape=[4.0, 3.0]),
    "size a boolean": edit_array(shape=[True, 12]),
    "size text": edit_array(shape=["4", "3"]),
    "shape a number": edit_array(shape=12),
    "thousand axes": edit_array(shape=[1] * 1000),
    "transposed": edit_array(shape=[3, 4]),
    "wrong dtype": edit_array(dtype="int32"),
    "object dtype": edit_array(dtype="object"),
    "dtype a list": edit_array(dtype=["float32"]),
    "extra array entry": edit_array(code="import os"),
    "array not in the weights": edit(arrays={}),
    "weights empty": weights(lambda raw: b""),
    "weights cut short": weights(lambda raw: raw[:-7]),
    "weights changed": weights(lambda raw: raw[:-1] + bytes([raw[-1] ^ 1])),
    "weights longer": weights(lambda raw: raw + b"\0" * 100_000),
    "cut short with its digest": weights_with_their_digest(lambda raw: raw[:-7]),
    "empty with its digest": weights_with_their_digest(lambda raw: b""),
    "header bomb": weights_with_their_digest(lambda raw: (2**62).to_bytes(8, "little") + raw[8:]),
    "other shape inside": shape([3, 4]),
    "negative shape inside": shape([-4, -3]),
    "huge shape inside": shape([2**62, 4]),
    "offsets beyond the end": offsets([0, 10**12]),
    "offsets backwards": offsets([48, 0]),
    "NaN inside": weights_with_their_digest(
        lambda raw: raw[: 8 + int.from_bytes(raw[:8], "little")]
        + b"\xff" * (len(raw) - 8 - int.from_bytes(raw[:8], "little"))
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", HOSTILE.values(), ids=HOSTILE)
def test_hostile_folders_are_refused_with_a_message(folder, attack):
    attack(folder)
    with pytest.raises(ModelError) as caught:
        load_model(folder)
    assert len(caught.value.message) < 600
    assert caught.value.hint


def test_a_pipe_or_a_folder_in_the_place_of_a_file(folder):
    (folder / "model.json").unlink()
    os.mkfifo(folder / "model.json")
    with pytest.raises(ModelError, match=r"model\.json is missing"):
        load_model(folder)
    (folder / "model.json").unlink()
    (folder / "model.json").mkdir()
    with pytest.raises(ModelError, match=r"model\.json is missing"):
        load_model(folder)


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_what_is_no_folder(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="is not the folder of a saved model"):
        load(tmp_path / name)


def test_an_unknown_family_names_the_known_ones(folder):
    with pytest.raises(ModelError, match=r"unknown family 'test\.net'") as caught:
        load(folder)
    assert "Available" in caught.value.hint


@pytest.mark.parametrize(
    "config",
    [{}, {"sizes": None}, {"sizes": [3, 3]}, {"sizes": [-3, 2]}, {"sizes": [10**9, 10**9]},
     {"sizes": ["3", "2"]}, {"sizes": {"a": 1}}, {"sizes": []}],
)  # fmt: skip
def test_sizes_that_do_not_fit_the_weights(net_folder, config):
    _, path = net_folder
    edit(config=config)(path)
    with pytest.raises(ModelError):
        load(path)


def test_a_file_that_claims_gigabytes_is_refused_before_it_is_read(folder):
    os.truncate(folder / "weights.safetensors", 3 * 1024**3)  # sparse: takes no room on the disk
    with pytest.raises(ModelError, match="at most"):
        load_model(folder)
