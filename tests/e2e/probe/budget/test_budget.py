# SPDX-License-Identifier: MIT
"""A budget: what costs too much is demoted and estimated, the rest stays exact."""

import json
import re

import pytest
from budgets import (
    BURSTS,
    HOT,
    NOISE,
    SURE,
    assert_estimates,
    events,
    needs_budget,
    note_of,
    record,
    report,
)

pytestmark = needs_budget


@pytest.mark.core
def test_a_tiny_hot_function_is_estimated_and_its_callers_are_exact(cunei):
    done = record(cunei, f"print(hot({BURSTS}))\n", "--budget", "5%")

    facts = report(cunei)
    assert_estimates(facts["functions"], int(done.stdout))
    assert facts["functions"]["outer"]["self_estimated"] is True
    assert facts["functions"]["hot"]["calls"] == 1
    assert facts["processes"][0]["budget_millionths"] == 50_000
    assert facts["bursts"] >= BURSTS
    assert facts["cost_ns"] < 0.2 * facts["processes"][0]["cpu_ns"]
    assert facts["orphans"] == facts["unclosed"] == facts["appeared"] == 0


def test_the_report_marks_estimates_and_says_how_wide_they_are(cunei):
    record(cunei, "hot(9)\n", "--budget", "3")

    text = cunei("report", "trace").stdout

    row = next(line for line in text.splitlines() if " tiny " in line)
    assert row.count("~") >= 3
    note = text[text.index("budget ") :]
    assert "3 %; 1 function was sampled, and estimated (~) from" in note
    assert "tiny calls ±" in note
    assert "unmatched" not in text
    process = json.loads(cunei("info", "--json", "trace").stdout)["processes"][0]
    assert (process["budget_millionths"], process["bursts"] >= 9) == (30_000, True)
    assert process["demotions"] >= 1
    row = f"  budget    3 %: {process['demotions']} sampling decision"
    assert row in cunei("info", "trace").stdout


def test_trees_callers_and_exports_say_what_was_demoted(cunei):
    record(cunei, "hot(6)\n", "--budget", "3")

    callers = cunei("report", "--callers", "tiny", "trace").stdout.splitlines()
    head = next(line for line in callers if line.startswith("tiny "))
    row = next(line for line in callers if " outer " in line)
    assert head.count("~") == row.count("~") == 2
    shown = json.loads(cunei("report", "--callers", "tiny", "--json", "trace").stdout)
    assert all(edge["estimated"] for edge in shown["callers"])
    tree = cunei("report", "--tree", "--min-percent", "0", "trace").stdout
    rows = [line for line in tree.splitlines() if " tiny " in line]
    assert rows[0].count("~") == 3
    nodes = json.loads(cunei("report", "--tree", "--json", "trace").stdout)["tree"]
    assert {node["qualname"] for node in nodes if node.get("demoted")} == {"tiny"}
    done = cunei("export", "--to", "folded", "-o", "out.folded", "trace")
    assert done.stderr.count("recorded with a budget of 3 %") == 1


def test_functions_within_the_budget_are_exact(cunei):
    record(cunei, "outer(100)\n", "--budget", "100%")

    facts = report(cunei)
    assert facts["functions"]["tiny"]["calls"] == 100
    assert "estimated" not in facts["functions"]["tiny"]
    text = cunei("report", "trace").stdout
    assert "no function had to be sampled, all numbers are exact" in text


def test_without_a_burst_an_estimate_is_as_wide_as_itself(cunei):
    record(cunei, "outer(100_000)\n", "--budget", "0.1%")

    tiny = report(cunei)["functions"]["tiny"]
    assert tiny["estimated"] is True
    assert abs(tiny["calls"] - 100_000) <= tiny["calls_width"]


def test_a_budget_that_cannot_be_held_says_so(cunei):
    record(cunei, "outer(100_000)\n", "--budget", "0.1%", "--return", ":tiny")

    assert "estimated" not in report(cunei)["functions"]["tiny"]
    note = note_of(cunei("report", "trace").stdout)
    assert "no function was sampled, all numbers are exact. Recording took more" in note
    assert "functions that were not sampled, such as tiny:" in note


RAISING = """
def tiny():
    raise ValueError

def outer(n):
    for _ in range(n):
        try:
            tiny()
        except ValueError:
            pass

hot(3)
"""


def test_exceptions_that_cost_more_than_the_budget_are_named(cunei):
    record(cunei, RAISING, "--budget", "1%")

    text = cunei("report", "trace").stdout
    note = note_of(text)
    assert "All other numbers are exact, except those of exceptions:" in note
    assert "Recording took more than that: ≈" in note
    assert "of the CPU time, mostly for exceptions," in note
    ended = r"≥ [\d ]+ calls ended with an exception: tiny ≥ \d"
    assert re.search(ended, " ".join(text.split())), text


