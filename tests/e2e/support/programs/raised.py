# SPDX-License-Identifier: MIT
"""Count the exceptions of one workload with cunei and with sys.monitoring at once.

    raised.py WORKLOAD DIRECTORY

An exception is raised where the traceback has one frame, the one that runs.  Two are
none: GeneratorExit, and a StopIteration that arrives at a `yield`, which says what
an exception that was thrown into a generator led to.  Prints a JSON list of what was
counted so: [type, file, qualname, line, count].
"""

import dis
import json
import sys
from collections import Counter

import workloads
from cunei import _probe

TOOL = 1
YIELD = dis.opmap["YIELD_VALUE"]
seen = []  # without a GIL a counter would lose some


def count(code, offset, error):
    traceback = error.__traceback__
    if (
        traceback is None
        or traceback.tb_next is not None
        or traceback.tb_frame is not sys._getframe(1)
        or isinstance(error, GeneratorExit)
        or (isinstance(error, StopIteration) and code.co_code[offset] == YIELD)
    ):
        return
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    seen.append((name, code.co_filename, code.co_qualname, traceback.tb_lineno))


def main(name, directory):
    events = sys.monitoring.events
    run = workloads.WORKLOADS[name]
    sys.monitoring.use_tool_id(TOOL, "count")
    sys.monitoring.register_callback(TOOL, events.RAISE, count)
    _probe.start(directory, [], 0)
    sys.monitoring.set_events(TOOL, events.RAISE)
    run()
    sys.monitoring.set_events(TOOL, 0)
    _probe.stop()
    json.dump([[*key, number] for key, number in Counter(seen).items()], sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
