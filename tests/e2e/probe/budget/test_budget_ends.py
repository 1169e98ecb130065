# SPDX-License-Identifier: MIT
"""Under a budget: abrupt ends, and which function the time belongs to."""

import pytest
from budgets import (
    BURSTS,
    HOT,
    assert_estimates,
    events,
    needs_budget,
    note_of,
    record,
    report,
)

pytestmark = needs_budget

KILLED = """
import os, signal
hot(1, n=100)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_demoted_before_a_kill_is_not_exact(cunei):
    cunei.write("app.py", HOT + KILLED)
    cunei("record", "--budget", "0.5%", "-o", "trace", "app.py")

    tiny = report(cunei)["functions"]["tiny"]
    assert tiny["estimated"] is True
    assert tiny["counted"] is False
    text = cunei("report", "trace").stdout
    assert "partly recorded" in note_of(text)
    row = next(line for line in text.splitlines() if " tiny " in line)
    assert row.count("~") >= 3


# The program writes its counts first, because it ends without any notice.
ENDING = """
import os, signal
print(hot(BURSTS), flush=True)
END
"""
TERM = "os.kill(os.getpid(), signal.SIGTERM)"
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
EXEC = "os.execv(sys.executable, [sys.executable, '-S', '-c', 'pass'])"
EXIT = "os._exit(0)"


@pytest.mark.parametrize("end", [TERM, KILL, EXEC, EXIT])
def test_an_end_without_a_word_is_within_the_width(cunei, end):
    source = ENDING.replace("BURSTS", str(BURSTS)).replace("END", end)
    cunei.write("app.py", HOT + source)
    done = cunei("record", "--budget", "5%", "-o", "trace", "app.py")

    assert_estimates(report(cunei)["functions"], int(done.stdout))


POOL = """
import multiprocessing

def work(_):
    return hot(BURSTS)

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(work, range(2), chunksize=1)))
"""


def test_workers_that_a_pool_terminates_are_within_the_width(cunei):
    done = record(cunei, POOL.replace("BURSTS", str(BURSTS)), "--budget", "5%")

    assert_estimates(report(cunei)["functions"], int(done.stdout))


def test_a_demotion_ends_with_the_estimate(cunei):
    record(cunei, "hot(9)\n", "--budget", "5%")

    last = [event for event in events(cunei, "demote") if event["payload"]["function"]]
    assert last[-1]["phase"] == "leave"


RECURSION = """
def tiny(n=4):
    if n:
        tiny(n - 1)

hot(9)
"""
TWO = """
def tiny(n=4):
    if n:
        other(n - 1)

def other(n):
    if n:
        tiny(n - 1)

hot(9)
"""


@pytest.mark.parametrize("source", [RECURSION, TWO])
def test_a_recursion_takes_its_time_from_its_first_caller(cunei, source):
    record(cunei, source, "--budget", "5%")

    demoted = {event["payload"]["function"] for event in events(cunei, "demote")}
    of_callers = [
        event for event in events(cunei, "sample") if event["phase"] == "leave"
    ]
    payloads = [event["payload"] for event in of_callers]
    inner = [one for one in payloads if one["caller"] in demoted]
    assert inner, payloads
    assert not [one for one in inner if one["span"] in demoted | {0}]
    functions = report(cunei)["functions"]
    assert functions["outer"]["self_estimated"] is True


def test_own_time_is_as_wide_as_the_cost_of_events_is_unsure(cunei):
    record(cunei, f"hot({BURSTS})\n", "--budget", "5%")

    facts = report(cunei)
    tiny = facts["functions"]["tiny"]
    entries = tiny["calls"] - tiny["recorded_calls"]
    # An event takes 10 ns and more, and a fifth of both of a call's may be elsewhere.
    assert tiny["self_width_ns"] >= 0.2 * 2 * 10 * entries
    assert tiny["self_ns"] <= 1.1 * facts["duration_ns"]
