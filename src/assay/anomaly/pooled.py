"""Several studies of one kind, one a file, pooled into one result."""

import collections
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from assay.anomaly.gain import LOSS
from assay.anomaly.inputs import Reading
from assay.anomaly.need import use_of_test
from assay.anomaly.study import AnomalyStudy
from assay.bootstrap import bootstrap_gain
from assay.errors import StudyError
from assay.result import (
    Contender,
    Cost,
    ExtraTable,
    Finding,
    Gain,
    Part,
    Result,
    SplitSummary,
)
from assay.verdict import decide

# Worst last: what a check found in one file counts for all of them.
_OUTCOMES = ("not_applicable", "pass", "error", "warn", "fail")


def run_files(
    sources: list[str],
    reading: Reading,
    normal_rows: int,
    options: dict[str, Any],
    settings: dict[str, Any],
) -> Result:
    """Run one study a file, the first rows of each being its normal ones, and pool them.

    Parameters
    ----------
    sources : list of str
        Files, at least two.
    reading : Reading
    normal_rows : int
    options, settings : dict
        What `AnomalyStudy.from_reading` and `AnomalyStudy.run` take.

    Returns
    -------
    Result
        With the study of each file in its `studies`.

    Raises
    ------
    DataError, StudyError
        If one of the files cannot carry its study; nothing is written then.
    """
    folder, progress, studies = settings["folder"], settings["progress"], []
    for done, (name, source) in enumerate(zip(short_names(sources), sources, strict=True)):

        def told(text: str, share: float, done: int = done, name: str = name) -> None:
            progress(f"{name}: {text}", (done + share) / len(sources))

        study = AnomalyStudy.from_reading(
            source, None, reading, calibration=None, normal_rows=normal_rows, **options
        )
        # A sibling, so that its ledger is the one beside the folder of the whole.
        beside = None if folder is None else Path(folder).with_name(f"{Path(folder).name}-{name}")
        own = {"folder": beside, "progress": progress and told}
        studies.append((name, study.run(**(settings | own))))
    whole = pool(tuple(studies), margin=settings["margin"], seed=settings["seed"])
    return dataclasses.replace(
        whole,
        settings=whole.settings | {"normal": list(map(str, sources)), "test": None},
    )


def short_names(sources: list[str]) -> list[str]:
    """Return a short name for each file, unique among them, fit for a folder.

    Examples
    --------
    >>> short_names(["a/pump.csv", "b/pump.csv", "b/valve.csv"])
    ['pump', 'pump-2', 'valve']
    """
    names: list[str] = []
    for source in sources:
        name = stem = Path(source).stem or "file"
        count = 1
        while name in names:
            count += 1
            name = f"{stem}-{count}"
        names.append(name)
    return names


def pool(results: tuple[tuple[str, Result], ...], *, margin: float = 0.0, seed: int = 0) -> Result:
    """Pool studies of several files with the same methods into one result.

    Files are what is drawn again: each counts once, however many rows it has, and the interval of
    the pooled gain says how it would scatter over other files of the same kind.

    Parameters
    ----------
    results : tuple of (str, Result), at least two
        The files' names and their studies.
    margin : float [-]
        The relative gain that is asked for.
    seed : int
        Draws the bootstrap.

    Returns
    -------
    Result
        Metrics are means over files, findings the worst over files with the number of files in
        their sentence. It has no model: each file has its own.

    Raises
    ------
    StudyError
        If there are fewer than two files, or their methods differ.
    """
    names = tuple(name for name, _ in results)
    studies = tuple(study for _, study in results)
    if len(studies) < 2:
        raise StudyError(
            f"Pooling takes at least two files, got {len(studies)}.", hint="Give more files."
        )
    methods = {(s.candidate.name, *(b.name for b in s.baselines)) for s in studies}
    if len(methods) > 1:
        raise StudyError(
            "The files were studied with different methods, so they cannot be pooled.",
            hint="Study them in one command.",
        )
    gain, gains = _gains(studies, seed)
    findings = _findings(names, studies)
    verdict = decide(gain, findings, margin=margin)
    first = studies[0]
    return dataclasses.replace(
        first,
        title=f"{len(studies)} files, one study each, pooled",
        verdict=verdict.word,
        sentence=f"Over {len(studies)} files: {verdict.sentence}",
        gain=gain and dataclasses.replace(gain, more_data=verdict.more_data),
        gains=gains,
        candidate=_contender([s.candidate for s in studies]),
        baselines=tuple(
            _contender([s.baselines[j] for s in studies]) for j in range(len(first.baselines))
        ),
        findings=findings,
        split=_split(names, studies),
        data=dataclasses.replace(
            first.data,
            sources=tuple(source for s in studies for source in s.data.sources),
            rows=sum(s.data.rows for s in studies),
            notes=tuple(
                dict.fromkeys(
                    (
                        f"Columns and profile are those of the normal rows of {names[0]}.",
                        *(note for s in studies for note in s.data.notes),
                    )
                )
            ),
        ),
        ledger=max((s.ledger for s in studies if s.ledger), key=_openings, default=None),
        seconds=sum(s.seconds for s in studies),
        # What holds for one file (its threshold) stands in the study of that file.
        notes=tuple(n for n in first.notes if all(n in s.notes for s in studies)),
        tables=(_by_file(names, studies),),
        arrays={},
        studies=results,
        model=None,
    )


