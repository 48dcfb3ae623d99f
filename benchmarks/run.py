"""Assay beside its peers, in one run, on the same work: prints a table, writes results.md.

``make bench`` runs it with the peers' Python. It needs nothing but the standard library; every
measurement is a process of its own, pinned to one or two cores, and the sides take turns, so that
whatever else the machine does hits all of them.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import EPOCHS

HERE = Path(__file__).resolve().parent
OURS = HERE.parent / ".venv" / "bin" / "python"


def measure(python, script, *arguments):
    """Run one side; return what it printed as JSON."""
    command = [str(python), str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {script} failed\n{done.stderr}\nhint: run `make bench` again from clean")
    return json.loads(done.stdout.splitlines()[-1])


def help_seconds(python):
    """Best of five runs of ``assay --help``."""
    command = [str(Path(python).with_name("assay")), "--help"]
    if not Path(command[0]).exists():
        command = [str(python), "-c", "from assay.cli.main import main; main()", "--help"]
    times = []
    for _ in range(5):
        clock = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        times.append(time.perf_counter() - clock)
    return min(times)


def best(runs, key):
    """Return (threads, value) of the smallest `key` over thread counts and repeats."""
    return min(((n, run[key]) for n, found in runs.items() for run in found), key=lambda p: p[1])


def collect(ours, peer, epochs, repeats, threads):
    """Let the sides take turns."""
    sides = {
        "ours": (ours, "ours.py", ()),
        "torch": (peer, "peer_torch.py", ()),
        "pyod": (peer, "peer_pyod.py", ()),
        "plain pyod": (peer, "peer_pyod.py", ("plain",)),
    }
    runs = {name: {n: [] for n in threads} for name in sides}
    for repeat in range(repeats):
        for n in threads:
            for name, (python, script, more) in sides.items():
                print(f"repeat {repeat + 1} of {repeats}, {n} thread(s), {name}", file=sys.stderr)
                runs[name][n].append(measure(python, script, n, epochs, *more))
    return runs


def cached(ours, epochs):
    """Seconds spent compiling in a first and a second run with a cache on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        return [measure(ours, "ours.py", 2, epochs, folder)["compile_s"] for _ in range(2)]


def table(runs, epochs, help_s, cache, threads):
    """Return the table as lines of Markdown."""
    torch_n, torch_s = best(runs["torch"], "seconds")
    pyod_n, pyod_s = best(runs["pyod"], "seconds")
    _, plain_s = best(runs["plain pyod"], "seconds")
    _, first = best(runs["ours"], "first_s")
    again_n, again = best(runs["ours"], "again_s")
    _, overhead = best(runs["ours"], "overhead_s")
    _, step = best(runs["ours"], "step_us")
    _, compiling = best(runs["ours"], "compile_s")
    _, four = best(runs["ours"], "four_fits_s")

    def row(what, peer, ours, value, target, *, holds):
        return f"| {what} | {peer} | {ours} | {value} | {target} | {'yes' if holds else 'NO'} |"

    def ratio(what, peer, n, ours, m, least):
        return row(
            what, f"{peer:.2f} s ({n} thr.)", f"{ours:.2f} s ({m} thr.)",
            f"{peer / ours:.1f} x", f">= {least} x", holds=peer / ours >= least,
        )  # fmt: skip

    def told(what, peer, ours):
        return f"| {what} | {peer:.2f} s | {ours:.2f} s | {peer / ours:.1f} x | - | - |"

    work = f"autoencoder 64-128-8-128-64, {epochs} epochs"
    return [
        "| what | peer | Assay | measured | target | holds |",
        "| --- | --- | --- | --- | --- | --- |",
        ratio(f"{work}: eager PyTorch / a compiled program", torch_s, torch_n, again, again_n, 6),
        ratio(f"{work}: PyOD AutoEncoder / a compiled program", pyod_s, pyod_n, again, again_n, 15),
        told("PyOD without its batch normalisation and dropout", plain_s, again),
        # Compiling is paid once a process and form, so its share depends on what follows.
        told("first fit of a process, compiling included: eager PyTorch", torch_s, first),
        told("first fit of a process, compiling included: PyOD AutoEncoder", pyod_s, first),
        row("second fit: seconds beside its steps", "-", f"{overhead:.3f} s", f"{overhead:.3f} s",
            "< 0.1 s", holds=overhead < 0.1),
        row("`assay --help`", "-", f"{help_s:.2f} s", f"{help_s:.2f} s", "< 0.3 s",
            holds=help_s < 0.3),
        "",
        f"One step {step:.0f} us, compiling {compiling:.2f} s; with a cache on the disk "
        f"{cache[0]:.2f} s in the first run and {cache[1]:.2f} s in the second. Four fits at a "
        f"time: {four:.2f} s. Mean squared error on the training rows: Assay "
        f"{best(runs['ours'], 'mse')[1]:.5f}, PyTorch {best(runs['torch'], 'mse')[1]:.5f}. Each "
        f"side at its best of {' and '.join(map(str, threads))} thread(s).",
    ]  # fmt: skip


def machine():
    """Describe the machine in general terms."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{cores} cores ({platform.machine()}), {platform.system()}, Python "
        f"{platform.python_version()}; load when it began: {load}"
    )


def main():
    """Measure all, print the table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", type=Path, default=OURS, help="Python with Assay")
    parser.add_argument("--peer", type=Path, default=Path(sys.executable), help="Python with peers")
    parser.add_argument("--quick", action="store_true", help="smoke run: a tenth of the epochs")
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    asked = parser.parse_args()
    about, load = machine(), os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = load > 0.5
    if busy:
        print(f"note: the machine is busy (load {load:.1f}): no final figures", file=sys.stderr)
    epochs, repeats, threads = (EPOCHS // 10, 1, (1,)) if asked.quick else (EPOCHS, 2, (1, 2))
    runs = collect(asked.ours, asked.peer, epochs, repeats, threads)
    lines = table(runs, epochs, help_seconds(asked.ours), cached(asked.ours, 1), threads)
    warning = ["**Taken on a busy machine: not the final figures.**", ""] if busy else []
    short = ["**A smoke run with a tenth of the epochs.**", ""] if asked.quick else []
    text = ["# Assay beside its peers", "", about + ".", "", *warning, *short, *lines, ""]
    print("\n".join(text))
    asked.out.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
