# SPDX-License-Identifier: MIT
"""Measure one workload with cunei and with a tool that only counts, in one process.

    counted.py [--c-calls] MODULE:WORKLOAD DIRECTORY

For what cProfile does not count rightly: it takes a thread's greenlets for one stack.
Prints the counts in the form of window.py, one list for each recording.
"""

import functools
import gc
import importlib
import json
import sys
from collections import Counter

from cunei import _probe

TOOL = 2
EVENTS = ("PY_START", "PY_RESUME", "PY_THROW")


def prepare_events(counts):
    """What switches a count by sys.monitoring on, and off."""
    mask = 0
    for name in EVENTS:
        event = getattr(sys.monitoring.events, name)
        mask |= event

        def count(code, *_):
            counts[code.co_filename, code] += 1

        sys.monitoring.register_callback(TOOL, event, count)
    return (
        functools.partial(sys.monitoring.set_events, TOOL, mask),
        functools.partial(sys.monitoring.set_events, TOOL, 0),
    )


def prepare_profile(counts):
    """The same before 3.12, in this thread alone."""

    def count(frame, event, _):
        if event == "call":
            counts[frame.f_code.co_filename, frame.f_code] += 1

    return functools.partial(sys.setprofile, count), functools.partial(
        sys.setprofile, None
    )


def measure(run, directory, c_calls):
    """Both are switched on and off by functions of C, so that both see the same.

    Counts by file and code: code of two files is equal where it says the same.
    """
    counts = Counter()
    has_events = sys.version_info >= (3, 12)
    on, off = prepare_events(counts) if has_events else prepare_profile(counts)
    gc.collect()
    gc.disable()
    _probe.start(directory, [], 0, c_calls=c_calls)
    on()
    run()
    off()
    _probe.stop()
    gc.enable()
    return counts


def main(name, directory, c_calls=False):
    module, _, name = name.partition(":")
    run = importlib.import_module(module).WORKLOADS[name]
    if sys.version_info >= (3, 12):
        sys.monitoring.use_tool_id(TOOL, "count")
    rows = []
    for _ in range(2):
        counts = Counter()
        for (file, code), count in measure(run, directory, c_calls).items():
            # Before 3.11 code objects have no qualified names.
            name = getattr(code, "co_qualname", code.co_name)
            key = (file, code.co_firstlineno, name)
            counts[key] += count
        rows.append([[*key, count] for key, count in counts.items()])
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    c_calls = sys.argv[1] == "--c-calls"
    main(*sys.argv[1 + c_calls :], c_calls=c_calls)
