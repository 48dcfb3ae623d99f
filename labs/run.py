"""Quoted against measured: run the chapters' experiments and hold each fact to its bounds.

``labs/facts.csv`` says for each fact what was quoted, under which set-up, and within which bounds a
measured number holds. A lab measures and returns numbers by name; it knows no bounds.
"""

import csv
import dataclasses
import importlib
import json
import re
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# (lab, script): a script has `measure() -> {fact id: {name: number}}`.
LABS = (
    ("000-slice", "surrogates_slice"),
    ("000-gradients", "surrogates_gradients"),
    ("000-initialisation", "surrogates_initialisation"),
    ("000-optimisers", "surrogates_optimisers"),
    ("000-overfitting", "surrogates_overfitting"),
    ("000-scaling", "surrogates_scaling"),
    ("000-against-gp", "surrogates_against_gp"),
    ("000-depth", "surrogates_depth"),
    ("000-euler", "surrogates_euler"),
    ("000-ensembles", "surrogates_ensembles"),
    ("004-section2", "autoencoders"),
    ("004-lab1-compress", "digits_compress"),
    ("004-lab1-anomaly", "digits_anomaly"),
    ("004-lab4-forward", "physics_forward"),
    ("004-lab4-inverse", "physics_inverse"),
    ("004-lab4-extensions", "physics_extensions"),
    ("004-section9-physics", "physics_section9"),
    ("004-lab4-exercise12", "physics_heat"),
)

_BOUND = re.compile(r"\s*([A-Za-z0-9_ -]+?) in \[([^,\]]+), ([^,\]]+)\]\s*")


@dataclasses.dataclass(frozen=True)
class Fact:
    """One quoted value: where it is from, what was quoted, and the bounds for what is measured."""

    id: str
    lab: str
    section: str
    setup: str
    quantity: str
    quoted: str
    kind: str
    tolerance: str
    bounds: tuple[tuple[str, float, float], ...]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A fact beside what was measured; `held` is False where a number is off or missing."""

    fact: Fact
    measured: dict[str, float]
    held: bool

    def text(self) -> str:
        """Return the measured numbers as text, those that are off marked."""
        if not self.measured:
            return "not measured"
        limits = {name: (low, high) for name, low, high in self.fact.bounds}
        shown = []
        for name, value in self.measured.items():
            low, high = limits.get(name, (float("nan"),) * 2)
            label = "" if len(self.measured) == 1 else f"{name} "
            shown.append(f"{label}{value:.4g}" + ("" if low <= value <= high else " (off)"))
        return ", ".join(shown)


def read_facts(path: Path = HERE / "facts.csv") -> tuple[Fact, ...]:
    """Read the facts; a bound that cannot be read raises ValueError."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(
            Fact(**{k: v for k, v in row.items() if k != "bounds"}, bounds=_bounds(row))
            for row in csv.DictReader(file)
        )


def _bounds(row: dict[str, str]) -> tuple[tuple[str, float, float], ...]:
    found = []
    for part in row["bounds"].split(";"):
        match = _BOUND.fullmatch(part)
        if match is None:
            raise ValueError(f"{row['id']}: {part!r} is no bound like 'mse in [0.03, 0.04]'")
        found.append((match[1], float(match[2]), float(match[3])))
    return tuple(found)


def judge(fact: Fact, measured: dict[str, float]) -> Outcome:
    """Hold every bound of a fact against what was measured; a missing number does not hold."""
    measured = {name: float(value) for name, value in measured.items()}
    held = all(
        name in measured and low <= measured[name] <= high for name, low, high in fact.bounds
    )
    return Outcome(fact, measured, held)


def chosen(ids: list[str], facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return the facts that the ids name: facts, labs, or the beginning of either."""
    if not ids:
        return facts
    unknown = [i for i in ids if not any(_named(i, f) for f in facts)]
    if unknown:
        from assay.errors import StudyError, did_you_mean

        names = [*(lab for lab, _ in LABS), *(f.id for f in facts)]
        raise StudyError(
            f"There is no lab and no fact {unknown[0]!r}.", hint=did_you_mean(unknown[0], names)
        )
    return tuple(f for f in facts if any(_named(i, f) for i in ids))


def _named(name: str, fact: Fact) -> bool:
    return fact.id.startswith(name) or fact.lab.startswith(name)


def main(ids: list[str], *, as_json: bool = False) -> int:
    """Run the labs that `ids` name, print the table, and return 0 if all facts held, else 1.

    Parameters
    ----------
    ids : list of str
        Labs or facts, or how they begin; empty for all.
    as_json : bool
        Print JSON rather than a table.
    """
    sys.path.insert(0, str(HERE)) if str(HERE) not in sys.path else None
    facts = chosen(ids, read_facts())
    outcomes = []
    for lab, script in LABS:
        wanted = [f for f in facts if f.lab == lab]
        if not wanted:
            continue
        start = time.perf_counter()
        measured = importlib.import_module(script).measure()
        spent = time.perf_counter() - start
        print(f"{lab}: {len(wanted)} facts, {spent:.1f} s", file=sys.stderr)
        outcomes += [judge(f, measured.get(f.id, {})) for f in wanted]
    if as_json:
        print(json.dumps([_as_dict(o) for o in outcomes], indent=2))
    else:
        _print(outcomes)
    return 0 if all(o.held for o in outcomes) else 1


def _as_dict(outcome: Outcome) -> dict:
    fact = dataclasses.asdict(outcome.fact)
    return fact | {"measured": outcome.measured, "held": outcome.held}


def _print(outcomes: list[Outcome]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False)
    for head in ("fact", "quantity", "quoted", "measured", "tolerance", ""):
        table.add_column(head, overflow="fold")
    for o in outcomes:
        cells = (o.fact.id, o.fact.quantity, o.fact.quoted, o.text(), o.fact.tolerance)
        table.add_row(*map(escape, cells), "held" if o.held else "[bold red]OFF[/]")
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    off = [o.fact.id for o in outcomes if not o.held]
    print(f"\n{len(outcomes) - len(off)} of {len(outcomes)} facts held.")
    if off:
        print(f"Off: {', '.join(off)}")


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--json"]
    sys.exit(main(arguments, as_json="--json" in sys.argv))
