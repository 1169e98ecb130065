# SPDX-License-Identifier: MIT
"""The calls are the same with every instrumenter that a Python has.

The same workloads as in test_exact, each run once for every instrumenter in one
process, and once for cProfile.
"""

import json
import sys
from collections import Counter

import ctf
import pytest
from proof import PROGRAMS
from test_exact import THREADED, differences, entries, key_of, workload_names

NEW = sys.version_info >= (3, 12)

# Those that record calls, the default first.
INSTRUMENTERS = ["monitoring" if NEW else "frame", "profile", "trace"]

CORE = {"coroutines", "delegated:delegated", "exceptions", "generators", "recursion"}
if sys.version_info[:2] == (3, 11):
    CORE |= {"tasks"}

# What each run of them does depends on what the threads do first.
VARIES = THREADED | {"imports"}

# On 3.11 cProfile sees ends without beginnings, and takes them for those of others:
# it leaves out a call of the event loop's run_forever in the first of these.
MISCOUNTED = set()
if sys.version_info[:2] == (3, 11):
    MISCOUNTED = {"tasks", "delegated:delegated"}


def measure(cunei, name):
    """cProfile's counts, and the process that each instrumenter recorded."""
    folder = cunei.folder / "traces"
    folder.mkdir()
    # Without a GIL cProfile may hang where threads are; there it is not asked for.
    words = [*INSTRUMENTERS, *(["--uncounted"] if name in VARIES else [])]
    done = cunei.run(cunei.python, PROGRAMS / "hooked.py", name, folder, *words)
    assert done.returncode == 0, done.stderr
    profile = Counter()
    for file, line, qualname, calls in json.loads(done.stdout.splitlines()[-1]):
        profile[key_of(file, line, qualname)] += calls
    processes = {}
    for instrumenter in INSTRUMENTERS:
        (processes[instrumenter],) = ctf.read(folder / instrumenter).processes
    return profile, processes


def own(counts):
    """Only what the workload itself defines."""
    return Counter(
        {key: n for key, n in counts.items() if key[0].startswith(str(PROGRAMS))}
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.core if name in CORE else [])
        for name in [*workload_names(), "delegated:delegated"]
    ],
)
def test_every_instrumenter_counts_the_same_calls(cunei, name):
    profile, processes = measure(cunei, name)
    for instrumenter, process in processes.items():
        assert process.description["instrumenter"] == instrumenter
        assert process.description["lost"] == "0"
        assert process.description["taken"] == "0"
        assert process.is_balanced(), (instrumenter, process.replay())
        if name in VARIES:
            first = own(entries(processes[INSTRUMENTERS[0]]))
            assert sum(first.values()) > 0
            assert differences(own(entries(process)), first) == {}, instrumenter
        elif name in MISCOUNTED:
            first = entries(processes[INSTRUMENTERS[0]])
            assert sum(first.values()) > 50
            assert differences(entries(process), first) == {}, instrumenter
        else:
            assert sum(profile.values()) > 50
            found = differences(entries(process), profile)
            assert found == {}, instrumenter
