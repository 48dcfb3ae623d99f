"""What does not change in a fit: data, traced numbers, and the calls of the compiled programs."""

import dataclasses
import math
import time
from typing import Any

import equinox as eqx
import jax
import numpy as np

from assay.errors import StudyError
from assay.nn.initialisation import initialise
from assay.train.batches import Batches
from assay.train.forward import block_size, pad_rows
from assay.train.outcome import Fit, FitStatus, History
from assay.train.program import (
    Layout,
    initial_state,
    loss_sum,
    run_chunk,
    skeleton,
    trace_count,
)
from assay.train.spec import FitSpec, Hyper
from assay.train.state import (
    State,
    after_chunk,
    after_validation,
    at_last_step,
    keep_best_start,
)

CHUNK_BYTES = 64 * 1024**2  # most that the batches of one chunk take
VALIDATION_BLOCK = 65536  # most validation rows that are on the device at a time


@dataclasses.dataclass(frozen=True)
class Job:
    """All that does not change in a fit; `make` checks and builds it."""

    spec: FitSpec
    program: FitSpec  # what is compiled of it
    hyper: Hyper
    traced: dict
    x: np.ndarray
    y: np.ndarray | None
    seed: np.uint32
    validation: tuple | None
    every: int  # chunks between two validations
    patience: int | None
    layout: Layout
    batches: Batches | None  # None if every step uses all rows
    all_rows: tuple | None  # those rows, then
    initial: Any
    initial_optimiser: Any
    static: Any

    @classmethod
    def make(cls, spec, hyper, x, y, *, seed, validation, patience, chunk) -> "Job":
        """Check what a fit was asked for, draw its weights, and lay out its batches."""
        x, y = _as_rows(x, y, "the training part")
        validation = _as_validation(validation, y)
        _check_numbers(seed, chunk, patience, validation)
        whole = len(x) <= spec.batch
        if not whole:
            row = sum(array[0].nbytes for array in (x, y) if array is not None)
            chunk = max(1, min(chunk, CHUNK_BYTES // max(1, row * spec.batch)))
        every = 1
        if validation is not None:  # so that validating never costs more rows than training
            every = math.ceil(len(validation[0]) / (chunk * min(spec.batch, len(x))))
        shapes, static = skeleton(spec)
        rng = np.random.default_rng((seed, 0))
        initial = initialise(shapes, rng, rule=spec.init, scale=hyper.init_scale)
        return cls(
            spec=spec,
            program=spec.program,
            hyper=hyper,
            traced=_traced(hyper),
            x=x,
            y=y,
            seed=np.uint32(seed),
            validation=validation,
            every=every,
            patience=patience,
            layout=Layout(chunk=chunk, whole=whole, y_is_x=y is None),
            batches=None if whole else Batches(len(x), spec.batch, seed),
            all_rows=_all_rows(x, y, chunk) if whole else None,
            initial=initial,
            initial_optimiser=initial_state(spec, initial),
            static=static,
        )

    def start(self) -> State:
        """Return the state before the first step."""
        leaves = jax.tree.leaves(self.initial)
        return State(
            parameters=leaves, optimiser=jax.tree.leaves(self.initial_optimiser), best=leaves
        )

    def batch(self, first: int) -> tuple | None:
        """Rows of the chunk that starts at step `first`; None if there is none."""
        if first >= self.hyper.steps:
            return None
        if self.all_rows is not None:
            return self.all_rows
        index, counts = self.batches.rows(first, self.layout.chunk)
        return self.x[index], None if self.y is None else self.y[index], counts

    def dispatch(self, state: State, batch: tuple) -> tuple:
        """Start a chunk, without waiting for it; return its results and the seconds compiling."""
        before, clock = trace_count(), time.perf_counter()
        results = run_chunk(
            self.program,
            self.layout,
            self._parameters(state.parameters),
            jax.tree.unflatten(jax.tree.structure(self.initial_optimiser), state.optimiser),
            self.traced,
            self.seed,
            np.int32(state.step),
            *batch,
        )
        return results, time.perf_counter() - clock if trace_count() > before else 0.0

    def finish(self, state: State, pending: tuple) -> State:
        """Wait for a chunk, validate if it is time to, and say whether the fit is at its end."""
        (parameters, optimiser, losses), compiling = pending
        n = min(self.layout.chunk, self.hyper.steps - state.step)
        new = after_chunk(state, parameters, optimiser, np.asarray(losses)[:n], compiling=compiling)
        if new.status is not None:
            return new
        last = new.step == self.hyper.steps
        if self.validation is None:
            new = keep_best_start(state, new)
        elif last or len(new.steps) % self.every == 0:
            loss, compiling = self._validation_loss(parameters)
            new = after_validation(new, loss, self.patience)
            new = dataclasses.replace(new, compile_seconds=new.compile_seconds + compiling)
        if new.status is None and last:
            new = at_last_step(new, 1 if self.batches is None else self.batches.per_epoch)
        return new

    def result(self, state: State, status: FitStatus, seconds: float) -> Fit:
        """Return what the user gets."""
        use_best = self.validation is not None or status is FitStatus.NONFINITE
        leaves = [np.asarray(leaf) for leaf in (state.best if use_best else state.parameters)]
        return Fit(
            model=eqx.combine(self._parameters(leaves), self.static),
            status=status,
            history=History(
                steps=np.array(state.steps, int),
                train=np.array(state.train, float),
                validation=np.array(state.validation, float),
            ),
            steps=state.step,
            seconds=seconds,
            compile_seconds=state.compile_seconds,
            initial_model=eqx.combine(self.initial, self.static),
            best_step=state.best_step if use_best else state.step,
        )

    def _parameters(self, leaves):
        return jax.tree.unflatten(jax.tree.structure(self.initial), leaves)

    def _validation_loss(self, parameters):
        traces, clock, compiling, total = trace_count(), time.perf_counter(), 0.0, 0.0
        x, y = self.validation
        size = block_size(len(x), VALIDATION_BLOCK)
        for block, start in enumerate(range(0, len(x), size)):
            rows = [None if a is None else a[start : start + size] for a in (x, y)]
            part = loss_sum(
                self.program,
                self.layout.y_is_x,
                parameters,
                self.traced["extra"],
                self.seed,
                np.int32(block),
                *(None if a is None else pad_rows(a, size) for a in rows),
                np.int32(len(rows[0])),
            )
            if trace_count() > traces:
                traces, compiling = trace_count(), time.perf_counter() - clock
            total += float(part)
        return total / len(x), compiling


def _traced(hyper):
    """Numbers of `hyper` as arrays: Python numbers would be traced as weakly typed ones."""
    float_type = jax.dtypes.canonicalize_dtype(float)
    as_number = lambda value: np.asarray(value, float_type)
    return {
        "learning_rate": as_number(hyper.learning_rate),
        "weight_decay": as_number(hyper.weight_decay),
        "steps": np.int32(hyper.steps),
        "extra": jax.tree.map(as_number, hyper.extra),
    }


def _all_rows(x, y, chunk):
    """All rows, padded so that tables of similar length share a program, put there once."""
    size = _bucket(len(x))
    rows = [None if array is None else jax.device_put(pad_rows(array, size)) for array in (x, y)]
    return (*rows, np.full(chunk, len(x), np.int32))


def _bucket(n_rows):
    """Next size of a ladder with 16 rungs an octave: at most a sixteenth of the rows is padding.

    Every step pays for padding, a table of another size for one compilation: with four rungs 800
    rows took 12 % longer than without.
    """
    rung = max(1, 2 ** max(0, (n_rows - 1).bit_length() - 5))
    return max(8, math.ceil(n_rows / rung) * rung)


def _as_rows(x, y, where):
    """Cast floats to JAX's default float type and require equal rows."""
    float_type = jax.dtypes.canonicalize_dtype(float)

    def cast(array, name):
        array = np.asarray(array)
        if array.ndim < 1 or not len(array):
            raise StudyError(
                f"`{name}` of {where} must have at least one row, got shape {array.shape}.",
                hint="Check the split that made it.",
            )
        return array.astype(float_type, copy=False) if array.dtype.kind == "f" else array

    x, y = cast(x, "x"), None if y is None else cast(y, "y")
    if y is not None and len(x) != len(y):
        raise StudyError(
            f"`y` of {where} must have one row per row of `x`: expected {len(x)}, got {len(y)}.",
            hint="Pass the same rows in both.",
        )
    return x, y


def _as_validation(validation, y):
    if validation is None:
        return None
    validation = _as_rows(*validation, "the validation part")
    if (validation[1] is None) != (y is None):
        raise StudyError(
            "The validation part and the training part must both have `y`, or neither.",
            hint="Pass `validation=(x, y)`, or `(x, None)` where `y` is not given.",
        )
    return validation


def _check_numbers(seed, chunk, patience, validation):
    if patience is not None and (validation is None or patience < 1):
        raise StudyError(
            f"`patience` must be at least 1 and needs `validation`, got {patience!r}.",
            hint="Pass `validation=(x, y)`, or leave `patience` out.",
        )
    if chunk < 1:
        raise StudyError(f"`chunk` must be at least 1, got {chunk!r}.", hint="Leave it out.")
    if not 0 <= seed < 2**32:
        raise StudyError(
            f"`seed` must be from 0 to 2**32 - 1, got {seed!r}.", hint="Pass `seed=0`, say."
        )
