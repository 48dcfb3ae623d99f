import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import jet

from assay.nn import MLP, initialise
from assay.physics.derivatives import at_point, derivatives


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def wave(p):
    return jnp.stack([jnp.exp(0.7 * p[0]) * jnp.sin(2.0 * p[1]), p[0] ** 4 * p[1] ** 3])


ORDERS = [(0, 0), (1, 0), (0, 2), (2, 1), (1, 3), (4, 0)]


@pytest.mark.parametrize("orders", ORDERS)
def test_closed_forms(orders):
    found = derivatives(wave, jnp.array([0.3, -0.4]), [orders])[orders]
    i, j = orders
    first = 0.7**i * 2.0**j * np.exp(0.21) * np.sin(-0.8 + j * np.pi / 2)
    power = lambda x, n, k: np.prod(np.arange(n, n - k, -1)) * x ** (n - k) if k <= n else 0.0
    second = power(0.3, 4, i) * power(-0.4, 3, j)
    assert np.allclose(found, [first, second], rtol=1e-12)


def test_all_at_once_are_the_same_as_each_alone():
    point = jnp.array([0.3, -0.4])
    together = derivatives(wave, point, ORDERS)
    for orders in ORDERS:
        assert np.allclose(together[orders], derivatives(wave, point, [orders])[orders])


def net(sizes=2):
    skeleton = MLP(sizes, 1, (12, 12), "tanh")
    return initialise(skeleton, np.random.default_rng(0), rule="glorot")


def test_agrees_with_taylor_mode_and_with_reverse_mode():
    f, p = net(), jnp.array([0.2, 0.5])
    found = derivatives(f, p, [(0, 3), (1, 0)])
    line = ((jnp.array([0.0, 1.0]), jnp.zeros(2), jnp.zeros(2)),)
    _, (first, second, third) = jet.jet(f, (p,), line)
    assert np.allclose([found[0, 1], found[0, 2], found[0, 3]], [first, second, third])
    slope = jax.grad(lambda q: f(q)[0])
    assert np.allclose([found[1, 0][0], found[0, 1][0]], slope(p))


def test_agrees_with_central_differences():
    f, h = net(1), 1e-4
    at = lambda x: float(f(jnp.array([x]))[0])
    found = derivatives(f, jnp.array([0.3]), [(2,)])[(2,)][0]
    assert found == pytest.approx((at(0.3 + h) - 2 * at(0.3) + at(0.3 - h)) / h**2, rel=1e-5)


def test_named_fields():
    keys = (("u", (0, 1)), ("v", (2, 0)))
    found = at_point(wave, jnp.array([0.3, -0.4]), keys, ("u", "v"))
    assert set(found) == set(keys)
    assert found["v", (2, 0)] == pytest.approx(12 * 0.3**2 * (-0.4) ** 3)
