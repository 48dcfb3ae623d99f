import jax.numpy as jnp
import numpy as np
import pytest

from assay import models
from assay.errors import ModelError, StudyError
from assay.physics import Boundary, Initial, Measured, Periodic, Problem, Unknown, UnknownField
from assay.physics.pinn import PINN
from assay.physics.residuals import found_value
from assay.train import trace_count

W0, ZETA, PI = 2 * np.pi, 0.1, np.pi
WD = W0 * np.sqrt(1 - ZETA**2)
TIMES = np.linspace(0.0, 2.0, 200)[:, None]


def swing(t):
    return np.exp(-ZETA * W0 * t) * (np.cos(WD * t) + ZETA * W0 / WD * np.sin(WD * t))


def oscillate(d):
    return d.u_tt + 2 * d.zeta * W0 * d.u_t + W0**2 * d.u


def oscillator(zeta=ZETA, **more):
    conditions = (Initial("u", 1.0), Initial("u_t", 0.0))
    return Problem(
        oscillate, {"t": (0.0, 2.0)}, conditions=conditions, parameters={"zeta": zeta},
        exact=swing, **more,
    )  # fmt: skip


def error(net, problem, points):
    exact = problem.exact_at(points)
    return np.linalg.norm(net.predict(points) - exact) / np.linalg.norm(exact)


OSCILLATOR = oscillator()
SMALL = {"hidden": (16, 16), "points": 80}


@pytest.fixture(scope="module")
def swung():
    seen = []
    watch = lambda step, predict: seen.append((step, predict(TIMES)))
    net = PINN(**SMALL, steps=150).fit(OSCILLATOR, watch=watch)
    return net, seen


def test_the_oscillator_is_solved(swung):
    net, _ = swung
    assert error(net, OSCILLATOR, TIMES) < 1e-4
    assert net.soft_ == ()
    assert net.parameters_ == {}
    assert net.status_.endswith(".")
    assert np.max(np.abs(net.residuals(TIMES))) < 1e-2


def test_history_adds_up(swung):
    net, _ = swung
    parts = sum(net.history_[key] for key in ("residual", "condition", "reading"))
    assert np.allclose(parts, net.history_["loss"])
    assert net.history_["step"][-1] == net.steps_
    assert (np.diff(net.history_["seconds"]) >= 0).all()


def test_the_watcher_sees_the_network_as_it_is(swung):
    net, seen = swung
    assert seen[-1][0] == net.steps_
    assert np.allclose(seen[-1][1], net.predict(TIMES))
    assert not np.allclose(seen[0][1], seen[-1][1])


def test_derivatives_are_those_of_the_prediction(swung):
    net, _ = swung
    h, t = 1e-4, np.array([[0.7]])
    found = net.derivatives(t, "u", "u_t", "u_tt")[0]
    low, mid, high = (net.predict(t + step)[0, 0] for step in (-h, 0.0, h))
    assert found[0] == pytest.approx(mid)
    assert found[1] == pytest.approx((high - low) / (2 * h), rel=1e-5)
    assert found[2] == pytest.approx((high - 2 * mid + low) / h**2, rel=1e-3)


def test_another_seed_does_not_compile_again(swung):
    before = trace_count()
    other = PINN(**SMALL, steps=20, random_state=7).fit(OSCILLATOR)
    assert trace_count() == before
    assert not np.allclose(other.predict(TIMES), swung[0].predict(TIMES))


def test_the_same_seed_gives_the_same_network():
    first, second = (PINN(**SMALL, steps=10).fit(OSCILLATOR) for _ in range(2))
    assert np.array_equal(first.predict(TIMES), second.predict(TIMES))


def test_saved_and_loaded(swung, tmp_path):
    net, _ = swung
    net.save(tmp_path / "net")
    back = models.load(tmp_path / "net")
    assert np.array_equal(back.predict(TIMES), net.predict(TIMES))
    assert back.status_ == net.status_
    assert back.scales_ == net.scales_
    assert back.n_parameters_ == net.n_parameters_
    for use in (back.residuals, lambda t: back.derivatives(t, "u_t")):
        with pytest.raises(StudyError, match="no equation"):
            use(TIMES)
    with pytest.raises(StudyError, match="no data"):
        back.normal_matrix()


def test_a_damaged_table_is_refused(swung):
    config, arrays = swung[0].to_saved()
    arrays = arrays | {"piece0.table0": np.zeros(3)}
    with pytest.raises(ModelError, match="shape"):
        PINN.from_saved(config, arrays)


