import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from assay.errors import StudyError
from assay.nn import initialise
from assay.nn.features import Fourier
from assay.nn.modified import ModifiedMLP
from assay.physics import Boundary, Face, Initial, Periodic, Problem
from assay.physics.ansatz import NetworkSpec, fresh
from assay.physics.fitting import cast, initial_params, set_up
from assay.physics.hard import hermite
from assay.physics.pieces import Piece
from assay.physics.scaling import scales_of
from assay.physics.tables import coefficients, grid, nodes, table_value
from assay.physics.windows import key_values


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", ["relu", "identity"])
def test_activations_without_a_second_derivative_are_refused(name):
    with pytest.raises(StudyError, match="second derivative"):
        NetworkSpec(("t",), (), 1, (8,), activation=name)


def test_unknown_bodies_and_unequal_widths_are_refused():
    with pytest.raises(StudyError, match="tree"):
        NetworkSpec(("t",), (), 1, (8,), body="tree")
    with pytest.raises(StudyError, match="one width"):
        NetworkSpec(("t",), (), 1, (8, 9), body="resnet")


def test_a_periodic_network_repeats_with_all_its_derivatives():
    spec = NetworkSpec(("t", "x"), ("x",), 1, (9, 9), harmonics=2)
    net = fresh(spec, np.random.default_rng(0))
    slope = jax.jacfwd(jax.jacfwd(net))
    low, high = jnp.array([0.3, -1.0]), jnp.array([0.3, 1.0])
    assert np.allclose(net(low), net(high), atol=1e-14)
    assert np.allclose(slope(low), slope(high), atol=1e-12)
    assert not np.allclose(net(low), net(jnp.array([0.3, 0.1])))


def test_fourier_features_are_what_they_say():
    assert np.allclose(
        Fourier((1, 2), of="x").matrix(("t", "x")), np.pi * np.array([[0, 1], [0, 2]])
    )
    drawn = Fourier(random=400, scale=3.0).matrix(("t", "x"))
    assert drawn.shape == (400, 2)
    assert np.std(drawn / np.pi) == pytest.approx(3.0, rel=0.1)
    spec = NetworkSpec(("t",), (), 1, (), features=Fourier((2,)))
    assert spec.n_embedded == 3
    with pytest.raises(StudyError, match="no input"):
        Fourier(of="y").matrix(("t",))
    with pytest.raises(StudyError, match="positive"):
        Fourier((0,))


def test_a_gated_network_is_the_published_one():
    net = initialise(ModifiedMLP(2, 1, width=4, depth=2), np.random.default_rng(0))
    x = np.array([0.3, -0.7])
    dense = lambda layer, h: layer.weight @ h + layer.bias
    u, v = np.tanh(dense(net.first_gate, x)), np.tanh(dense(net.second_gate, x))
    h = np.tanh(dense(net.lift, x))
    for layer in net.layers:
        z = np.tanh(dense(layer, h))
        h = z * u + (1 - z) * v
    assert np.allclose(net(x), dense(net.read_out, h))


def test_hermite_is_scipys():
    s, values = np.linspace(0, 1, 11), np.array([0.3, -2.0, 1.1, 0.7])  # u, u' at 0; u, u' at 1
    ours = values @ (hermite(2, 2) @ s ** np.arange(4)[:, None])
    theirs = CubicHermiteSpline([0.0, 1.0], values[[0, 2]], values[[1, 3]])(s)
    assert np.allclose(ours, theirs)


def test_tables_interpolate_smooth_functions():
    made = coefficients(np.exp(np.sin(3 * nodes(129))), 1)
    assert float(table_value(jnp.asarray(made), [0.37])) == pytest.approx(
        np.exp(np.sin(1.11)), 1e-13
    )
    points = grid(2)
    made = coefficients(np.sin(2 * points[:, 0]) * np.exp(points[:, 1]), 2)
    found = float(table_value(jnp.asarray(made), [0.2, -0.6]))
    assert found == pytest.approx(np.sin(0.4) * np.exp(-0.6), rel=1e-13)
    assert np.allclose(made[:4, :4].shape, 4)


PI = np.pi


def prepared(problem, conditions="auto"):
    network = {"hidden": (7, 7)}
    weights = dict.fromkeys(("residual", "condition", "reading"), 1.0)
    setup = set_up(problem, scales_of(problem), network, conditions, weights)
    return setup, Piece(setup, initial_params(setup, 3, "glorot"))


def misses(problem, piece, seed=0):
    """Return the largest miss of each condition at random points of its face."""
    rng, box = np.random.default_rng(seed), problem.box
    found = {}
    for face in problem.faces:
        points = np.stack([rng.uniform(*ends, 30) for ends in box.values()], axis=1)
        points[:, list(box).index(face.along)] = face.at
        values = np.asarray(key_values(piece, points, face.keys))[:, 0]
        places = [dict(zip(box, row, strict=True)) for row in points]
        found[face.label] = np.max(np.abs(values - [float(face.value(p)) for p in places]))
    return found


