"""Checks of what training starts from: the size of numbers, and the initial weights."""

import dataclasses
import math
from typing import ClassVar, Literal

import numpy as np

from assay.checks import NotApplicable, finding
from assay.result import Finding
from assay.surrogate.checks_parts import Learner, learners
from assay.surrogate.checks_signal import Signal, known, least_movement, signal
from assay.surrogate.view import SurrogateView
from assay.symptoms import percent, some_of

MOST_RUNS = 500  # a spread over so many is known to 3 %


@dataclasses.dataclass(frozen=True)
class NotScaled:
    r"""Inputs or outputs of sizes that a network cannot learn in its steps (S04).

    Adam moves a weight by no more than about its learning rate in a step [1]_, so after T steps no
    weight has come further than the sum of the rates. From that follows how large an output can be
    at most (`assay.surrogate.checks_signal.reach`), and how many steps outputs of the size of the
    runs' need at least. With fewer steps the network cannot have learned them: the study is
    invalid.

    Attributes
    ----------
    max_size : float [-]
        Root mean square of a scaled column, or one over its standard deviation, that may pass.
        Initial weights assume 1 [2]_; an input of size 4 was learned as well as a scaled one, and
        outputs of size 200 not at all (ours: 10).

    References
    ----------
    .. [1] D. P. Kingma, J. Ba, Adam: a method for stochastic optimization, ICLR 2015, sec. 2.1.
    .. [2] Y. LeCun et al., Efficient BackProp, 1998, sec. 4.3.
    """

    code: ClassVar[str] = "S04"
    title: ClassVar[str] = "Inputs or outputs not scaled"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_size: float = 10.0

    def __call__(self, view: SurrogateView) -> Finding:
        """Measure the scaled columns, and compare the steps with the least that they need."""
        able = [one for one in learners(view) if hasattr(one.network, "scaler_")]
        if not able:
            raise NotApplicable("The candidate does not tell how it scales.")
        sizes = [_sizes(one, view) for one in able]
        size, named = max(sizes, key=lambda pair: pair[0])
        bounds = [bound for bound in map(_steps, able) if bound is not None]
        short = [(need, used) for need, used in bounds if need > used]
        fix = (
            'Scale inputs and outputs (input_scaling="standard", output_scaling="standard"; '
            "predictions come back in their own units).",
            'Several outputs of one unit: output_scaling="common" keeps their relative sizes.',
        )
        if short:
            need, used = max(short)
            return finding(
                self,
                "fail",
                f"Outputs of the size of the runs' need at least {need:,} steps at this learning "
                f"rate, since a step moves a weight by no more than the rate; training had "
                f"{used:,}. {named}.",
                measured=need,
                threshold=used,
                unit="steps",
                cause="The network learns in units in which the outputs are large numbers: it "
                "spends its steps on their size.",
                fix=fix,
            )
        told = f"{named}" if size > 1.5 else "All scaled columns are of size about one"
        if bounds:
            need, used = max(bounds)
            told += f"; to reach the outputs takes {need:,} of {used:,} steps at least"
        bad = size > self.max_size
        return finding(
            self,
            "warn" if bad else "pass",
            f"{told}.",
            measured=size,
            threshold=self.max_size,
            cause="Initial weights and learning rate are made for numbers of size about one."
            if bad
            else "",
            fix=fix if bad else (),
        )


