# SPDX-License-Identifier: MIT
"""Exceptions: where they are raised, how often, how far they go, what catches them."""

import ast
import json
import sys
from collections import Counter, defaultdict

import ctf
import pytest
from proof import needs_monitoring
from test_exact import PROGRAMS, workload_names

# The one starts the cases of the other as well.
CASES = ("programs/exceptions.py", "programs/passed_on.py")

# Before, only those that end a frame are reported: test_exception_legacy.py has them.
sees_within_frames = pytest.mark.skipif(
    sys.version_info < (3, 12),
    reason="what is raised and taken in one frame is seen from 3.12 on",
)


class Facts:
    """What the events of a trace add up to, by (type, qualified name)."""

    def __init__(self, process, *files):
        self.raised = Counter()
        self.lines = defaultdict(Counter)
        self.taken = defaultdict(Counter)  # by handler, (qualified name, line)
        self.furthest = Counter()
        for event in process.events():
            if event.kind != ctf.EXCEPTION:
                continue
            function = process.functions.get(event.value.function)
            if function.file.endswith(tuple(f"/{file}" for file in files)):
                self.add(process, event, (event.value.type, function.qualname))

    def add(self, process, event, key):
        values = event.value
        if event.phase == ctf.ENTER:
            self.raised[key] += 1
            self.lines[key][values.line] += 1
            assert (values.handler, values.handler_line, values.unwound) == (0, 0, 0)
            return
        handler = process.functions.get(values.handler)
        where = (handler and handler.qualname, values.handler_line)
        self.taken[key][where] += 1 if event.phase == ctf.LEAVE else -1
        if event.phase == ctf.LEAVE:
            self.furthest[key] = max(self.furthest[key], values.unwound)

    def handlers(self, key):
        counts = Counter()
        for (name, _), count in self.taken[key].items():
            assert count >= 0, (key, name)
            if count:
                counts[name] += count
        return dict(counts)

    def rows(self):
        return {
            key: (self.raised[key], self.handlers(key), self.furthest[key])
            for key in {*self.raised, *self.taken}
        }


