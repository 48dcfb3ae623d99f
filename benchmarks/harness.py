"""Running the sides of a benchmark in turns, and telling what came out."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measure(python, script, *arguments):
    """Run one side in a process of its own; return what it printed as JSON."""
    command = [str(python), str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {script} failed\n{done.stderr}\nhint: run `make bench` again from clean")
    return json.loads(done.stdout.splitlines()[-1])


def in_turns(sides, repeats, threads):
    """Let the sides take turns: ``{name: {threads: [found, ...]}}``.

    `sides` is ``{name: (python, script, arguments)}``; a script is called with the number of
    threads first.
    """
    runs = {name: {n: [] for n in threads} for name in sides}
    for repeat in range(repeats):
        for n in threads:
            for name, (python, script, more) in sides.items():
                print(f"repeat {repeat + 1} of {repeats}, {n} thread(s), {name}", file=sys.stderr)
                runs[name][n].append(measure(python, script, n, *more))
    return runs


def best(runs, key):
    """Return (threads, value) of the smallest `key` over thread counts and repeats."""
    return min(((n, run[key]) for n, found in runs.items() for run in found), key=lambda p: p[1])


def row(what, peer, ours, value, target, *, holds):
    """Return a row of the table."""
    return f"| {what} | {peer} | {ours} | {value} | {target} | {'yes' if holds else 'NO'} |"


def ratio(what, peer, ours, least, *, unit="s", digits=2):
    """Return a row for a ratio; `peer` and `ours` are (threads, value)."""
    (n, theirs), (m, own) = peer, ours
    return row(
        what, f"{theirs:.{digits}f} {unit} ({n} thr.)", f"{own:.{digits}f} {unit} ({m} thr.)",
        f"{theirs / own:.1f} x", f">= {least} x", holds=theirs / own >= least,
    )  # fmt: skip


def told(what, peer, ours):
    """Return a row without a target."""
    return f"| {what} | {peer:.2f} s | {ours:.2f} s | {peer / ours:.1f} x | - | - |"


HEAD = ("| what | peer | Assay | measured | target | holds |", "| --- " * 6 + "|")


def machine():
    """Describe the machine in general terms."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{cores} cores ({platform.machine()}), {platform.system()}, Python "
        f"{platform.python_version()}; load when it began: {load}"
    )
