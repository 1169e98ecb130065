# SPDX-License-Identifier: MIT
"""Generators and coroutines: each entry, suspension, resumption and end, in order."""

import json
import sys

import ctf
import pytest

pytestmark = pytest.mark.core

BODIES = ("<module>", "Pause")
PHASES = {ctf.ENTER: ">", ctf.LEAVE: "<", ctf.RESUME: ">>", ctf.YIELD: "<<"}

# These do not notify tools when a generator is closed whose yield is outside any try
# block (gh-140373).
SILENT_CLOSE = (3, 12, 3) <= sys.version_info < (3, 13, 12)
SILENT_CLOSE |= sys.version_info[:3] == (3, 14, 0)

# Before 3.12 one that has not begun is run for it as well.
CLOSED_BEFORE = "" if sys.version_info >= (3, 12) else " >>{0} <!{0}"

whole_stacks = pytest.mark.skipif(
    sys.version_info[:2] == (3, 9),
    reason="the stack ends at a generator that an exception is thrown through",
)


def record(cunei, source, *options):
    cunei.write("app.py", source)
    done = cunei("record", "-q", *options, "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["lost"] == "0"
    assert process.is_balanced(), process.replay()
    return process


def recorded(process):
    """What happened to the functions of __main__, as words; ! is an exception."""
    words, unwinds = [], False
    for event in process.events():
        if event.kind == ctf.CALL:
            function = process.functions[event.function]
            name = function.qualname.rpartition(".")[2]
            if function.module == "__main__" and name not in BODIES:
                words.append(PHASES[event.phase] + "!" * unwinds + name)
        unwinds = event.kind == ctf.UNWIND
    return " ".join(words)


DRIVE = """\
def drive(awaitable, *errors):
    try:
        awaitable.send(None)
        for error in errors:
            awaitable.throw(error) if error else awaitable.send(None)
    except (StopIteration, ValueError):
        pass

class Pause:
    def __await__(self):
        yield

"""

CASES = {
    "a generator": (
        """
def count():
    yield 1
    yield 2

list(count())
""",
        ">count <<count >>count <<count >>count <count",
    ),
    "one that delegates": (
        """
def inner():
    yield 1

def outer():
    yield from inner()
    yield 2

list(outer())
""",
        ">outer >inner <<inner <<outer >>outer >>inner <inner <<outer >>outer <outer",
    ),
    "one that catches an exception and yields again": (
        """
def catch():
    try:
        yield 1
    except ValueError:
        yield 2

generator = catch()
next(generator)
generator.throw(ValueError)
next(generator, None)
""",
        ">catch <<catch >>catch <<catch >>catch <catch",
    ),
    "one that an exception from outside ends": (
        """
def one():
    yield 1

generator = one()
next(generator)
try:
    generator.throw(ValueError)
except ValueError:
    pass
""",
        ">one <<one >>one <!one",
    ),
    "an exception through delegation comes to the innermost first": (
        """
def inner():
    yield 1

def outer():
    yield from inner()

generator = outer()
next(generator)
try:
    generator.throw(ValueError)
except ValueError:
    pass
""",
        ">outer >inner <<inner <<outer >>inner <!inner >>outer <!outer",
    ),
    "one that has a finally and is closed": (
        """
def last():
    try:
        yield 1
    finally:
        len("")

generator = last()
next(generator)
generator.close()
generator = last()
next(generator)
del generator
last().close()
""",
        " ".join([">last <<last >>last <!last"] * 2) + CLOSED_BEFORE.format("last"),
    ),
    "one that has none": (
        """
def plain():
    yield 1

generator = plain()
next(generator)
generator.close()
""",
        ">plain <<plain" if SILENT_CLOSE else ">plain <<plain >>plain <!plain",
    ),
    "a coroutine that awaits another": (
        DRIVE
        + """
async def inner():
    await Pause()

async def outer():
    await inner()

drive(outer(), None)
""",
        ">drive >outer >inner >__await__ <<__await__ <<inner <<outer "
        ">>outer >>inner >>__await__ <__await__ <inner <outer <drive",
    ),
    "an exception through awaiting": (
        DRIVE
        + """
async def inner():
    await Pause()

async def outer():
    try:
        await inner()
    except ValueError:
        await Pause()

drive(outer(), ValueError, None)
""",
        ">drive >outer >inner >__await__ <<__await__ <<inner <<outer "
        ">>__await__ <!__await__ >>inner <!inner "
        ">>outer >__await__ <<__await__ <<outer "
        ">>outer >>__await__ <__await__ <outer <drive",
    ),
    "an asynchronous generator": (
        DRIVE
        + """
async def count():
    yield 1
    await Pause()
    yield 2

async def use():
    async for _ in count():
        pass

drive(use(), None)
""",
        ">drive >use >count <<count >>count >__await__ <<__await__ <<count <<use "
        ">>use >>count >>__await__ <__await__ <<count >>count <count <use <drive",
    ),
    "a generator as a coroutine": (
        DRIVE
        + """
import types

@types.coroutine
def pause():
    yield

async def use():
    await pause()

drive(use(), None)
""",
        ">drive >use >pause <<pause <<use >>use >>pause <pause <use <drive",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_step_is_reported_in_order(cunei, case):
    source, wanted = CASES[case]

    assert recorded(record(cunei, source)) == wanted


@whole_stacks
def test_a_recursion_of_coroutines_that_is_cancelled(cunei):
    """Frames that an exception has not come to yet are neither open nor left."""
    process = record(
        cunei,
        """\
import asyncio

async def down(depth, begun):
    if depth:
        return await down(depth - 1, begun)
    begun.set()
    await asyncio.Event().wait()

async def main():
    for depth in range(70):
        begun = asyncio.Event()
        task = asyncio.create_task(down(depth, begun))
        await begun.wait()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass

asyncio.run(main())
""",
    )

    entered = sum(depth + 1 for depth in range(70))
    counts = {
        phase: sum(n for f, n in process.count(phase).items() if f.qualname == "down")
        for phase in PHASES
    }
    assert counts == dict.fromkeys(PHASES, entered)
    shown = cunei("report", "trace", "--json")
    report = json.loads(shown.stdout)
    assert (report["orphans"], report["unclosed"], report["appeared"]) == (0, 0, 0)


@whole_stacks
def test_packets_that_begin_while_an_exception_passes_by(cunei):
    """The stack that they begin with has no frame that is suspended."""
    process = record(
        cunei,
        """\
def leaf():
    pass

def inner():
    while True:
        try:
            yield
        except KeyError:
            for _ in range(20_000):
                leaf()

def middle():
    yield from inner()

def outer():
    yield from middle()

generator = outer()
next(generator)
for _ in range(3):
    generator.throw(KeyError)
generator.close()
""",
    )

    stacks = [
        [process.functions[number].qualname for number in event.value]
        for event in process.events()
        if event.kind == ctf.STACK
    ]
    assert len(stacks) > 2
    for stack in stacks[1:]:
        assert stack[:2] == ["<module>", "inner"], stack


@pytest.mark.parametrize("instrumenter", [None, "profile", "trace"])
def test_packets_that_begin_while_a_chain_is_suspended(cunei, instrumenter):
    """A coroutine that awaits another one is part of the stack when it is suspended."""
    options = ["--instrumenter", instrumenter] if instrumenter else []
    process = record(
        cunei,
        """\
import types

@types.coroutine
def pause():
    yield

async def inner():
    await pause()

async def outer():
    await inner()

def steps():
    yield from range(2)

def delegate():
    yield from steps()

def leaf():
    pass

def run():
    for number in range(40_000):
        coroutine = outer()
        coroutine.send(None)
        coroutine.close()
        for _ in delegate():
            pass
        if number % 7 == 0:
            leaf()  # so that packets begin at every event of these
run()
""",
        *options,
    )

    (packets,) = process.threads().values()
    assert len(packets) > 20


def test_time_suspended_is_distinguished_from_time_running(cunei):
    cunei.write(
        "app.py",
        """\
import json, time

now = time.perf_counter_ns
times = []

def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass

def generate():
    times.append(now())
    work(0.01)
    times.append(now())
    yield
    times.append(now())
    work(0.01)
    times.append(now())

for _ in generate():
    work(0.05)
print(json.dumps(times))
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    first, left, back, last = json.loads(done.stdout)
    report = json.loads(cunei("report", "trace", "--json").stdout)
    (row,) = (row for row in report["functions"] if row["qualname"] == "generate")

    def is_about(got, wanted):
        return abs(got - wanted) <= 0.1 * wanted + 2_000_000

    assert is_about(row["total_ns"], left - first + last - back)
    assert is_about(row["suspended_ns"], back - left)
    assert (row["calls"], row["resumes"]) == (1, 1)
