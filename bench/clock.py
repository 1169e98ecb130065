"""The clock of all measurements: wall-clock time, or with --cpu CPU time.

On a busy machine the least CPU time of many turns is close to the wall-clock time on an
idle one, except where a program waits for a disk or for other threads.
"""

import os
import resource
import time


def is_cpu():
    return "CUNEI_BENCH_CPU" in os.environ


def clock_ns():
    """With --cpu: of this process and its ended children."""
    if not is_cpu():
        return time.perf_counter_ns()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = children.ru_utime + children.ru_stime
    return time.process_time_ns() + round(seconds * 1e9)
