"""The time that a budget in seconds counts: fair on a machine that others use as well."""

import time

_seen = [time.perf_counter(), time.process_time(), 0.0]


def used() -> float:
    """Return seconds since the import, less those in which this process had to wait its turn.

    Between any two calls the clock moves by the seconds of the wall or by those of the processors,
    whichever are fewer: several threads at once do not use up a budget faster, and a busy machine
    does not either.

    Examples
    --------
    >>> begun = used()
    >>> time.sleep(0.2)
    >>> used() - begun < 0.1
    True
    """
    wall, processors = time.perf_counter(), time.process_time()
    _seen[2] += max(min(wall - _seen[0], processors - _seen[1]), 0.0)
    _seen[:2] = wall, processors
    return _seen[2]