def record(cunei, source, *options, fails=False):
    """Record a program that behaves as it does without us."""
    path = cunei.write("app.py", source) if isinstance(source, str) else source
    plain = cunei.run(cunei.python, path)
    assert (plain.returncode != 0) == fails, plain.stderr
    done = cunei("record", "-q", "--force", "-o", "trace", *options, path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert done.stderr == plain.stderr
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["lost"] == "0"
    assert process.is_balanced(), process.replay()
    return process


def facts(cunei, source, *options, **more):
    return Facts(record(cunei, source, *options, **more), "app.py")


def local(case, *names):
    return ".<locals>.".join([f"case_{case}", *names])


# Of each type and function: how many were raised, what caught them, how many frames
# the furthest of them has ended.  None: a C function, or nothing.
WANTED = {
    "frames": {("ValueError", "inner"): (10, {"": 10}, 3)},
    "functions_of_c": {
        ("ValueError", ""): (2, {"": 2}, 0),
        ("zlib.error", ""): (1, {"": 1}, 0),
        ("struct.error", ""): (1, {"": 1}, 0),
    },
    "through_a_function_of_c": {("ValueError", "key"): (1, {"": 1}, 1)},
    "swallowed_in_c": {
        ("AttributeError", "Missing.__getattr__"): (3, {None: 3}, 1),
        ("KeyError", "callback"): (1, {None: 1}, 1),
    },
    "destructor": {
        ("RuntimeError", "Noisy.__del__"): (2, {None: 2}, 1),
        ("ValueError", "end"): (1, {"": 1}, 1),
    },
    "again": {
        ("KeyError", "bare"): (1, {"": 1}, 1),
        ("IndexError", "named"): (1, {"": 1}, 1),
        ("OSError", "finally_"): (1, {"": 1}, 1),
        ("TypeError", "other_type"): (1, {"": 1}, 1),
    },
    "kept": {
        ("LookupError", "make"): (1, {"": 1}, 4),
        ("ValueError", ""): (20, {"": 20}, 0),
    },
    "anew": {("KeyError", ""): (3, {"": 3}, 0)},
    "traceback_of_another": {
        ("First", "inner"): (1, {"": 1}, 1),
        ("Second", ""): (1, {"": 1}, 0),
    },
    "in_a_handler": {
        ("KeyError", "handler"): (1, {"handler": 1}, 0),
        ("ValueError", "handler"): (1, {"": 1}, 1),
    },
    "with": {
        ("KeyError", ""): (1, {"swallow": 1}, 0),
        ("IndexError", ""): (1, {"": 1}, 1),
    },
    "generators": {
        ("StopIteration", "stop"): (1, {"stop": 1}, 0),
        ("RuntimeError", "stop"): (1, {"": 1}, 1),
    },
    "thrown_into_a_generator": {
        ("KeyError", "generate"): (1, {"generate": 1}, 0),
        ("ValueError", "generate"): (1, {"": 1}, 1),
    },
    "iterators": {("StopIteration", ""): (1, {"": 1}, 0)},
    "groups": {
        ("ExceptionGroup", "wholly"): (1, {"wholly": 1}, 0),
        ("IndexError", "plain"): (1, {"plain": 1}, 0),
        ("ExceptionGroup", "partly"): (1, {"": 1}, 1),
        ("ExceptionGroup", "replaced"): (2, {"replaced": 1, "": 1}, 1),
        ("OSError", "replaced"): (1, {"replaced": 1}, 0),
        ("ExceptionGroup", "narrowed"): (1, {"narrowed": 1}, 0),
        ("NameError", "narrowed"): (1, {"": 1}, 1),
    },
    "rests_of_groups": {
        ("ValueError", "fail"): (200, {"guarded": 200}, 1),
        ("ExceptionGroup", "rest"): (50, {"": 50}, 1),
        ("ExceptionGroup", "within"): (50, {"within": 50}, 0),
        ("ExceptionGroup", "outer"): (100, {"outer": 50, "": 50}, 1),
    },
    "memory": {("MemoryError", ""): (1, {"": 1}, 0)},
    "interrupt": {("KeyboardInterrupt", ""): (1, {"": 1}, 0)},
    "exit": {("SystemExit", ""): (1, {"": 1}, 0)},
    "cancelled": {
        ("asyncio.exceptions.CancelledError", "wait"): (1, {"cancel": 1}, 2),
    },
    "tasks": {("ValueError", "fail"): (2, {"ask": 1, None: 1}, 1)},
    "threads": {("OSError", "fail_alone"): (1, {None: 1}, 1)},
}

# Where the interpreter's own modules have a part in it: how far is theirs to say.
WANTED_SOMEHOW = {
    ("RecursionError", local("recursion", "deeper")): (1, {"case_recursion": 1}),
    ("ValueError", local("futures", "work")): (1, {local("futures", "ask"): 1}),
    ("KeyError", local("futures_of_another_loop", "work")): (
        1,
        {local("futures_of_another_loop", "ask"): 1},
    ),
    ("ValueError", local("threads", "fail")): (1, {None: 1}),
    ("StopIteration", "Count.__next__"): (5, {"case_iterators": 3, None: 2}),
}


def wanted_rows():
    rows = {}
    for case, table in WANTED.items():
        for (kind, name), (count, handlers, furthest) in table.items():
            if kind in ("First", "Second"):
                kind = f"__main__.{local(case, kind)}"
            names = {
                handler if handler is None else local(case, *filter(None, [handler])): n
                for handler, n in handlers.items()
            }
            rows[kind, local(case, *filter(None, [name]))] = (count, names, furthest)
    return rows


@sees_within_frames
@pytest.mark.core
def test_all_the_ways_in_which_exceptions_come_and_go(cunei):
    process = record(cunei, PROGRAMS / "exceptions.py")

    got = Facts(process, *CASES).rows()
    somehow = {key: got.pop(key)[:2] for key in WANTED_SOMEHOW if key in got}
    assert somehow == WANTED_SOMEHOW
    wanted = wanted_rows()
    keys = sorted(got.keys() | wanted.keys())
    assert {
        key: (got.get(key), wanted.get(key))
        for key in keys
        if got.get(key) != wanted.get(key)
    } == {}


def facts_of_cases(cunei, *options):
    return Facts(record(cunei, PROGRAMS / "exceptions.py", *options), *CASES)


@needs_monitoring
@pytest.mark.core
def test_other_events_show_the_same_with_a_selection(cunei):
    """Fewer of them, where they are those of all code; here it leaves nothing out."""
    every = facts_of_cases(cunei)
    fewer = facts_of_cases(cunei, "--exclude", "nothing")

    for what in ("raised", "lines", "taken", "furthest"):
        wanted, got = getattr(every, what), getattr(fewer, what)
        assert {
            key: (got.get(key), wanted.get(key))
            for key in wanted.keys() | got.keys()
            if got.get(key) != wanted.get(key) and key not in WANTED_SOMEHOW
        } == {}, what


@sees_within_frames
def test_every_case_of_the_program_is_expected():
    cases = {
        node.name
        for file in CASES
        for node in ast.parse((PROGRAMS.parent / file).read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
    }
    expected = {name.split(".")[0] for _, name in wanted_rows() | WANTED_SOMEHOW}
    assert cases - expected == {"case_iterators_in_c"}  # they are in Count.__next__


def workloads_that_raise():
    """Those whose exceptions are all raised by `raise`, or by a function of C.

    Left out: what the interpreter puts in the place of a StopIteration that leaves a
    generator, which the other count takes for the caller's, and exceptions at the limit
    of recursion, where a callback in Python does not run.
    """
    left_out = ("generators", "recursion")
    return [name for name in workload_names() if name not in left_out]


CORE = {"ast", "asyncio", "contexts", "exceptions", "futures"}


@needs_monitoring
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.core if name in CORE else [])
        for name in workloads_that_raise()
    ],
)
def test_as_many_are_raised_as_another_tool_sees(cunei, name):
    done = cunei.run(cunei.python, PROGRAMS / "raised.py", name, "trace")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    wanted = Counter({tuple(key): count for *key, count in rows})

    (process,) = ctf.read(cunei.folder / "trace").processes
    got = Counter()
    for event in process.events():
        if event.kind == ctf.EXCEPTION and event.phase == ctf.ENTER:
            function = process.functions[event.value.function]
            key = (function.file, function.qualname, event.value.line)
            got[(event.value.type, *key)] += 1
    assert {k: (got[k], wanted[k]) for k in got | wanted if got[k] != wanted[k]} == {}


