# SPDX-License-Identifier: MIT
"""Recording that a program switches off and on while it runs."""

import json
import struct

import ctf
import pytest
from proof import TAKEN, needs_monitoring
from switching import run

pytestmark = pytest.mark.core


def gaps(cunei):
    lines = cunei("dump", "trace").stdout.splitlines()
    return [line for line in lines if " gap:" in line or " gap " in line]


SELECTIONS = ["", "exclude='nothing'"]


@pytest.mark.parametrize("options", SELECTIONS)
@pytest.mark.parametrize("taken", TAKEN)
def test_nothing_is_recorded_while_it_is_disabled(cunei, taken, options):
    trace = run(
        cunei,
        f"""\
with cunei.record("trace", {options}):
    work()
    with cunei.disable():
        work()
        work()
    a()
    cunei.disable()
    work()
    cunei.enable()
    b()
""",
        taken,
    )

    assert trace.count("work") == 1
    assert (trace.count("a"), trace.count("b")) == (2, 2)
    assert trace.is_balanced()
    assert len(gaps(cunei)) == 4


def test_the_launcher_s_recording_obeys_too(cunei):
    trace = run(
        cunei,
        "with cunei.disable():\n    work()\nb()\n",
        words=("--include", "__main__"),
    )

    assert (trace.count("work"), trace.count("a"), trace.count("b")) == (0, 0, 1)
    names = {f.module for f in trace.processes[0].count(ctf.ENTER)}
    assert names == {"__main__"}


def test_switches_are_counted(cunei):
    trace = run(
        cunei,
        """\
with cunei.record("trace"):
    cunei.enable()              # nothing is disabled
    cunei.disable()
    cunei.disable()
    cunei.enable()
    work()
    with cunei.enable():
        a()
        with cunei.enable():    # nothing is
            a()
        a()
    work()
    cunei.enable()
    cunei.enable()
    b()
""",
    )

    counts = [trace.count(name) for name in ("work", "a", "b")]
    assert counts == [0, 3, 1]
    assert len(gaps(cunei)) == 4


def test_the_report_says_that_it_was_off(cunei):
    program = """
import cunei, threading
def work(): pass
with cunei.disable():
    work()
work()
cunei.disable()
thread = threading.Thread(target=cunei.enable)
thread.start()
thread.join()
def end():
    cunei.disable()
    import gc
    gc.collect()
    raise SystemExit
end()
"""
    cunei.write("app.py", program)
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0

    words = " ".join(cunei("report", "trace").stdout.split())
    assert "paused the program switched recording of calls off 3 times, for " in words
    assert ", the last time until the end" in words
    assert "unmatched" not in words and "unrecorded" not in words
    report = json.loads(cunei("report", "--json", "trace").stdout)
    assert report["pauses"] == 3 and 0 < report["paused_ns"] < report["duration_ns"]


def test_a_block_that_raises_is_left_as_it_was_found(cunei):
    trace = run(
        cunei,
        """\
with cunei.record("trace"):
    try:
        with cunei.disable():
            raise KeyError
    except KeyError:
        a()
""",
    )

    assert trace.count("a") == 1
    assert trace.is_balanced()


def test_functions_are_decorated(cunei):
    trace = run(
        cunei,
        """\
import asyncio

@cunei.disable
def quiet(n):
    "words"
    a()
    return loud(n - 1) if n else 0

@cunei.enable()
def loud(n):
    b()
    return quiet(n - 1) if n else 1

@cunei.disable()
def each():
    a()
    yield 1
    a()
    return 2

@cunei.disable
async def wait():
    a()
    return 3

def delegate():
    return (yield from each())

with cunei.record("trace"):
    assert quiet(5) == 1
    assert list(delegate()) == [1]
    assert asyncio.run(wait()) == 3
    work()
assert (quiet.__name__, quiet.__doc__) == ("quiet", "words")
assert quiet.__wrapped__.__code__.co_name == "quiet"
assert not cunei.is_recording() and quiet(1) == 1
for wrong in (3, "x"):
    try:
        cunei.disable(wrong)
    except TypeError as error:
        assert "can be decorated" in str(error)
""",
    )

    assert trace.count("a") == 1, "that of work"
    assert trace.count("b") == 4, "those of loud, and of work"


