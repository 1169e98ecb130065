"""The cost of recording and reading, beside cProfile, VizTracer and babeltrace2.

    make bench                            every Python found
    make bench ARGS="--python 3.13 --rounds 100 --json figures.json"
    make bench ARGS="--python 3.13t --only thread --only spawn"
    make bench ARGS="--cpu"               CPU time, for a busy machine

Figures are ratios to others of the same run.  The limits of the project stand beside
them.  A missed limit is not a failure: measure again on an idle machine.
"""

import argparse
import fcntl
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))

import attaching
import budget
import exports
import filters
import follow
import instrumenter_table
import keep
import processes
import tables
from builds import BUILD, ROOT, Failed, run
from environments import install, pythons
from event_rows import ROWS
from workloads import WORKLOADS

# Turns of each variant in the first Python, and in the others.
ROUNDS = 25
FEWER_ROUNDS = 8

FOLDER = BUILD / "bench"
FLAGS = ["-O3", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}"]
SHARED = [*FLAGS, "-shared", "-fPIC"]


def has_monitoring(version):
    return int(version.split(".")[1]) >= 12


def build_helpers(python, version):
    """Compile the floors, the discarding write and the bare decoder."""
    folder = FOLDER / version
    folder.mkdir(parents=True, exist_ok=True)
    where = "import sysconfig; print(sysconfig.get_path('include'))"
    include = f"-isystem{run(python, '-c', where).strip()}"
    bench = ROOT / "bench"
    run("gcc", *SHARED, include, bench / "hooks.c", "-o", folder / "cunei_hooks.so")
    if has_monitoring(version):
        run("gcc", *SHARED, include, bench / "floor.c", "-o", folder / "cunei_floor.so")
    run("gcc", *SHARED, bench / "discard.c", "-o", folder / "discard.so")
    layers = (ROOT / "src" / name for name in ("base", "python", "wire", "trace"))
    sources = [file for layer in layers for file in layer.rglob("*.c")]
    decode = [bench / "decode.c", *sources, "-o", folder / "decode", "-pthread"]
    run("gcc", *FLAGS, "-DNDEBUG", *decode)
    return folder


class Python:
    """A Python with cunei installed, in which parts of measure.py run."""

    def __init__(self, version, path, rounds):
        self.version = version
        self.rounds = rounds
        self.path = install("bench", version, path)
        self.cunei = self.path.parent / "cunei"
        self.folder = build_helpers(self.path, version)
        self.decode = self.folder / "decode"

    def measure(self, part, *rows, scratch=None, rounds=None, **variables):
        variables["CUNEI_BENCH_ROUNDS"] = str(rounds or self.rounds)
        variables["PYTHONPATH"] = str(self.folder)
        scratch = scratch or tempfile.mkdtemp(dir=FOLDER)
        script = [ROOT / "bench" / "measure.py", part, scratch]
        output = run(self.path, *script, *rows, **variables)
        return json.loads(output.splitlines()[-1])  # there may be warnings above


def measure_calls(python, *rows):
    return python.measure("calls", *rows, LD_PRELOAD=str(python.folder / "discard.so"))


def inside(part):
    return lambda python, *rows: python.measure(part, *rows)


PARTS = {
    "calls": measure_calls,
    "events": inside("events"),
    "instrumenters": inside("instrumenters"),
    "lines": inside("lines"),
    "user-events": inside("user-events"),
    "first call": inside("first call"),
    "churn": inside("churn"),
    "size": inside("size"),
    "alone": processes.measure_alone,
    "startup": lambda python: processes.measure_startup(python, FOLDER),
    "spawn": lambda python: processes.measure_spawn(python, FOLDER),
    "reader": lambda python: processes.measure_reader(python, FOLDER),
    "budget": lambda python: budget.measure(python, FOLDER),
    "filters": lambda python: filters.measure(python, FOLDER),
    "exports": lambda python: exports.measure(python, FOLDER),
    "follow": lambda python: follow.measure(python, FOLDER),
    "keep": lambda python: keep.measure(python, FOLDER),
    "attach": lambda python: attaching.measure(python, FOLDER),
}
# The Python that wrote a trace makes no difference to these.
ONCE = ("reader", "exports", "follow")
ROWS_OF = {"calls": WORKLOADS, "events": ROWS}


def has_any(name, words):
    return any(word in name for word in words)


def asked(words):
    """(part, rows) that have one of the words in their names; no rows are all rows."""
    for part in PARTS:
        rows = [row for row in ROWS_OF.get(part, ()) if has_any(row, words)]
        if not words or has_any(part, words):
            yield part, []
        elif rows:
            yield part, rows


def measure(python, parts):
    figures = {"python": python.version, "failed": {}}
    for part, rows in parts:
        try:
            figures[part] = PARTS[part](python, *rows)
        except (Failed, subprocess.SubprocessError) as error:
            figures["failed"][part] = str(error).strip()
    return figures


def arguments():
    parser = argparse.ArgumentParser(
        prog="make bench ARGS=",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--python", default="", help="only versions with this prefix")
    parser.add_argument("--rounds", type=int, help="turns of each variant")
    parser.add_argument("--only", action="append", default=[], help="parts or rows")
    parser.add_argument("--cpu", action="store_true", help="CPU time, not wall clock")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures there")
    return parser.parse_args()


def is_wanted(version, wanted):
    """3.13t is 3.13.5t; 3.13 is not: a free-threaded build is another Python."""
    if not wanted:
        return True
    same_kind = version.endswith("t") == wanted.endswith("t")
    return same_kind and version.startswith(wanted.rstrip("t"))


def lock_alone():
    """Two runs would disturb each other; the lock lasts while the file is open."""
    BUILD.mkdir(exist_ok=True)
    lock = (BUILD / "bench.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("cunei: another make bench is running here")
    return lock


def main():
    options = arguments()
    chosen = [row for row in pythons() if is_wanted(row[0], options.python)]
    parts = list(asked(options.only))
    if not chosen:
        sys.exit(f"cunei: no Python {options.python} here")
    if not parts:
        sys.exit(f"cunei: no part or row is called {options.only}")
    lock = lock_alone()
    if options.cpu:
        os.environ["CUNEI_BENCH_CPU"] = "1"
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    found = []
    for version, path in chosen:
        rounds = options.rounds or (FEWER_ROUNDS if found else ROUNDS)
        figures = measure(Python(version, path, rounds), parts)
        parts = [part for part in parts if part[0] not in ONCE]
        tables.show(figures)
        found.append(figures)
    instrumenter_table.show(found)
    shutil.rmtree(FOLDER)
    lock.close()
    if options.json:
        report = {"version": 1, "machine": platform.machine(), "pythons": found}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
