"""The physics-informed network as an estimator."""

import math
import time
from pathlib import Path
from typing import ClassVar

import jax
import numpy as np
from sklearn.base import BaseEstimator

from assay.errors import StudyError
from assay.models import save_model
from assay.physics import saving
from assay.physics.ansatz import require_smooth
from assay.physics.ending import ending
from assay.physics.fitting import (
    WEIGHTS,
    initial_params,
    places_of,
    require_finite,
    row_data,
    set_up,
)
from assay.physics.pieces import Piece, by_piece, piece_values
from assay.physics.points import require_inside
from assay.physics.problem import Problem
from assay.physics.residuals import found_numbers, n_raw
from assay.physics.scaling import scales_of
from assay.physics.settings import require_settings
from assay.physics.stages import Course, Recipe, optimisers_of
from assay.physics.windows import key_values, lessons, window, windows_of, with_known
from assay.train.adam import Rate
from assay.train.descent import Stop
from assay.train.rows import all_rows, block_items, normal_matrix

WIDTHS = ((32, 32, 32), (20, 20, 20), (24, 24, 24))  # for one, two and three variables

BROKEN = (Stop.NONFINITE, Stop.INTERRUPTED, Stop.SECONDS)


class PINN(BaseEstimator):
    r"""A network that is trained to satisfy an equation, its conditions and readings.

    The loss is a sum of mean squares,

    .. math::

        L(\theta) = w_r \overline{(r / S)^2} + w_c \sum_i \overline{(c_i / C_i)^2}
                  + w_y\, q\, \overline{((u - y) / \sigma)^2},

    with the sizes :math:`S, C` of `assay.physics.scaling`. :math:`q = (0.1\,\sigma / U)^2` for the
    size :math:`U` of the field holds the equation ten times more tightly than the noise of a
    reading. With ``scaling="none"`` all sizes, :math:`\sigma` and :math:`q` are 1: raw units.

    Parameters
    ----------
    hidden : tuple of int or "auto"
        Widths of the hidden layers.
    activation : str
        A smooth one, see `assay.physics.ansatz.SMOOTH`.
    body : {"mlp", "resnet", "modified"}
    features : Fourier, optional
        Sines and cosines of the inputs that are not periodic.
    harmonics : int
        Of periodic variables.
    conditions : {"auto", "hard", "soft"}
        "auto" builds in what can be, `soft_` says what could not. With "soft" all are terms of the
        loss, periodic ends too.
    weights : dict or "balanced", optional
        Of ``residual``, ``condition``, ``reading``, 1 each by default. "balanced" makes the
        gradients of all terms as long as that of the equation (Wang, Teng, Perdikaris 2021,
        sec. 2.4), again and again.
    optimiser : {"auto", "gauss_newton", "lbfgs", "adam"} or a tuple of them
        "auto" is Gauss-Newton up to 20,000 parameters, else L-BFGS. Several run one after another.
    steps : int or tuple of int, optional
        For each optimiser; 500, 5,000 and 10,000 by default. With windows or a curriculum, of each
        part.
    seconds : float, optional
        Budget of time for everything.
    learning_rate, schedule
        Of Adam: "constant" or "cosine".
    points : int, optional
        For the equation: 200, 2,000 and 4,000 for one, two and three variables.
    sampling : {"auto", "even", "sobol", "latin", "uniform"}
        "auto" is even in one variable, Sobol's points in more.
    face_points : int
        For each condition that is not built in.
    scaling : {"auto", "none"}
    resample : int, "auto" or None
        After so many steps new points are drawn, more of them where the residual is large. "auto"
        does so, without readings, once the residual between the points is three times that at
        them; Gauss-Newton then takes up to 1,000 steps, unless `steps` says how many, and the last
        of them are held by two and a half times as many points.
    windows : int
        Parts of the time, solved one after the other; each starts from the end of the last.
    curriculum : dict of str to sequence of float, optional
        Values of known parameters to train at, one after the other, before the declared one.
    initialisation : str
        See `assay.nn.initialise`.
    precision : {"float64", "float32"}
    random_state : int

    Attributes
    ----------
    status_ : str
        Why it stopped.
    history_ : dict of arrays of shape (n,)
        ``step``, ``loss``, ``residual``, ``condition``, ``reading`` (they add up to the loss),
        ``seconds``.
    parameters_ : dict of str to float
        The values of the unknown parameters.
    scales_ : Scales
    soft_ : tuple of (str, str)
        Conditions that are terms of the loss, and why.
    n_parameters_, steps_ : int
    fit_seconds_, compile_seconds_ : float [s]

    Examples
    --------
    >>> from assay.physics import Initial, Problem
    >>> decay = Problem(lambda d: d.u_t + 3.0 * d.u, {"t": (0.0, 1.0)},
    ...     conditions=(Initial("u", 1.0),))
    >>> net = PINN(hidden=(8,), points=30, steps=40).fit(decay)
    >>> bool(abs(net.predict([[1.0]])[0, 0] - np.exp(-3.0)) < 1e-4)
    True
    """

    family: ClassVar[str] = "physics.pinn"

    def __init__(
        self,
        hidden="auto",
        activation="tanh",
        features=None,
        conditions="auto",
        weights=None,
        optimiser="auto",
        steps=None,
        points=None,
        scaling="auto",
        resample="auto",
        windows=1,
        curriculum=None,
        precision="float64",
        random_state=0,
        *,
        body="mlp",
        harmonics=1,
        seconds=None,
        learning_rate=1e-3,
        schedule="constant",
        sampling="auto",
        face_points=100,
        initialisation="glorot",
    ):
        self.hidden = hidden
        self.activation = activation
        self.features = features
        self.conditions = conditions
        self.weights = weights
        self.optimiser = optimiser
        self.steps = steps
        self.points = points
        self.scaling = scaling
        self.resample = resample
        self.windows = windows
        self.curriculum = curriculum
        self.precision = precision
        self.random_state = random_state
        self.body = body
        self.harmonics = harmonics
        self.seconds = seconds
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.sampling = sampling
        self.face_points = face_points
        self.initialisation = initialisation

    def fit(self, problem, *, checkpoint=None, watch=None):
        """Train on a problem.

        Parameters
        ----------
        problem : Problem
        checkpoint : path, optional
            Folder that the network is saved in whenever a window of time is done. The training is
            kept beside it every few seconds (ending ``.training``): a fit that was interrupted or
            killed goes on there, bit for bit.
        watch : function (step, predict), optional
            Called after every chunk of steps (100 of Adam, fewer of slower ones); ``predict`` maps
            points (n, n_variables) to the fields (n, n_fields) of the network as it is then.

        Raises
        ------
        StudyError
            For a setting out of range, where the loss is not finite at the start (says at which
            term and place), and where `checkpoint` holds another training.
        """
        clock = time.perf_counter()
        self._check(problem)
        self.problem_, self.scales_ = problem, scales_of(problem, self.scaling)
        setup = self._set_up(problem)
        spans, values = windows_of(setup, self.windows), lessons(problem, self.curriculum)
        self.soft_ = tuple((bound.label, why) for bound, why in setup.soft)
        with self._precise():
            params = initial_params(setup, self.random_state, self.initialisation)
            self.n_parameters_ = n_raw(params)
            settings = self.get_params(deep=False)
            course = Course(self._recipe(), self._watcher(watch), checkpoint, settings)
            pieces = []
            for span in spans:
                part = window(setup, *span, pieces[-1] if pieces else None)
                for lesson in values:
                    part = with_known(part, lesson)
                    params = course.train(part, params)
                    self._require_start(course, part)
                    if course.stop in BROKEN:
                        break
                pieces.append(Piece(part, params))
                self._take(course, pieces, clock - course.journal.spent)
                if checkpoint is not None:
                    self.save(checkpoint)
                if course.stop in BROKEN:
                    break
            course.journal.close()
        if course.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        return self

    def predict(self, points):
        """Return the fields (n, n_fields), in their units, at points (n, n_variables)."""
        return self._values(points)[:, : self.n_fields_]

    def coefficients(self, points):
        """Return the unknown coefficients (n, n_coefficients) at points (n, n_variables)."""
        return self._values(points)[:, self.n_fields_ :]

    def derivatives(self, points, *names):
        """Return derivatives such as ``"u_x"`` at points (n, n_variables): (n, n_names)."""
        points, space = self._points(points), self._problem().space
        keys = tuple(space.key(name) for name in names)
        with self._precise():
            return by_piece(self.pieces_, points, lambda p, some: key_values(p, some, keys))

    def residuals(self, points):
        """Return the residuals (n, n_equations), over the sizes of their terms."""
        points = self._points(points)

        def at(piece, some):
            places = (some, *places_of(piece.setup, some, 2, 0)[1:])
            data = row_data(piece.setup, places)
            rows = all_rows(piece.setup.terms, piece.params, data)[0]
            return np.asarray(rows) / np.asarray(data.weights[0])[:, None]

        self._problem()
        with self._precise():
            return by_piece(self.pieces_, points, at)

    def normal_matrix(self):
        """Return J^T J (p, p) of the rows at the end, one over the variance of a reading each.

        The last columns are those of the unknown parameters, in the order of their names, as raw
        numbers (`assay.physics.residuals.found_value`). With readings its inverse is the covariance
        of all numbers, where the noise is as declared (Laplace). A loaded model has no data:
        StudyError.
        """
        if getattr(self, "data_", None) is None:
            raise StudyError("A loaded model has no data to linearise.", hint="Fit it again.")
        piece, n = self.pieces_[-1], self.n_parameters_
        with self._precise():
            block = block_items(n, np.dtype(self.precision).itemsize)
            square, _ = normal_matrix(piece.setup.terms, piece.params, self.data_, block)
        kinds = piece.setup.kinds
        readings = [i for i, kind in enumerate(kinds) if kind == "reading"]
        share = float(self.data_.weights[readings[0]][0]) ** 2 if readings else 1.0
        return np.asarray(square, np.float64) / share

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`.

        Functions are not saved: the values of built-in conditions are, as tables, whose largest
        error is in the configuration. The loaded network predicts; what needs the equation
        (`residuals`, `derivatives`, another fit) needs the problem again.
        """
        self._require_fit()
        return saving.to_saved(self)

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        return saving.from_saved(cls, config, arrays)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "pieces_")

    # --- what the public methods are made of -------------------------------------------------

    def _set_up(self, problem):
        count = len(problem.box)
        hidden = WIDTHS[count - 1] if self.hidden == "auto" else tuple(self.hidden)
        given = {} if self.weights in (None, "balanced") else dict(self.weights)
        network = {
            "hidden": hidden, "activation": self.activation, "body": self.body,
            "features": self.features, "harmonics": self.harmonics,
        }  # fmt: skip
        weights = dict.fromkeys(WEIGHTS, 1.0) | given
        return set_up(problem, self.scales_, network, self.conditions, weights)

    def _recipe(self):
        balanced = self.weights == "balanced"
        optimisers = optimisers_of(self.optimiser, self.steps, self.n_parameters_)
        return Recipe(
            optimisers=optimisers,
            seconds=math.inf if self.seconds is None else float(self.seconds),
            rate=Rate(self.learning_rate, self.schedule),
            points=self.points, face_points=self.face_points, sampling=self.sampling,
            resample=self.resample,
            balance=max(1, max(n for _, n in optimisers) // 10) if balanced else None,
            seed=self.random_state, extends=self.steps is None,
        )  # fmt: skip

    def _check(self, problem):
        if not isinstance(problem, Problem):
            raise StudyError(
                f"PINN.fit needs a Problem, got {type(problem).__name__}.",
                hint="assay.physics.Problem(equation, box, conditions=...)",
            )
        require_smooth(self.activation)
        require_settings(self)

    def _require_start(self, course, part):
        """Say where the loss is not finite, if that was so from the start."""
        if course.stop is Stop.NONFINITE and not np.isfinite(course.logs[-1]["loss"][0]):
            with self._precise():
                params = initial_params(part, self.random_state, self.initialisation)
                rows = all_rows(part.terms, params, course.data)
            require_finite(part, rows, course.places)

    def _take(self, course, pieces, clock):
        self.pieces_, self.data_, self.history_ = tuple(pieces), course.data, course.history()
        system, params = pieces[-1].setup.system, pieces[-1].params
        self.n_fields_, self.n_variables_ = len(system.problem.fields), len(system.problem.box)
        self.parameters_ = found_numbers(system.problem.unknown, params["unknown"])
        self.steps_, self.compile_seconds_ = course.steps, course.compile_seconds
        self.status_, self.stop_ = ending(course.stop, self.history_, self.steps_), course.stop
        self.fit_seconds_ = time.perf_counter() - clock

    def _watcher(self, watch):
        if watch is None:
            return None

        def look(step, setup, params):
            def predict(points):
                with self._precise():
                    return piece_values(Piece(setup, params), self._points(points))

            watch(step, predict)

        return look

    def _values(self, points):
        self._require_fit()
        with self._precise():
            return by_piece(self.pieces_, self._points(points), piece_values)

    def _points(self, points):
        if not hasattr(self, "problem_"):
            self._require_fit()
        return require_inside(points, self.problem_.box)

    def _problem(self):
        self._require_fit()
        if not isinstance(self.problem_, Problem):
            raise StudyError(
                "A loaded network has no equation: functions are not saved.",
                hint="Fit the problem again, or use `predict`.",
            )
        return self.problem_

    def _precise(self):
        return jax.enable_x64(self.precision == "float64")

    def _require_fit(self):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
