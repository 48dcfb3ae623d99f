"""Checks of the training: not flattened, a rate too high, over-fitting."""

import dataclasses
import math
from typing import ClassVar, Literal

import numpy as np

from assay.checks import NotApplicable, finding
from assay.result import Finding
from assay.surrogate.checks_parts import Learner, by_unit, insides, learners, losses, rms_ratio
from assay.surrogate.view import SurrogateView
from assay.symptoms import percent
from assay.train import FitStatus
from assay.training_end import LateFall, late_fall, training_finding


def gap(view: SurrogateView) -> tuple[float, float, float] | None:
    """Return the ratio of validation to training error (root mean squares) with its interval."""
    if view.fit_predictions is None or view.validation_predictions is None:
        return None
    fit, held = view.fit, view.validation
    sides = (
        by_unit(losses(view, view.validation_predictions, held.Y), held.groups),
        by_unit(losses(view, view.fit_predictions, fit.Y), fit.groups),
    )
    return rms_ratio(*sides)


@dataclasses.dataclass(frozen=True)
class TrainingNotFlattened:
    """Training broke down (fail), or ended while it still paid (warn) (S06).

    Attributes
    ----------
    max_late_drop : float [-]
        Share of itself by which the training loss may fall from the middle of training to its end,
        where the training error itself is the limit: 0.3 to 0.5 where three times the steps halved
        the error, 0.2 where they changed nothing (ours: 0.25).
    max_late_share : float [-]
        The same fall as a share of the whole fall since the start: 0.00 to 0.02 after 3,000 steps
        and more, 0.1 to 0.4 where the network had hardly begun (ours: 0.1).
    max_gap : float [-]
        Validation error over training error up to which the training error is the limit. Runs of a
        simulator have no noise, so that the loss falls for ever; once the validation error lags
        behind, it no longer follows (ours: 1.3).
    """

    code: ClassVar[str] = "S06"
    title: ClassVar[str] = "Training has not flattened"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_late_drop: float = 0.25
    max_late_share: float = 0.1
    max_gap: float = 1.3

    def __call__(self, view: SurrogateView) -> Finding:
        """Read how each network's training ended, and whether more of it would pay."""
        networks = [one.network for one in learners(view)]
        ratio = gap(view)
        lagging = ratio is not None and ratio[0] > self.max_gap
        # Where the validation error lags behind, only a network that has hardly begun counts.
        most = LateFall(1.0 if lagging else self.max_late_drop, self.max_late_share)
        found = training_finding(self, networks, most=most)
        if ratio is None or found.outcome == "fail":
            return found
        still = any(str(one.status_).startswith(FitStatus.BUDGET.sentence) for one in networks)
        if lagging:
            falls = [fall for fall in map(late_fall, networks) if fall is not None]
            share = max((fall.share for fall in falls), default=None)
            found = dataclasses.replace(
                found, measured=share, threshold=None if share is None else self.max_late_share
            )
        told = (
            f"{found.sentence} The validation error is {ratio[0]:.2g} times the training error"
            + (
                ": the training error is not what limits."
                if lagging and found.outcome == "pass"
                else "."
            )
        )
        if still and found.outcome == "pass":
            why = "more steps would hardly lower the error of new runs" if lagging else "slowly"
            told += f" The training loss was still falling at the last step, but {why}."
        return dataclasses.replace(found, sentence=told)