@pytest.mark.parametrize("optimiser", ["adam", "lbfgs"])
def test_first_order_methods_lower_the_loss(optimiser):
    net = PINN(**SMALL, optimiser=optimiser, steps=200, precision="float32").fit(OSCILLATOR)
    loss = net.history_["loss"]
    assert loss[-1] < 0.2 * loss[0]
    assert net.pieces_[0].params["net"].body.layers[0].weight.dtype == np.float32


def test_raw_units_are_the_plain_formula():
    """In raw units with soft conditions: the formula of the textbook, term by term."""
    net = PINN(
        hidden=(8,), points=50, scaling="none", conditions="soft", steps=1, optimiser="adam",
        initialisation="torch", weights={"condition": 100.0},
    ).fit(OSCILLATOR)  # fmt: skip
    from assay.nn import MLP, initialise

    body = initialise(MLP(1, 1, (8,), "tanh"), np.random.default_rng(0), rule="torch")
    (a, b), (c, e) = ((np.float64(x.weight), np.float64(x.bias)) for x in body.layers)
    s = np.linspace(0.0, 1.0, 50)
    h = np.tanh(s[:, None] * a[:, 0] + b)
    u, v = h @ c[0] + e[0], ((1 - h**2) * a[:, 0]) @ c[0] / 2
    w = (-2 * h * (1 - h**2) * a[:, 0] ** 2) @ c[0] / 4
    residual = np.mean((w + 2 * ZETA * W0 * v + W0**2 * u) ** 2)
    assert net.history_["residual"][0] == pytest.approx(residual, rel=1e-5)
    assert net.history_["condition"][0] == pytest.approx(
        100 * ((u[0] - 1) ** 2 + v[0] ** 2), rel=1e-5
    )


def test_scaling_starts_with_a_residual_of_order_one_and_raw_units_do_not():
    soft = {"points": 200, "conditions": "soft", "steps": 1, "optimiser": "adam"}
    raw = PINN(**soft, scaling="none", initialisation="torch").fit(OSCILLATOR).history_
    scaled = PINN(**soft, initialisation="torch").fit(OSCILLATOR).history_
    assert raw["residual"][0] > 1.0 > scaled["residual"][0]
    assert raw["residual"][0] / raw["condition"][0] > 50 * (
        scaled["residual"][0] / scaled["condition"][0]
    )


def readings(n=12, noise=0.02, seed=1):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.0, 2.0, n)
    return Measured("u", {"t": t}, swing(t) + noise * rng.normal(size=n), sigma=noise)


def test_an_unknown_damping_is_that_of_a_least_squares_fit():
    from scipy.optimize import curve_fit

    measured = readings()
    problem = oscillator(Unknown(0.01, 1.0, start=0.5), readings=(measured,))
    net = PINN(**SMALL, steps=200).fit(problem)

    def closed(t, zeta):
        wd = W0 * np.sqrt(1 - zeta**2)
        return np.exp(-zeta * W0 * t) * (np.cos(wd * t) + zeta * W0 / wd * np.sin(wd * t))

    t = measured.at["t"]
    fitted, spread = curve_fit(closed, t, measured.values, 0.3, bounds=(0.01, 0.99))
    sigma = 0.02 / np.linalg.norm(
        [(closed(x, 0.1 + 1e-6) - closed(x, 0.1 - 1e-6)) / 2e-6 for x in t]
    )
    assert abs(net.parameters_["zeta"] - fitted[0]) < 0.5 * sigma
    # Laplace: the spread of the raw number from the normal matrix, whose last column it is.
    matrix = net.normal_matrix()
    assert matrix.shape == (net.n_parameters_,) * 2
    ridge = 1e-10 * np.trace(matrix) / len(matrix)
    covariance = np.linalg.inv(matrix + ridge * np.eye(len(matrix)))
    unknown, raw = problem.unknown["zeta"], net.pieces_[-1].params["unknown"]["zeta"]
    each = [float(found_value(unknown, raw + step)) for step in (0.01, -0.01)]
    ours = np.sqrt(covariance[-1, -1]) * abs(each[0] - each[1]) / 0.02
    assert ours == pytest.approx(sigma, rel=0.5)
    assert len(spread) == 1


def test_an_unknown_field_is_found():
    """(k u_x)_x = -1 with u known: k = 1 + x / 2 from the flux k u_x = c - x."""
    k = lambda x: 1 + x / 2
    x = np.linspace(0.0, 1.0, 41)
    # u_x = (c - x) / k with u(0) = u(1) = 0, so that u = -2 x + (2 c + 4) log(1 + x / 2).
    c = (1 / np.log(1.5) - 2.0) * 1.0
    u = -2 * x + (2 * c + 4) * np.log(k(x))
    assert abs(u[-1]) < 1e-12
    problem = Problem(
        lambda d: d.k * d.u_xx + d.k_x * d.u_x + 1.0, {"x": (0.0, 1.0)},
        conditions=(Boundary("u", "x", 0.0),),
        coefficients={"k": UnknownField("x", 0.5, 3.0)},
        readings=(Measured("u", {"x": x}, u, sigma=1e-4),),
    )  # fmt: skip
    net = PINN(hidden=(10, 10), points=60, steps=120).fit(problem)
    found = net.coefficients(x[:, None])[:, 0]
    away = np.abs(x - x[np.argmax(u)]) > 0.15  # where u_x is zero k cannot be seen
    assert np.max(np.abs(found - k(x))[away]) < 0.05


