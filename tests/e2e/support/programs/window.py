# SPDX-License-Identifier: MIT
"""Measure one workload with cunei and cProfile at once, in one process.

    window.py [--c-calls] [MODULE:]WORKLOAD DIRECTORY [TAKEN [SIGN PATTERN]...]

Both are switched on and off in every order that makes sense, one recording for each.
Nothing but functions of C stands between the switches, so that no Python function is
seen by one of the two alone.  Prints a JSON list: cProfile's counts, one row for each
order, as [file, line, qualname, count].  TAKEN is a list of tool ids for others.
With --c-calls both also count C functions; cProfile has a description for each, and
the row is ["", 0, description, count].
"""

import cProfile
import gc
import importlib
import json
import sys
from collections import Counter

from cunei import _probe

BOTH_WAYS = ("cunei first", "cunei last")


def count_calls(profile):
    counts = Counter()
    for entry in profile.getstats():
        code = entry.code
        if isinstance(code, str):
            key = ("", 0, code)
        else:
            # Before 3.11 code objects have no qualified names.
            name = getattr(code, "co_qualname", code.co_name)
            key = (code.co_filename, code.co_firstlineno, name)
        counts[key] += entry.callcount
    return [[*key, count] for key, count in counts.items()]


def measure(run, directory, patterns, c_calls, on, off):
    profile = cProfile.Profile()
    gc.collect()
    gc.disable()  # a collection at the edge would be seen by one of them alone
    if on == "cunei first":
        _probe.start(directory, patterns, 0, c_calls=c_calls)
        profile.enable(builtins=c_calls)
    else:
        profile.enable(builtins=c_calls)
        _probe.start(directory, patterns, 0, c_calls=c_calls)
    gc.enable()
    run()
    gc.disable()
    if off == "cunei first":
        _probe.stop()
        profile.disable()
    else:
        profile.disable()
        _probe.stop()
    gc.enable()
    return count_calls(profile)


def main(name, directory, taken="", *words, c_calls=False):
    patterns = [(sign == "+", text) for sign, text in zip(words[::2], words[1::2])]
    for tool in taken:
        sys.monitoring.use_tool_id(int(tool), "other")
    module, _, name = name.rpartition(":")
    run = importlib.import_module(module or "workloads").WORKLOADS[name]
    rows = [
        measure(run, directory, patterns, c_calls, on, off)
        for on in BOTH_WAYS
        for off in BOTH_WAYS
    ]
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    c_calls = sys.argv[1] == "--c-calls"
    main(*sys.argv[1 + c_calls :], c_calls=c_calls)
