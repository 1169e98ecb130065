# SPDX-License-Identifier: MIT
"""A bit of every kind of event that a recording can hold.

With the word `budget` it runs until something was demoted, and seen in bursts.  With
the path of a file it does the same over and over, and counts its rounds there.
"""

import asyncio
import contextlib
import gc
import mmap
import sys
import threading
import types

import cunei

ODD = [
    "nul\0inside",
    "two\nlines\ttab\x1b[31m\x9b",
    'quote"and\\backslash?',
    "caf\u00e9 \U0001f40d",
    "lone\udcff",
    "other lone \ud800",
    "x" * 10_000,
    "\u00e9" * 5_000,
    "%s $x */ [0] = 1",
]
NUMBERS = [0, -1, 2**63 - 1, -(2**63), 2**63, 10**400, 0.1, -0.0, 5e-324, True]
NUMBERS += [float("nan"), float("inf"), -float("inf")]


def tiny(n):
    return n


def generate(n):
    with cunei.region("in a generator"):
        for i in range(n):
            cunei.parameter("turn", i)
            yield i


def fail(depth):
    with cunei.region("failing"):
        if depth:
            fail(depth - 1)
        raise ValueError("no")


@cunei.region('tagged "name"\n')
def tagged(*args, **more):
    return sorted(args, key=str)


def say_oddly():
    for name in ODD:
        with cunei.region(name):
            cunei.parameter(name, name)
            cunei.mark(name, name)
            cunei.metadata(name, name)
            cunei.counter(name).add()
            stream = cunei.tokens(name)
            stream.tick()
            stream.end()
    cunei.mark("nothing")
    cunei.region_end("never begun")


def say_numbers():
    for number in NUMBERS:
        cunei.mark("number", number)
        cunei.metadata("number", number)
        with cunei.region("number"):
            cunei.parameter("number", number)
        cunei.counter("set").set(number)
        cunei.counter("add").add(number)
    for _ in range(3):
        cunei.counter("overflow").add(2**62)


@types.coroutine
def turn():
    """The next task's."""
    yield


async def step(n):
    with cunei.region("task"):
        await turn()
        cunei.parameter("n", n)


async def stream():
    with cunei.region("async generator"):
        for n in range(3):
            yield n
            await turn()


async def tasks():
    await asyncio.gather(*(step(n) for n in range(5)))
    async for _ in stream():
        pass


def begin():
    cunei.region_begin("floating")


def end():
    cunei.region_end("floating")


def switch_off_and_on():
    with cunei.disable():
        tiny(2)
        with cunei.region("not seen"):
            pass
        with cunei.enable():
            tiny(3)


def suspend():
    list(generate(3))
    generator = generate(3)
    next(generator)
    generator.close()
    asyncio.run(tasks())


def switch_greenlets():
    """Where there are some, and they leave the GIL as it is."""
    try:
        import greenlet
    except ImportError:
        return

    def other(name):
        with cunei.region(name):
            here.switch()
            cunei.parameter("name", name)

    here = greenlet.getcurrent()
    with cunei.region("greenlets"):
        others = [greenlet.greenlet(other) for _ in range(3)]
        for number, each in enumerate(others):
            each.switch(f"green {number}")
        for each in others:
            each.switch()


def work():
    say_oddly()
    say_numbers()
    suspend()
    with contextlib.suppress(ValueError):
        fail(3)
    tagged("a", 1, None, odd="\udcff\0")
    begin()
    tiny(1)
    end()
    gc.collect()
    switch_off_and_on()


def work_and_leave_open():
    work()
    cunei.region_begin("left open")


def wear_out(bursts):
    probe = sys.modules["cunei._probe"]
    rounds = 0
    with cunei.region("wearing out"):
        while probe.bursts() < bursts and rounds < 20_000:
            for n in range(2_000):
                tiny(n)
            rounds += 1


def go_on(path):
    with open(path, "r+b") as file:
        counted = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")
    cunei.region_begin("for ever")
    ticks = cunei.tokens("rounds")
    rounds = 0
    while True:
        with cunei.region("round"):
            cunei.parameter("round", rounds)
            cunei.mark("round", rounds)
            cunei.counter("rounds").add()
            ticks.tick()
            rounds += 1
            counted[0] = rounds
            if rounds % 50 == 0:
                work()


def main(words):
    if words and words[0] != "budget":
        go_on(words[0])
    names = [f"n\u00e9 {n}" for n in range(2)]
    threads = [threading.Thread(target=work_and_leave_open, name=n) for n in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work_and_leave_open()
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        switch_greenlets()
    if words:
        wear_out(3)
    threading.current_thread().name = 'the "end"?'


main(sys.argv[1:])
