# SPDX-License-Identifier: MIT
"""Numbers of a report that must fit together: mean and maximum, wall and CPU time."""

import json
import pstats
import re
import signal

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


def function(shown, name):
    (found,) = (f for f in shown["functions"] if f["qualname"] == name)
    return found


def exported(cunei, wanted):
    """Primitive calls, calls, own and total time of a function, and its callers."""
    done = cunei("export", "trace", "--to", "pstats", "-o", "out.pstats")
    assert done.returncode == 0, done.stderr
    stats = pstats.Stats(str(cunei.folder / "out.pstats")).stats
    (row,) = (row for (_, _, name), row in stats.items() if name == wanted)
    return row


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

    shown = report(cunei)
    branch, work = function(shown, "branch"), function(shown, "work")
    lasted = sum(process["wall_ns"] for process in shown["processes"])
    assert (branch["calls"], work["calls"]) == (1, 4)
    assert work["total_ns"] <= branch["total_ns"] <= lasted
    assert branch["total_ns"] > branch["max_ns"] >= 50_000_000
    for facts in shown["functions"]:
        assert facts["p50_ns"] <= facts["max_ns"]
        assert facts["mean_ns"] <= facts["max_ns"]
    assert branch["mean_ns"] == branch["max_ns"] == branch["p99_ns"]

    primitive, calls, _, total, _ = exported(cunei, "branch")
    assert (primitive, calls) == (1, 1)
    assert total == pytest.approx(branch["total_ns"] / 1e9, abs=1e-6)

    text = cunei("report", "trace").stdout
    assert re.search(r"^forked +3 processes continued functions", text, re.M)
    text = cunei("report", "trace", "--process", shown["processes"][0]["pid"]).stdout
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

    shown = report(cunei)
    down, flat = function(shown, "down"), function(shown, "flat")
    assert (down["calls"], down["recursive"]) == (4010, 4000)
    # On average a call takes half as long as the outermost one, of which there are ten.
    assert down["mean_ns"] > 10 * down["total_ns"] / 4010
    assert down["p50_ns"] / 3 < down["mean_ns"] < down["max_ns"]
    assert flat["mean_ns"] == flat["total_ns"] // 100

    primitive, calls, _, total, _ = exported(cunei, "down")
    assert (primitive, calls) == (10, 4010)
    assert total == pytest.approx(down["total_ns"] / 1e9, abs=1e-6)


THREADS = """\
import threading, time

def nothing():
    pass

begin = time.process_time()
for _ in range(1000):
    thread = threading.Thread(target=nothing)
    thread.start()
    thread.join()
print(time.process_time() - begin)
"""

UNITS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def test_the_title_has_the_cpu_time_of_the_process(cunei):
    """That of a thread before its first event and after its last is in no packet."""
    used = float(record(cunei, THREADS))

    (process,) = report(cunei)["processes"]
    title = cunei("report", "trace", env={"COLUMNS": "200"}).stdout
    number, unit = re.search(r"([\d.]+) (\w+) CPU", title).groups()
    assert process["cpu_ns"] / 1e9 >= used
    assert float(number) * UNITS[unit] == pytest.approx(
        process["cpu_ns"] / 1e9, rel=0.01
    )


NAPS = """\
import os, signal, time

def step():
    pass

def nap():
    time.sleep(0.05)

for _ in range(200_000):
    step()
until = time.monotonic() + 1
while time.monotonic() < until:
    nap()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.core
def test_times_that_are_known_up_to_a_packet_are_lower_bounds(cunei):
    record(cunei, NAPS, status=-signal.SIGKILL)

    (thread,) = report(cunei)["threads"]
    known = thread["known_ns"]
    assert 0 < known < thread["wall_ns"] - 900_000_000
    assert abs(thread["cpu_ns"] + thread["waiting_ns"] - known) <= 1

    text = cunei("report", "trace", "--threads", env={"COLUMNS": "200"}).stdout
    row = next(line for line in text.splitlines() if line.startswith("MainThread"))
    assert len(re.findall(r"≥ [\d.]+", row)) == 3
    share = re.match(r"≥ ([\d.]+)", row[row.rindex("≥") :]).group(1)
    assert float(share) == pytest.approx(
        100 * thread["waiting_ns"] / thread["wall_ns"], abs=0.1
    )
    assert re.search(r"^known +CPU time and waiting of MainThread", text, re.M)


def test_times_of_a_thread_that_ended_are_whole(cunei):
    record(cunei, THREADS)

    shown = report(cunei)
    assert all(t["known_ns"] >= t["wall_ns"] - 1 for t in shown["threads"])
    text = cunei("report", "trace", "--threads").stdout
    assert "≥" not in text and "known" not in text
