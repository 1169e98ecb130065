"""Runs inside the Python that is measured and prints its figures as JSON.

    python measure.py PART SCRATCH [ROW …]

SCRATCH is a folder on a disk; ROW is one of the part's rows, if it has any.  Variants
take turns within one process, many rounds, and the least time of each counts: whatever
else the machine does affects all of them alike.
"""

import functools
import gc
import json
import os
import sys

import instrumenters
import lines
import user_events
from clock import clock_ns, is_cpu
from event_rows import ROWS
from floor import Floor
from variants import (
    SCRATCH,
    Discarding,
    FloorCollector,
    Plain,
    Profile,
    Recording,
    VizTracer,
    available,
)
from workloads import WORKLOADS

ROUNDS = int(os.environ["CUNEI_BENCH_ROUNDS"])
FUNCTIONS = 20_000

# Turns of a variant before its time is measured, and while it is.
WARM_UPS = 6
TURNS = 4

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
    begin = clock_ns()
    result = function(*arguments)
    took = clock_ns() - begin
    variant.off()
    return took, result


def best_turn(variant, function, size):
    """Nanoseconds per call in the best of a few turns of a variant that has warmed up.

    What starting costs (the first touch of buffers, first calls of functions) is
    measured elsewhere.
    """
    best = float("inf")
    variant.on()
    for _ in range(WARM_UPS):
        function(size)
    for _ in range(TURNS):
        begin = clock_ns()
        calls = function(size)
        best = min(best, (clock_ns() - begin) / calls)
    variant.off()
    return best


def best_turns(kinds, function, size, rounds):
    """Nanoseconds of each variant, taking turns, and why others are missing."""
    variants, missing = available(kinds)
    best = dict.fromkeys(variants, float("inf"))
    for _ in range(rounds):
        for name, variant in variants.items():
            best[name] = min(best[name], best_turn(variant, function, size))
    return best, missing


def asked(names):
    """Those of the names that the command line asks for: all where it has none."""
    return [name for name in names if name in sys.argv[3:] or not sys.argv[3:]]


def measure_calls():
    """Nanoseconds per call of each workload under each variant."""
    table, missing = {}, {}
    for name in asked(WORKLOADS):
        function, size = WORKLOADS[name]
        table[name], missing[name] = best_turns(VARIANTS, function, size, ROUNDS)
    return {"ns": table, "missing": missing, "python": sys.version_info[:2]}


def has_gil():
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def kinds_for(row):
    lowest = FloorCollector if row.collector else Floor
    kinds = {
        "plain": Plain,
        "floor": functools.partial(lowest, *row.events),
        "recorded": functools.partial(Recording, **row.options),
    }
    # Without a GIL, cProfile mixes up the calls of threads and never ends.
    if has_gil() or not row.threads:
        kinds["cProfile"] = Profile
    return kinds


def measure_events():
    """The same for other events, with the floor and the options of each."""
    table, missing = {}, {}
    rounds = max(2, ROUNDS * 2 // 5)
    for name in asked(ROWS):
        row = ROWS[name]
        kinds = kinds_for(row)
        table[name], missing[name] = best_turns(kinds, row.function, row.size, rounds)
    units = {name: ROWS[name].unit for name in table}
    scales = not has_gil() and not is_cpu()
    return {"ns": table, "units": units, "missing": missing, "scales": scales}


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


def measure_first_call():
    """Nanoseconds that the first call of a function costs more when recorded."""
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
    """How definitions and memory grow if the same code is created repeatedly."""
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


def run_mixed(records):
    """Every workload in turn, until that many calls began and ended."""
    done = 0
    while done < records:
        for function, size in WORKLOADS.values():
            done += 2 * function(size)
    return done


def write_mixed(records):
    import cunei

    with cunei.recording(SCRATCH):
        return {"records": run_mixed(records)}


def save_viztracer():
    """Nanoseconds that VizTracer takes to write its memory as JSON."""
    variants, _ = available({"VizTracer": VizTracer})
    if not variants:
        return None
    tracer = variants["VizTracer"].tracer
    file = os.path.join(SCRATCH, "viztracer.json")
    tracer.start()
    records = run_mixed(1_000_000)
    tracer.stop()
    begin = clock_ns()
    tracer.save(file)
    took = clock_ns() - begin
    return {"records": records, "ns": took, "bytes": os.path.getsize(file)}


PARTS = {
    "calls": measure_calls,
    "events": measure_events,
    "instrumenters": lambda: instrumenters.measure(best_turns, ROUNDS),
    "lines": lambda: lines.measure(best_turns, max(2, ROUNDS * 2 // 5)),
    "user-events": lambda: user_events.measure(best_turns, max(2, ROUNDS * 2 // 5)),
    "size": measure_size,
    "first call": measure_first_call,
    "churn": measure_churn,
    "alone": lambda: measure_alone(Plain()),
    "loaded": measure_loaded,
    "excluded": lambda: measure_alone(Recording(exclude="workloads")),
    "big trace": lambda: write_trace(64_000_000),
    "small trace": lambda: write_trace(2_000_000),
    "export trace": lambda: write_mixed(20_000_000),
    "few events": lambda: write_mixed(2_000_000),
    "VizTracer's file": save_viztracer,
}


if __name__ == "__main__":
    gc.disable()
    print(json.dumps(PARTS[sys.argv[1]]()))
