"""The loop around the compiled chunk: what happens between chunks of steps, on the host."""

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from assay.errors import StudyError
from assay.nn.initialisation import initialise
from assay.train import checkpoint as _checkpoint
from assay.train.batches import Batches
from assay.train.forward import block_size, pad_rows
from assay.train.program import (
    Layout,
    initial_state,
    loss_sum,
    run_chunk,
    skeleton,
    trace_count,
)
from assay.train.spec import Fit, FitSpec, FitStatus, History, Hyper

CHUNK = 100  # long enough to hide the dispatch, short enough to report progress
CHUNK_BYTES = 64 * 1024**2  # most that the batches of one chunk take


def fit(
    spec: FitSpec,
    hyper: Hyper,
    x: np.ndarray,
    y: np.ndarray | None = None,
    *,
    seed: int,
    validation: tuple[np.ndarray, np.ndarray | None] | None = None,
    patience: int | None = None,
    checkpoint: Path | str | None = None,
    checkpoint_seconds: float = 5.0,
    progress: Callable[[int, int, float], None] | None = None,
    chunk: int = CHUNK,
) -> Fit:
    """Train the network of `spec` on the rows of `x`.

    Parameters
    ----------
    spec : FitSpec
        What is compiled.
    hyper : Hyper
        Numbers that do not compile again.
    x : array of shape (n_rows, ...) [scaled, of order 1]
        Inputs; floating ones are used in JAX's default float type.
    y : array of shape (n_rows, ...), optional
        Targets; by default the rows of `x` themselves.
    seed : int
        At least 0: of the initial weights, the order of rows, and the loss's random numbers.
    validation : (x, y), optional
        Further rows; the weights of the smallest loss on them are returned. ``(x, None)`` where
        `y` is None.
    patience : int, optional
        Stop after so many validations in a row without a smaller loss; needs `validation`. There
        is a validation at the end of every chunk, or of every few chunks where the validation rows
        outnumber the rows of a chunk.
    checkpoint : path, optional
        File that keeps the state. If it exists and belongs to this very fit, the fit goes on from
        there, and ends bit for bit where an unbroken run ends. It is left there at the end.
    checkpoint_seconds : float [s]
        Least time between two writes of it; 0 writes after every chunk.
    progress : callable, optional
        ``progress(steps_done, steps, training_loss)`` after every chunk.
    chunk : int
        Steps between two looks from the host, at least 1. Another value compiles again.

    Returns
    -------
    Fit
        Ctrl-C ends a fit with the status INTERRUPTED after writing the checkpoint; it does not
        raise, so look at `Fit.status`, or call `Fit.unless_interrupted`.

    Raises
    ------
    StudyError
        If rows do not fit together, there are none, or the checkpoint is damaged or another fit's.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> from assay.train.losses import squared_error
    >>> x = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> spec = FitSpec(build=MLP, build_args=(1, 1, ()), loss=squared_error, batch=50)
    >>> done = fit(spec, Hyper(steps=500, learning_rate=0.05), x, 3.0 * x, seed=0)
    >>> round(float(done.model.layers[0].weight[0, 0]), 2)
    3.0
    """
    started = time.perf_counter()
    job = _Job.of(spec, hyper, x, y, seed, validation, patience, chunk)
    keeper = _Keeper.of(checkpoint, checkpoint_seconds, job)
    state = keeper.load(job)
    state = dataclasses.replace(state, seconds_before=state.seconds_before - started)
    try:
        batch = job.batch(state.step) if state.status is None else None
        while state.status is None:
            pending = job.dispatch(state, batch)
            # The host prepares the next batches while the device works on these.
            more = state.step + job.layout.chunk < hyper.steps
            batch = job.batch(state.step + job.layout.chunk) if more else None
            state = job.after_chunk(state, pending)
            keeper.save(state)
            if progress is not None:
                progress(state.step, hyper.steps, state.train[-1])
    except KeyboardInterrupt:
        keeper.save(state, now=True)
        return job.result(state, FitStatus.INTERRUPTED)
    keeper.save(state, now=True)
    return job.result(state, state.status)


