"""Runs inside the Python that is measured and prints its figures as JSON.

    python measure.py PART SCRATCH

SCRATCH is a folder on a disk.  Variants take turns within one process, many rounds,
and the least time of each counts: whatever else the machine does then touches all of
them alike.
"""

import cProfile
import ctypes
import gc
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

from workloads import WORKLOADS

SCRATCH = pathlib.Path(sys.argv[2])
ROUNDS = int(os.environ.get("CUNEI_BENCH_ROUNDS", "25"))
FUNCTIONS = 20_000

# Turns of a variant before its time is taken, and while it is.
WARM_UPS = 6
TURNS = 4


class Plain:
    """Nothing is switched on.  The variants below say what they switch."""

    def on(self):
        pass

    def off(self):
        pass


class Floor(Plain):
    """Callbacks of our own kind that read the clock and do nothing else."""

    EVENTS = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_THROW", "PY_UNWIND")
    TOOL = 4

    def __init__(self):
        import cunei_floor

        events = sys.monitoring.events
        self.events = [getattr(events, name) for name in self.EVENTS]
        self.callbacks = [cunei_floor.callback() for _ in self.events]

    def on(self):
        sys.monitoring.use_tool_id(self.TOOL, "floor")
        for event, callback in zip(self.events, self.callbacks, strict=True):
            sys.monitoring.register_callback(self.TOOL, event, callback)
        sys.monitoring.set_events(self.TOOL, sum(self.events))

    def off(self):
        sys.monitoring.set_events(self.TOOL, 0)
        for event in self.events:
            sys.monitoring.register_callback(self.TOOL, event, None)
        sys.monitoring.free_tool_id(self.TOOL)


class Recording(Plain):
    """Every call, without loss, to disk."""

    def __init__(self, **options):
        import cunei

        self.cunei = cunei
        self.options = options
        self.size = 0

    def on(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH))
        self.cunei.start(self.folder, **self.options)

    def off(self):
        self.cunei.stop()
        self.size = sum(file.stat().st_size for file in self.folder.glob("*/s*"))
        self.definitions = sum(
            file.stat().st_size for file in self.folder.glob("*/metadata")
        )
        shutil.rmtree(self.folder)


class Discarding(Recording):
    """The same, but full packets are not written (see discard.c)."""

    def __init__(self):
        super().__init__()
        self.discard = ctypes.c_bool.in_dll(ctypes.CDLL(None), "cunei_discard")

    def on(self):
        super().on()
        self.discard.value = True

    def off(self):
        self.discard.value = False
        super().off()


class Profile(Plain):
    """The standard library's cProfile."""

    def on(self):
        self.profile = cProfile.Profile()
        self.profile.enable()

    def off(self):
        self.profile.disable()


class VizTracer(Plain):
    """VizTracer with C functions ignored; it only fills memory."""

    def __init__(self):
        import viztracer

        self.tracer = viztracer.VizTracer(
            ignore_c_function=True, tracer_entries=1_000_000, verbose=0
        )

    def on(self):
        self.tracer.start()

    def off(self):
        self.tracer.stop()
        self.tracer.clear()


VARIANTS = {
    "plain": Plain,
    "floor": Floor,
    "recorded": Recording,
    "not written": Discarding,
    "cProfile": Profile,
    "VizTracer": VizTracer,
}


def timed(variant, function, *arguments):
    variant.on()
    begin = time.perf_counter_ns()
    result = function(*arguments)
    took = time.perf_counter_ns() - begin
    variant.off()
    return took, result


def available(kinds):
    """The variants that this environment has, and why the others are missing."""
    variants, missing = {}, {}
    for name, kind in kinds.items():
        try:
            variants[name] = kind()
            timed(variants[name], gc.isenabled)
        except Exception as error:
            variants.pop(name, None)
            missing[name] = f"{type(error).__name__}: {error}"
    return variants, missing


