"""What a ring costs beside files, and what a snapshot of 256 MB takes."""

import contextlib
import pathlib
import shutil
import statistics
import subprocess
import time

from builds import run

PROGRAM = pathlib.Path(__file__).parent / "keep_program.py"
BLOCKS = 100  # of 100 000 calls: 160 MB
SNAPSHOTS = 5

VARIANTS = {
    "files": [],
    "ring": ["--keep", "64M"],
    "ring in memory": ["--keep", "64M,memory"],
    # Each kind that looks at calls, and none that fires.
    "ring, triggers": [
        *("--keep", "64M", "--trigger", "exception:Never", "--trigger", "lag>1min"),
        *("--trigger", "slow:*>1min", "--trigger", "mark:never", "--trigger", "crash"),
    ],
}


def measure_calls(python, scratch):
    """Nanoseconds of a call; of a block that closes some packets, not of the best."""
    best = {}
    for _ in range(max(3, python.rounds // 3)):
        words = [python.path, PROGRAM, BLOCKS]
        best["plain"] = min(best.get("plain", 1e9), float(run(*words)))
        for name, options in VARIANTS.items():
            trace = scratch / "kept"
            record = [python.cunei, "record", "-q", "-o", trace, *options]
            took = float(run(*record, *words))
            best[name] = min(best.get(name, 1e9), took)
            shutil.rmtree(trace)
    return best


def wait_until_full(python, trace):
    """Until the ring was written once around."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        with contextlib.suppress(Exception):
            if '"complete_ns":0' not in run(python.cunei, "info", "--json", trace):
                return
        time.sleep(1)
    raise subprocess.TimeoutExpired("keep_program.py", 300)


def measure_snapshots(python, scratch):
    """Seconds of a snapshot, and the time of a block during snapshots and between."""
    trace, stop, blocks = scratch / "ring", scratch / "stop", scratch / "blocks"
    record = [python.cunei, "record", "-q", "--keep", "256M", "-o", trace]
    words = [*record, python.path, PROGRAM, 0, stop]
    with blocks.open("w") as output:
        program = subprocess.Popen([str(word) for word in words], stdout=output)
        try:
            wait_until_full(python, trace)
            spans = []
            for number in range(SNAPSHOTS):
                time.sleep(2)
                begin = time.monotonic_ns()
                copy = scratch / f"snapshot-{number}"
                run(python.cunei, "snapshot", trace, "-o", copy)
                spans.append((begin, time.monotonic_ns()))
                size = sum(file.stat().st_size for file in copy.glob("*/s*"))
                shutil.rmtree(copy)
        finally:
            stop.touch()
            program.wait()
    shutil.rmtree(trace)
    rows = [tuple(map(int, row.split())) for row in blocks.read_text().splitlines()]
    first = spans[0][0] - 2_000_000_000
    during = [took for end, took in rows if any(b < end < e for b, e in spans)]
    between = [
        took
        for end, took in rows
        if end > first and not any(b < end < e + 10**8 for b, e in spans)
    ]
    return {
        "seconds": min((end - begin) / 1e9 for begin, end in spans),
        "bytes": size,
        "slower": statistics.mean(during) / statistics.mean(between) if during else 1.0,
    }


def measure(python, scratch):
    folder = scratch / f"keep-{python.version}"
    folder.mkdir()
    figures = {
        "ns": measure_calls(python, folder),
        "snapshot": measure_snapshots(python, folder),
    }
    shutil.rmtree(folder)
    return figures


def limits(figures):
    """(title, limit, value, holds)"""
    ns, snapshot = figures["ns"], figures["snapshot"]
    files = ns["files"] - ns["plain"]
    for name in ("ring", "ring in memory"):
        ratio = (ns[name] - ns["plain"]) / files
        yield f"a call: {name}, × files", "≤ 1.05", f"{ratio:.2f}", ratio <= 1.05
    ratio = (ns["ring, triggers"] - ns["plain"]) / (ns["ring"] - ns["plain"])
    yield "a call: with triggers, × without", "≤ 1.05", f"{ratio:.2f}", ratio <= 1.05
    seconds = snapshot["seconds"]
    title = f"a snapshot of {snapshot['bytes'] / 1e6:.0f} MB"
    yield title, "≤ 0.5 s", f"{seconds:.2f} s", seconds <= 0.5
    slower = snapshot["slower"]
    yield "the program during a snapshot", "", f"× {slower:.2f}", True
