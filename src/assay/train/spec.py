"""What a fit is asked for: plain frozen data, no JAX."""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from assay.errors import StudyError, did_you_mean

Optimiser = Literal["adam", "adamw", "sgd", "momentum"]
Schedule = Literal["constant", "cosine"]


@dataclasses.dataclass(frozen=True)
class FitSpec:
    """Everything that changes the compiled program; equal specifications share a compilation.

    So do those that differ in `init` alone.

    Parameters
    ----------
    build : callable
        Module-level function or class: ``build(*build_args)`` is the network, an Equinox module.
        Only the shapes of its arrays are used.
    loss : callable
        Module-level ``loss(model, x, y, key, extra) -> scalar`` of ONE row. `key` is None unless
        `needs_key`; `extra` is `Hyper.extra`.
    build_args : tuple
        Hashable arguments of `build`.
    optimiser : {"adam", "adamw", "sgd", "momentum"}
        `Hyper.weight_decay` enters the gradient, except for "adamw", where it is decoupled;
        either way it acts on all weights, biases included, as in PyTorch. Momentum is 0.9.
    schedule : {"constant", "cosine"}
        "cosine" lets the rate fall to zero at `Hyper.steps`.
    batch : int
        Rows a step, at least 1. Data of no more rows than that are used whole in every step.
    needs_key : bool
        Whether the loss draws random numbers.
    init : {"torch", "glorot", "he", "lecun", "orthogonal"}
        Rule of the initial weights, see `assay.nn.initialise`.
    columns : callable, optional
        Module-level ``columns(model, x, y) -> (n,)``: the losses of all rows of a batch at once,
        given as columns (size, n); equal to `loss`, for networks that take columns.

    Raises
    ------
    StudyError
        If a function is a lambda or local to another function (it never compares equal, so every
        fit would compile again), an argument is not hashable, or a value is out of range.

    Examples
    --------
    >>> from assay.nn import MLP
    >>> from assay.train.losses import squared_error
    >>> spec = FitSpec(build=MLP, build_args=(4, 1, (8,)), loss=squared_error)
    >>> spec == FitSpec(build=MLP, build_args=(4, 1, (8,)), loss=squared_error)
    True
    """

    build: Callable
    loss: Callable
    build_args: tuple = ()
    optimiser: Optimiser = "adam"
    schedule: Schedule = "constant"
    batch: int = 64
    needs_key: bool = False
    init: str = "torch"
    columns: Callable | None = None

    def __post_init__(self):
        given = (("build", self.build), ("loss", self.loss), ("columns", self.columns))
        for role, function in given:
            if function is not None and "<" in getattr(function, "__qualname__", "<"):
                raise StudyError(
                    f"`{role}` of a FitSpec must be a module-level function or class, got "
                    f"{function!r}.",
                    hint="Move it to the top level of a module, and pass what it needs through "
                    "`build_args` or `Hyper.extra`.",
                )
        try:
            hash(self.build_args)
        except TypeError:
            raise StudyError(
                f"`build_args` of a FitSpec must be hashable, got {self.build_args!r}.",
                hint="Use tuples instead of lists and arrays.",
            ) from None
        for field, kind in (("optimiser", Optimiser), ("schedule", Schedule)):
            if getattr(self, field) not in get_args(kind):
                raise StudyError(
                    f"Unknown {field} {getattr(self, field)!r}.",
                    hint=did_you_mean(getattr(self, field), get_args(kind)),
                )
        if isinstance(self.batch, bool) or not isinstance(self.batch, int) or self.batch < 1:
            raise StudyError(
                f"`batch` must be a whole number of at least 1, got {self.batch!r}.",
                hint="64 rows a step are a good start.",
            )

    @property
    def program(self) -> "FitSpec":
        """What the program is compiled for: weights are drawn outside of it, by any rule."""
        return dataclasses.replace(self, init="torch")


@dataclasses.dataclass(frozen=True)
class Hyper:
    """Numbers that are traced: another value never compiles again.

    Parameters
    ----------
    steps : int
        Steps of the optimiser, at least 1; see `epochs_to_steps`.
    learning_rate : float
        Positive.
    weight_decay : float
        At least 0.
    extra : pytree of float
        Further numbers for the loss, such as a noise level.
    init_scale : float
        Positive; multiplies the initial weights, but not the biases.
    """

    steps: int
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    extra: Any = ()
    init_scale: float = 1.0

    def __post_init__(self):
        if not 1 <= self.steps < 2**31 or int(self.steps) != self.steps:
            raise StudyError(
                f"`steps` must be a whole number from 1 to 2**31 - 1, got {self.steps!r}.",
                hint="Use `epochs_to_steps(n_rows, batch, epochs)`.",
            )
        if not (np.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise StudyError(
                f"`learning_rate` must be positive and finite, got {self.learning_rate!r}.",
                hint="1e-3 is a good start for Adam.",
            )
        if not (np.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise StudyError(
                f"`weight_decay` must be finite and not negative, got {self.weight_decay!r}.",
                hint="0 switches it off.",
            )
        if not (np.isfinite(self.init_scale) and self.init_scale > 0):
            raise StudyError(
                f"`init_scale` must be positive and finite, got {self.init_scale!r}.",
                hint="1 leaves the rule of the initial weights as it is.",
            )