LINES = """\
def fail(number):
    if number == 0:
        raise ValueError
    return 1 / (number - 1)

def several():
    for number in (0, 1, 0):
        try:
            fail(
                number)
        except ValueError:
            pass
        except (
            ZeroDivisionError
        ):
            pass

def guarded():
    try:
        several(1)
    finally:
        len("")

several()
try:
    guarded()
except TypeError: pass
"""


@pytest.mark.core
def test_lines(cunei):
    got = facts(cunei, LINES)

    assert got.lines["ValueError", "fail"] == {3: 2}
    assert got.lines["ZeroDivisionError", "fail"] == {4: 1}
    assert got.lines["TypeError", "guarded"] == {20: 1}
    assert +got.taken["ValueError", "fail"] == {("several", 11): 2}
    # The first of two handlers looks at it, and its line is the one that is reported.
    assert +got.taken["ZeroDivisionError", "fail"] == {("several", 11): 1}
    assert +got.taken["TypeError", "guarded"] == {("<module>", 27): 1}


NOT_CAUGHT = """\
import sys

def fail():
    raise {kind}

def call():
    fail()

call()
"""


@pytest.mark.parametrize("kind", ["ValueError", "SystemExit(5)", "KeyboardInterrupt"])
def test_an_exception_that_is_not_caught(cunei, kind):
    got = facts(cunei, NOT_CAUGHT.format(kind=kind), fails=True)

    key = (kind.partition("(")[0], "fail")
    assert got.rows() == {key: (1, {None: 1}, 3)}


