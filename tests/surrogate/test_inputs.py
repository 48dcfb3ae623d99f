"""Reading simulation runs from whatever holds them, and splitting them."""

import numpy as np
import pytest

from assay.data import read_table
from assay.errors import DataError, StudyError
from assay.surrogate.inputs import Reading, Runs, read_runs, split_runs
from assay.surrogate.naming import numbers_in


def table(n=40, **more):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(1, 2, n), rng.uniform(-1, 1, n)
    return {"a [m]": a, "b": b, "y": a * b, **more}


def test_outputs_are_named_and_everything_else_is_an_input():
    runs = read_runs(table(), reading=Reading(outputs=("y",)))
    assert (runs.inputs, runs.outputs, runs.input_units) == (("a", "b"), ("y",), ("m", ""))
    np.testing.assert_array_equal(runs.Y[:, 0], runs.X[:, 0] * runs.X[:, 1])
    assert not runs.is_series


def test_outputs_must_be_named():
    with pytest.raises(StudyError, match="outputs"):
        read_runs(table())


def test_named_inputs_come_in_the_order_asked_for():
    runs = read_runs(table(), reading=Reading(inputs=("b", "a"), outputs=("y",)))
    assert runs.inputs == ("b", "a")
    np.testing.assert_array_equal(runs.X[:, 1], table()["a [m]"])


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        (Reading(outputs=("z",)), "'z'"),
        (Reading(outputs=("q_*",)), r"'q_\*'"),
        (Reading(inputs=("aa",), outputs=("y",)), "'aa'"),
        (Reading(outputs=("y",), drop=("bb",)), "'bb'"),
        (Reading(inputs=("a", "y"), outputs=("y",)), "an output and an input"),
        (Reading(inputs=("*",), outputs=("y",)), "an output and an input"),
        (Reading(outputs=("y",), drop=("y",)), "an output and left out"),
        (Reading(outputs=("y",), group="y"), "an output and the group"),
        (Reading(outputs=("*",)), "no input is left"),
    ],
)
def test_names_that_fit_nothing_or_twice_are_refused(reading, said):
    with pytest.raises(StudyError, match=said):
        read_runs(table(), reading=reading)


def test_a_name_is_a_name_before_it_is_a_pattern():
    data = table() | {"u[0]": np.arange(40) ** 2.0, "u0": np.arange(40) ** 3.0}
    assert read_runs(data, reading=Reading(outputs=("u[0]",))).outputs == ("u[0]",)
    data = table() | {"u*": np.arange(40) ** 2.0, "ub": np.arange(40) ** 3.0}
    assert read_runs(data, reading=Reading(outputs=("u*",))).outputs == ("u*",)


@pytest.mark.parametrize("name", ["span, inner", "große Länge", "a b", "x=1"])
def test_odd_names(name, tmp_path):
    path = tmp_path / "runs.csv"
    rows = np.c_[table()["a [m]"], table()["y"]]
    lines = [",".join(map(repr, row)) for row in rows.tolist()]
    path.write_text("\n".join([f'"{name}",y', *lines]), "utf-8")
    runs = read_runs(path, reading=Reading(inputs=(name,), outputs=("y",)))
    assert runs.inputs == (name,)


def test_failed_runs_are_set_aside_and_told_with_their_rows():
    data = table()
    data["y"][[3, 7]] = np.nan, np.inf
    data["b"][11] = np.nan
    runs = read_runs(data, reading=Reading(outputs=("y",)))
    assert runs.n_runs == 37
    assert not {4, 8, 12} & set(runs.row_numbers.tolist())
    told = " ".join(runs.notes)
    assert "3 runs of 40 failed" in told
    assert "row 4, row 8, row 12" in told


def test_a_hole_in_a_column_of_no_interest_costs_no_run():
    data = table(noise=np.full(40, np.nan))
    data["noise"][0] = 1.0
    runs = read_runs(data, reading=Reading(inputs=("a", "b"), outputs=("y",)))
    assert runs.n_runs == 40


