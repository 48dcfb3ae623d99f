"""Fitted surrogates as pure JAX functions, for gradients, compiling and sampling.

Each is a module of its arrays: passed into a compiled function, they are arguments and not
constants, so that two surrogates of one size share a program.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from assay.errors import StudyError

_ROOT5 = np.sqrt(5.0)


class Traced(eqx.Module):
    """A surrogate as a function of one input row."""

    # `jax.jit(f)` asks for both; arrays have neither.
    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other

    def __call__(self, x):
        """Return the outputs (m,) [their units] of an input `x` (d,) [its units]."""
        return self.moments(x)[0]

    def moments(self, x):
        """Return the outputs (m,) and their covariance (m, m), as the surrogate has them.

        Raises
        ------
        StudyError
            If it has none.
        """
        raise StudyError(
            f"A {type(self).__name__.removeprefix('Traced')} surrogate has no variance of its own.",
            hint="Use a Gaussian process or a DeepEnsemble, or the covariance of held-out errors.",
        )

    @property
    def has_spread(self) -> bool:
        """Whether there is a covariance."""
        return True


class TracedNetwork(Traced):
    """A network between its scalings."""

    net: eqx.Module
    inputs: tuple  # centre, scale
    outputs: tuple

    def __call__(self, x):
        """Return the outputs (m,) of an input `x` (d,)."""
        z = self.net((x - self.inputs[0]) / self.inputs[1])
        return self.outputs[0] + self.outputs[1] * z

    @property
    def has_spread(self) -> bool:
        """Return no: one network has no spread."""
        return False


class TracedEnsemble(Traced):
    """Networks side by side; every array has one axis more, for the members."""

    members: TracedNetwork

    def __call__(self, x):
        """Return the mean of the members (m,) at `x` (d,)."""
        return self.each(x).mean(axis=0)

    def each(self, x):
        """Return the members' outputs (size, m) at `x` (d,)."""
        return jax.vmap(lambda member: member(x))(self.members)

    def moments(self, x):
        """Return mean (m,) and covariance (m, m) of the members at `x` (d,)."""
        each = self.each(x)
        apart = each - each.mean(axis=0)[None]
        return each.mean(axis=0), apart.T @ apart / (len(each) - 1)


class TracedProcess(Traced):
    """A Gaussian process; outputs are independent given the input."""

    inputs: tuple
    runs: Any  # (n, d) scaled
    lengths: Any
    weights: Any
    factor: Any
    ones: Any  # the factor's solution for a constant, or None where the mean is not fitted
    outputs: tuple  # centre, scale, mean, variance
    nugget: Any
    transform: str = eqx.field(static=True)

    def __call__(self, x):
        """Return the mean (m,) at `x` (d,)."""
        if self.transform != "identity":
            return self.moments(x)[0]
        return self._mean(self._across(x))

    def moments(self, x):
        """Return mean (m,) and covariance (m, m), nugget included, at `x` (d,)."""
        across = self._across(x)
        left = jax.scipy.linalg.solve_triangular(self.factor, across, lower=True)
        free = jnp.maximum(1.0 - left @ left, 0.0) + self.nugget
        if self.ones is not None:
            free = free + (1.0 - self.ones @ left) ** 2 / (self.ones @ self.ones)
        variance = free * self.outputs[3] * self.outputs[1] ** 2
        mean, variance = _original(self.transform, self._mean(across), variance)
        return mean, jnp.diag(variance)

    def _mean(self, across):
        centre, scale, mean, _ = self.outputs
        return centre + scale * (mean + across @ self.weights)

    def _across(self, x):
        z = (x - self.inputs[0]) / self.inputs[1]
        squares = (((z[None] - self.runs) / self.lengths[None]) ** 2).sum(axis=1)
        # The root has no slope at a run, the correlation has slope 0 there: kept apart.
        apart = squares > 0.0
        r = jnp.where(apart, _ROOT5 * jnp.sqrt(jnp.where(apart, squares, 1.0)), 0.0)
        return (1.0 + r + r * r / 3.0) * jnp.exp(-r)


class TracedPolynomial(Traced):
    """A response surface of first or second degree."""

    inputs: tuple
    terms: tuple
    coefficients: Any
    centre: Any
    pairs: tuple  # indices of the two factors of each product; None for squares alone
    degree: int = eqx.field(static=True)

    def __call__(self, x):
        """Return the outputs (m,) at `x` (d,)."""
        z = (x - self.inputs[0]) / self.inputs[1]
        if self.degree == 2:
            first, second = self.pairs
            z = jnp.concatenate([z, z[first] * z[second]])
        return self.centre + ((z - self.terms[0]) / self.terms[1]) @ self.coefficients

    @property
    def has_spread(self) -> bool:
        """Return no: a response surface has no spread."""
        return False


class TracedModes(Traced):
    """A surrogate of the coefficients of principal components."""

    inner: Traced
    mean: Any
    scale: Any
    components: Any
    truncation: Any

    def __call__(self, x):
        """Return the outputs (m,) at `x` (d,)."""
        return self.mean + self.scale * self.inner(x) @ self.components

    def moments(self, x):
        """Return mean (m,) and covariance (m, m), truncation included, at `x` (d,)."""
        mean, covariance = self.inner.moments(x)
        wide = self.scale**2 * self.components.T @ covariance @ self.components
        return self.mean + self.scale * mean @ self.components, wide + jnp.diag(self.truncation)

    @property
    def has_spread(self) -> bool:
        """Whether the surrogate inside has one."""
        return self.inner.has_spread


