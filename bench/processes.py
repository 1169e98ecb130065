"""Costs that show only from outside a process: start-up, children, reading."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from builds import Failed, run
from clock import clock_ns

DEVNULL = subprocess.DEVNULL


def measure_alone(python):
    """Code that is not recorded, each kind in processes of its own, taking turns.

    Many of them: the place of its memory changes a process by two percent.
    """
    best = {}
    for _ in range(python.rounds * 8 // 5):
        for part in ("alone", "loaded", "excluded"):
            took = python.measure(part, rounds=5)["ns_per_call"]
            best[part] = min(best.get(part, took), took)
    return best


def on_one_core(command):
    core = min(os.sched_getaffinity(0))
    return ["taskset", "-c", str(core), *command]


def start(command):
    words = [str(word) for word in command]
    return subprocess.Popen(words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)


def ended(process):
    if process.wait():
        raise subprocess.CalledProcessError(process.returncode, process.args)


def timed(command):
    """The seconds that a command takes."""
    begin = clock_ns()
    ended(start(command))
    return (clock_ns() - begin) / 1e9


def peak_memory(command):
    """The peak memory of a command in bytes, as the kernel reports it."""
    peak = 0
    process = start(command)
    while process.poll() is None:
        with open(f"/proc/{process.pid}/status") as file:
            found = re.search(r"VmHWM:\s+(\d+)", file.read())
        peak = max(peak, int(found[1]) * 1024 if found else 0)
        time.sleep(0.001)
    ended(process)
    return peak


def measure_startup(python, scratch):
    """Seconds of a program that does nothing, plain and recorded."""
    best = {}
    for number in range(python.rounds):
        trace = scratch / f"nothing-{python.version}-{number}"
        commands = {
            "plain": [python.path, "-c", "pass"],
            "import": [python.path, "-c", "import cunei"],
            "record": [python.cunei, "record", "-q", "-o", trace, "-c", "pass"],
        }
        for name, command in commands.items():
            took = timed(command)
            best[name] = min(best.get(name, took), took)
    return best


def measure_spawn(python, scratch):
    """Nanoseconds of a child of a recorded parent that does nothing: see spawn.py."""
    trace = scratch / f"children-{python.version}"
    record = [python.cunei, "record", "-q", "-o", trace]
    program = [pathlib.Path(__file__).parent / "spawn.py", python.rounds]
    output = run(*record, python.path, *program, CUNEI_BENCH_HELPERS=str(python.folder))
    recorded = len(list(trace.glob("*-*")))
    if recorded <= python.rounds:
        raise Failed(f"only {recorded} processes of {python.rounds + 1} were recorded")
    return json.loads(output.splitlines()[-1])


def best_rate(records, command, rounds=5):
    """Records per second at best, and the memory that it took."""
    best = min(timed(command) for _ in range(rounds))
    return {"records_per_s": records / best, "memory_bytes": peak_memory(command)}


def measure_reader(python, scratch):
    """How fast traces are read, beside babeltrace2."""
    traces = {}
    for name in ("big trace", "small trace"):
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        traces[name] = folder, python.measure(name, scratch=folder)["records"]
    big, records = traces["big trace"]
    small, few = traces["small trace"]
    report = [python.cunei, "report", "--json"]
    dummy = ["babeltrace2", small, "--component=sink.utils.dummy"]
    commands = {
        "decode": (records, on_one_core([python.decode, big])),
        "report": (records, on_one_core([*report, big])),
        "report, all cores": (records, [*report, big]),
        "report, small trace": (few, on_one_core([*report, small])),
        "babeltrace2": (few, on_one_core(dummy)),
    }
    figures = {name: best_rate(*command) for name, command in commands.items()}
    for folder, _ in traces.values():
        shutil.rmtree(folder)
    return figures