@dataclasses.dataclass(frozen=True)
class RateTooHigh:
    """The learning rate threw the weights about (S07).

    Attributes
    ----------
    max_rise : float [-]
        Loss at the end of training over the smallest on the way. Sound runs end at 1 to 3 times
        it, at a constant rate too; a rate thirty times higher at 5 to 10,000 times (ours: 10).
    max_blow_up : float [-]
        Largest loss on the way over that of a constant output. No weights at all have 1; sound
        runs stay below it, rates that are far too high reach thousands (ours: 10).
    least_loss : float [-]
        Losses below this share of that of a constant output count as equal: single steps of a
        sound training kick a small loss up by 50 times, and do no harm (ours: 0.001).
    """

    code: ClassVar[str] = "S07"
    title: ClassVar[str] = "Learning rate too high"
    severity: ClassVar[Literal["warn", "fail"]] = "fail"

    max_rise: float = 10.0
    max_blow_up: float = 10.0
    least_loss: float = 0.001

    def __call__(self, view: SurrogateView) -> Finding:
        """Read the loss curves of all networks."""
        all_of = [one for one in learners(view) if len(one.network.history_.get("train", ())) >= 1]
        if not all_of:
            raise NotApplicable("The candidate keeps no loss curve.")
        fix = (
            "Lower the learning rate by a factor of 3 to 10.",
            'Let it fall towards the end (schedule="cosine").',
        )
        broken = [
            one
            for one in all_of
            if str(one.network.status_).startswith(FitStatus.NONFINITE.sentence)
            or not np.isfinite(one.network.history_["train"]).all()
        ]
        if broken:
            return finding(
                self,
                "fail",
                f"The loss became infinite or not a number in {len(broken)} of {len(all_of)} "
                "networks.",
                measured=len(broken),
                threshold=0,
                unit="networks",
                cause="Steps that are too large, or outputs that were not scaled (S04).",
                fix=fix,
            )
        rise, blow_up = (max(v) for v in zip(*map(self._curve, all_of), strict=True))
        bad = rise > self.max_rise or blow_up > self.max_blow_up
        by_rise = rise / self.max_rise > blow_up / self.max_blow_up
        return finding(
            self,
            "warn" if bad else "pass",
            f"The training loss ended at {rise:.2g} times its smallest value, and was at most "
            f"{blow_up:.2g} times that of a constant output.",
            measured=rise if by_rise else blow_up,
            threshold=self.max_rise if by_rise else self.max_blow_up,
            unit="times",
            cause="Each step overshoots: the weights end in a worse place than they have been in, "
            "or were thrown far away at the start."
            if bad
            else "",
            fix=fix if bad else (),
        )

    def _curve(self, one: Learner) -> tuple[float, float]:
        """Return (end over best, largest over that of a constant output)."""
        loss = np.asarray(one.network.history_["train"], np.float64)
        scaler = getattr(one.network, "output_scaler_", None)
        y = one.targets if scaler is None else scaler.forward(one.targets, dtype=np.float64)
        # Before training outputs are near nought: outputs off centre cost their square at first.
        constant = max(float(np.mean(y**2)), np.finfo(float).tiny)
        floor = self.least_loss * constant
        end = loss[-max(len(loss) // 10, 1) :].mean()
        return max(end, floor) / max(loss.min(), floor), float(loss.max()) / constant


@dataclasses.dataclass(frozen=True)
class OverFitting:
    """The network knows its runs by heart and not what is between them (S08).

    Attributes
    ----------
    max_gap : float [-]
        Validation error over training error (lower end of its interval). An interpolating
        surrogate is better on its own runs by nature: 2 to 10 where it predicts well, 15 to 300
        where it bends to single runs (ours: 10).
    least_error : float [-]
        Validation error, as a share of the outputs' spread, below which no gap does harm: 99.75 %
        of the variance is then explained (ours: 0.05). Where the noise of what is compared
        (sigma) is given, an error below it does no harm either.
    noise_share : float [-]
        Training error over the noise of the runs, as the Gaussian process estimates it, below
        which the network follows the noise. A fit with few free parameters leaves about 1, and
        the noisy slice of an afterslip left 0.3 without and 0.8 with weight decay (ours: 0.5).
    """

    code: ClassVar[str] = "S08"
    title: ClassVar[str] = "Over-fitting"
    severity: ClassVar[Literal["warn", "fail"]] = "warn"

    max_gap: float = 10.0
    least_error: float = 0.05
    noise_share: float = 0.5

    def __call__(self, view: SurrogateView) -> Finding:
        """Compare the errors on the runs of the fit with those on the validation runs."""
        ratio = gap(view)
        if ratio is None:
            raise NotApplicable("Predictions of the runs of the fit are not there.")
        fit_rms, held_rms, spread = (
            math.sqrt(float(np.mean(losses(view, found, part.Y))))
            for found, part in (
                (view.fit_predictions, view.fit),
                (view.validation_predictions, view.validation),
                (view.fit.Y.mean(axis=0), view.fit),
            )
        )
        share = held_rms / max(spread, np.finfo(float).tiny)
        harmless = share < self.least_error
        if view.sigma is not None:
            harmless |= held_rms < math.sqrt(float(np.mean((view.sigma / view.scale) ** 2)))
        noise = _noise(view)
        follows = noise is not None and fit_rms < self.noise_share * noise < held_rms
        bad = not harmless and (ratio[1] > self.max_gap or follows)
        told = (
            f"The error on validation runs is {ratio[0]:.3g} times that on the runs that were "
            f"learned from, and {percent(share)} of the outputs' spread"
        )
        if follows and not harmless:
            told += (
                f"; that on its own runs is {fit_rms / noise:.2g} times the noise in them, as the "
                "Gaussian process sees it"
            )
        if not bad and ratio[0] > self.max_gap and not harmless:
            told += (
                f"; above the limit of {self.max_gap:g}, but the interval decides, and it reaches "
                f"down to {ratio[1]:.3g}"
            )
        elif not bad and ratio[0] > self.max_gap:
            told += f"; above the limit of {self.max_gap:g}, but so small an error does no harm"
        by_noise = follows and ratio[1] <= self.max_gap
        return finding(
            self,
            "warn" if bad else "pass",
            f"{told}.{self._stopped(view)}",
            measured=fit_rms / noise if bad and by_noise else ratio[0],
            threshold=self.noise_share if bad and by_noise else self.max_gap,
            interval=None if (bad and by_noise) or not math.isfinite(ratio[2]) else ratio[1:],
            unit="times",
            cause="More freedom than the runs can settle: the network bends to single runs, or to "
            "their noise."
            if bad
            else "",
            fix=(
                "Give more runs: the learning curve in the report says how many.",
                "Have the weight decay chosen on held-out runs (`--weight-decay validation`, in "
                'Python `weight_decay="validation"`), or raise it by factors of 10.',
                "In Python, stop early (validation_fraction=0.1, patience=10).",
                "Use a smaller network, or the Gaussian process, which sets its own smoothness.",
            )
            if bad
            else (),
        )

    def _stopped(self, view) -> str:
        """Tell of a validation loss that rose after its minimum, where it was followed."""
        rises = []
        for estimator in view.candidate:
            for one in insides(estimator):
                history = getattr(one, "history_", None)
                curve = history.get("validation", ()) if isinstance(history, dict) else ()
                curve = np.asarray(curve, np.float64)
                if curve.size >= 3 and np.isfinite(curve).all():
                    rises.append(float(curve[-1] / max(curve.min(), np.finfo(float).tiny)))
        if not rises or max(rises) < 1.5:
            return ""
        return (
            f" The loss on the rows held out in training ended at {max(rises):.2g} times its "
            "smallest value; the weights of the smallest are kept."
        )


def _noise(view: SurrogateView) -> float | None:
    """Return the noise of the runs over `view.scale`, where a process on the outputs has one."""
    m = view.fit.Y.shape[1]
    for baseline in view.baselines:
        noise = getattr(baseline, "noise_", None)
        straight = getattr(baseline, "transform_", "") == "identity"
        if straight and noise is not None and np.shape(noise) == (m,):
            return math.sqrt(float(np.mean((noise / view.scale) ** 2)))
    return None