def heat(**more):
    return Problem(
        lambda d: d.u_t - 0.25 * d.u_xx, {"t": (0.0, 1.0), "x": (0.0, 1.0)},
        exact=lambda t, x: np.exp(-0.25 * PI**2 * t) * np.sin(PI * x), **more,
    )  # fmt: skip


GRID = np.stack(np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21)), -1).reshape(-1, 2)


def test_heat_with_a_neumann_face_in_two_windows(tmp_path):
    problem = heat(
        conditions=(
            Initial("u", lambda x: jnp.sin(PI * x)),
            Boundary("u", "x", 0.0, side="low"),
            Boundary("u_x", "x", lambda t: -PI * jnp.exp(-0.25 * PI**2 * t), side="high"),
        )
    )
    net = PINN(hidden=(16,), points=200, steps=40, windows=2, face_points=20)
    net.fit(problem, checkpoint=tmp_path / "net")
    assert [label for label, _ in net.soft_] == ["u_x at x = 1"]
    assert error(net, problem, GRID) < 1e-3
    # Nothing jumps where the windows meet.
    x = np.linspace(0, 1, 9)
    before, after = (net.predict(np.stack([np.full(9, t), x], 1)) for t in (0.5, 0.5 + 1e-9))
    assert np.allclose(before, after, atol=1e-6)
    assert np.allclose(models.load(tmp_path / "net").predict(GRID), net.predict(GRID), atol=1e-9)


def test_resampling_balancing_and_a_curriculum_run_without_compiling_again():
    problem = Problem(
        lambda d: d.u_t + d.beta * d.u_x, {"t": (0.0, 1.0), "x": (0.0, 2 * PI)},
        conditions=(Initial("u", lambda x: jnp.sin(x)), Periodic("x")),
        parameters={"beta": 3.0}, exact=lambda t, x: np.sin(x - 3.0 * t),
    )  # fmt: skip
    points = GRID * [1.0, 2 * PI]
    plain = PINN(hidden=(10, 10), points=150, conditions="soft", steps=20).fit(problem)
    before = trace_count()
    net = PINN(
        hidden=(10, 10), points=150, conditions="soft", steps=30, resample=10, random_state=1,
        curriculum={"beta": (1.0, 2.0)},
    ).fit(problem)  # fmt: skip
    assert trace_count() <= before + 1  # the rows alone, to choose points by
    assert net.steps_ <= 3 * 30
    assert error(net, problem, points) < 2e-2
    ends = (net.predict(points * [1, 0]), net.predict(points * [1, 0] + [0, 2 * PI]))
    assert "u at both ends of x" in dict(net.soft_)
    assert 1e-12 < np.max(np.abs(ends[0] - ends[1])) < 0.05  # by a term of the loss
    hard = PINN(hidden=(10, 10), points=150, steps=5).fit(problem)
    ends = (hard.predict(points * [1, 0]), hard.predict(points * [1, 0] + [0, 2 * PI]))
    assert np.allclose(*ends, atol=1e-12)  # by construction
    balanced = PINN(
        hidden=(10, 10), points=150, conditions="soft", steps=20, weights="balanced"
    ).fit(problem)  # fmt: skip
    weights = balanced.data_.weights
    assert weights[1][0] ** 2 * 100 != pytest.approx(1.0)
    assert error(plain, problem, points) < 0.5


def test_a_budget_of_time_ends_it():
    net = PINN(**SMALL, seconds=0.0, steps=10_000).fit(OSCILLATOR)
    assert "time was used up" in net.status_
    assert net.steps_ < 10_000