UNHANDLED = """\
import _thread, sys, threading

class Lazy:
    def __getattr__(self, name):
        swallowed(AttributeError)

def swallowed(kind):
    raise kind

def in_a_thread(kind):
    raise kind

def alone(kind):
    try:
        raise kind
    finally:
        done.set()

def in_main(kind):
    raise kind

threading.excepthook = sys.unraisablehook = lambda _: None
for _ in range(3):
    hasattr(Lazy(), "x")
for _ in range(2):
    thread = threading.Thread(target=in_a_thread, args=(ValueError,))
    thread.start()
    thread.join()
done = threading.Event()
_thread.start_new_thread(alone, (OSError,))
done.wait()
in_main(KeyError)
"""


@pytest.mark.core
@pytest.mark.parametrize("options", [[], ["--include", "__main__"], ["--startup"]])
@pytest.mark.parametrize("words", [["app.py"], ["-m", "app"]])
def test_what_ends_the_program_or_a_thread_is_unhandled(cunei, options, words):
    cunei.write("app.py", UNHANDLED)
    done = cunei("record", "-q", "-o", "trace", *options, *words)
    assert done.returncode == 1

    report = json.loads(cunei("report", "--json", "trace").stdout)
    counts = {
        row["function"]: (row["count"], row["unhandled"], len(row["handled"]))
        for row in report["exceptions"]
        if row["module"] == "__main__" or row["unhandled"]
    }
    assert counts == {
        "swallowed": (3, 0, 1),
        "in_a_thread": (2, 2, 0),
        "alone": (1, 1, 0),
        "in_main": (1, 1, 0),
    }
    shown = cunei("report", "--exceptions", "--include", "__main__", "trace").stdout
    assert shown.count("not caught") == 3
    assert shown.count("unrecorded code") == 1
    assert "KeyError not caught" in cunei("replay", "trace").stdout


@sees_within_frames
def test_the_report_has_the_same_counts(cunei):
    process = record(cunei, PROGRAMS / "exceptions.py")
    wanted = Facts(process, *CASES)
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr

    raised, ended, unhandled = Counter(), Counter(), Counter()
    for row in json.loads(shown.stdout)["exceptions"]:
        if row["module"] in ("__main__", "passed_on"):
            key = (row["type"], row["function"])
            raised[key] += row["count"]
            ended[key] += sum(handler["count"] for handler in row["handled"])
            ended[key] += row["unhandled"]
            unhandled[key] += row["unhandled"]
    assert raised == wanted.raised
    assert ended == {k: sum(wanted.handlers(k).values()) for k in wanted.raised}
    assert +unhandled == {
        ("OSError", local("threads", "fail_alone")): 1,
        ("ValueError", local("threads", "fail")): 1,
    }


def test_functions_of_one_name_are_distinguished_by_their_modules(cunei):
    cunei.write("other.py", "def fail():\n    raise KeyError\n")
    source = """\
import other

def fail():
    raise KeyError

def alone():
    raise KeyError

for function in [fail] * 5 + [other.fail] * 4 + [alone] * 3:
    try:
        function()
    except KeyError:
        pass
"""
    record(cunei, source, "--include", "__main__", "--include", "other")

    shown = cunei("report", "trace", env={"COLUMNS": "200"}).stdout
    ended = "12 calls ended with an exception: __main__:fail 5, other:fail 4, alone 3\n"
    assert ended in shown
    table = cunei("report", "trace", "--exceptions", env={"COLUMNS": "200"}).stdout
    (row,) = [row for row in map(str.split, table.splitlines()) if "alone" in row[2:3]]
    assert row[-3:] == ["3", "<module>", "app.py:12"]


def test_generators_that_were_closed_are_not_taken_for_failures(cunei):
    source = """
def numbers():
    try:
        yield 1
    finally:
        pass

for _ in range(200):
    for _ in numbers():
        break
"""
    cunei.write("app.py", source)
    cunei("record", "-q", "-o", "trace", "app.py")

    shown = " ".join(cunei("report", "trace").stdout.split())

    assert "200 calls ended with an exception: numbers 200; most of them are" in shown
    assert "most of them are generators that were closed" in shown
