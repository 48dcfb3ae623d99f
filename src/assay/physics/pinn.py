"""The physics-informed network as an estimator."""

import functools as ft
import time

import jax
import numpy as np
from sklearn.base import BaseEstimator

from assay.errors import DataError, StudyError, did_you_mean
from assay.physics.fitting import (
    cast,
    initial_params,
    places_of,
    points_for,
    require_finite,
    row_data,
    set_up,
)
from assay.physics.residuals import functions, n_raw, parameters_of
from assay.physics.scaling import scales_of
from assay.train import program
from assay.train.descent import Limits
from assay.train.least_squares import least_squares
from assay.train.rows import all_rows

OPTIMISERS = ("auto", "gauss_newton", "lbfgs", "adam")
DENSE = 20_000  # parameters up to which the dense least-squares method is used


class PINN(BaseEstimator):
    """A network that satisfies a problem's equation, conditions and readings."""

    def __init__(
        self,
        hidden=(32, 32, 32),
        *,
        activation="tanh",
        body="mlp",
        features=None,
        harmonics=1,
        conditions="auto",
        weights=None,
        optimiser="auto",
        steps=None,
        seconds=None,
        learning_rate=1e-3,
        schedule="constant",
        points=None,
        sampling="auto",
        face_points=100,
        scaling="auto",
        resample=None,
        windows=1,
        curriculum=None,
        initialisation="glorot",
        precision="float64",
        random_state=0,
    ):
        self.hidden = hidden
        self.activation = activation
        self.body = body
        self.features = features
        self.harmonics = harmonics
        self.conditions = conditions
        self.weights = weights
        self.optimiser = optimiser
        self.steps = steps
        self.seconds = seconds
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.points = points
        self.sampling = sampling
        self.face_points = face_points
        self.scaling = scaling
        self.resample = resample
        self.windows = windows
        self.curriculum = curriculum
        self.initialisation = initialisation
        self.precision = precision
        self.random_state = random_state

    def fit(self, problem, *, checkpoint=None):
        """Train on a problem."""
        clock = time.perf_counter()
        self.problem_ = problem
        self.scales_ = scales_of(problem, self.scaling)
        weights = {"residual": 1.0, "condition": 1.0, "reading": 1.0} | (self.weights or {})
        network = {
            "hidden": tuple(self.hidden),
            "activation": self.activation,
            "body": self.body,
            "features": self.features,
            "harmonics": self.harmonics,
        }
        self.setup_ = set_up(problem, self.scales_, network, self.conditions, weights)
        setup = self.setup_
        with self._precise():
            params = initial_params(setup, self.random_state, self.initialisation)
            points = points_for(
                problem, self.points, self.sampling, self.random_state, setup.shared.frame
            )
            places = places_of(setup, points, self.face_points, self.random_state)
            data = row_data(setup, places)
            done = least_squares(setup.terms, params, data, limits=Limits(steps=self.steps or 500))
            if not np.isfinite(done.history["loss"][0]):
                require_finite(setup, all_rows(setup.terms, params, data), places)
        self.params_, self.data_ = done.params, data
        self.status_ = done.stop.sentence
        self.steps_ = done.steps
        self.n_parameters_ = n_raw(done.params)
        self.history_ = done.history
        self.fit_seconds_ = time.perf_counter() - clock
        self.compile_seconds_ = done.compile_seconds
        self.done_ = done
        return self

    def predict(self, points):
        """Return the fields (n, n_fields) at points (n, n_variables)."""
        with self._precise():
            return np.asarray(
                _values(self.setup_.system, self.params_, cast(self.setup_.shared), cast(points)),
                np.float64,
            )

    def _precise(self):
        return jax.enable_x64(self.precision == "float64")


@ft.partial(jax.jit, static_argnames="system")
def _values(system, params, shared, points):
    program._TRACES[0] += 1
    return jax.vmap(functions(system, params, shared, lifted=True))(points)
