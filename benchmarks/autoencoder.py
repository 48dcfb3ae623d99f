"""An autoencoder on the digits: eager PyTorch and PyOD beside Assay."""

import subprocess
import tempfile
import time
from pathlib import Path

from common import EPOCHS
from harness import HEAD, best, in_turns, measure, ratio, row, told

TITLE = "Autoencoder"


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


def cached(ours):
    """Seconds spent compiling in a first and a second run with a cache on the disk."""
    script = "autoencoder_ours.py"
    with tempfile.TemporaryDirectory() as folder:
        return [measure(ours, script, 2, 1, folder)["compile_s"] for _ in range(2)]


def section(ours, peer, *, quick):
    """Measure, and return the section as lines of Markdown."""
    epochs, repeats, threads = (EPOCHS // 10, 1, (1,)) if quick else (EPOCHS, 2, (1, 2))
    sides = {
        "ours": (ours, "autoencoder_ours.py", (epochs,)),
        "torch": (peer, "autoencoder_torch.py", (epochs,)),
        "pyod": (peer, "autoencoder_pyod.py", (epochs,)),
        "plain pyod": (peer, "autoencoder_pyod.py", (epochs, "plain")),
    }
    runs = in_turns(sides, repeats, threads)
    own, torch, pyod = runs["ours"], best(runs["torch"], "seconds"), best(runs["pyod"], "seconds")
    again, first, help_s = best(own, "again_s"), best(own, "first_s")[1], help_seconds(ours)
    overhead, cache = best(own, "overhead_s")[1], cached(ours)
    work = f"autoencoder 64-128-8-128-64, {epochs} epochs"
    return [
        *HEAD,
        ratio(f"{work}: eager PyTorch / a compiled program", torch, again, 6),
        ratio(f"{work}: PyOD AutoEncoder / a compiled program", pyod, again, 15),
        told("PyOD without its batch normalisation and dropout",
             best(runs["plain pyod"], "seconds")[1], again[1]),
        # Compiling is paid once a process and form, so its share depends on what follows.
        told("first fit of a process, compiling included: eager PyTorch", torch[1], first),
        told("first fit of a process, compiling included: PyOD AutoEncoder", pyod[1], first),
        row("second fit: seconds beside its steps", "-", f"{overhead:.3f} s", f"{overhead:.3f} s",
            "< 0.1 s", holds=overhead < 0.1),
        row("`assay --help`", "-", f"{help_s:.2f} s", f"{help_s:.2f} s", "< 0.3 s",
            holds=help_s < 0.3),
        "",
        f"One step {best(own, 'step_us')[1]:.0f} us, compiling {best(own, 'compile_s')[1]:.2f} s; "
        f"with a cache on the disk {cache[0]:.2f} s in the first run and {cache[1]:.2f} s in the "
        f"second. Four fits at a time: {best(own, 'four_fits_s')[1]:.2f} s. Mean squared error on "
        f"the training rows: Assay {best(own, 'mse')[1]:.5f}, PyTorch "
        f"{best(runs['torch'], 'mse')[1]:.5f}.",
    ]  # fmt: skip
