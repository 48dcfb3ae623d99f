"""Assay beside its peers, in one run, on the same work: prints tables, writes results.md.

``make bench`` runs it with the peers' Python. It needs nothing but the standard library; every
measurement is a process of its own, pinned to one or two cores, and the sides take turns, so that
whatever else the machine does hits all of them.
"""

import argparse
import os
import sys
from pathlib import Path

import autoencoder
from harness import HERE, machine

import physics
import surrogate

OURS = HERE.parent / ".venv" / "bin" / "python"
SECTIONS = (autoencoder, surrogate, physics)


def main():
    """Measure all, print the tables and write them down."""
    names = [one.__name__ for one in SECTIONS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(names))
    parser.add_argument("--ours", type=Path, default=OURS, help="Python with Assay")
    parser.add_argument("--peer", type=Path, default=Path(sys.executable), help="Python with peers")
    parser.add_argument("--quick", action="store_true", help="smoke run: a tenth of the work")
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    asked = parser.parse_args()
    unknown = sorted(set(asked.sections) - set(names))
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}: {', '.join(names)}")
    text = ["# Assay beside its peers", ""]
    # Once: the load of later sections is that of the sections before them.
    about, busy = machine(), hasattr(os, "getloadavg") and os.getloadavg()[0] > 1.0
    for one in SECTIONS:
        if asked.sections and one.__name__ not in asked.sections:
            continue
        lines = one.section(asked.ours, asked.peer, quick=asked.quick)
        text += [f"## {one.TITLE}", "", about + ". Each side at its best thread count.", ""]
        if busy:
            print("note: the machine is busy: no final figures", file=sys.stderr)
            text += ["**Taken on a busy machine: not the final figures.**", ""]
        text += ["**A smoke run with a tenth of the work.**", ""] if asked.quick else []
        text += [*lines, ""]
    print("\n".join(text))
    asked.out.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
