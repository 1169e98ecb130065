# SPDX-License-Identifier: MIT
"""Calls of C functions: as many as cProfile counts, rightly named and nested."""

import json
import re
import sys
from collections import Counter

import ctf
import pytest
from proof import TAKEN
from test_exact import CORE, count, differences, entries, measure, workload_names

# What stands between the switches of the two tools, and is seen by one of them alone.
SWITCHES = {"enable", "disable", "start", "stop"}

METHOD = re.compile(r"<method '(\w+)' of '([\w.]+)' objects>")
FUNCTION = re.compile(r"<built-in method ([\w.]+)\.(\w+)>")
# Class methods, static ones, __new__, and methods that a subclass has overridden:
# cProfile does not say whose they are.
BARE = re.compile(r"<(?:built-in )?\w+ '?(?:[\w.<>]*\.)?(\w+)'?(?:>| of | at )")


def their_key(description):
    if match := METHOD.fullmatch(description):
        return match[2], match[1]
    if match := FUNCTION.fullmatch(description):
        return match[1], match[2]
    match = BARE.match(description)
    assert match, description
    return None, match[1]


def our_key(function):
    kind, _, name = function.qualname.rpartition(".")
    place = function.module
    if kind:
        place = kind if place == "builtins" else f"{place}.{kind}"
    return place, name


def compare(profile, process):
    """Both sides' counts of C functions, by names that both of them know."""
    theirs, ours = Counter(), Counter()
    for (file, _, description), calls in profile.items():
        if not file:
            theirs[their_key(description)] += calls
    for function, calls in count(process, ctf.ENTER).items():
        if not function.file:
            ours[our_key(function)] += calls
    bare = {name for place, name in theirs if place is None}
    sides = []
    for side in (ours, theirs):
        merged = Counter()
        for (place, name), calls in side.items():
            if name not in SWITCHES:
                merged["*" if name in bare else place, name] += calls
        sides.append(merged)
    return sides


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.core if name in CORE else [])
        for name in workload_names()
    ],
)
def test_c_functions_are_called_as_often_as_cprofile_says(cunei, name):
    for profile, process in measure(cunei, "--c-calls", name, "trace"):
        ours, theirs = compare(profile, process)
        assert theirs
        assert differences(ours, theirs) == {}
        python = Counter({key: n for key, n in profile.items() if key[0]})
        got = Counter({key: n for key, n in entries(process).items() if key[0]})
        assert differences(got, python) == {}
        assert process.description["lost"] == "0"
        assert process.is_balanced(), process.replay()


PROGRAM = """\
import collections, functools, re, time
import cunei

pattern = re.compile("a")
bytes.maketrans.__module__ = "chemistry"  # as PyTorch does with its own

class Items(list):
    def append(self, item):
        super().append(item)

class Number(int):
    def __new__(cls, value):
        return super().__new__(cls, value)

def length(item):
    return len(item)

def fail(item):
    raise KeyError(item)

def generate():
    yield from range(3)

def main():
    items = Items()
    items.append("a")
    bound = items.extend
    bound(["b"])
    sorted(items, key=length)
    functools.reduce(lambda a, b: length(b), items)
    try:
        sorted(items, key=fail)
    except KeyError:
        pass
    generator = generate()
    next(generator), generator.send(None), generator.close()
    queue = collections.deque()
    queue.append(1)
    dict.fromkeys(items)
    str.maketrans("a", "b")
    bytes.maketrans(b"a", b"b")
    Number(3)
    pattern.match("a")
    time.monotonic()
    "".join(*[items])

with cunei.recording("trace", c_calls=True):
    main()
"""


@pytest.fixture
def recorded(cunei):
    cunei.write("app.py", PROGRAM)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return cunei


def follow(process):
    """Each entry as caller and callee, in order."""
    stack, edges = [], []
    for event in process.events():
        if event.kind == ctf.STACK:
            stack = list(event.value)
        elif event.kind == ctf.CALL and event.phase in (ctf.ENTER, ctf.RESUME):
            caller = process.functions[stack[-1]].qualname if stack else None
            edges.append((caller, process.functions[event.function].qualname))
            stack.append(event.function)
        elif event.kind == ctf.CALL:
            assert stack.pop() == event.function
    return edges


@pytest.mark.core
def test_names_are_those_of_the_module_or_of_the_defining_type(recorded):
    (process,) = ctf.read(recorded.folder / "trace").processes
    names = {
        f"{function.module}:{function.qualname}"
        for function in process.count(ctf.ENTER)
        if (function.file, function.line) == ("", 0)
    }
    wanted = {
        "builtins:list.append",
        "builtins:list.extend",
        "builtins:len",
        "builtins:sorted",
        "builtins:next",
        "builtins:generator.send",
        "builtins:generator.close",
        "builtins:dict.fromkeys",
        "builtins:str.maketrans",
        "chemistry:maketrans",
        "builtins:str.join",
        "builtins:int.__new__",
        "_functools:reduce",
        "collections:deque.append",
        "re:Pattern.match",
        "time:monotonic",
    }
    assert wanted <= names
    assert not [name for name in names if name.startswith(("cunei", "__main__"))]


