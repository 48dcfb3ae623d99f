"""The flow of a study, the same for every need.

Read, split, fit each baseline, fit the candidate for several seeds, open the sealed test once,
score everybody on it, run the checks, decide. What is split, scored and reported is the need's
business (`AbstractNeed`); the order of things is nobody's but this file's.
"""

import abc
import contextlib
import dataclasses
import datetime
import importlib.metadata
import platform
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from assay import __version__
from assay.checks import Check, run_checks
from assay.errors import AssayError, StudyError
from assay.ledger import FAILED, Ledger, default_path, study_identity
from assay.result import (
    Contender,
    DataSummary,
    Gain,
    LedgerSummary,
    MetricInfo,
    Result,
    SplitSummary,
)
from assay.sealed import SealedTest
from assay.setting import Setting as Setting
from assay.setting import as_names as as_names
from assay.setting import check_setting as check_setting
from assay.verdict import decide


@dataclasses.dataclass(frozen=True)
class Method:
    """A method on trial: its name, how to make one from a seed, and a sentence about it."""

    name: str
    make: Callable[[int], Any]
    about: str = ""


@dataclasses.dataclass(frozen=True)
class Trained:
    """One fitted estimator of a method; `rank` is its validation loss, None where none exists."""

    method: Method
    seed: int
    estimator: Any
    fit_s: float
    rank: float | None = None


@dataclasses.dataclass(frozen=True)
class Parts:
    """The parts of the data: what is fitted on, what is chosen on, and the sealed test.

    `fit` and `validation` are whatever the need works with; `summary` says how the split was made.
    """

    fit: Any
    validation: Any
    sealed: SealedTest
    summary: SplitSummary


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The gain over the strongest baseline and over each, or None where nothing can be compared."""

    gain: Gain | None
    gains: tuple[Gain, ...] = ()


@dataclasses.dataclass(frozen=True)
class Story:
    """What a need adds to a result in its own words: title, notes, tables and arrays."""

    title: str
    metrics: tuple[MetricInfo, ...]
    notes: tuple[str, ...] = ()
    arrays: dict[str, Any] = dataclasses.field(default_factory=dict)
    tables: tuple[Any, ...] = ()


class AbstractNeed(abc.ABC):
    """What a need hands to the flow; see `assay.anomaly.need` and `assay.compress.need`."""

    need: ClassVar[str]

    @property
    @abc.abstractmethod
    def checks(self) -> tuple[Check, ...]:
        """Return the checks of this need, in the order of the report."""

    @abc.abstractmethod
    def split(self, seed: int) -> Parts:
        """Split the data; everything later sees only what is in the parts."""

    @abc.abstractmethod
    def methods(self) -> tuple[Method, tuple[Method, ...]]:
        """Return the candidate and the baselines."""

    @abc.abstractmethod
    def fit(self, estimator: Any, parts: Parts, checkpoint: Path | None) -> float | None:
        """Fit in place; return the validation loss, or None where validation cannot rank."""

    def before_opening(
        self, parts: Parts, candidate: list[Trained], baselines: list[Trained]
    ) -> None:
        """Do all that needs no test part, so that what can fail fails while it is sealed."""
        del parts, candidate, baselines

    @abc.abstractmethod
    def score(self, trained: Trained, parts: Parts, test: Any) -> Any:
        """Score one fitted estimator on the opened test part."""

    @abc.abstractmethod
    def contender(self, test: Any, scored: list[Any]) -> Contender:
        """Sum up one method over its seeds."""

    @abc.abstractmethod
    def compare(
        self, parts: Parts, test: Any, candidate: list[Any], baselines: list[Any], seed: int
    ) -> Comparison:
        """Return the gains of the candidate (one entry a seed) over the baselines."""

    @abc.abstractmethod
    def view(self, parts: Parts, test: Any, candidate: list[Any], baselines: list[Any]) -> Any:
        """Return what the checks look at."""

    @abc.abstractmethod
    def story(
        self,
        parts: Parts,
        test: Any,
        candidate: list[Any],
        baselines: list[Any],
        gain: Gain | None,
    ) -> Story:
        """Return the title, the columns of the table, the notes and what the figures draw."""

    @abc.abstractmethod
    def model(self, candidate: list[Any]) -> Any:
        """Return the fitted candidate as a user takes it along, with ``save(folder)``."""

    def baseline_model(self, baselines: list[Any]) -> Any:
        """Return the strongest fitted baseline likewise; by default there is none to take along."""
        del baselines

    @abc.abstractmethod
    def data(self) -> DataSummary:
        """Return the files, the columns and what was done to the rows."""

    @abc.abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return everything needed to run the study again, as plain values."""

    def contents(self) -> dict[str, str]:
        """Return digests of what settings only name (data, a model that was brought).

        Another content makes another study.
        """
        return {}

    def verdict_sentence(self, word: str, sentence: str, result: dict[str, Any]) -> str:
        """Return the verdict in the words of this need; by default the rule's own sentence."""
        del word, result
        return sentence


