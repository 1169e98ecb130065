# SPDX-License-Identifier: MIT
"""Lines of chosen functions: as often as they ran and as long as they took."""

import ast
import json
import re
import sys
from collections import Counter

import ctf
import pytest
from proof import PROGRAMS, needs_monitoring

pytestmark = pytest.mark.core


# line_profiler sets LINE without PY_START: from 3.13 on it misses functions whose body
# stands beside their head (gh-155992).
BESIDE_THEIR_HEAD = {"oneline": 2, "<lambda>": 1}


def lines_of(report):
    """Hits by (function, line)."""
    return {(line["function"], line["line"]): line["hits"] for line in report["lines"]}


def times_of(report):
    return {
        (line["function"], line["line"]): line["time_ns"] for line in report["lines"]
    }


def report_of(cunei, *words, directory="trace"):
    done = cunei("report", "--json", directory, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def record(cunei, source, *options, name="app.py"):
    """Lines of a program are recorded; the report of it."""
    cunei.write(name, source)
    done = cunei("record", "--force", "-o", "trace", *options, name)
    assert done.returncode == 0, done.stderr
    report = report_of(cunei)
    assert (report["lost"], report["orphans"], report["unclosed"]) == (0, 0, 0)
    return report


def line_number(source, text):
    (number,) = [i for i, line in enumerate(source.split("\n"), 1) if text in line]
    return number


THEIRS = """
import json
import lined
from line_profiler import LineProfiler

profiler = LineProfiler(*lined.FUNCTIONS)
profiler.enable()
lined.run()
profiler.disable()
print(json.dumps([
    [first, line, hits]
    for (_, first, _), lines in profiler.get_stats().timings.items()
    for line, hits, _ in lines
]))
"""


def lengthen(text):
    """The same functions, their bodies too far below their heads for some Pythons."""
    head = re.compile(r"^( *)(?:async )?def .*:\n", re.MULTILINE)
    return head.sub(lambda match: match[0] + f"{match[1]}    # far\n" * 130, text)


def corpus():
    """The functions that lines are counted of, without `match` before 3.10."""
    text = (PROGRAMS / "lined.py").read_text()
    if sys.version_info >= (3, 10):
        return text
    body = re.compile(r"^    match value:\n(?:        .*\n)+", re.MULTILINE)
    text, count = body.subn("    return value\n", text)
    assert count == 1
    return text


@pytest.mark.parametrize("change", [str, lengthen])
def test_as_often_as_line_profiler_says(cunei, change):
    pytest.importorskip("line_profiler", exc_type=ImportError)
    cunei.write("lined.py", change(corpus()))
    cunei.write("theirs.py", THEIRS)
    done = cunei.run(cunei.python, "theirs.py")
    assert done.returncode == 0, done.stderr
    theirs = Counter()
    for first, line, hits in json.loads(done.stdout):
        theirs[first, line] += hits

    report = record(cunei, "import lined\nlined.run()\n", "--lines", "lined")

    functions = [f for f in report["functions"] if f["module"] == "lined"]
    firsts = {f["qualname"]: f["line"] for f in functions}
    known = {first for first, _ in theirs}
    ours = Counter()
    for (function, line), hits in lines_of(report).items():
        if firsts[function] in known and function not in BESIDE_THEIR_HEAD:
            ours[firsts[function], line] += hits
    beside = {firsts[name] for name in BESIDE_THEIR_HEAD}
    theirs = Counter({key: n for key, n in theirs.items() if key[0] not in beside})
    assert ours == theirs
    for name, hits in BESIDE_THEIR_HEAD.items():
        assert lines_of(report)[name, firsts[name]] == hits


def test_hits_are_exact_and_lines_never_run_are_not_there(cunei):
    source = """\
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def never(n):
    if n:
        return 1
    return 2


fib(10)
never(1)
"""
    hits = lines_of(record(cunei, source, "--lines", ":fib", "--lines", ":never"))

    assert hits == {
        ("fib", 2): 177,
        ("fib", 3): 89,
        ("fib", 4): 88,
        ("never", 8): 1,
        ("never", 9): 1,
    }


def test_a_recursion_takes_no_longer_than_its_function(cunei):
    source = "def f(n):\n    if n:\n        f(n - 1)\n        f(n - 1)\n\n\nf(9)\n"
    report = record(cunei, source, "--lines", ":f")

    (function,) = [f for f in report["functions"] if f["qualname"] == "f"]
    times = times_of(report)
    assert all(0 < time <= function["total_ns"] for time in times.values()), times
    assert sum(lines_of(report).values()) == 1023 + 2 * 511


def test_the_time_a_generator_waits_belongs_to_no_line(cunei):
    source = """\
import time


def numbers():
    for i in range(3):
        yield i
    return


def spend(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def consume():
    for _ in numbers():
        spend(0.03)


consume()
"""
    report = record(cunei, source, "--lines", ":numbers", "--lines", ":consume")

    hits, times = lines_of(report), times_of(report)
    assert (hits["numbers", 5], hits["numbers", 6], hits["numbers", 7]) == (4, 3, 1)
    assert times["numbers", 5] + times["numbers", 6] < 30e6
    assert times["consume", 18] >= 90e6
    assert times["consume", 17] < 60e6


def test_a_generator_that_continues_shows_its_line(cunei):
    source = "def g():\n    x = yield 1\n    yield x\n\n\nlist(g())\n"
    record(cunei, source, "--lines", ":g")

    (process,) = ctf.read(cunei.folder / "trace").processes
    recorded = [
        (event.phase, event.value.line)
        for event in process.events()
        if event.kind == ctf.LINE
    ]
    enter, resume = ctf.ENTER, ctf.RESUME
    assert recorded == [(enter, 2), (resume, 2), (enter, 3), (resume, 3)]


def test_threads_and_forked_children_are_added_up(cunei):
    source = """\
import os
import threading


def work(n):
    for _ in range(n):
        pass


threads = [threading.Thread(target=work, args=(100,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if os.fork() == 0:
    work(10)
    os._exit(0)
os.wait()
"""
    hits = lines_of(record(cunei, source, "--lines", ":work"))

    assert hits == {("work", 6): 4 * 101 + 11, ("work", 7): 410}


def test_more_lines_than_fit_in_a_packet(cunei):
    source = "def f(n):\n    i = 0\n    while i < n:\n        i += 1\n\n\nf(40_000)\n"
    report = record(cunei, source, "--lines", ":f")

    assert lines_of(report) == {("f", 2): 1, ("f", 3): 40_001, ("f", 4): 40_000}
    (function,) = [f for f in report["functions"] if f["qualname"] == "f"]
    total = sum(times_of(report).values())
    assert 0.9 * function["total_ns"] < total <= function["total_ns"]


def test_lines_obey_the_patterns_that_choose_functions(cunei):
    source = """\
def helper():
    return 1


def f():
    return helper()


f()
f()
"""
    words = ("--lines", ":f", "--lines", ":helper", "--exclude", ":helper")
    report = record(cunei, source, *words)

    assert lines_of(report) == {("f", 6): 2}
    names = {f["qualname"] for f in report["functions"] if f["module"] == "__main__"}
    assert names == {"<module>", "f"}


@needs_monitoring
def test_only_chosen_code_has_line_events_and_none_keeps_them(cunei):
    source = """\
import sys
import cunei


def chosen():
    return 1


def other():
    return 2


def events(function):
    monitoring = sys.monitoring
    return any(
        monitoring.get_tool(tool)
        and monitoring.get_local_events(tool, function.__code__)
        & monitoring.events.LINE
        for tool in range(6)
    )


with cunei.recording("trace", lines=":chosen"):
    chosen(), other()
    print(events(chosen), events(other))
for tool in range(6):
    if not sys.monitoring.get_tool(tool):
        sys.monitoring.use_tool_id(tool, "test")
print(events(chosen), events(other))
with cunei.recording("again", lines=[":other"]):
    chosen(), other()
print("done")
"""
    cunei.write("app.py", source.replace('with cunei.recording("again"', FREED))
    done = cunei.run(cunei.python, "app.py")

    assert (done.stderr, done.stdout.split("\n")[:2]) == (
        "",
        ["True False", "False False"],
    )
    assert set(lines_of(report_of(cunei))) == {("chosen", 6)}
    assert set(lines_of(report_of(cunei, directory="again"))) == {("other", 10)}


FREED = """for tool in range(6):
    if sys.monitoring.get_tool(tool) == "test":
        sys.monitoring.free_tool_id(tool)
with cunei.recording("again\""""


def test_a_function_that_runs_already_is_noticed(cunei):
    source = """\
import cunei


def f():
    cunei.start("trace", lines=":f")
    x = 1
    x += 1
    cunei.stop()


f()
"""
    cunei.write("app.py", source)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    hits = lines_of(report_of(cunei))
    assert (hits["f", 6], hits["f", 7], hits["f", 8]) == (1, 1, 1)


TRACED = """\
import sys

notified = []


def hook(frame, what, value):
    notified.append((frame.f_code.co_name, what, frame.f_lineno))
    return hook


def callee():
    return 1


def chosen(n):
    for _ in range(n):
        callee()
    return n


def caller():
    callee()
    chosen(2)
    try:
        failing()
    except ValueError:
        pass
    return list(generator())


def failing():
    raise ValueError


def generator():
    yield 1
    yield 2


sys.settrace(hook)
caller()
assert sys.gettrace() is hook
sys.settrace(None)
caller()
assert sys.gettrace() is None
print(notified)
"""


def test_a_trace_function_gets_all_that_it_does_without(cunei):
    words = ("--lines", ":chosen", "--lines", ":failing", "--lines", ":generator")
    report = record(cunei, TRACED, *words)
    plain = cunei.run(cunei.python, "app.py")
    assert (plain.returncode, plain.stderr) == (0, "")
    traced = cunei("record", "--force", "-o", "trace", *words, "app.py")

    assert traced.stdout == plain.stdout
    first = line_number(TRACED, "for _ in range(n)")
    second = line_number(TRACED, "raise ValueError")
    third = line_number(TRACED, "yield 1")
    assert lines_of(report) == {
        ("chosen", first): 6,
        ("chosen", first + 1): 4,
        ("chosen", first + 2): 2,
        ("failing", second): 2,
        ("generator", third): 2,
        ("generator", third + 1): 2,
    }


def test_a_trace_function_that_comes_while_a_chosen_function_runs(cunei):
    source = """\
import sys


def hook(frame, what, value):
    return hook


def set_it():
    sys.settrace(hook)


def chosen():
    set_it()
    x = 1
    assert sys.gettrace() is hook
    sys.settrace(None)


chosen()
chosen()
assert sys.gettrace() is None
"""
    hits = lines_of(record(cunei, source, "--lines", ":chosen"))

    first = line_number(source, "x = 1") - 1
    assert hits == {("chosen", line): 2 for line in range(first, first + 4)}


def test_a_long_function_on_a_python_that_is_slow_to_show_its_lines(cunei):
    source = lengthen("def f(n):\n    for i in range(n):\n        x = i\n\n\nf(1000)\n")
    report = record(cunei, source, "--lines", ":f")

    assert lines_of(report) == {("f", 132): 1001, ("f", 133): 1000}
    version = cunei.run(cunei.python, "-c", "import sys; print(sys.version_info[:3])")
    is_slow = (3, 12) <= ast.literal_eval(version.stdout) < (3, 13, 3)
    shown = cunei("report", "trace", "--lines", "f", env={"COLUMNS": "200"}).stdout
    assert ("used instruction events" in shown) == is_slow


def test_a_generator_that_is_closed_in_yield_from_begins_the_line_again(cunei):
    """From 3.13 on, where CPython runs it to close it."""
    source = (
        "def count():\n"
        "    yield from iter([1, 2])\n"
        "def delegate():\n"
        "    yield from count()\n"
        "closed, ended = delegate(), delegate()\n"
        "next(closed)\n"
        "closed.close()\n"
        "list(ended)\n"
    )
    report = record(cunei, source, "--lines", ":delegate")

    again = sys.version_info >= (3, 13)
    assert lines_of(report) == {("delegate", 4): 2 + again}