HINTED = """\
import inspect
import typing

import cunei

def one(x: int, *, y: "Late") -> float: ...

def two(x: "Late"):
    yield x

async def three(x: int) -> str: ...

def four(x): ...
four.__annotations__ = {"x": int}

names = {}
try:
    exec("def five[T](x: T) -> T: ...", names)
except SyntaxError:
    names["five"] = one  # before 3.12

Late = list
for plain in [one, two, three, four, names["five"]]:
    for found in (cunei.disable(plain), cunei.enable()(plain)):
        assert typing.get_type_hints(found) == typing.get_type_hints(plain)
        assert found.__annotations__ == plain.__annotations__
        assert inspect.signature(found) == inspect.signature(plain)
        parameters = getattr(plain, "__type_params__", ())
        assert getattr(found, "__type_params__", ()) == parameters
"""


def test_a_decorated_function_keeps_its_type_hints(cunei):
    done = cunei.run(cunei.python, "-c", HINTED)

    assert (done.returncode, done.stderr) == (0, "")


def test_asynchronous_generators_are_decorated(cunei):
    trace = run(
        cunei,
        """\
import asyncio, inspect

@cunei.disable
async def stream():
    a()
    try:
        assert (yield 1) == "sent"
        a()
        yield 2
    except KeyError:
        a()
        yield "thrown"
    finally:
        await asyncio.sleep(0)
        a()

async def ended(step):
    try:
        await step
    except StopAsyncIteration:
        return True

async def consume():
    one, two, three = stream(), stream(), stream()
    assert await one.__anext__() == 1 and await one.asend("sent") == 2
    await one.aclose()
    assert await ended(one.__anext__())
    assert await two.__anext__() == 1
    assert await two.athrow(KeyError()) == "thrown"
    assert await ended(two.__anext__())
    assert await three.__anext__() == 1
    try:
        await three.athrow(ValueError("mine"))
    except ValueError as error:
        assert error.args == ("mine",) and error.__context__ is None
    b()

@cunei.enable
async def loud():
    for i in (1, 2):
        b()
        yield i

async def collect():
    return [i async for i in loud()]

with cunei.record("trace"):
    asyncio.run(consume())
    with cunei.disable():
        assert asyncio.run(collect()) == [1, 2]
        a()
assert inspect.isasyncgenfunction(stream) and stream.__name__ == "stream"
""",
    )

    assert (trace.count("a"), trace.count("b")) == (0, 3)
    assert len(gaps(cunei)) == 10


NAMES = ("outer", "inner", "back", "a", "b")


MEANWHILE = """\
def inner():
    cunei.disable()

def outer():
    inner()

def back():
    cunei.enable()
    a()

with cunei.record("trace"):
    outer()
    back()
    b()
"""


def troubles(cunei):
    report = json.loads(cunei("report", "--json", "trace").stdout)
    return report["orphans"], report["unclosed"], report["appeared"]


def test_frames_that_end_meanwhile_are_not_open_afterwards(cunei):
    trace = run(cunei, MEANWHILE)

    assert (trace.count("a"), trace.count("b")) == (1, 1)
    report = cunei("report", "--tree", "--min-percent", "0", "trace").stdout
    indents = {
        name: line.index(f" {name} ") for line in report.splitlines() for name in NAMES
        if f" {name} " in line
    }  # fmt: skip
    assert indents["outer"] < indents["inner"]
    assert indents["back"] == indents["b"] == indents["outer"] < indents["a"], report
    assert troubles(cunei) == (0, 0, 0)
    replay = cunei("replay", "trace").stdout
    assert "} outer end not recorded" in replay and "is missing" not in replay
    calls = map(json.loads, cunei("replay", "--json", "trace").stdout.splitlines())
    ends = {call["qualname"]: call["end"] for call in calls}
    assert [ends[name] for name in ("outer", "back")] == ["unrecorded", "return"]