def run_in(
    need: AbstractNeed,
    *,
    seed: int,
    seeds: int,
    margin: float,
    folder: Any,
    progress: Callable[[str, float], None] | None,
) -> Result:
    """Run a study whose files will go to `folder`; None keeps everything in memory.

    The ledger is kept beside the folder. Checkpoints go to ``<folder>.partial`` and are removed
    once the study is through, so that an interrupted one is resumed by running it again, and one
    that cannot be run leaves nothing.
    """
    setting = Setting(seed=seed, seeds=seeds, margin=margin)
    if progress is not None:
        setting = dataclasses.replace(setting, progress=progress)
    if folder is None:
        return run_study(need, setting)
    folder = Path(folder)
    workspace = folder.with_name(folder.name + ".partial") / identity(need, setting)
    ledger = Ledger(default_path(folder))
    setting = dataclasses.replace(setting, ledger=ledger, workspace=workspace)
    try:
        result = run_study(need, setting)
    except AssayError:
        _clear(workspace)
        raise
    _clear(workspace)
    return result


def _clear(workspace: Path) -> None:
    shutil.rmtree(workspace, ignore_errors=True)
    with contextlib.suppress(OSError):  # other studies of the same folder may still be resumable
        workspace.parent.rmdir()


def _versions() -> dict[str, str]:
    names = ("jax", "equinox", "optax", "numpy", "scipy", "scikit-learn", "polars")
    found = {"assay": __version__, "python": platform.python_version()}
    return found | {name: _version(name) for name in names}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a package"


def identity(need: AbstractNeed, setting: Setting) -> str:
    """Return the study's identity: equal settings and contents have equal identities."""
    told = {"need": need.need, "seed": setting.seed, "seeds": setting.seeds}
    contents = need.contents()
    return study_identity(told | need.settings() | ({"contents": contents} if contents else {}))


def _train(
    need: AbstractNeed, method: Method, seed: int, parts: Parts, setting: Setting
) -> Trained:
    estimator = method.make(seed)
    name = re.sub(r"[^A-Za-z0-9]+", "-", method.name)[:60]
    checkpoint = setting.workspace and setting.workspace / f"{name}-{seed}"
    start = time.perf_counter()
    rank = need.fit(estimator, parts, checkpoint)
    return Trained(method, seed, estimator, time.perf_counter() - start, rank)


def _open(need: AbstractNeed, sealed: SealedTest, setting: Setting) -> tuple[Any, LedgerSummary]:
    """Open the test part once, and say how often its rows have been opened before."""
    ledger = setting.ledger or Ledger(default_path())
    study = identity(need, setting)
    test = sealed.open(ledger, study=study, need=need.need)
    summary = ledger.summary(
        rows_hash=sealed.rows_hash,
        n_rows=sealed.n_rows,
        sketch=sealed.sketch,
        study=study,
        opening=sealed.opening,
    )
    return test, summary