def first_order(*conditions, box=None, **more):
    box = box or {"t": (0.5, 2.0), "x": (-1.0, 3.0)}
    return Problem(lambda d: d.u_t + d.u_x + d.u, box, conditions=conditions, **more)


CASES = {
    "second order in time": Problem(
        lambda d: d.u_tt + 9.0 * d.u, {"t": (1.0, 3.0)},
        conditions=(Initial("u", 2.0), Initial("u_t", -5.0)),
    ),
    "third order in time": Problem(
        lambda d: d.u_ttt + d.u, {"t": (1.0, 3.0)},
        conditions=(Initial("u", 2.0), Initial("u_t", -5.0), Initial("u_tt", 4.0)),
    ),
    "both ends, uneven values": first_order(
        Initial("u", lambda x: 1.0 + x + x**2), Boundary("u", "x", lambda t: 0.5 + t, side="low"),
        Boundary("u", "x", 13.0, side="high"),
    ),
    "a clamped beam": Problem(
        lambda d: d.u_xxxx - 1.0, {"x": (0.0, 2.0)},
        conditions=(Boundary("u", "x", 0.3), Boundary("u_x", "x", -0.2)),
    ),
    "a rectangle": Problem(
        lambda d: d.u_xx + d.u_yy, {"x": (0.0, 1.0), "y": (0.0, 2.0)},
        conditions=(
            Boundary("u", "x", lambda y: y, side="low"),
            Boundary("u", "x", lambda y: 1.0 + 2.0 * y, side="high"),
            Boundary("u", "y", lambda x: x, side="low"),
            Boundary("u", "y", lambda x: 2.0 + 3.0 * x, side="high"),
        ),
    ),
    "a wave in a square": Problem(
        lambda d: d.u_tt - d.u_xx - d.u_yy,
        {"t": (0.0, 1.0), "x": (0.0, 1.0), "y": (0.0, 1.0)},
        conditions=(
            Initial("u", lambda x, y: jnp.sin(PI * x) * jnp.sin(PI * y)), Initial("u_t", 0.0),
            Boundary("u", "x", 0.0), Boundary("u", "y", 0.0),
        ),
    ),
    "two fields": Problem(
        lambda d: (d.u_t - d.v, d.v_t + d.u), {"t": (0.0, 1.0)}, fields=("u", "v"),
        conditions=(Initial("u", 4.0), Initial("v", -1.0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_conditions_hold_whatever_the_weights(name):
    setup, piece = prepared(CASES[name])
    assert setup.soft == ()
    for label, miss in misses(CASES[name], piece).items():
        assert miss < 1e-11, label


def test_the_network_still_moves_the_field_inside():
    setup, piece = prepared(CASES["both ends, uneven values"])
    inside = np.array([[1.2, 0.7]])
    other = Piece(setup, initial_params(setup, 4, "glorot"))
    key = (("u", (0, 0)),)
    assert abs(key_values(piece, inside, key) - key_values(other, inside, key)) > 1e-3


def soft_of(problem):
    return {bound.label: why for bound, why in prepared(problem)[0].soft}


def test_what_contradicts_at_a_corner_stays_soft():
    problem = first_order(Initial("u", 1.0), Boundary("u", "x", 0.0))
    found = soft_of(problem)
    assert set(found) == {"u at x = -1", "u at x = 3"}
    assert "contradicts u at t = 0.5" in found["u at x = -1"]


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (Boundary("u_x", "x", 0.0, side="high"), "not the value"),
        (Boundary("u", "x", 0.0, side=1.0), "inside"),
        (Face(lambda d: d.u_x + d.u, "x", "low"), "equation"),
        (Boundary("u_t", "x", 0.0, side="low"), "along the face"),
    ],
)
def test_what_cannot_be_built_in_says_why(condition, why):
    found = soft_of(first_order(Initial("u", lambda x: jnp.cos(x)), condition))
    assert len(found) == 1
    assert why in next(iter(found.values()))
    with pytest.raises(StudyError, match="cannot be built in"):
        prepared(first_order(Initial("u", lambda x: jnp.cos(x)), condition), "hard")


def test_soft_builds_nothing_in_and_periodic_ends_are_a_term():
    problem = first_order(Initial("u", lambda x: jnp.sin(x)), Periodic("x"))
    setup, piece = prepared(problem, "soft")
    assert [bound.label for bound, _ in setup.soft] == ["u at t = 0.5", "u at both ends of x"]
    assert misses(problem, piece)["u at t = 0.5"] > 0.1
    assert setup.system.network.periodic == ()
    assert prepared(problem)[0].system.network.periodic == ("x",)
    with pytest.raises(StudyError, match="conditions"):
        prepared(problem, "firm")


def test_tables_stand_for_functions():
    problem = CASES["both ends, uneven values"]
    setup, piece = prepared(problem)
    from assay.physics.saving import _built_in, _table

    frame = setup.shared.frame
    for bound in _built_in(setup.system):
        table, error = _table(problem, bound, frame)
        assert error < 1e-12
        assert np.isfinite(table).all()
    assert cast(setup.shared).sizes.dtype == np.float64
    del piece
