# SPDX-License-Identifier: MIT
"""One program with every kind of event, and everything that reads traces."""

import collections
import importlib.util
import json
import math
import os
import pathlib
import pstats
import random
import shutil
import signal
import subprocess

import ctf
import pytest
from babeltrace import compare, compare_json
from proof import (
    FREE_THREADED,
    Counters,
    Recording,
    cunei,
    needs_babeltrace,
    needs_monitoring,
    wait_for,
)

PROGRAM = pathlib.Path(__file__).parents[1] / "support/programs/everything.py"
KINDS = (
    "argument counter exception gap gc mark metadata parameter stack tag task "
    "thread_name token unwind"
)
CALLS = ("--c-calls", "--args=__main__", "--return=__main__")
BUDGET = ("--budget=5%", "--args=:fail", "--args=:tagged", "--return=:generate")
ROUNDS = int(os.environ.get("CUNEI_ROUNDS", "25"))


def record(directory, options, *words):
    chosen = ("--include=__main__", "--include=greenlet")
    done = cunei("record", "-q", *chosen, *options, "-o", directory, PROGRAM, *words)
    assert done.stderr == ""
    return directory


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return record(tmp_path_factory.mktemp("everything") / "trace", CALLS)


def is_same(number, wanted):
    """A number of a dump; what JSON has no number for is a text there."""
    number = float(number) if isinstance(number, str) else number
    wanted = float(wanted) if abs(wanted) >= 2**63 and wanted != -(2**63) else wanted
    if math.isnan(wanted):
        return math.isnan(number)
    return number == wanted and math.copysign(1, number) == math.copysign(1, wanted)


@pytest.mark.core
@needs_babeltrace
def test_all_events_are_printed_alike(trace):
    kinds = compare_json(trace, compare(trace))

    has_greenlets = importlib.util.find_spec("greenlet") and not FREE_THREADED
    wanted = {*KINDS.split(), *(["switch"] if has_greenlets else [])}
    assert set(kinds) == wanted
    numbers = [0, -1, 2**63 - 1, -(2**63), 2**63, math.inf, 0.1, -0.0, 5e-324, 1]
    numbers += [math.nan, math.inf, -math.inf]
    for kind in "mark", "metadata", "parameter":
        # By thread: those without a GIL say theirs at the same time.
        threads = collections.defaultdict(list)
        for event in kinds[kind]:
            if event["name"] == "number":
                threads[event["tid"]].append(event["value"])
        assert len(threads) == 3
        for values in threads.values():
            assert len(values) == len(numbers)
            assert all(map(is_same, values, numbers)), (kind, values)


@needs_babeltrace
@needs_monitoring
@pytest.mark.skipif(FREE_THREADED, reason="a budget takes a GIL")
def test_so_are_demotions_and_samples(tmp_path):
    directory = record(tmp_path / "trace", BUDGET, "budget")

    kinds = compare_json(directory, compare(directory))

    assert {"demote", "sample", "gap", "argument", "counter"} <= set(kinds)
    assert {event["phase"] for event in kinds["demote"]} >= {"enter", "resume", "yield"}


VIEWS = (
    "--tree --threads --processes --tasks --exceptions --regions --counters "
    "--marks --tokens --callers=tiny"
)


def test_every_view_shows_it(trace):
    for view in VIEWS.split():
        assert len(cunei("report", view, trace).stdout.splitlines()) > 3, view
    report = json.loads(cunei("report", "--json", trace).stdout)
    troubles = ["lost", "orphans", "unclosed", "appeared", "missing_packets"]
    assert {name: report[name] for name in troubles} == dict.fromkeys(troubles, 0)
    for line in cunei("replay", "--json", trace).stdout.splitlines():
        json.loads(line)
    assert "left open" in cunei("replay", trace).stdout
    assert cunei("info", trace).stdout


def read_json(path):
    json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))


def read_perfetto(path):
    from test_perfetto import schema  # skips where its package is missing

    read = schema.Trace()
    read.ParseFromString(path.read_bytes())
    assert len(read.packet) > 100


def printed(*command):
    done = subprocess.run(command, capture_output=True, errors="replace", timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_callgrind(path):
    if shutil.which("callgrind_annotate"):
        assert "everything.py" in printed("callgrind_annotate", path)


def read_otf2(path):
    if shutil.which("otf2-print"):
        # A reader of a damaged archive may print for ever.
        text = printed("timeout", "30", "otf2-print", path / "traces.otf2")
        assert text.count("ENTER") > 100 and "METRIC" in text


FORMATS = "callgrind chrome csv ctf folded html otf2 perfetto pprof pstats speedscope"
READERS = {
    "callgrind": read_callgrind,
    "chrome": read_json,
    "otf2": read_otf2,
    "perfetto": read_perfetto,
    "pstats": lambda path: pstats.Stats(str(path)),
    "speedscope": read_json,
}


@pytest.mark.parametrize("form", FORMATS.split())
def test_every_format_takes_it(trace, tmp_path, form):
    path = tmp_path / f"exported.{form}"
    done = cunei("export", trace, "--to", form, "-o", path, check=False)
    if "cannot export to" in done.stderr:
        pytest.skip("cunei was built without the library of it")

    assert done.returncode == 0, done.stderr
    READERS.get(form, lambda path: None)(path)


@pytest.mark.crash
def test_a_kill_loses_nothing_that_was_reported(tmp_path):
    for seed in range(max(4, ROUNDS // 6)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        print(f"round {seed}; see {folder}")  # shown where it fails
        kill_round(folder, random.Random(seed))
        shutil.rmtree(folder)


def kill_round(folder, chance):
    rounds = Counters(folder / "rounds", 1)
    options = ("-q", "--include=__main__", "--args=:fail")
    recording = Recording(folder / "trace", PROGRAM, folder / "rounds", options=options)

    least = 1 + int(1_000 * chance.random() ** 3)
    wait_for(lambda: rounds[0] >= least, recording.launcher)
    recording.kill_program()
    status, _, _ = recording.wait()

    assert status == -signal.SIGKILL
    check_rounds(folder / "trace", rounds[0])


def check_rounds(directory, rounds):
    """All of so many rounds is there; of the next one there may be something."""
    cunei("recover", directory)
    report = json.loads(cunei("report", "--json", directory).stdout)
    regions = {region["name"]: region for region in report["regions"]}
    counter = {each["name"]: each for each in report["counters"]}["rounds"]
    marks = [mark["value"] for mark in report["marks"] if mark["name"] == "round"]
    tokens = {each["name"]: each for each in report["tokens"]}["rounds"]
    parameters = [
        event
        for event in ctf.read(directory).processes[0].events()
        if event.kind == ctf.PARAMETER and event.value.name == "round"
    ]

    assert regions["round"]["count"] - rounds in (0, 1)
    assert marks == list(range(len(marks))) and len(marks) - rounds in (0, 1)
    assert counter["sum"] - rounds in (0, 1)
    assert tokens["count"] - rounds in (0, 1)
    assert len(parameters) - rounds in (0, 1)
    assert regions["for ever"]["count"] == 1
    (thread,) = (thread for thread in report["threads"] if "for ever" in thread["open"])
    assert not thread["ended"]
    assert "for ever" in cunei("replay", directory).stdout
    assert report["lost"] == 0