def best_turn(variant, function, size):
    """Nanoseconds per call in the best of a few turns of a variant that has warmed up.

    What starting costs (the first touch of buffers, the first sight of functions) is
    measured elsewhere.
    """
    best = float("inf")
    variant.on()
    for _ in range(WARM_UPS):
        function(size)
    for _ in range(TURNS):
        begin = time.perf_counter_ns()
        calls = function(size)
        best = min(best, (time.perf_counter_ns() - begin) / calls)
    variant.off()
    return best


def measure_calls():
    """Nanoseconds per call of each workload under each variant."""
    variants, missing = available(VARIANTS)
    table = {}
    for workload, (function, size) in WORKLOADS.items():
        best = dict.fromkeys(variants, float("inf"))
        for _ in range(ROUNDS):
            for name, variant in variants.items():
                best[name] = min(best[name], best_turn(variant, function, size))
        table[workload] = best
    return {"ns_per_call": table, "missing": missing}


def measure_size():
    """Bytes on disk per recorded call."""
    variant = Recording()
    function, _ = WORKLOADS["fib"]
    _, calls = timed(variant, function, 27)
    return {"calls": calls, "bytes_per_call": variant.size / calls}


def call_each(functions):
    for function in functions:
        function()


def distinct_functions():
    """New code objects with the same 20 000 names each time."""
    source = "\n".join(f"def f{i}(): pass" for i in range(FUNCTIONS))
    namespace = {"__name__": "distinct"}
    exec(compile(source, "distinct.py", "exec"), namespace)
    return [namespace[f"f{i}"] for i in range(FUNCTIONS)]


def measure_first_sight():
    """Nanoseconds that the first call of a function costs more than plain."""
    variants, _ = available({"plain": Plain, "floor": Floor, "recorded": Recording})
    best = dict.fromkeys(variants, float("inf"))
    for _ in range(max(3, ROUNDS // 5)):
        for name, variant in variants.items():
            took, _ = timed(variant, call_each, distinct_functions())
            best[name] = min(best[name], took / FUNCTIONS)
    return {"ns_per_function": best}


def churn(count):
    """Make and call functions that look the same, over and over."""
    code = compile("lambda: 0", "churn.py", "eval")
    for _ in range(count):
        eval(code)()
        exec("def f(): return 0\nf()", {"__name__": "churn"})


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def measure_churn():
    """How definitions and memory grow when the same code is made again and again."""
    variant = Recording()
    timed(variant, churn, 100)
    few = variant.definitions
    timed(variant, churn, 5000)
    before = resident_bytes()
    took, _ = timed(variant, churn, 20_000)
    return {
        "ns_per_round": took / 20_000,
        "definition_bytes_grown": variant.definitions - few,
        "resident_bytes_grown": resident_bytes() - before,
    }


def measure_alone(variant):
    """Nanoseconds per call with one variant alone in the process."""
    function, size = WORKLOADS["fib"]
    variant.on()
    best = float("inf")
    for _ in range(ROUNDS):
        took, calls = timed(Plain(), function, size)
        best = min(best, took / calls)
    variant.off()
    return {"ns_per_call": best}


def measure_loaded():
    import cunei._probe  # noqa: F401

    return measure_alone(Plain())


def write_trace(records):
    """Leave a trace of about that many records in SCRATCH."""
    import cunei

    function, _ = WORKLOADS["fib"]
    written = 0
    cunei.start(SCRATCH)
    while written < records:
        written += 2 * function(25)
    cunei.stop()
    return {"records": written}


PARTS = {
    "calls": measure_calls,
    "size": measure_size,
    "first sight": measure_first_sight,
    "churn": measure_churn,
    "alone": lambda: measure_alone(Plain()),
    "loaded": measure_loaded,
    "excluded": lambda: measure_alone(Recording(exclude="workloads")),
    "big trace": lambda: write_trace(64_000_000),
    "small trace": lambda: write_trace(2_000_000),
}


if __name__ == "__main__":
    gc.disable()
    print(json.dumps(PARTS[sys.argv[1]]()))
