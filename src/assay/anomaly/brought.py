"""Whatever the user brings to an anomaly study: an object, a function, or finished scores.

It goes through the same study as the networks here. What comes from outside is checked where it
enters: one finite score per row, higher for more anomalous rows. What cannot be checked is said in
`unchecked`, which the report repeats.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.anomaly.brought_scores import (
    ELSEWHERE,
    BroughtScores,
    Higher,
    check_higher,
    one_per_row,
)
from assay.errors import StudyError
from assay.study import Method

_SCORES = ("anomaly_score", "score_samples", "decision_function")
_CURE = (
    'Say which one and what it means: `bring(model, score="decision_function", '
    'higher="anomalous")`, or higher="normal".'
)
_FUNCTION = (
    "The candidate is a function that was handed over: how it was trained, on which rows, and "
    "whether it saw the rows to judge could not be checked."
)
_FITTED = (
    "The candidate was fitted before it was handed over: on which rows, and whether it saw the "
    "rows to judge could not be checked."
)


def bring(
    candidate: Any,
    *,
    inputs: Any = None,
    score: str | None = None,
    higher: Higher | None = None,
    name: str | None = None,
) -> Method:
    """Wrap what the user brought into a method of the study.

    Parameters
    ----------
    candidate : object, function, array or mapping
        An object with ``fit`` and a score for new rows (one without ``fit`` counts as fitted); a
        function from rows (n, d) [columns' units] to scores (n,); or scores made elsewhere, see
        `BroughtScores.beside`.
    inputs : Inputs, optional
        The tables of the study; needed for scores made elsewhere.
    score : str, optional
        The method of the object that scores rows, where it is not plain. Known without it:
        ``anomaly_score``, and ``score_samples`` or ``decision_function`` of scikit-learn and PyOD.
    higher : {"anomalous", "normal"}, optional
        What a higher score means, with `score`, for a function or for scores made elsewhere;
        "anomalous" by default there.
    name : str, optional
        How tables call it.

    Returns
    -------
    Method

    Raises
    ------
    StudyError
        If it is none of these, or nothing says which way its scores point.

    Examples
    --------
    >>> method = bring(lambda rows: abs(rows).sum(axis=1))
    >>> method.make(0).fit([[0.0]]).anomaly_score(np.array([[1.0, -2.0]])).tolist()
    [3.0]
    """
    if isinstance(candidate, np.ndarray | list | tuple | Mapping):
        if inputs is None:
            raise StudyError(
                "Scores made elsewhere need the rows that they belong to.",
                hint="Pass them as `candidate=` of an AnomalyStudy.",
            )
        scores = BroughtScores.beside(candidate, inputs, higher=higher or "anomalous")
        return Method(name or "Brought scores", lambda seed: scores, ELSEWHERE)
    own_score = score is not None or any(hasattr(candidate, s) for s in _SCORES)
    if callable(candidate) and not hasattr(candidate, "fit") and not own_score:
        called = name or getattr(candidate, "__name__", type(candidate).__name__).strip("<>")
        check_higher(higher)
        made = BroughtFunction(candidate, higher=higher or "anomalous", name=called)
        return Method(called, lambda seed: made, _FUNCTION)
    if isinstance(candidate, type):
        raise StudyError(
            f"`candidate` is the class {candidate.__name__}, an object is needed.",
            hint=f"Pass `{candidate.__name__}()`.",
        )
    if hasattr(candidate, "fit") or own_score:
        called = name or type(candidate).__name__
        BroughtDetector(candidate, score=score, higher=higher)  # so that problems show at once
        return Method(
            called,
            lambda seed: BroughtDetector(candidate, score=score, higher=higher, seed=seed),
            f"{called}, brought by the user.",
        )
    raise StudyError(
        f"`candidate` must be an object with `fit` and a score, a function or scores, got "
        f"{type(candidate).__name__}.",
        hint="Wrap your model in a function from rows to scores: `lambda X: my_model.run(X)`.",
    )


class BroughtDetector:
    """A copy of the user's object, with its score turned so that higher is more anomalous.

    Parameters
    ----------
    model : object
    score, higher
        See `bring`.
    seed : int, optional
        Set as its ``random_state`` where it has one that is None.

    Examples
    --------
    >>> from sklearn.mixture import GaussianMixture
    >>> brought = BroughtDetector(GaussianMixture())
    >>> brought = brought.fit(np.random.default_rng(0).normal(size=(100, 2)))
    >>> near, far = brought.anomaly_score([[0.0, 0.0], [9.0, 9.0]])
    >>> bool(far > near)
    True
    """

    def __init__(self, model: Any, *, score=None, higher=None, seed=None):
        self.name = type(model).__name__
        self.score, self.sign = _way_to_score(model, score, higher)
        try:
            self.model = copy.deepcopy(model)
        except Exception as error:
            raise StudyError(
                f"{self.name} cannot be copied: {type(error).__name__}: {error}.",
                hint="A study fits a copy for each seed. Pass a function from rows to scores.",
            ) from error
        params = _params(self.model)
        if seed is not None and params.get("random_state", 0) is None:
            self.model.set_params(random_state=seed)
        self.unchecked = () if hasattr(model, "fit") else (_FITTED,)

    def fit(self, X):
        """Fit the copy on normal rows `X` (n, d) [columns' units]."""
        if hasattr(self.model, "fit"):
            try:
                self.model.fit(_own(X))
            except Exception as error:
                raise _failed(f"`fit` of {self.name}", error) from error
        return self

    def anomaly_score(self, X):
        """Return the scores (n,) of rows `X` (n, d), higher is more anomalous."""
        who = f"`{self.score}` of {self.name}"
        try:
            scores = getattr(self.model, self.score)(_own(X))
        except Exception as error:
            raise _failed(who, error) from error
        return self.sign * one_per_row(scores, len(X), who)

    def settings(self):
        """Return what the object says about itself, as far as it is plain values."""
        plain = bool | int | float | str | None
        said = {k: v for k, v in _params(self.model).items() if isinstance(v, plain)}
        return said | {"score": self.score, "turned": self.sign < 0}


class BroughtFunction:
    """A function from rows to scores; nothing is fitted."""

    unchecked = (_FUNCTION,)

    def __init__(self, function: Any, *, higher: Higher = "anomalous", name: str = "function"):
        self.function, self.higher, self.name = function, higher, name

    def fit(self, X):
        """Fit nothing."""
        del X
        return self

    def anomaly_score(self, X):
        """Return what the function makes of rows `X` (n, d), higher is more anomalous: (n,)."""
        who = f"The function {self.name}"
        try:
            scores = self.function(_own(X))
        except Exception as error:
            raise _failed(who, error) from error
        return (-1.0 if self.higher == "normal" else 1.0) * one_per_row(scores, len(X), who)

    def settings(self):
        """Return nothing but the direction: a function tells nothing."""
        return {"higher": self.higher}


def _way_to_score(model, score, higher):
    """Return (method that scores rows, sign that makes higher more anomalous)."""
    name = type(model).__name__
    check_higher(higher)
    if score is not None:
        if not callable(getattr(model, score, None)):
            raise StudyError(
                f"{name} has no method {score!r}.",
                hint=f"It has: {', '.join(s for s in _SCORES if hasattr(model, s)) or 'no score'}.",
            )
        if higher is None and score != "anomaly_score":
            raise StudyError(f"Nothing says what a high `{score}` of {name} means.", hint=_CURE)
        return score, -1.0 if higher == "normal" else 1.0
    offered = [s for s in _SCORES if callable(getattr(model, s, None))]
    if not offered:
        more = "; for scikit-learn's LocalOutlierFactor set novelty=True" if "Local" in name else ""
        raise StudyError(
            f"{name} has no score for new rows: none of {', '.join(_SCORES)}.",
            hint=f"Give it `anomaly_score(X)`, higher for more anomalous rows, or pass "
            f"`score=` and `higher=`{more}.",
        )
    if offered[0] == "anomaly_score":
        return "anomaly_score", -1.0 if higher == "normal" else 1.0
    if higher is not None and len(offered) == 1:
        return offered[0], -1.0 if higher == "normal" else 1.0
    home = _home(model)
    if home == "pyod" and "decision_function" in offered:
        return "decision_function", 1.0
    if home == "sklearn":
        return offered[0], -1.0
    raise StudyError(
        f"{name} offers {' and '.join(offered)}, but nothing says whether a higher value means "
        "normal or anomalous.",
        hint=_CURE,
    )


def _home(model):
    """Return "pyod" or "sklearn" where the object keeps that library's convention, else ""."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:  # a pipeline scores as its last step does
        return _home(steps[-1][1])
    for kind in type(model).__mro__:
        root = kind.__module__.split(".")[0]
        if root == "pyod":
            return "pyod"
        if root == "sklearn":
            return "sklearn" if _scores_normality(model) else ""
    return ""


def _scores_normality(model):
    """Whether a scikit-learn object is a detector or a density, not a classifier or regressor.

    The `decision_function` of a classifier points at a class, not at normal rows.
    """
    from sklearn.base import is_classifier, is_outlier_detector, is_regressor

    if is_classifier(model) or is_regressor(model):
        return False
    return is_outlier_detector(model) or hasattr(model, "score_samples")


def _own(X):
    """Return rows that foreign code may write into: the study's own go to others after it."""
    return np.array(X)


def _failed(who, error):
    return StudyError(
        f"{who} failed: {type(error).__name__}: {str(error)[:300]}.",
        hint="It is called with a float64 array of shape (n_rows, n_columns), in the columns' "
        "units.",
    )


def _params(model):
    try:
        return dict(model.get_params())
    except Exception:
        return {}  # says nothing about itself, or wrongly: that is no reason to stop
