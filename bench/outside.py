"""What only shows from outside a process: start-up, reading, code left alone."""

import os
import shutil
import subprocess
import time

ROUNDS = 25
DEVNULL = subprocess.DEVNULL


def measure_alone(python):
    """Code that is not recorded, each kind in processes of its own, taking turns."""
    best = {}
    for _ in range(9):
        for part in ("alone", "loaded", "excluded"):
            took = python.measure(part, CUNEI_BENCH_ROUNDS="10")["ns_per_call"]
            best[part] = min(best.get(part, took), took)
    return best


def timed(command, one_core=False):
    """Run a command: seconds, and the most memory it held, in bytes."""
    words = [str(word) for word in command]
    if one_core:
        words = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *words]
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return took, usage.ru_maxrss * 1024


def measure_startup(python, scratch):
    """Seconds of a program that does nothing, plain and recorded."""
    trace = scratch / "nothing"
    record = [python.cunei, "record", "-q", "--force", "-o", trace, "-c", "pass"]
    commands = {
        "plain": [python.path, "-c", "pass"],
        "import": [python.path, "-c", "import cunei"],
        "record": record,
    }
    best = {}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            took, _ = timed(command)
            best[name] = min(best.get(name, took), took)
    shutil.rmtree(trace)
    return best


def best_rate(records, command, one_core=True, rounds=5):
    """Records per second at best, and the memory that took."""
    results = [timed(command, one_core) for _ in range(rounds)]
    return {
        "records_per_s": records / min(took for took, _ in results),
        "memory_bytes": max(memory for _, memory in results),
    }


def measure_reader(python, scratch):
    """How fast traces are read, and babeltrace2 beside it."""
    traces = {}
    for name in ("big trace", "small trace"):
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        traces[name] = folder, python.measure(name, folder)["records"]
    big, records = traces["big trace"]
    small, few = traces["small trace"]
    report = [python.cunei, "report", "--json"]
    dummy = ["babeltrace2", small, "--component=sink.utils.dummy"]
    figures = {
        "decode": best_rate(records, [python.decode, big]),
        "report": best_rate(records, [*report, big]),
        "report, all cores": best_rate(records, [*report, big], one_core=False),
        "report, small trace": best_rate(few, [*report, small]),
    }
    if shutil.which("babeltrace2"):
        figures["babeltrace2"] = best_rate(few, dummy, rounds=2)
    for folder, _ in traces.values():
        shutil.rmtree(folder)
    return figures
