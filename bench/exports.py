"""Speed and size of each export.

For comparison: babeltrace2 reads the same trace, otf2-print reads one of the results,
and VizTracer saves the same programs as JSON.
"""

import json
import pathlib
import shutil

from builds import run
from processes import timed

ROUNDS = 3


def size_of(path):
    path = pathlib.Path(path)
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def measure_export(cunei, name, trace, result):
    command = [cunei, "export", trace, "--to", name, "-o", result]
    best = float("inf")
    for _ in range(ROUNDS):
        remove(result)
        best = min(best, timed(command))
    return best


def figure(events, seconds, size=None):
    row = {"events_per_s": events / seconds}
    if size is not None:
        row["bytes_per_event"] = size / events
    return row


def measure(python, scratch):
    traces = {}
    for name in ("export trace", "few events"):
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        traces[name] = folder, python.measure(name, scratch=folder)["records"]
    trace, events = traces["export trace"]
    small, few = traces["few events"]
    result = scratch / "result"
    rows = {"report": figure(events, timed([python.cunei, "report", "--json", trace]))}
    for row in json.loads(run(python.cunei, "export", "--list", "--json"))["formats"]:
        if row["is_built"]:
            took = measure_export(python.cunei, row["name"], trace, result)
            rows[row["name"]] = figure(events, took, size_of(result))
            remove(result)
    dummy = ["babeltrace2", small, "--component=sink.utils.dummy"]
    rows["babeltrace2, reading"] = figure(few, timed(dummy))
    if "otf2" in rows and shutil.which("otf2-print"):
        measure_export(python.cunei, "otf2", small, result)
        took = timed(["otf2-print", result / "traces.otf2"])
        rows["otf2-print, reading"] = figure(few, took)
        remove(result)
    saved = python.measure("VizTracer's file", scratch=scratch)
    if saved:
        took = saved["ns"] / 1e9
        rows["VizTracer, saving"] = figure(saved["records"], took, saved["bytes"])
    for folder, _ in traces.values():
        shutil.rmtree(folder)
    return rows