@pytest.mark.core
def test_c_functions_stand_between_those_that_call_and_those_they_call(recorded):
    (process,) = ctf.read(recorded.folder / "trace").processes
    edges = Counter(follow(process))

    assert edges["main", "sorted"] == 2
    assert edges["sorted", "length"] == 2
    assert edges["length", "len"] == 3
    assert edges["sorted", "fail"] == 1
    assert edges["main", "reduce"] == 1
    assert edges["Items.append", "list.append"] == 1
    assert edges["next", "generate"] == 1
    assert edges["generator.send", "generate"] == 1
    assert edges["Number.__new__", "int.__new__"] == 1
    assert process.is_balanced(), process.replay()


def test_the_report_has_them_among_the_functions(recorded):
    report = json.loads(recorded("report", "--json", "trace").stdout)

    (row,) = [f for f in report["functions"] if f["qualname"] == "list.append"]
    assert (row["module"], row["file"], row["line"]) == ("builtins", "", 0)
    assert (row["calls"], row["resumes"]) == (1, 0)
    assert report["orphans"] == report["unclosed"] == report["appeared"] == 0


RAISES = """\
def fail(item):
    raise KeyError(item)

for _ in range(3):
    try:
        int.from_bytes("x", "big")
    except TypeError:
        pass
try:
    sorted([1, 2], key=fail)
except KeyError:
    pass
try:
    next(iter([]))
except StopIteration:
    pass
int.from_bytes(b"x", "big")
sorted([1, 2])
"""


@pytest.mark.core
def test_c_functions_that_raise_are_marked(cunei):
    cunei.write("app.py", RAISES)
    assert cunei("record", "-q", "--c-calls", "-o", "trace", "app.py").returncode == 0
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.is_balanced(), process.replay()

    report = json.loads(cunei("report", "--json", "trace").stdout)
    raised = {
        row["qualname"]: (row["calls"], row["raised"])
        for row in report["functions"]
        if row["qualname"] in ("int.from_bytes", "sorted", "next", "fail")
    }
    assert raised == {
        "int.from_bytes": (4, 3),
        "sorted": (2, 1),
        "next": (1, 1),
        "fail": (1, 1),
    }
    shown = cunei("replay", "trace").stdout.splitlines()
    lines = [line for line in shown if "int.from_bytes" in line]
    assert sum("! raised" in line for line in lines) == 3


def test_they_are_not_recorded_unless_asked_for(cunei):
    cunei.write("app.py", CALLS)
    cunei("record", "-q", "-o", "trace", "app.py")

    (process,) = ctf.read(cunei.folder / "trace").processes
    assert all(function.file for function in process.functions.values())
    assert process.description["c_calls"] == "0"


CALLS = """\
def key(item):
    return len(item)

def left_out(items):
    return max(items, key=len)

def chosen():
    sorted(["a", "b"], key=key)
    left_out(["a"])
    "".join([])

for _ in range(3):
    chosen()
"""


@pytest.mark.core
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--include", "__main__"], {}),
        (["--include", "builtins"], {}),
        (
            ["--include", "__main__", "--include", "builtins"],
            {"len": 6, "sorted": 3, "max": 3, "str.join": 3},
        ),
        (["--exclude", ":left_out"], {"len": 6, "sorted": 3, "str.join": 3}),
        (["--exclude", "builtins:*.*"], {"len": 6, "sorted": 3, "max": 3}),
        (["--exclude", "builtins:sorted"], {"len": 6, "max": 3, "str.join": 3}),
        (["--include", ":chosen", "--include", ":sorted"], {"sorted": 3}),
        (["--include", "re:^(__main__|builtins):(key|len)"], {"len": 6}),
    ],
)
def test_a_selection_applies_to_them_and_to_their_callers(cunei, options, wanted):
    cunei.write("app.py", CALLS)
    done = cunei("record", "-q", "-o", "trace", "--c-calls", *options, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    got = {f.qualname: n for f, n in process.count(ctf.ENTER).items() if not f.file}
    assert got == wanted
    assert process.is_balanced(), process.replay()


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("name", ["text", "asyncio", "generators"])
def test_a_selection_is_exact_with_any_number_of_tool_ids(cunei, name, taken):
    words = ["-", "builtins:list.*", "-", "time"]

    for profile, process in measure(cunei, "--c-calls", name, "trace", taken, *words):
        ours, theirs = compare(profile, process)
        wanted = {key: n for key, n in theirs.items() if key[0] not in ("list", "time")}
        assert len(wanted) < len(theirs)
        assert differences(ours, Counter(wanted)) == {}
        assert process.is_balanced(), process.replay()


VERSIONS = """\
import _thread
import cunei

lock = _thread.allocate_lock()

def work():
    with lock:
        any(n for n in [0, 1])
    int("1"), [1] + [2], max(["a"], key=len)

with cunei.recording("trace", c_calls=True):
    work()
"""


@pytest.mark.core
def test_what_pythons_count_is_what_the_manual_says(cunei):
    cunei.write("app.py", VERSIONS)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    got = {f.qualname for f in process.count(ctf.ENTER) if not f.file}
    wanted = {"max", "lock.__enter__" if sys.version_info >= (3, 14) else "any"}
    if sys.version_info >= (3, 9):
        wanted.add("lock.__exit__")
    assert got == wanted
