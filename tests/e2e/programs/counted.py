# SPDX-License-Identifier: MIT
"""Measure one workload with cunei and with a tool that only counts, in one process.

    counted.py [--c-calls] MODULE:WORKLOAD DIRECTORY

For what cProfile does not count rightly: it takes a thread's greenlets for one stack.
Prints the counts in the form of window.py, one list for each recording.
"""

import gc
import importlib
import json
import sys
from collections import Counter

from cunei import _probe

TOOL = 2
EVENTS = ("PY_START", "PY_RESUME", "PY_THROW")


def measure(run, directory, c_calls):
    """Both are switched on and off by functions of C, so that both see the same."""
    counts = Counter()
    mask = 0
    for name in EVENTS:
        event = getattr(sys.monitoring.events, name)
        mask |= event

        def count(code, *_):
            counts[code] += 1

        sys.monitoring.register_callback(TOOL, event, count)
    gc.collect()
    gc.disable()
    _probe.start(directory, [], 0, c_calls=c_calls)
    sys.monitoring.set_events(TOOL, mask)
    run()
    sys.monitoring.set_events(TOOL, 0)
    _probe.stop()
    gc.enable()
    return counts


def main(name, directory, c_calls=False):
    module, _, name = name.partition(":")
    run = importlib.import_module(module).WORKLOADS[name]
    sys.monitoring.use_tool_id(TOOL, "count")
    rows = []
    for _ in range(2):
        counts = Counter()
        for code, count in measure(run, directory, c_calls).items():
            key = (code.co_filename, code.co_firstlineno, code.co_qualname)
            counts[key] += count
        rows.append([[*key, count] for key, count in counts.items()])
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    c_calls = sys.argv[1] == "--c-calls"
    main(*sys.argv[1 + c_calls :], c_calls=c_calls)