def _sizes(one: Learner, view: SurrogateView) -> tuple[float, str]:
    """Return how far the worst scaled column is from size one, as a factor, and words for it."""
    found = []
    for x, names, what, whole in (
        (_scaled_inputs(one), view.fit.inputs, "Input", False),
        (_scaled_targets(one), view.fit.outputs, "Output", one.coefficients),
    ):
        if whole:  # later coefficients are small by nature, in the same unit
            found.append((float(np.sqrt(np.mean(x**2))), "The coefficients", 1.0))
            continue
        spread, size = x.std(axis=0), np.sqrt(np.mean(x**2, axis=0))
        varies = spread > 1e-12 * np.maximum(size, np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            away = np.maximum(size, np.where(varies, 1.0 / spread, 0.0))
        j = int(np.argmax(away))
        name = names[j] if len(names) == x.shape[1] else str(j + 1)
        found.append((float(away[j]), f"{what} {name}", float(spread[j])))
    away, name, spread = max(found, key=lambda f: f[0])
    how = "root mean square" if away * spread > 1.0 + 1e-9 or name.startswith("The") else "spread"
    value = away if how == "root mean square" else spread
    return away, f"{name} reaches the network with a {how} of {value:.3g}"


def _scaled_inputs(one: Learner) -> np.ndarray:
    return one.network.scaler_.forward(one.X, dtype=np.float64)


def _scaled_targets(one: Learner) -> np.ndarray:
    scaler = getattr(one.network, "output_scaler_", None)
    return one.targets if scaler is None else scaler.forward(one.targets, dtype=np.float64)


def _steps(one: Learner) -> tuple[int, int] | None:
    """Return the least steps that the outputs need and the steps used, where there is a bound."""
    network = one.network
    model = getattr(network, "initial_", None)
    readable = model is not None and known(model) and hasattr(network, "steps_")
    if not readable or getattr(network, "optimiser", "") != "adam":
        return None
    inputs = np.abs(_scaled_inputs(one)).mean(axis=0)
    moved = least_movement(model, inputs, np.abs(_scaled_targets(one)).mean(axis=0))
    # The cosine schedule makes half of its rate on average.
    rate = float(network.learning_rate) * (0.5 if network.schedule == "cosine" else 1.0)
    return math.ceil(moved / rate), int(network.steps_)


@dataclasses.dataclass(frozen=True)
class BadInitialisation:
    """Initial weights that let signal or gradient die or explode (S05).

    Attributes
    ----------
    max_ratio : float [-]
        Change of the signal over the hidden layers, or of the gradient on its way back, by which a
        warning is given. Thirty tanh layers change them by 3 to 10 with weights of the right size,
        and by a billion with half of it [1]_ (ours: 1,000).
    certain_ratio : float [-]
        Change from which the study is invalid: the resolution of single precision is 1.2e-7, so
        that nothing of the signal is left beside the biases (ours: 1,000,000).
    max_saturated : float [-]
        Share of activations without slope for a warning: 6 to 15 % with weights of the right size
        and inputs of size one [1]_ (ours: 0.3).
    certain_saturated : float [-]
        Share from which nearly no gradient passes anywhere (ours: 0.9).

    References
    ----------
    .. [1] X. Glorot, Y. Bengio, Understanding the difficulty of training deep feedforward neural
       networks, AISTATS 2010, sec. 3 and 4; figures: ours, on the same experiment.
    """

    code: ClassVar[str] = "S05"
    title: ClassVar[str] = "Bad initialisation"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_ratio: float = 1000.0
    certain_ratio: float = 1_000_000.0
    max_saturated: float = 0.3
    certain_saturated: float = 0.9

    def __call__(self, view: SurrogateView) -> Finding:
        """Send runs of the fit through the untrained networks, there and back."""
        found = [self._signal(one, view) for one in learners(view)]
        found = [one for one in found if one is not None]
        if not found:
            raise NotApplicable(
                "The weights before training are not there, or have no layers in a row."
            )
        worst = max(found, key=_change)
        change, saturated = _change(worst), max(one.saturated for one in found)
        told = (
            f"Before training the signal changes by a factor of {worst.forward_ratio:.2g} from the "
            f"first to the last hidden layer, the gradient by {worst.backward_ratio:.2g} on the "
            f"way back, and {percent(saturated)} of the units have no slope"
        )
        certain = change > self.certain_ratio or saturated > self.certain_saturated
        bad = change > self.max_ratio or saturated > self.max_saturated
        by_units = saturated / self.max_saturated > change / self.max_ratio
        return finding(
            self,
            "fail" if certain else "warn" if bad else "pass",
            f"{told}.",
            measured=saturated if by_units else change,
            threshold=self.max_saturated if by_units else self.max_ratio,
            unit="-" if by_units else "times",
            cause="Initial weights that are too small or too large for the number of layers and "
            "the size of the inputs."
            if bad
            else "",
            fix=(
                'Use weights of the usual size: init_scale=1, initialisation="glorot" for tanh, '
                '"he" for ReLU and GELU.',
                "Scale the inputs (S04).",
                "Use fewer layers, or ResNetSurrogate, whose identity carries signal and gradient.",
            )
            if bad
            else (),
        )

    def _signal(self, one: Learner, view: SurrogateView) -> Signal | None:
        model = getattr(one.network, "initial_", None)
        if model is None or not known(model) or not hasattr(one.network, "scaler_"):
            return None
        if len(getattr(model, "blocks", getattr(model, "layers", ())[:-1])) == 0:
            return None  # an affine map has no hidden layer
        rows = some_of(len(one.X), MOST_RUNS, np.random.default_rng(view.seed))
        return signal(model, _scaled_inputs(one)[rows], _scaled_targets(one)[rows])


def _change(one: Signal) -> float:
    """Return the largest change, up or down, as a factor of at least 1."""
    ratios = np.clip([one.forward_ratio, one.backward_ratio], 1e-300, 1e300)
    return float(np.exp(np.abs(np.log(ratios)).max()))
