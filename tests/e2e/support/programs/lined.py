# SPDX-License-Identifier: MIT
"""Functions of every kind; run() calls each of them a known number of times."""

# fmt: off

import asyncio
import contextlib
import functools
import threading
import types


def loops(n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        total += i
    while total > 10:
        total //= 2
    else:
        total += 1
    for _ in range(2): total += 1  # noqa: E701
    return total


def comprehensions(n):
    a = [i * i for i in range(n)]
    b = {
        i: [j for j in range(i)]
        for i in a
        if i % 2
    }
    c = sum(x for x in a)
    return a, b, c


def generator(n):
    for i in range(n):
        got = yield i
        if got:
            yield (
                got,
                i,
            )
    return n


def delegating(n):
    result = yield from generator(n)
    yield result


def consume(n):
    out = list(delegating(n))
    g = generator(2)
    next(g)
    out.append(g.send("x"))
    g.close()
    h = generator(2)
    next(h)
    try:
        h.throw(KeyError)
    except KeyError:
        out.append(None)
    return out


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        function(*args)
        return function(*args)

    return wrapper


@twice
@functools.lru_cache
def decorated(x):
    y = x + 1
    return y


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def tries(n):
    out = []
    for i in range(n):
        try:
            if i == 1:
                raise ValueError(i)
            if i == 2:
                out.append(1 // 0)
        except ValueError as error:
            out.append(error)
        except ZeroDivisionError:
            continue
        else:
            out.append(i)
        finally:
            out.append("f")
    return out


def raises(n):
    if n == 0:
        raise LookupError
    try:
        raises(n - 1)
    finally:
        n += 1


@contextlib.contextmanager
def manager(name):
    yield name
    name = None


def withs(n):
    with manager("a") as a, manager(
        "b"
    ) as b:
        if n:
            return a + b
    return None


def matches(value):
    match value:
        case int() if value > 10:
            return "big"
        case {"key": [first, *_]}:
            return first
        case (
            "a"
            | "b"
        ):
            return "letter"
        case _:
            return None


@types.coroutine
def hand_over():
    yield


async def inner(n):
    await hand_over()
    return n


async def numbers(n):
    for i in range(n):
        yield await inner(i)


async def asynchronous(n):
    total = 0
    async for i in numbers(n):
        total += i
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(int)
        total += sum(
            await asyncio.gather(
                inner(1),
                inner(2),
            )
        )
    return [x async for x in numbers(2)], total


def threaded(n):
    total = 0
    for i in range(n):
        total += i
    return total


def threads():
    many = [threading.Thread(target=threaded, args=(i,)) for i in range(4)]
    for each in many:
        each.start()
    for each in many:
        each.join()


def expressions(a, b):
    x = (
        a
        + b
        * a
    )
    y = a if b else (
        b
    )
    z = [
        x,
        y,
    ]
    assert (
        x
        or y
    ), "never"
    return max(
        z,
        key=lambda v: (
            v
        ),
    )


def oneline(x): return x + 1  # noqa: E704


double = lambda x: x * 2  # noqa: E731


class Thing:
    def __init__(self, value):
        self.value = value

    @property
    def twice(self):
        return self.value * 2

    @classmethod
    def make(cls, value):
        self = cls(value)
        return self

    def __iter__(self):
        yield self.value
        yield self.twice


def closures(n):
    def inside(x):
        nonlocal n
        n += x
        return n

    out = [inside(i) for i in range(3)]
    return out, inside


def run():
    loops(10)
    comprehensions(4)
    consume(3)
    decorated(1)
    decorated(2)
    fib(7)
    tries(4)
    with contextlib.suppress(LookupError):
        raises(3)
    withs(0)
    withs(1)
    for value in (1, 11, {"key": [1, 2]}, "a", "b", None):
        matches(value)
    asyncio.run(asynchronous(3))
    threads()
    expressions(1, 2)
    expressions(1, 0)
    oneline(1)
    oneline(2)
    double(3)
    list(Thing.make(4))
    _, inside = closures(2)
    inside(3)


FUNCTIONS = [
    loops,
    comprehensions,
    generator,
    delegating,
    consume,
    decorated.__wrapped__.__wrapped__,
    fib,
    tries,
    raises,
    manager.__wrapped__,
    withs,
    matches,
    hand_over,
    inner,
    numbers,
    asynchronous,
    threaded,
    threads,
    expressions,
    oneline,
    double,
    Thing.__init__,
    Thing.twice.fget,
    Thing.make.__func__,
    Thing.__iter__,
    closures,
    run,
]