def fit_many(
    spec: FitSpec,
    hypers: Hyper | Sequence[Hyper],
    x: np.ndarray,
    y: np.ndarray | None = None,
    *,
    seeds: int | Sequence[int],
    validation: tuple[np.ndarray, np.ndarray | None] | None = None,
    patience: int | None = None,
    progress: Callable[[int, int, float], None] | None = None,
    chunk: int = CHUNK,
) -> list[Fit]:
    """Train several networks that differ in seed or in traced numbers, with one compilation.

    Parameters
    ----------
    spec, x, y, validation, patience, chunk
        See `fit`.
    hypers : Hyper or sequence of Hyper
        One for all, or one a network.
    seeds : int or sequence of int
        One for all, or one a network.
    progress : callable, optional
        ``progress(steps_done, steps, training_loss)``, counted over all networks.

    Returns
    -------
    list of Fit
        One a network, in order; shorter if Ctrl-C came between (the last one then says so).

    Raises
    ------
    StudyError
        If the numbers of `hypers` and `seeds` differ.
    """
    hypers = [hypers] if isinstance(hypers, Hyper) else list(hypers)
    seeds = [seeds] if isinstance(seeds, int | np.integer) else list(seeds)
    n = max(len(hypers), len(seeds))
    hypers, seeds = hypers * (n if len(hypers) == 1 else 1), seeds * (n if len(seeds) == 1 else 1)
    if len(hypers) != len(seeds):
        raise StudyError(
            f"`hypers` and `seeds` must be equally many or one, got {len(hypers)} and "
            f"{len(seeds)}.",
            hint="Repeat the shorter one.",
        )
    total, done, fits = sum(hyper.steps for hyper in hypers), 0, []
    # One after the other: on a small CPU neither vmap nor threads beat it (docs/why-slow.md).
    for hyper, seed in zip(hypers, seeds, strict=True):
        tell = None if progress is None else _offset(progress, done, total)
        one = fit(
            spec, hyper, x, y, seed=seed, validation=validation, patience=patience,
            progress=tell, chunk=chunk,
        )  # fmt: skip
        fits.append(one)
        done += hyper.steps
        if one.status is FitStatus.INTERRUPTED:
            break
    return fits


def _offset(progress, done, total):
    return lambda step, steps, loss: progress(done + step, total, loss)