def test_what_no_pause_explains_is_reported_all_the_same(cunei):
    """By packets that begin in the same way, and do not say what for."""
    trace = run(cunei, MEANWHILE)
    (file,) = trace.processes[0].folder.glob("s*")
    data = bytearray(file.read_bytes())
    at = 0
    for packet in trace.processes[0].packets:
        struct.pack_into("<I", data, at + 148, packet.flags & ~ctf.RENEWED)
        at += 152 + packet.words.nbytes
    file.write_bytes(data)

    assert troubles(cunei) == (0, 2, 1)
    assert "} outer end is missing" in cunei("replay", "trace").stdout
    words = " ".join(cunei("report", "trace").stdout.split())
    assert "1 return without a call, 2 calls without a return" in words
    assert "paused the program switched recording of calls off 1 time" in words


@needs_monitoring
def test_what_cannot_be_switched_on_again_is_reported(cunei):
    cunei.write(
        "app.py",
        """\
import sys
import cunei

def never(): pass

cunei.disable()
for tool in range(6):
    if sys.monitoring.get_tool(tool) == "cunei":
        sys.monitoring.free_tool_id(tool)
for _ in range(2):
    cunei.enable()
    never()
    cunei.disable()
""",
    )
    done = cunei("record", "-o", "trace", "app.py")

    assert done.returncode == 0, done.stderr
    assert "1 thread was not recorded to the end" in done.stderr
    assert "unrecorded 1 thread was not recorded" in cunei("report", "trace").stdout
    assert "missing in part of 1 thread\n" in cunei("info", "trace").stdout


def test_generators_that_continue_afterwards(cunei):
    trace = run(
        cunei,
        """\
with cunei.record("trace"):
    one = generate()
    next(one)
    with cunei.disable():
        next(one)
        two = generate()
        next(two)
    list(one), list(two)
""",
    )

    assert trace.count("generate", ctf.ENTER) == 1
    assert trace.count("generate", ctf.YIELD) == 2
    assert trace.count("generate", ctf.RESUME) == 3


def test_all_threads_are_switched_together(cunei):
    trace = run(
        cunei,
        """\
import threading

ready, off, seen = threading.Event(), threading.Event(), threading.Event()
done = threading.Event()

def thread():
    a()
    ready.set()
    off.wait()
    for _ in range(10):
        a()
    seen.set()
    done.wait()
    b()

def toggle():
    for _ in range(50):
        with cunei.disable():
            pass

with cunei.record("trace", include="__main__"):
    other = threading.Thread(target=thread)
    other.start()
    ready.wait()
    with cunei.disable():
        off.set()
        seen.wait()
    many = [threading.Thread(target=toggle) for _ in range(4)]
    for each in many: each.start()
    for each in many: each.join()
    done.set()
    other.join()
    assert cunei.is_recording()
    b()
""",
    )

    assert (trace.count("a"), trace.count("b")) == (1, 2)


def test_a_forked_child_stays_as_it_was(cunei):
    trace = run(
        cunei,
        """\
import os

with cunei.record("trace", include="__main__"):
    with cunei.disable():
        if os.fork() == 0:
            a()
            cunei.enable()
            b()
            os._exit(0)
        os.wait()
    b()
""",
    )

    assert (trace.count("a"), trace.count("b")) == (0, 2)


def test_without_a_recording_they_do_nothing(cunei):
    done = cunei.run(
        cunei.python,
        "-c",
        "import cunei\n"
        "with cunei.disable(), cunei.enable(): pass\n"
        "cunei.disable(); cunei.enable(); cunei.enable()\n"
        "assert cunei.disable() is cunei.disable(), 'nothing is made for nothing'\n"
        "cunei.start('trace')\n"
        "def f(): pass\n"
        "f()\n"
        "cunei.stop()\n",
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert ctf.read(cunei.folder / "trace").count("f") == 1