def test_exceptions_of_demoted_functions_are_marked(cunei):
    record(cunei, RAISING, "--budget", "1%")

    text = cunei("report", "--exceptions", "trace").stdout
    assert all(
        line.startswith("≥") == (" tiny " in line)
        for line in map(str.strip, text.splitlines())
        if " ValueError " in line
    )
    exceptions = report(cunei)["exceptions"]
    assert {item["function"] for item in exceptions if item.get("demoted")} == {"tiny"}


AWAITING = """
async def leaf():
    pass

async def main():
    for _ in range(300_000):
        await leaf()

hot(1)
try:
    main().send(None)
except StopIteration:
    pass
"""


def test_coroutines_that_cost_more_than_the_budget_are_named(cunei):
    record(cunei, AWAITING, "--budget", "1%")

    assert report(cunei)["functions"]["leaf"]["calls"] == 300_000
    note = note_of(cunei("report", "trace").stdout)
    assert " sampled, and estimated (~) from " in note
    assert "Recording took more than that: ≈" in note
    assert "mostly for calls of functions that were not sampled, such as leaf:" in note


CALLERS = """
def one(): tiny()
def two(): tiny()
def three(): tiny()
def four(): tiny()
def five(): tiny()

def outer(n):
    for _ in range(n // 5):
        one(), two(), three(), four(), five()

hot(6)
"""


def test_callers_add_up(cunei):
    record(cunei, CALLERS, "--budget", "3%")

    shown = json.loads(cunei("report", "--callers", "tiny", "--json", "trace").stdout)
    tiny = next(item for item in shown["functions"] if item["qualname"] == "tiny")
    known = [edge for edge in shown["callers"] if "others" not in edge]
    others = [edge for edge in shown["callers"] if edge.get("others")]
    assert tiny["estimated"] is True
    assert len(known) >= 3
    assert len(others) == 1
    assert others[0]["caller"]["qualname"] is None
    for key in ("calls", "total_ns"):
        assert sum(edge[key] for edge in shown["callers"]) == pytest.approx(
            tiny[key], rel=0.01
        )
    text = cunei("report", "--callers", "tiny", "trace").stdout
    assert text.count("other callers, in no sample") == 1


def test_demotions_bursts_and_samples_are_events(cunei):
    record(cunei, "hot(9)\n", "--budget", "5%")

    demotes, samples = events(cunei, "demote"), events(cunei, "sample")
    assert demotes[0]["phase"] == "enter"
    assert "tiny" in demotes[0]["function"]
    bursts = [event for event in demotes if event["payload"]["function"] == 0]
    assert [event["phase"] for event in bursts[:4]] == ["resume", "yield"] * 2
    sampled = sum(
        event["payload"]["calls"] for event in samples if event["phase"] == "enter"
    )
    tiny = report(cunei)["functions"]["tiny"]
    assert sampled + tiny["recorded_calls"] == tiny["calls"]


THREADS = """
import threading
rounds = []
threads = [
    threading.Thread(target=lambda: rounds.append(hot(BURSTS))) for _ in range(3)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(rounds), threading.active_count())
"""


def test_threads_while_the_main_one_waits(cunei):
    done = record(cunei, THREADS.replace("BURSTS", str(BURSTS)), "--budget", "5%")

    rounds, threads = map(int, done.stdout.split())
    assert threads == 1
    assert_estimates(report(cunei)["functions"], rounds)


FORK = """
import os, warnings
warnings.simplefilter("error")
first = hot(9)
child = os.fork()
print(first * (child > 0) + hot(BURSTS), flush=True)
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_has_a_budget_of_its_own_and_no_thread_to_warn_of(cunei):
    done = record(cunei, FORK.replace("BURSTS", str(BURSTS)), "--budget", "5%")

    assert "Warning" not in done.stderr
    facts = report(cunei)
    assert len(facts["processes"]) == 2
    assert_estimates(facts["functions"], sum(map(int, done.stdout.split())))


OTHERS = """
import sys
monitoring = sys.monitoring
seen = {"tiny": 0, "once": 0}

def once():
    pass

def count(code, offset):
    if code is once.__code__:
        seen["once"] += 1
        return monitoring.DISABLE
    if code is tiny.__code__:
        seen["tiny"] += 1

monitoring.use_tool_id(1, "other")
monitoring.register_callback(1, monitoring.events.PY_START, count)
monitoring.set_events(1, monitoring.events.PY_START)
for _ in range(30):
    once()
    outer(10_000)
print(seen, monitoring.get_events(1), monitoring.get_local_events(1, tiny.__code__))
"""


def test_other_tools_notice_nothing(cunei):
    done = record(cunei, OTHERS, "--budget", "5%")

    assert done.stdout == "{'tiny': 300000, 'once': 1} 1 0\n"
    assert report(cunei)["functions"]["once"]["calls"] == 30


CALM = """
hot(3)
probe = sys.modules["cunei._probe"]
tool = next(id for id in range(6) if sys.monitoring.get_tool(id) == "cunei")
for _ in range(3_000):
    sum(range(20_000))
    if probe.bursts() > 9 and sys.monitoring.get_local_events(tool, tiny.__code__):
        break