@dataclasses.dataclass(frozen=True)
class _State:
    """All that changes in a fit; replaced as a whole after each chunk, so never half done."""

    parameters: list
    optimiser: list
    best: list
    step: int = 0
    best_step: int = 0
    best_loss: float = math.inf
    since_best: int = 0
    losses: tuple = ()  # arrays of per-step losses, one a chunk
    steps: tuple = ()
    train: tuple = ()
    validation: tuple = ()
    status: FitStatus | None = None
    seconds_before: float = 0.0  # less the start of this run, so that adding the clock is the total
    compile_seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class _Job:
    """All that does not change in a fit."""

    spec: FitSpec
    hyper: Hyper
    traced: dict
    x: np.ndarray
    y: np.ndarray | None
    seed: np.uint32
    validation: tuple | None
    every: int
    patience: int | None
    layout: Layout
    batches: Batches | None
    initial: Any
    static: Any

    @classmethod
    def of(cls, spec, hyper, x, y, seed, validation, patience, chunk):
        x, y = _as_rows(x, y, "fit")
        if validation is not None:
            validation = _as_rows(*validation, "the validation part")
            if (validation[1] is None) != (y is None):
                raise StudyError(
                    "The validation part and the training part must both have `y`, or neither.",
                    hint="Pass `validation=(x, y)`, or `(x, None)` where `y` is not given.",
                )
        if patience is not None and (validation is None or patience < 1):
            raise StudyError(
                f"`patience` must be at least 1 and needs `validation`, got {patience!r}.",
                hint="Pass `validation=(x, y)`, or leave `patience` out.",
            )
        if chunk < 1 or not 0 <= seed < 2**32:
            raise StudyError(
                f"`chunk` must be at least 1 and `seed` from 0 to 2**32 - 1, got {chunk!r} and "
                f"{seed!r}.",
                hint="Leave `chunk` out.",
            )
        whole = len(x) <= spec.batch
        if not whole:
            row = sum(array[0].nbytes for array in (x, y) if array is not None)
            chunk = max(1, min(chunk, CHUNK_BYTES // max(1, row * spec.batch)))
        shapes, static = skeleton(spec)
        float_type = jax.dtypes.canonicalize_dtype(float)
        as_number = lambda value: np.asarray(value, float_type)
        traced = {
            "learning_rate": as_number(hyper.learning_rate),
            "weight_decay": as_number(hyper.weight_decay),
            "steps": np.int32(hyper.steps),
            "extra": jax.tree.map(as_number, hyper.extra),
        }
        rng = np.random.default_rng((seed, 0))
        every = 1
        if validation is not None:  # so that validating never costs more rows than training
            every = math.ceil(len(validation[0]) / (chunk * min(spec.batch, len(x))))
        return cls(
            spec=spec, hyper=hyper, traced=traced, x=x, y=y, seed=np.uint32(seed),
            validation=validation, every=every, patience=patience,
            layout=Layout(chunk=chunk, whole=whole, y_is_x=y is None),
            batches=None if whole else Batches(len(x), spec.batch, seed),
            initial=initialise(shapes, rng, rule=spec.init), static=static,
        )  # fmt: skip

    def start(self):
        leaves = jax.tree.leaves(self.initial)
        optimiser = jax.tree.leaves(initial_state(self.spec, self.initial))
        return _State(parameters=leaves, optimiser=optimiser, best=leaves)

    def batch(self, first):
        """Rows of the steps from `first` on, in the form that the program takes."""
        n = self.layout.chunk
        if self.layout.whole:
            # Rows are padded so that tables of similar length share a program.
            size = _bucket(len(self.x))
            rows = [None if a is None else pad_rows(a, size) for a in (self.x, self.y)]
            return (*rows, np.full(n, len(self.x), np.int32))
        index, counts = self.batches.rows(first, n)
        return self.x[index], None if self.y is None else self.y[index], counts

    def dispatch(self, state, batch):
        """Start a chunk; return (carry and losses, seconds spent compiling)."""
        before, clock = trace_count(), time.perf_counter()
        structure = jax.tree.structure(self.initial)
        parameters = jax.tree.unflatten(structure, state.parameters)
        rule_state = jax.tree.unflatten(
            jax.tree.structure(initial_state(self.spec, self.initial)), state.optimiser
        )
        out = run_chunk(
            self.spec, self.layout, parameters, rule_state, self.traced, self.seed,
            np.int32(state.step), *batch,
        )  # fmt: skip
        return out, (time.perf_counter() - clock if trace_count() > before else 0.0)

    def after_chunk(self, state, pending):
        """Look at a finished chunk; return the state after it."""
        (parameters, rule_state, losses), compiling = pending
        done = min(state.step + self.layout.chunk, self.hyper.steps)
        losses = np.asarray(losses)[: done - state.step]
        leaves = jax.tree.leaves(parameters)
        mean = float(np.mean(losses, dtype=float))
        new = dataclasses.replace(
            state, step=done, parameters=leaves, optimiser=jax.tree.leaves(rule_state),
            losses=(*state.losses, losses), steps=(*state.steps, done),
            train=(*state.train, mean), validation=(*state.validation, math.nan),
            compile_seconds=state.compile_seconds + compiling,
        )  # fmt: skip
        if not math.isfinite(mean):
            return dataclasses.replace(new, status=FitStatus.NONFINITE)
        last = done == self.hyper.steps
        if last and not all(np.isfinite(np.asarray(leaf)).all() for leaf in leaves):
            return dataclasses.replace(new, status=FitStatus.NONFINITE)
        if self.validation is None:
            # The finite mean was measured on the weights at the chunk's start, so those are known
            # to be sound; they are what is returned should training break down later.
            if mean < state.best_loss:
                new = dataclasses.replace(
                    new, best=state.parameters, best_loss=mean, best_step=state.step
                )
        elif last or len(new.steps) % self.every == 0:
            new = self._validate(new, parameters)
        if new.status is None and last:
            flat = _has_flattened(np.concatenate(new.losses), self._per_epoch())
            new = dataclasses.replace(new, status=FitStatus.CONVERGED if flat else FitStatus.BUDGET)
        return new

    def _validate(self, state, parameters):
        before, clock = trace_count(), time.perf_counter()
        x, y = self.validation
        size = block_size(len(x), 65536)
        total, compiling = 0.0, 0.0
        for block, start in enumerate(range(0, len(x), size)):
            rows = [None if a is None else a[start : start + size] for a in (x, y)]
            count = len(rows[0])
            part = loss_sum(
                self.spec, self.layout.y_is_x, parameters, self.traced["extra"], self.seed,
                np.int32(block), *(None if a is None else pad_rows(a, size) for a in rows),
                np.int32(count),
            )  # fmt: skip
            if trace_count() > before:
                before, compiling = trace_count(), time.perf_counter() - clock
            total += float(part)
        loss = total / len(x)
        new = dataclasses.replace(
            state, validation=(*state.validation[:-1], loss),
            compile_seconds=state.compile_seconds + compiling,
        )  # fmt: skip
        if not math.isfinite(loss):
            return dataclasses.replace(new, status=FitStatus.NONFINITE)
        if loss < state.best_loss:
            return dataclasses.replace(
                new, best=state.parameters, best_loss=loss, best_step=state.step, since_best=0
            )
        since = state.since_best + 1
        stop = self.patience is not None and since >= self.patience
        return dataclasses.replace(
            new, since_best=since, status=FitStatus.STOPPED_EARLY if stop else None
        )

    def _per_epoch(self):
        return 1 if self.batches is None else self.batches.per_epoch

    def result(self, state, status):
        use_best = self.validation is not None or status is FitStatus.NONFINITE
        leaves = [np.asarray(leaf) for leaf in (state.best if use_best else state.parameters)]
        trained = jax.tree.unflatten(jax.tree.structure(self.initial), leaves)
        return Fit(
            model=eqx.combine(trained, self.static),
            status=status,
            history=History(
                steps=np.array(state.steps, int),
                train=np.array(state.train, float),
                validation=np.array(state.validation, float),
            ),
            steps=state.step,
            seconds=state.seconds_before + time.perf_counter(),
            compile_seconds=state.compile_seconds,
            initial_model=eqx.combine(self.initial, self.static),
            best_step=state.best_step if use_best else state.step,
        )


@dataclasses.dataclass
class _Keeper:
    """Writes the state to the checkpoint now and then."""

    path: Path | None
    seconds: float
    marks: dict
    last: float

    @classmethod
    def of(cls, path, seconds, job):
        if path is None:
            return cls(None, seconds, {}, 0.0)
        validation = job.validation or (None, None)
        marks = _checkpoint.fingerprint(
            **{f"spec.{f.name}": getattr(job.spec, f.name) for f in dataclasses.fields(job.spec)},
            **{f"hyper.{f.name}": getattr(job.hyper, f.name) for f in dataclasses.fields(Hyper)},
            x=job.x, y=job.y, validation_x=validation[0], validation_y=validation[1],
            seed=int(job.seed), patience=job.patience, chunk=job.layout.chunk,
            jax=jax.__version__, device=jax.default_backend(), x64=jax.config.jax_enable_x64,
        )  # fmt: skip
        return cls(Path(path), seconds, marks, time.monotonic())

    def load(self, job):
        start = job.start()
        found = None if self.path is None else _checkpoint.load(self.path, self.marks)
        if found is None:
            return start
        arrays, rest = found
        leaves = lambda name, like: [arrays[f"{name}.{i}"] for i in range(len(like))]
        status = rest["status"]
        return _State(
            parameters=leaves("parameters", start.parameters),
            optimiser=leaves("optimiser", start.optimiser),
            best=leaves("best", start.best),
            losses=(arrays["losses"],),
            steps=tuple(arrays["steps"].tolist()),
            train=tuple(arrays["train"].tolist()),
            validation=tuple(arrays["validation"].tolist()),
            status=None if status is None else FitStatus(status),
            **rest["numbers"],
        )

    def save(self, state, *, now=False):
        if self.path is None or (not now and time.monotonic() - self.last < self.seconds):
            return
        arrays = {
            "losses": np.concatenate(state.losses) if state.losses else np.empty(0, np.float32),
            "steps": np.array(state.steps, np.int64),
            "train": np.array(state.train, np.float64),
            "validation": np.array(state.validation, np.float64),
        }
        for name in ("parameters", "optimiser", "best"):
            for i, leaf in enumerate(getattr(state, name)):
                arrays[f"{name}.{i}"] = np.asarray(leaf)
        numbers = ("step", "best_step", "best_loss", "since_best", "compile_seconds")
        rest = {
            "status": None if state.status is None else state.status.value,
            "numbers": {name: getattr(state, name) for name in numbers}
            | {"seconds_before": state.seconds_before + time.perf_counter()},
        }
        _checkpoint.save(self.path, arrays, rest, self.marks)
        self.last = time.monotonic()


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


def _bucket(n_rows):
    """Next size of a ladder with four rungs per octave: at most a quarter of the rows is padding.

    Powers of two would waste up to half of a step that uses all rows.
    """
    rung = max(1, 2 ** max(0, (n_rows - 1).bit_length() - 3))
    return max(8, math.ceil(n_rows / rung) * rung)


def _has_flattened(losses, per_epoch):
    """Whether the last tenth of the steps (or an epoch) lowered the mean loss by under 1 %."""
    window = max(len(losses) // 10, per_epoch)
    if len(losses) < 2 * window:
        return False
    last = losses[-window:].mean(dtype=float)
    before = losses[-2 * window : -window].mean(dtype=float)
    return bool(before - last < 0.01 * abs(before))
