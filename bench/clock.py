"""The clock that programs are timed by: the wall's, or with --cpu the processor's.

On a busy machine the least CPU time of many turns tells what the clock would on a quiet
one, but for what waits: for a disk, or for other threads.
"""

import os
import resource
import time


def is_cpu():
    return "CUNEI_BENCH_CPU" in os.environ


def clock_ns():
    """With --cpu, of this process and of its children that have ended."""
    if not is_cpu():
        return time.perf_counter_ns()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = children.ru_utime + children.ru_stime
    return time.process_time_ns() + round(seconds * 1e9)
