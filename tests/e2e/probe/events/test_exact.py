# SPDX-License-Identifier: MIT
"""Calls and resumes of every Python function are exactly those that cProfile counts.

Both measure the same window of the same process (programs/window.py).  cProfile counts
for all threads together, so times are not compared.  Counts that share a key are added
on both sides: cProfile counts by code object, cunei by identity.
"""

import ast
import json
import sys
from collections import Counter

import ctf
import pytest
from pairs import pairs
from proof import FREE_THREADED, PROGRAMS, TAKEN

ORDERS = 4

NEW = sys.version_info >= (3, 12)
QUALIFIED = sys.version_info >= (3, 11)

# Enough of them for every Python; the rest runs on one.
CORE = {"asyncio", "coroutines", "exceptions", "futures", "generators"}
CORE |= {"imports", "recursion", "tasks"}

# Those with threads, of which cProfile keeps one stack for all (gh-125165).
THREADED = {"asyncio", "futures", "threads"}


def workload_names():
    names = [
        node.name
        for file in ("concurrency.py", "libraries.py", "workloads.py")
        for node in ast.parse((PROGRAMS / file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    ]
    return [name[len("run_") :] for name in names if name.startswith("run_")]


def measure(cunei, *words, is_selected=None):
    """cProfile's counts, of some functions, and cunei's process for each order."""
    if FREE_THREADED and THREADED.intersection(words):
        pytest.skip("without a GIL cProfile loses count of threads, or crashes")
    if sys.version_info[:2] == (3, 11) and "tasks" in words:
        pytest.skip("cProfile gets ends without beginnings, and loses calls")
    done = cunei.run(cunei.python, PROGRAMS / "window.py", *words)
    assert done.returncode == 0, done.stderr
    profiles = []
    for rows in json.loads(done.stdout.splitlines()[-1]):
        profiles.append(Counter())
        for *key, calls in rows:
            if not is_selected or is_selected(key):
                profiles[-1][key_of(*key)] += calls
    processes = ctf.read(cunei.folder / "trace").processes
    assert len(processes) == len(profiles) == ORDERS
    return list(pairs(profiles, processes))


def is_called(key, qualname):
    """Whether that is its name; before 3.11 cProfile knows the last part of it."""
    return key[2] == (qualname if QUALIFIED else qualname.rpartition(".")[2])


def key_of(file, line, name):
    """Before 3.11 cProfile knows no qualified names: the place says what it is."""
    return file, line, name if QUALIFIED or not file else ""


def count(process, *phases):
    """What cProfile can see: before 3.12, the calls of the thread it is on."""
    return process.count(*phases, thread_name=None if NEW else "MainThread")


def entries(process):
    counts = Counter()
    for function, calls in count(process, ctf.ENTER, ctf.RESUME).items():
        counts[key_of(function.file, function.line, function.qualname)] += calls
    return counts


def differences(got, wanted):
    keys = sorted(got.keys() | wanted.keys())
    return {key: (got[key], wanted[key]) for key in keys if got[key] != wanted[key]}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.core if name in CORE else [])
        for name in workload_names()
    ],
)
def test_every_function_is_entered_as_often_as_cprofile_says(cunei, name):
    for profile, process in measure(cunei, name, "trace"):
        assert sum(profile.values()) > 50
        assert differences(entries(process), profile) == {}
        assert process.description["lost"] == "0"
        assert process.is_balanced(), process.replay()


def test_at_least_ten_programs_are_compared():
    assert len(workload_names()) >= 10


def test_the_report_has_the_same_counts(cunei):
    name = "asyncio" if NEW else "generators"  # which has one thread
    for (profile, process), *_ in [measure(cunei, name, "trace")]:
        shown = cunei("report", process.folder, "--json")
        assert shown.returncode == 0, shown.stderr
        report = json.loads(shown.stdout)

        got = Counter()
        for row in report["functions"]:
            key = key_of(row["file"], row["line"], row["qualname"])
            got[key] += row["calls"] + row["resumes"]
        assert differences(got, profile) == {}
        assert report["lost"] == 0


SELECTIONS = {
    "a package": ("asyncio", ["+", "asyncio"], lambda key: "/asyncio/" in key[0]),
    "all but one": ("asyncio", ["-", "asyncio"], lambda key: "/asyncio/" not in key[0]),
    "a function": (
        "generators",
        ["+", "workloads:run_generators.<locals>.e*"],
        lambda key: is_called(key, "run_generators.<locals>.echo"),
    ),
    "a function of any module": (
        "generators",
        ["+", ":*.delegate"],
        lambda key: is_called(key, "run_generators.<locals>.delegate"),
    ),
    "all but a file": (
        "exceptions",
        ["-", "contextlib.py"],
        lambda key: not key[0].endswith("/contextlib.py"),
    ),
    "files, but not some functions": (
        "contexts",
        ["+", "*/functools.py", "+", "workloads.py", "-", "workloads:*.manage"],
        lambda key: (
            key[0].endswith(("/functools.py", "/workloads.py"))
            and not is_called(key, "run_contexts.<locals>.manage")
        ),
    ),
    "an expression": (
        "imports",
        ["+", "re:^importlib.*:_(find|load)"],
        lambda key: (
            key[0].startswith("<frozen importlib")
            and key[2].startswith(("_find", "_load"))
        ),
    ),
    "threads": ("futures", ["+", "threading"], lambda key: "threading.py" in key[0]),
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize(
    "selection",
    [
        pytest.param(name, marks=pytest.mark.core if "all but" in name else [])
        for name in SELECTIONS
    ],
)
def test_a_selection_is_counted_exactly(cunei, selection, taken):
    name, words, is_selected = SELECTIONS[selection]

    words = [name, "trace", taken, *words]
    for profile, process in measure(cunei, *words, is_selected=is_selected):
        assert profile
        assert differences(entries(process), profile) == {}
        assert process.is_balanced(), process.replay()
