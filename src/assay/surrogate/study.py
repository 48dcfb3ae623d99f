"""Whether a network in place of an expensive model beats the Gaussian process."""

from pathlib import Path
from typing import Any

from assay.errors import StudyError
from assay.running import AbstractStudy
from assay.study import as_names
from assay.surrogate.brought import is_predictions, require_fitting, require_known
from assay.surrogate.checks import CHECKS
from assay.surrogate.inputs import Reading, Runs, read_runs
from assay.surrogate.need import SurrogateNeed
from assay.surrogate.stated import bounds_of, sigma_of

# How the notes of reading begin to tell what is not used.
_LEFT_OUT = (" set aside because ", "Left out, because ", "No inputs, because ")


class SurrogateStudy(AbstractStudy):
    """Put a network to the test against the Gaussian process and the other classical surrogates.

    Parameters
    ----------
    X : table source, array of shape (n, d), or xarray Dataset
        Runs of the true model: a table that holds inputs and outputs, or the inputs alone.
    Y : table source or array of shape (n,) or (n, m), optional
        The outputs, if they are not in `X`.
    test : source like `X`, or a pair (X, Y), optional
        Test runs; by default a quarter of the runs is sealed.
    inputs, outputs : names or patterns of columns, such as ``"u_*"``
        `outputs` must be given for a single table; `inputs` are then all other numeric columns.
    sigma : float, array of shape (m,) or dict of name to number, optional [units of the outputs]
        Noise of the data that predictions will be compared with: errors are graded in its units.
    bounds : array of shape (d, 2), or dict of name to (low, high), optional [units of the inputs]
        The box that the runs were drawn from.
    candidate : {"mlp", "resnet", "neural_ode"}, estimator, function or array, optional
        What is on trial: a kind of network, an object with ``fit(X, Y)`` and ``predict(X)``, a
        function from inputs to outputs, or predictions of the test runs (array or file).
    members : int >= 1, default 5
        Size of the ensemble; 1 is a single network.
    weight_decay : float >= 0, "validation" or None
        Of the kinds of network above: a number, or chosen on held-out runs; None is their default,
        see `MLPSurrogate`.
    modes : int, float in (0, 1) or None
        Principal components of many outputs, see `PCAOutputs`.
    group : str, optional
        Column that says which runs belong together.
    drop : names of columns to leave out
    learning_curve : bool, default True
        Whether the candidate and the strongest baseline are also fitted on parts of the runs.
    checks : tuple of checks

    Examples
    --------
    >>> from assay.problems import ISHIGAMI
    >>> X = ISHIGAMI.sample(200, seed=0)
    >>> study = SurrogateStudy(X, ISHIGAMI(X), bounds=ISHIGAMI.bounds)
    >>> study.run(seeds=1).verdict  # doctest: +SKIP
    'not_earned'
    """

    def __init__(
        self,
        X: Any,
        Y: Any = None,
        *,
        test: Any = None,
        inputs: Any = (),
        outputs: Any = (),
        sigma: Any = None,
        bounds: Any = None,
        candidate: Any = "mlp",
        members: int = 5,
        weight_decay: Any = None,
        modes: Any = None,
        group: str | None = None,
        drop: Any = (),
        learning_curve: bool = True,
        checks: tuple = CHECKS,
    ):
        reading = Reading(as_names(inputs), as_names(outputs), group, as_names(drop))
        if test is None and candidate is not None and is_predictions(candidate):
            require_known(candidate)
            raise StudyError(
                "Predictions can be put on trial only for test runs that are given.",
                hint="Give the test runs too, as `test`; the predictions hold them in order.",
            )
        runs = read_runs(X, Y, reading)
        given = None if test is None else read_runs(test, None, reading, like=runs)
        if given is not None:
            require_fitting(candidate, given)
        self._need = SurrogateNeed(
            runs=runs,
            given=given,
            sigma=sigma_of(sigma, runs),
            bounds=bounds_of(bounds, runs),
            brought="mlp" if candidate is None else candidate,
            members=members,
            weight_decay=weight_decay,
            modes=modes,
            learning_curve=bool(learning_curve),
            checks_=CHECKS if checks is None else tuple(checks),
            reading=reading,
            sources=(
                _named(X, runs),
                _named(test, given),
                str(Y) if isinstance(Y, str | Path) else None,
            ),
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Rows and columns of the sources that the study does not use, in a sentence each."""
        given = () if self._need.given is None else self._need.given.notes
        told = dict.fromkeys((*self._need.runs.notes, *given))
        return tuple(text for text in told if any(mark in text for mark in _LEFT_OUT))

    def _need_for(self, seed):
        return self._need


def _named(source: Any, runs: Runs | None) -> Any:
    """Return what a source is called in `study.toml`: its files, where it has any."""
    if runs is None:
        return None
    several = list(source) if isinstance(source, list | tuple) else [source]
    if not several or not all(isinstance(one, str | Path) for one in several):
        return runs.source
    return [str(one) for one in several] if len(several) > 1 else str(several[0])