def test_text_constants_and_counters_are_no_inputs_unless_named():
    data = table(site=["north"] * 40, fixed=np.full(40, 2.5), run=np.arange(40))
    runs = read_runs(data, reading=Reading(outputs=("y",)))
    assert runs.inputs == ("a", "b")
    told = " ".join(runs.notes)
    assert "'site'" in told
    assert "'fixed'" in told
    assert "'run'" in told
    kept = read_runs(data, reading=Reading(inputs=("a", "fixed", "run"), outputs=("y",)))
    assert kept.inputs == ("a", "fixed", "run")


def test_a_counter_is_known_where_runs_failed():
    data = table(run=np.arange(40) + 100)
    data["y"][5] = np.nan
    assert read_runs(data, reading=Reading(outputs=("y",))).inputs == ("a", "b")


def test_one_input_sampled_in_steps_of_one_stays():
    data = {"x": np.arange(30.0), "y": np.sin(np.arange(30.0))}
    assert read_runs(data, reading=Reading(outputs=("y",))).inputs == ("x",)


def test_an_output_of_text_is_refused():
    with pytest.raises(DataError, match="'state'"):
        read_runs(table(state=["ok"] * 40), reading=Reading(outputs=("y", "state")))


@pytest.mark.parametrize("what", ["input", "output"])
def test_where_nothing_changes_nothing_can_be_learnt(what):
    data = table()
    names = ("y",) if what == "output" else ("a [m]", "b")
    data |= {name: np.full(40, 2.0) for name in names}
    with pytest.raises(StudyError, match=f"no {what} ever changes"):
        read_runs(data, reading=Reading(outputs=("y",)))


def test_arrays_and_their_names():
    X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.random.default_rng(1).normal(size=30)
    runs = read_runs(X, Y)
    assert (runs.inputs, runs.outputs) == (("x0", "x1", "x2"), ("y",))
    np.testing.assert_array_equal(runs.Y[:, 0], Y)
    paired = read_runs((X, np.c_[Y, Y**2]))
    assert paired.outputs == ("y0", "y1")
    field = read_runs(X, np.random.default_rng(2).normal(size=(30, 4, 5)))
    assert field.n_outputs == 20
    assert field.is_series


def test_unequal_numbers_of_runs_are_refused():
    with pytest.raises(DataError, match="30 runs of inputs"):
        read_runs(np.zeros((30, 2)), np.zeros(29))


def test_two_files_stay_in_step_where_runs_failed(tmp_path):
    a, b = np.random.default_rng(0).normal(size=(2, 30))
    y = 10 * a + b
    gap = a.copy()
    gap[2], y[5] = np.nan, np.nan
    np.savetxt(tmp_path / "X.csv", np.c_[gap, b], delimiter=",", header="a,b", comments="")
    np.savetxt(tmp_path / "Y.csv", y[:, None], delimiter=",", header="force [N]", comments="")
    runs = read_runs(tmp_path / "X.csv", tmp_path / "Y.csv")
    assert (runs.outputs, runs.output_units) == (("force",), ("N",))
    assert runs.n_runs == 28
    np.testing.assert_allclose(runs.Y[:, 0], 10 * runs.X[:, 0] + runs.X[:, 1])