def test_a_loss_that_is_not_finite_names_the_term_and_the_place():
    problem = Problem(
        lambda d: d.u_x + d.u / jnp.where(d.x > 0.5, 0.0, 1.0), {"x": (0.0, 1.0)},
        conditions=(Boundary("u", "x", 1.0, side="low"),),
    )  # fmt: skip
    with pytest.raises(StudyError, match=r"the equation at x = 0\.5\d+ \(40 of 80 points\)"):
        PINN(**SMALL, steps=5).fit(problem)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"activation": "relu"}, "second derivative"),
        ({"optimiser": "newton"}, "newton"),
        ({"optimiser": ("adam", "lbfgs"), "steps": (1, 2, 3)}, "as many"),
        ({"precision": "float16"}, "precision"),
        ({"weights": {"residual": -1.0}}, "weights"),
        ({"weights": {"boundary": 1.0}}, "weights"),
        ({"windows": 0}, "windows"),
        ({"curriculum": {"beta": (1.0,)}}, "beta"),
        ({"scaling": "units"}, "scaling"),
        ({"points": 0.5}, "points"),
        ({"sampling": "random"}, "points"),
        ({"hidden": 20}, "`hidden` must be a tuple"),
        ({"hidden": None}, "`hidden` must be a tuple"),
        ({"hidden": "wide"}, "`hidden` must be a tuple"),
        ({"hidden": (8, 0)}, "`hidden` must be a tuple"),
        ({"hidden": np.array([8, 8])}, "`hidden` must be a tuple"),
        ({"steps": 0}, "`steps` must be a whole number of at least 1, got 0"),
        ({"steps": -5}, "`steps` must be"),
        ({"steps": "a"}, "`steps` must be"),
        ({"steps": True}, "`steps` must be"),
        ({"optimiser": ("adam", "lbfgs"), "steps": (1, 0)}, "`steps` must be"),
        ({"optimiser": ()}, "`optimiser` must be"),
        ({"optimiser": 5}, "`optimiser` must be"),
        ({"random_state": -1}, "`random_state` must be a whole number of at least 0"),
        ({"random_state": None}, "`random_state` must be"),
        ({"random_state": 1.5}, "`random_state` must be"),
        ({"weights": {"condition": "a"}}, "`weights` must give numbers"),
        ({"weights": {"condition": True}}, "`weights` must give numbers"),
        ({"weights": np.ones(3)}, "`weights` must give numbers"),
        ({"curriculum": {"w0": 5}}, "`curriculum` must list numbers for 'w0'"),
        ({"curriculum": {"w0": ("a",)}}, "`curriculum` must list numbers for 'w0'"),
        ({"curriculum": 5}, "`curriculum` must be a dictionary"),
        ({"points": 0}, "`points` must be a whole number of at least 1, got 0"),
        ({"face_points": 0}, "`face_points` must be"),
        ({"seconds": -1}, "`seconds` must be a number of at least 0"),
        ({"seconds": np.nan}, "`seconds` must be"),
        ({"seconds": "a"}, "`seconds` must be"),
        ({"harmonics": "a"}, "`harmonics` must be"),
        ({"learning_rate": None}, "`learning_rate` must be"),
        ({"features": "fourier"}, "`features` must be Fourier"),
        ({"resample": []}, "`resample` must be"),
        ({"precision": []}, "`precision` must be"),
    ],
)
def test_wrong_settings_are_named(settings, said):
    with pytest.raises(StudyError, match=said):
        PINN(**({"hidden": (8,)} | settings)).fit(OSCILLATOR)


def test_settings_of_numpy_and_without_an_end_are_fine():
    settings = {
        "steps": np.int64(2), "points": np.int32(10), "random_state": np.int64(3),
        "windows": np.int64(1), "seconds": np.inf, "hidden": [np.int64(4)],
        "weights": {"residual": np.float32(1.0)},
    }  # fmt: skip
    assert PINN(**settings).fit(OSCILLATOR).steps_ == 2


def test_only_problems_are_fitted():
    with pytest.raises(StudyError, match="needs a Problem"):
        PINN().fit(np.zeros((3, 2)))


def test_windows_refuse_readings():
    with pytest.raises(StudyError, match="readings"):
        PINN(windows=2).fit(oscillator(readings=(readings(),)))


@pytest.mark.parametrize(("hidden", "points"), [((40, 40), 60), ((20, 20), 300)])
def test_the_last_steps_are_held_by_more_points(hidden, points):
    """A shock asks for new points; few rows and many, so that both forms of the system meet it."""
    from assay.physics.gallery import burgers, heat

    network = PINN(hidden=hidden, points=points, steps=150).fit(burgers())
    rows = len(network.data_.items[0]["x"])
    assert rows == points + 3 * (points - points // 2)
    fixed = PINN(hidden=hidden, points=points, steps=150, resample=None).fit(burgers())
    assert len(fixed.data_.items[0]["x"]) == points
    smooth = PINN(hidden=(20,), points=100, steps=150).fit(heat())
    assert len(smooth.data_.items[0]["x"]) == 100
    twice = PINN(hidden=hidden, points=points, steps=(300, 150), optimiser=("adam", "gauss_newton"))
    assert len(twice.fit(burgers()).data_.items[0]["x"]) == rows  # not so at each optimiser's end