def run_study(need: AbstractNeed, setting: Setting) -> Result:
    """Run one study from the split to the verdict.

    Parameters
    ----------
    need : AbstractNeed
        What is split, fitted, scored and reported.
    setting : Setting
        Seeds, margin, ledger, workspace and progress.

    Returns
    -------
    Result

    Raises
    ------
    StudyError, DataError
        When the data or the settings cannot carry the study. Mostly nothing has been opened then;
        where it had, the ledger says that nothing was shown, and so does the hint.
    """
    began, started = time.perf_counter(), datetime.datetime.now(datetime.UTC)
    setting.progress("splitting", 0.02)
    parts = need.split(setting.seed)
    candidate, baselines = need.methods()
    jobs = [(b, setting.seed) for b in baselines]
    jobs += [(candidate, setting.seed + i) for i in range(setting.seeds)]
    trained = []
    for done, (method, seed) in enumerate(jobs):
        setting.progress(f"fitting {method.name}", 0.05 + 0.7 * done / len(jobs))
        trained.append(_train(need, method, seed, parts, setting))

    setting.progress("preparing the test", 0.75)
    need.before_opening(parts, trained[len(baselines) :], trained[: len(baselines)])
    setting.progress("opening the sealed test", 0.85)
    test, ledger = _open(need, parts.sealed, setting)
    with _failure_on_record(ledger, parts.sealed):
        result = _judge(need, setting, parts, test, trained, ledger)
    setting.progress("done", 1.0)
    return dataclasses.replace(
        result,
        started=started.isoformat(timespec="seconds"),
        seconds=time.perf_counter() - began,
    )


@contextlib.contextmanager
def _failure_on_record(ledger: LedgerSummary, sealed: SealedTest) -> Iterator[None]:
    """Note on the ledger that an opening showed nothing, if what follows it fails; and say so."""
    try:
        yield
    except Exception as error:
        with contextlib.suppress(StudyError):
            Ledger(ledger.path).add_verdict(sealed.opening, FAILED)
        if isinstance(error, AssayError):
            error.hint += (
                " The test part had been opened by then, but nothing of it was shown: the ledger "
                "has it as failed, and it does not count as a look."
            )
        raise


def _judge(
    need: AbstractNeed,
    setting: Setting,
    parts: Parts,
    test: Any,
    trained: list[Trained],
    ledger: LedgerSummary,
) -> Result:
    """Score everybody on the opened test part, run the checks and decide."""
    scored = [need.score(t, parts, test) for t in trained]
    theirs, ours = scored[: -setting.seeds], scored[-setting.seeds :]
    setting.progress("comparing", 0.9)
    compared = need.compare(parts, test, ours, theirs, setting.seed)
    setting.progress("running the checks", 0.95)
    findings = run_checks(need.checks, need.view(parts, test, ours, theirs))
    verdict = decide(compared.gain, findings, margin=setting.margin)
    with contextlib.suppress(StudyError):  # the opening is on record; a full disk costs no more
        Ledger(ledger.path).add_verdict(parts.sealed.opening, verdict.word)
    story = need.story(parts, test, ours, theirs, compared.gain)
    ours_summary = need.contender(test, ours)
    theirs_summary = tuple(need.contender(test, [s]) for s in theirs)
    told = {"gain": compared.gain, "candidate": ours_summary, "baselines": theirs_summary}
    told |= {"findings": findings}
    return Result(
        need=need.need,
        title=story.title,
        verdict=verdict.word,
        sentence=need.verdict_sentence(verdict.word, verdict.sentence, told),
        gain=compared.gain and dataclasses.replace(compared.gain, more_data=verdict.more_data),
        gains=compared.gains,
        candidate=ours_summary,
        baselines=theirs_summary,
        metrics=story.metrics,
        findings=findings,
        split=parts.summary,
        data=need.data(),
        ledger=ledger,
        settings={"need": need.need, "seed": setting.seed, "seeds": setting.seeds}
        | {"margin": setting.margin}
        | need.settings(),
        versions=_versions(),
        started="",  # time is told where the study began
        seconds=0.0,
        notes=story.notes,
        tables=story.tables,
        arrays=story.arrays,
        model=need.model(ours),
        baseline_model=need.baseline_model(theirs),
    )