def test_files_without_header_get_different_names(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.savetxt(tmp_path / "X.txt", X)
    np.savetxt(tmp_path / "Y.txt", X.sum(axis=1))
    runs = read_runs(tmp_path / "X.txt", tmp_path / "Y.txt")
    assert (runs.inputs, runs.outputs) == (("x0", "x1"), ("y",))


def test_a_key_in_both_sources_is_no_output_and_must_agree():
    a = np.random.default_rng(0).normal(size=30)
    key = np.random.default_rng(1).permutation(30)
    runs = read_runs({"id": key, "a": a}, {"id": key, "u": a**2})
    assert runs.outputs == ("u",)
    with pytest.raises(DataError, match="'id'"):
        read_runs({"id": key, "a": a}, {"id": key[::-1], "u": a**2})


def test_an_output_that_stands_in_both_sources_is_no_input():
    runs = read_runs(table(), table(), Reading(outputs=("y",)))
    assert (runs.inputs, runs.outputs) == (("a", "b"), ("y",))
    assert "'y' of array are outputs" in " ".join(runs.notes).replace("'array'", "array")
    with pytest.raises(StudyError, match="an input and an output"):
        read_runs(table(), table(), Reading(inputs=("a", "y"), outputs=("y",)))
    with pytest.raises(StudyError, match="no output left"):
        read_runs(table(), table())


def test_wide_names_give_a_coordinate():
    times = [0.1, 0.2, 0.5, 1.0, 2.0]
    data = table() | {f"u_{t:g} [mm]": np.random.default_rng(1).normal(size=40) for t in times}
    runs = read_runs(data, reading=Reading(outputs=("u_*",)))
    assert runs.coordinate.tolist() == times
    assert runs.is_series
    assert set(runs.output_units) == {"mm"}


@pytest.mark.parametrize(
    "names",
    [
        ["u_1", "u_2", "u_3", "u_4", "u_5"],
        ["u_0.1", "u_0.2", "v_0.3", "v_0.4"],
        ["u_0.2", "u_0.1", "u_0.4", "u_0.5"],
        ["u1.5", "u2.5", "u3.5", "u4.5"],
        ["u_0.5", "u_1"],
        ["u_", "u_0.1", "u_0.2", "u_0.4"],
    ],
)
def test_names_that_carry_no_coordinate(names):
    assert numbers_in(names) is None


def test_columns_that_are_counted_in_brackets_have_no_units():
    names = [f"u[{k}]" for k in range(15)]
    data = table() | {name: np.random.default_rng(1).normal(size=40) for name in names}
    runs = read_runs(data, reading=Reading(outputs=("u[[]*",)))
    assert runs.outputs == tuple(names)
    assert set(runs.output_units) == {""}
    assert runs.coordinate.tolist() == list(range(15))


def test_two_outputs_of_different_units_are_no_series():
    names = ["u_0.1 [m]", "u_0.2 [m]", "u_0.3 [m]", "u_0.5 [s]"]
    data = table() | {name: np.random.default_rng(1).normal(size=40) for name in names}
    assert read_runs(data, reading=Reading(outputs=("u_*",))).coordinate is None


def test_xarray_keeps_the_coordinate_of_a_series():
    xr = pytest.importorskip("xarray")
    rng = np.random.default_rng(0)
    data = xr.Dataset(
        {
            "u": (("time", "run"), rng.normal(size=(4, 25)), {"units": "mm"}),
            "depth": ("run", rng.normal(size=25), {"units": "km"}),
        },
        coords={"time": ("time", [0.5, 1.0, 2.0, 4.0], {"units": "yr"}), "run": np.arange(25)},
    )
    runs = read_runs(data, reading=Reading(outputs=("u",)))
    assert (runs.inputs, runs.input_units) == (("depth",), ("km",))
    assert runs.coordinate.tolist() == [0.5, 1.0, 2.0, 4.0]
    assert runs.coordinate_name == "time [yr]"
    assert runs.output_units == ("mm",) * 4
    np.testing.assert_array_equal(runs.Y, data["u"].values.T)
    some = read_runs(data, reading=Reading(outputs=("u_1", "u_4")))
    assert some.coordinate.tolist() == [1.0, 4.0]


def test_an_xarray_field_beside_a_matrix():
    xr = pytest.importorskip("xarray")
    rng = np.random.default_rng(0)
    field = xr.DataArray(
        rng.normal(size=(25, 3, 4)), dims=("run", "x", "z"), name="T", coords={"x": [1, 2, 3]}
    )
    runs = read_runs(rng.normal(size=(25, 2)), field)
    assert runs.outputs[:2] == ("T_0_0", "T_0_1")
    assert runs.coordinate is None
    np.testing.assert_array_equal(runs.Y[:, 5], field.values[:, 1, 1])


def test_variables_without_a_common_dimension_are_refused():
    xr = pytest.importorskip("xarray")
    with pytest.raises(DataError, match="share a dimension"):
        read_runs(xr.Dataset({"a": ("i", [1.0, 2.0]), "u": ("j", [1.0, 2.0, 3.0])}))


@pytest.mark.parametrize("kind", ["npz", "h5", "dict"])
def test_arrays_called_X_and_Y_need_no_names(kind, tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"X": rng.normal(size=(30, 3)), "Y": rng.normal(size=(30, 5))}
    arrays["t"] = np.array([0.0, 1.0, 2.0, 5.0, 9.0])
    source = arrays
    if kind == "npz":
        np.savez(tmp_path / "runs.npz", **arrays)
        source = tmp_path / "runs.npz"
    if kind == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "runs.h5", "w") as file:
            for name, array in arrays.items():
                file[name] = array
        source = tmp_path / "runs.h5"
    runs = read_runs(source)
    np.testing.assert_array_equal(runs.X, arrays["X"])
    np.testing.assert_array_equal(runs.Y, arrays["Y"])
    assert runs.coordinate.tolist() == arrays["t"].tolist()
    assert runs.coordinate_name == "t"
    again = read_runs(source, like=runs)
    assert (again.inputs, again.outputs) == (runs.inputs, runs.outputs)


