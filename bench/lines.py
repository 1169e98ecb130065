"""Lines of chosen functions: their cost, beside other tools that count lines."""

import functools
import os
import sys

import floor
from variants import Plain, Recording
from workloads import WORKLOADS, run_fib


def run_lines(count):
    """Lines that do almost nothing; returns how many ran."""
    a = b = 0
    i = 0
    while i < count:
        a += i
        b ^= a
        if b & 1:
            a -= 1
        else:
            a += 1
        i += 1
    return 6 * count + 4


def run_beside(n):
    """Calls from a function whose lines are recorded."""
    return run_fib(n)


class LineFloor(floor.Monitoring):
    """The floor, which also gets the LINE events of one function."""

    def __init__(self):
        import cunei_floor

        super().__init__()
        self.line = cunei_floor.callback()

    def set_lines(self, events):
        sys.monitoring.set_local_events(self.TOOL, run_lines.__code__, events)

    def on(self):
        super().on()
        event = sys.monitoring.events.LINE
        sys.monitoring.register_callback(self.TOOL, event, self.line)
        self.set_lines(event)

    def off(self):
        self.set_lines(0)
        sys.monitoring.register_callback(self.TOOL, sys.monitoring.events.LINE, None)
        super().off()


class LineProfiler(Plain):
    """line_profiler, as it is by default."""

    def __init__(self):
        import line_profiler

        self.profiler = line_profiler.LineProfiler(run_lines)

    def on(self):
        self.profiler.enable()

    def off(self):
        self.profiler.disable()


class Coverage(Plain):
    """coverage.py, which records whether a line ran, not how often."""

    def __init__(self, core):
        import coverage

        if core == "sysmon" and not hasattr(sys, "monitoring"):
            raise RuntimeError("it needs sys.monitoring, which came with 3.12")
        os.environ["COVERAGE_CORE"] = core
        self.coverage = coverage.Coverage(data_file=None, include=[__file__])

    def on(self):
        self.coverage.start()

    def off(self):
        self.coverage.stop()


def lowest():
    """Before 3.12 a trace function in C gets all lines."""
    return LineFloor() if hasattr(sys, "monitoring") else floor.Hook("trace")


KINDS = {
    "plain": Plain,
    "floor": lowest,
    "recorded": functools.partial(Recording, lines=":run_lines"),
    "line_profiler": LineProfiler,
    "coverage, ctrace": functools.partial(Coverage, "ctrace"),
    "coverage, sysmon": functools.partial(Coverage, "sysmon"),
}

# Calls of functions whose lines are not recorded.
ELSEWHERE = {
    "plain": Plain,
    "recorded": Recording,
    "lines elsewhere": functools.partial(Recording, lines=":run_lines"),
    "lines of the caller": functools.partial(Recording, lines=":run_beside"),
}


def measure(best_turns, rounds):
    lines, missing = best_turns(KINDS, run_lines, 20_000, rounds)
    _, size = WORKLOADS["fib"]
    elsewhere, _ = best_turns(ELSEWHERE, run_beside, size, 3 * rounds)
    return {"ns": lines, "missing": missing, "elsewhere": elsewhere}