def _openings(ledger) -> int:
    return ledger.openings


def _losses(study: Result) -> list[float]:
    return [c.metrics.get("loss", np.nan) for c in (study.candidate, *study.baselines)]


def _gains(studies, seed) -> tuple[Gain | None, tuple[Gain, ...]]:
    """Return the gain over the best baseline and over each, with files as units."""
    losses = np.array([_losses(s) for s in studies])
    losses = losses[np.isfinite(losses).all(axis=1)]  # files without labelled rows judge nothing
    if len(losses) < 2:
        return None, ()

    def statistic(weights):
        mean = weights @ losses / weights.sum()
        return mean[0], mean[1:]

    names = tuple(b.name for b in studies[0].baselines)
    return bootstrap_gain(statistic, len(losses), names=names, loss=LOSS, seed=seed)


def _contender(each: list[Contender]) -> Contender:
    """Return means over files of one method; the spread is the one over files."""
    keys = [k for k in each[0].metrics if all(k in c.metrics for c in each)]
    values = {k: np.array([c.metrics[k] for c in each], dtype=np.float64) for k in keys}
    return Contender(
        name=each[0].name,
        metrics={k: float(v.mean()) for k, v in values.items()},
        cost=Cost(
            float(np.mean([c.cost.fit_s for c in each])),
            float(np.mean([c.cost.predict_us for c in each])),
            each[0].cost.parameters,
        ),
        spread={k: float(v.std(ddof=1)) for k, v in values.items()},
        settings=each[0].settings,
        status=f"Mean over {len(each)} files; the spread is the one over files.",
        about=each[0].about,
    )


def _findings(names, studies) -> tuple[Finding, ...]:
    """Return for each check the worst finding over the files, and in how many it came up."""
    found = collections.defaultdict(list)
    for name, study in zip(names, studies, strict=True):
        for finding in study.findings:
            found[finding.code].append((name, finding))
    return tuple(_worst(each, len(studies)) for each in found.values())


def _worst(each: list[tuple[str, Finding]], n_files: int) -> Finding:
    name, worst = max(each, key=lambda pair: _OUTCOMES.index(pair[1].outcome))
    alike = sum(f.outcome == worst.outcome for _, f in each)
    if worst.outcome in ("pass", "not_applicable"):
        said = f"In {alike} of {n_files} files, for example {name}: {worst.sentence}"
    else:
        said = f"{alike} of {n_files} files, the first is {name}: {worst.sentence}"
    return dataclasses.replace(worst, sentence=said)


def _split(names, studies) -> SplitSummary:
    """Return the parts of all files together."""
    parts = []
    for at, part in enumerate(studies[0].split.parts):
        rows = sum(s.split.parts[at].rows for s in studies)
        use = use_of_test(_labels(studies)) if part.name == "test" else part.use
        parts.append(Part(part.name, rows, f"{len(names)} files", use))
    return SplitSummary(tuple(parts), f"in each file: {studies[0].split.rule}", "file")


def _labels(studies) -> np.ndarray | None:
    """Return the labels of all files together, or None where one has none."""
    each = [s.arrays.get("row_label") for s in studies]
    return None if any(labels is None for labels in each) else np.concatenate(each)


def _by_file(names, studies) -> ExtraTable:
    """Return a row a file: the verdict, the candidate and its strongest baseline."""
    rows = []
    for name, study in zip(names, studies, strict=True):
        ours = study.candidate.metrics
        against = study.gain.against if study.gain else ""
        theirs = next((b.metrics for b in study.baselines if b.name == against), {})
        rows.append(
            (
                name,
                study.verdict.replace("_", " "),
                ours.get("false_alarm_rate"),
                ours.get("detection_rate"),
                ours.get("loss"),
                against,
                theirs.get("loss"),
            )
        )
    return ExtraTable(
        "By file",
        (
            ("file", ""),
            ("verdict", ""),
            ("false alarms", "-"),
            ("detected", "-"),
            ("missed + false", "-"),
            ("strongest baseline", ""),
            ("its missed + false", "-"),
        ),
        tuple(rows),
        "Each file has a study of its own, with its report, in the folder `studies`.",
    )