def test_test_runs_have_the_columns_and_units_of_the_others():
    runs = read_runs(table(), reading=Reading(outputs=("y",)))
    more = dict(reversed(table(n=3, extra=[1.0, 2.0, 4.0]).items()))
    given = read_runs(more, like=runs)
    assert given.inputs == ("a", "b")
    more["a [km]"] = more.pop("a [m]")
    with pytest.raises(DataError, match=r"\[km\]"):
        read_runs(more, like=runs)
    del more["a [km]"]
    with pytest.raises(StudyError, match="'a'"):
        read_runs(more, like=runs)


def test_files_are_pooled_and_a_parameter_fixed_in_each_stays(tmp_path):
    rng = np.random.default_rng(0)
    for name, fixed in (("one.csv", 1.0), ("two.csv", 2.0)):
        rows = np.c_[np.full(15, fixed), rng.normal(size=(15, 2))]
        np.savetxt(tmp_path / name, rows, delimiter=",", header="p,a,y", comments="")
    files = [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    runs = read_runs(files, reading=Reading(outputs=("y",)))
    assert runs.inputs == ("p", "a")
    assert runs.n_runs == 30


def test_a_table_keeps_its_groups():
    read = read_table(table(batch=["a", "b"] * 20), group="batch")
    assert read_runs(read, reading=Reading(outputs=("y",))).groups.tolist() == ["a", "b"] * 20


def runs_of(X, groups=None):
    X = np.asarray(X, float)
    names = tuple(f"x{k}" for k in range(X.shape[1]))
    return Runs(X, X[:, :1] ** 2, names, ("y",), groups=groups)


def test_parts_are_60_15_25_and_reproducible():
    runs = runs_of(np.random.default_rng(0).normal(size=(200, 2)))
    made, again = split_runs(runs, None, 3), split_runs(runs, None, 3)
    assert (made.fit.n_runs, made.validation.n_runs, made.test.n_runs) == (120, 30, 50)
    np.testing.assert_array_equal(made.test.row_numbers, again.test.row_numbers)
    together = np.concatenate([p.row_numbers for p in (made.fit, made.validation, made.test)])
    assert sorted(together.tolist()) == list(range(1, 201))


@pytest.mark.parametrize("seed", range(5))
def test_equal_designs_stay_in_one_part_however_few(seed):
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[399] = X[0]
    made = split_runs(runs_of(X), None, seed)
    parts = [p for p in (made.fit, made.validation, made.test) if {1, 400} & set(p.row_numbers)]
    assert len(parts) == 1
    assert "repeated designs" in made.rule


def test_groups_stay_whole_even_where_designs_repeat_across_them():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(100, 2)), np.repeat([f"g{k}" for k in range(20)], 5)
    X[7] = X[93]
    made = split_runs(runs_of(X, groups), None, 0)
    held = [set(p.groups) for p in (made.fit, made.validation, made.test)]
    assert not held[0] & held[1] | held[0] & held[2] | held[1] & held[2]
    assert len([h for h in held if {"g1", "g18"} & h]) == 1


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (runs_of(np.random.default_rng(0).normal(size=(19, 2))), "at least 20"),
        (runs_of(np.ones((40, 2))), "belong together"),
        (
            runs_of(np.random.default_rng(0).normal(size=(40, 2)), np.repeat(["a", "b"], 20)),
            "got 2",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(runs, said):
    with pytest.raises(StudyError, match=said):
        split_runs(runs, None, 0)


def test_given_test_runs_are_left_alone():
    rng = np.random.default_rng(0)
    runs, test = runs_of(rng.normal(size=(50, 2))), runs_of(rng.normal(size=(10, 2)))
    made = split_runs(runs, test, 0)
    assert made.test is test
    assert (made.fit.n_runs, made.validation.n_runs) == (40, 10)


def test_numbers_that_cannot_be_squared_are_refused_with_their_place():
    huge = table()
    huge["y"][4] = 1e200
    with pytest.raises(DataError, match=r"row 5: the output 'y' is 1e\+200"):
        read_runs(huge, reading=Reading(outputs=("y",)))
    huge = table()
    huge["a [m]"][0] = -1e300
    with pytest.raises(DataError, match="row 1: the input 'a'"):
        read_runs(huge, reading=Reading(outputs=("y",)))
    like = read_runs(table(), reading=Reading(outputs=("y",)))
    with pytest.raises(DataError, match="row 1: the input 'a'"):
        read_runs(huge, like=like)


def test_one_run_is_too_few_and_not_too_constant():
    one = read_runs(table(1), reading=Reading(outputs=("y",)))
    with pytest.raises(StudyError, match="at least 20 complete runs, got 1"):
        split_runs(one, None, 0)


def test_a_single_test_run_is_said_to_be_one():
    runs = read_runs(table(), reading=Reading(outputs=("y",)))
    with pytest.raises(StudyError, match="at least 2 complete test runs are needed, got 1"):
        split_runs(runs, runs.take([3]), 0)


def test_an_empty_array_is_refused():
    with pytest.raises(DataError, match=r"shape \(0, 3\)"):
        read_runs(np.zeros((0, 3)), np.zeros(0))
    with pytest.raises(DataError, match=r"shape \(4, 0\)"):
        read_runs(np.zeros((4, 0)), np.zeros(4))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": (30, 3), "Y": (28, 2)}, "'Y' has 28 rows and 'X' has 30"),
        ({"X": (30, 3), "y": (28,)}, "'y' has 28 rows and 'X' has 30"),
        ({"X": (30, 3), "Y": (30, 7), "t": (8,)}, "'t' has 8 rows and 'X' has 30"),
        ({"inputs": (30, 3), "outputs": (3, 30)}, "'outputs' has 3 rows and 'inputs' has 30"),
    ],
)
def test_arrays_of_different_lengths_are_named_with_their_lengths(arrays, said, tmp_path):
    made = {name: np.random.default_rng(0).normal(size=shape) for name, shape in arrays.items()}
    np.savez(tmp_path / "runs.npz", **made)
    for source in (tmp_path / "runs.npz", made):
        with pytest.raises(DataError, match=said):
            read_runs(source)


def test_a_single_value_beside_the_arrays_is_left_out_with_a_note(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"X": rng.normal(size=(30, 3)), "y": rng.normal(size=30), "version": 2.0}
    np.savez(tmp_path / "runs.npz", **arrays)
    runs = read_runs(tmp_path / "runs.npz")
    assert (runs.inputs, runs.outputs) == (("x0", "x1", "x2"), ("y",))
    assert any("single value: 'version'" in note for note in runs.notes)