outer(10)
"""


def test_a_program_that_has_calmed_down_is_recorded_in_full_again(cunei):
    record(cunei, CALM, "--budget", "5%")

    phases = [
        event["phase"]
        for event in events(cunei, "demote")
        if event["payload"]["function"]
    ]
    assert phases[0] == "enter"
    assert phases[-1] == "leave"


def test_generators_are_demoted_too(cunei):
    source = "def numbers():\n    while True:\n        yield 1\n"
    source += "g = numbers()\ndef tiny():\n    next(g)\n"
    done = record(cunei, source + f"print(hot({BURSTS}))\n", "--budget", "5%")

    numbers = report(cunei)["functions"]["numbers"]
    assert numbers["estimated"] is True
    resumes = int(done.stdout) * 2_000
    assert abs(numbers["resumes"] - resumes) <= SURE * numbers["resumes_width"]
    assert numbers["resumes"] == pytest.approx(resumes, rel=NOISE)
    assert ", resumes ± " in note_of(cunei("report", "trace").stdout)
    assert numbers["calls"] == pytest.approx(1, abs=numbers["calls_width"] + 1)


WAITING = """
import time

def tiny(wait=0):
    if wait:
        time.sleep(wait)

tiny(0.5)
hot(9)
"""


def test_time_that_was_waited_before_a_demotion_is_not_estimated(cunei):
    record(cunei, WAITING, "--budget", "1%")

    facts = report(cunei)
    tiny = facts["functions"]["tiny"]
    assert tiny["estimated"] is True
    assert tiny["self_ns"] < 0.5e9 + 2 * facts["duration_ns"]


LONG = """
def numbers(n):
    for i in range(n):
        yield i

def outer(n):
    sum(numbers(100 * n))

print(hot(9))
"""


def test_calls_that_no_burst_has_seen_are_not_counts(cunei):
    done = record(cunei, LONG, "--budget", "1%")

    numbers = report(cunei)["functions"]["numbers"]
    assert numbers["estimated"] is True
    assert numbers["counted"] is False
    assert abs(numbers["calls"] - int(done.stdout)) <= SURE * numbers["calls_width"]
    text = cunei("report", "trace").stdout
    assert " · ~" in text[: text.index(" calls, ")]
    row = next(line for line in text.splitlines() if " numbers " in line)
    calls, resumes = (f"~{numbers[key]:_}" for key in ("calls", "resumes"))
    # Of how long it was suspended, bursts have seen a part.
    wanted = rf" {calls} +{resumes} +– ".replace("_", r"\s")
    assert re.search(wanted, row), (row, wanted)


INSIDE = """
import cunei
with cunei.recording("trace", budget="5%"):
    print(hot(BURSTS))
outer(10)
"""


def test_a_recording_from_inside(cunei):
    cunei.write("app.py", HOT + INSIDE.replace("BURSTS", str(BURSTS)))

    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert_estimates(report(cunei)["functions"], int(done.stdout))


@pytest.mark.parametrize("budget", ["0", "0.01", "101%", "-5", "x", "", "5%%", "nan"])
def test_an_invalid_budget_is_refused(cunei, budget):
    cunei.write("app.py", "")

    done = cunei("record", f"--budget={budget}", "-o", "trace", "app.py")

    assert done.returncode == 2
    assert done.stderr == (
        "cunei: --budget needs a percentage from 0.1 to 100, for example 5%, not "
        f"'{budget}'\n"
    )


@pytest.mark.parametrize("budget", [0, "x", 1000, float("nan"), "5%%", []])
def test_an_invalid_budget_is_refused_from_inside(cunei, budget):
    cunei.write(
        "app.py",
        "import cunei\n"
        f"try: cunei.start('trace', budget={budget!r})\n"
        "except ValueError as error: print(error)\n".replace("nan", "float('nan')"),
    )

    done = cunei.run(cunei.python, "app.py")

    assert done.stdout.startswith("budget must be a percentage from 0.1 to 100")


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--c-calls"], "--c-calls; use only one of them"),
        (["--lines", "app"], "--lines; use only one of them"),
        (["--instrumenter", "profile"], "--instrumenter profile; use monitoring "
         "(CPython 3.12 or newer)"),
        (["--instrumenter", "none"], "--instrumenter none; use monitoring (CPython "
         "3.12 or newer)"),
    ],
)  # fmt: skip
def test_options_that_exclude_a_budget_are_named(cunei, words, options):
    cunei.write("app.py", "")

    done = cunei("record", "--budget", "5", *words, "-o", "trace", "app.py")

    sentence = f"cunei: --budget cannot be used with {options}\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def test_a_budget_needs_two_tool_ids(cunei):
    cunei.write(
        "app.py",
        "import sys, cunei\n"
        "for tool in (4, 3): sys.monitoring.use_tool_id(tool, 'other')\n"
        "try: cunei.start('trace', budget=5)\n"
        "except cunei.Error as error: print(error)\n",
    )

    done = cunei.run(cunei.python, "app.py")

    assert done.stdout.startswith("a budget needs two tool ids of sys.monitoring")
