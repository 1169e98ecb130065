# SPDX-License-Identifier: MIT
"""Record one workload with one instrumenter after the other, and count it by cProfile.

    hooked.py [MODULE:]WORKLOAD DIRECTORY INSTRUMENTER... [--uncounted]

Each records into a folder of its own.  The workload has run once before, so that they
all see the same; nothing but functions of C stands between the switches.  Prints
cProfile's counts, as rows of [file, line, qualname, count]: none with --uncounted.
"""

import cProfile
import gc
import importlib
import json
import sys

from cunei import _probe
from window import count_calls


def main(name, directory, *words):
    instrumenters = [word for word in words if word != "--uncounted"]
    module, _, name = name.rpartition(":")
    run = importlib.import_module(module or "workloads").WORKLOADS[name]
    profile = cProfile.Profile()
    run()
    gc.collect()
    gc.disable()  # what a collection frees may have functions of its own
    for instrumenter in instrumenters:
        _probe.start(f"{directory}/{instrumenter}", [], 0, instrumenter=instrumenter)
        run()
        _probe.stop()
    if instrumenters == list(words):
        profile.enable(builtins=False)
        run()
        profile.disable()
    json.dump(count_calls(profile), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