def as_function(model: Any) -> Traced:
    """Return a fitted or loaded surrogate as a pure JAX function of one row.

    Call it inside ``jax.enable_x64(True)``, else JAX rounds everything to float32. There it is
    float64 throughout: it differs from ``predict`` by the rounding of a float32 network, and from a
    Gaussian process by next to nothing.

    Parameters
    ----------
    model : estimator
        A fitted network (MLPSurrogate, ResNetSurrogate, NeuralODE), DeepEnsemble,
        GaussianProcess, ResponseSurface, PCAOutputs or CalibratedSurrogate of one of these.

    Returns
    -------
    Traced
        ``f(x)`` maps (d,) to (m,) in original units, for ``jax.grad``, ``jit`` and ``vmap``.
        ``f.moments(x)`` also returns the surrogate's own covariance (m, m) at `x`, where
        ``f.has_spread``.

    Raises
    ------
    StudyError
        If the model is not one of these.
    sklearn.exceptions.NotFittedError
        If it is not fitted.

    Examples
    --------
    >>> from assay.surrogate.response_surface import ResponseSurface
    >>> X = np.random.default_rng(0).random((30, 2))
    >>> f = as_function(ResponseSurface().fit(X, X[:, 0] * X[:, 1]))
    >>> with jax.enable_x64(True):
    ...     slope = jax.jacobian(f)(jnp.array([0.5, 0.25]))
    >>> slope.round(6).tolist()
    [[0.25, 0.5]]
    """
    from assay.surrogate.calibrated import CalibratedSurrogate
    from assay.surrogate.ensemble import DeepEnsemble
    from assay.surrogate.gp import GaussianProcess
    from assay.surrogate.network import NetworkSurrogate
    from assay.surrogate.outputs import PCAOutputs
    from assay.surrogate.response_surface import ResponseSurface

    kinds = (
        (CalibratedSurrogate, lambda model: as_function(model.model_)),
        (NetworkSurrogate, _network),
        (DeepEnsemble, _ensemble),
        (GaussianProcess, _process),
        (ResponseSurface, _polynomial),
        (PCAOutputs, _modes),
    )
    for kind, traced in kinds:
        if isinstance(model, kind):
            _require_fit(model)
            return traced(model)
    raise StudyError(
        f"A {type(model).__name__} is not a function that JAX can differentiate.",
        hint="Train one of Assay's networks, a GaussianProcess or a ResponseSurface.",
    )


def _require_fit(model):
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"This {type(model).__name__} is not fitted: it has no outputs yet. Call its "
            "`fit(X, Y)` first, or load a fitted one with assay.load(folder)."
        ) from None


def _ends(scaler):
    return scaler.centre, scaler.scale


def _network(model):
    net = jax.tree.map(_double, model.model_)
    return TracedNetwork(net, _ends(model.scaler_), _ends(model.output_scaler_))


def _double(leaf):
    """Return weights as float64 NumPy arrays, which no setting of JAX can round."""
    if not isinstance(leaf, jax.Array | np.ndarray):
        return leaf
    array = np.asarray(leaf)
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array


def _ensemble(model):
    members = [_network(member) for member in model.members_]
    return TracedEnsemble(jax.tree.map(lambda *leaves: np.stack(leaves), *members))


def _process(model):
    found = model.posterior_
    ones = None
    if model.mean != "average":
        from scipy.linalg import solve_triangular

        ones = solve_triangular(found.factor, np.ones(len(found.factor)), lower=True)
    return TracedProcess(
        inputs=_ends(model.scaler_), runs=model.inputs_, lengths=model.scaled_lengths_,
        weights=found.weights, factor=found.factor, ones=ones,
        outputs=(model.centre_, model.scale_, found.mean, found.variance),
        nugget=np.float64(model.nugget_), transform=model.transform_,
    )  # fmt: skip


def _polynomial(model):
    d = model.n_features_in_
    pairs = (np.zeros(0, int), np.zeros(0, int))
    if model.degree == 2:
        crossed = model.settings()["products"]
        pairs = np.triu_indices(d) if crossed else (np.arange(d), np.arange(d))
    return TracedPolynomial(
        _ends(model.scaler_), _ends(model.terms_), model.coefficients_, model.centre_,
        tuple(pairs), model.degree,
    )  # fmt: skip


def _modes(model):
    return TracedModes(
        as_function(model.model_), model.mean_, np.float64(model.scale_), model.components_,
        model.truncation_variance_,
    )  # fmt: skip


def _original(transform, mean, variance):
    """Return mean and variance of outputs that are normal on the scale `transform`."""
    if transform == "sqrt":
        return mean**2 + variance, 4.0 * mean**2 * variance + 2.0 * variance**2
    if transform == "log":
        centre = jnp.exp(jnp.minimum(mean + 0.5 * variance, 300.0))
        return centre, centre**2 * jnp.expm1(jnp.minimum(variance, 100.0))
    return mean, variance
