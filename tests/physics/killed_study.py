"""A study that kills itself: ``killed_study.py ENDING N TYPED...`` (run by the tests).

Runs the command as typed, and ends without warning when the N-th file whose name ends so is about
to take its place; N = 0 is never. Says on stderr how many descents each training had done before.
"""

import os
import signal
import sys

from assay.cli.main import main
from assay.physics import journal
from assay.train import checkpoint


def run(ending, n, typed):
    """Write after every chunk of steps, so that there are many moments to be killed at."""
    journal.SECONDS = 0.0
    replace, load, left = os.replace, checkpoint.load, [n]

    def counted(source, target):
        if str(target).endswith(ending):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    def told(path, marks):
        found = load(path, marks)
        if found is not None:
            print(f"{path.name}: {found[1]['done']} done", file=sys.stderr, flush=True)
        return found

    os.replace, checkpoint.load = counted, told
    return main(typed)


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
