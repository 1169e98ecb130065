# SPDX-License-Identifier: MIT
"""Numbers of a report that must fit together."""

import json
import pstats
import re

import pytest


def record(cunei, source, *options, status=0):
    cunei.write("app.py", source)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert done.returncode == status, done.stderr
    return done.stdout


def report(cunei):
    done = cunei("report", "trace", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def function(told, name):
    (found,) = (f for f in told["functions"] if f["qualname"] == name)
    return found


FORKS = """\
import os, time

def work():
    until = time.monotonic() + 0.05
    while time.monotonic() < until:
        pass

def branch():
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            work()
            os._exit(0)
        children.append(pid)
    work()
    for pid in children:
        os.waitpid(pid, 0)

branch()
"""


@pytest.mark.core
def test_what_a_forked_child_inherits_is_no_activation(cunei):
    """Its time counts in each process, at most as long as that process lasted."""
    record(cunei, FORKS, "--include", "__main__")

    told = report(cunei)
    branch, work = function(told, "branch"), function(told, "work")
    lasted = sum(process["wall_ns"] for process in told["processes"])
    assert (branch["calls"], work["calls"]) == (1, 4)
    assert work["total_ns"] <= branch["total_ns"] <= lasted
    assert branch["total_ns"] > branch["max_ns"] >= 50_000_000
    for facts in told["functions"]:
        assert facts["p50_ns"] <= facts["max_ns"]
        assert facts["mean_ns"] <= facts["max_ns"]
    assert branch["mean_ns"] == branch["max_ns"] == branch["p99_ns"]

    text = cunei("report", "trace").stdout
    assert re.search(r"^forked +3 processes continued functions", text, re.M)
    text = cunei("report", "trace", "--process", told["processes"][0]["pid"]).stdout
    assert "forked" not in text


RECURSION = """\
def down(n):
    if n:
        down(n - 1)

def flat(n):
    return n

for _ in range(10):
    down(400)
for n in range(100):
    flat(n)
"""


@pytest.mark.core
def test_mean_and_percentiles_count_the_same_activations(cunei):
    record(cunei, RECURSION, "--include", "__main__")

    told = report(cunei)
    down, flat = function(told, "down"), function(told, "flat")
    assert (down["calls"], down["recursive"]) == (4010, 4000)
    # On average a call takes half as long as the outermost one.
    assert down["total_ns"] / 4010 < down["p50_ns"] / 10
    assert down["p50_ns"] / 3 < down["mean_ns"] < down["max_ns"]
    assert flat["mean_ns"] == flat["total_ns"] // 100

    done = cunei("export", "trace", "--to", "pstats", "-o", "out.pstats")
    assert done.returncode == 0, done.stderr
    stats = pstats.Stats(str(cunei.folder / "out.pstats")).stats
    ((primitive, calls, _, total, _),) = (
        row for (_, _, name), row in stats.items() if name == "down"
    )
    assert (primitive, calls) == (10, 4010)
    assert total == pytest.approx(down["total_ns"] / 1e9, abs=1e-6)
