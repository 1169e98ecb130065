# SPDX-License-Identifier: MIT
"""Real programs for tests that count calls: the language, the library, concurrency.

Each is a function without arguments that leaves no thread behind.  What a program
needs is imported before it runs, but for those that are about importing.
"""

import collections
import contextlib
import dataclasses
import enum
import functools
import heapq
import importlib
import random
import re
import sys
import traceback
import types
import typing
import weakref

import concurrency
import libraries
from libraries import Point


def run_generators():
    """Generators sent to, thrown into, closed, dropped, delegated, abandoned."""

    def echo():
        received = None
        while True:
            try:
                received = yield received
            except KeyError:
                received = "caught"

    def delegate(depth):
        if depth:
            return (yield from delegate(depth - 1))
        yield from range(5)
        return depth

    def guard():
        with contextlib.suppress(ZeroDivisionError):
            yield 1
            yield 2 // 0
        yield 3

    generator = echo()
    next(generator)
    for i in range(20):
        generator.send(i)
    generator.throw(KeyError)
    with contextlib.suppress(ValueError):
        generator.throw(ValueError)
    with contextlib.suppress(StopIteration):
        next(generator)
    for depth in range(10):
        list(delegate(depth))
        next(delegate(depth))
    suspended = delegate(5)
    next(suspended)
    suspended.close()
    list(guard())
    next(guard())
    unstarted = guard()
    unstarted.close()
    with contextlib.suppress(RuntimeError):
        list(next(iter([])) for _ in range(3))
    heapq.nlargest(3, (i * i % 17 for i in range(50)), key=lambda n: -n)
    list(heapq.merge((i for i in (1, 3)), (i for i in (2, 4))))


def run_classes():
    """dataclasses, enum, typing, metaclasses, properties, descriptors."""

    class Meta(type):
        def __call__(cls, *args):
            return super().__call__(*args)

        def __getattr__(cls, name):
            raise AttributeError(name)

    class Base(metaclass=Meta):
        def __init_subclass__(cls, **options):
            super().__init_subclass__(**options)

        def __getattr__(self, name):
            return name

        @functools.cached_property
        def once(self):
            return 1

        @property
        def each(self):
            return self.once

        def __eq__(self, other):
            return NotImplemented

        def __hash__(self):
            return 1

        def __del__(self):
            self.each  # noqa: B018

    class Derived(Base):
        pass

    class Colour(enum.Flag):
        RED = enum.auto()
        BLUE = enum.auto()

    made = dataclasses.make_dataclass("Made", [("a", int), ("b", list, ())])
    for _ in range(10):
        item = Derived()
        assert (
            item.other == "other"
            and item.each == 1
            and {item: 1}.get(Derived()) is None
        )
        hasattr(Derived, "nothing")
        sorted([made(2), made(1)], key=lambda m: m.a)
    Colour.RED | Colour.BLUE  # noqa: B018
    list(Colour)
    dataclasses.replace(Point(1), x=2)
    dataclasses.asdict(Point(3, [Point(4)]))
    typing.NamedTuple("Pair", [("a", int)])(1)
    typing.get_type_hints(Point)


# Before 3.11 it is no Python.
GROUPS = """\
try:
    try:
        fail(1)
    except ValueError as error:
        raise ExceptionGroup("several", [error, KeyError()]) from error
except* KeyError:
    pass
except* ValueError as group:
    traceback.format_exception(group)
"""


def run_exceptions():
    """Exceptions through frames of C, through finally, with groups and contexts."""

    def fail(x):
        raise ValueError(x)

    def deep(n):
        try:
            if n == 0:
                fail(n)
            deep(n - 1)
        finally:
            len("")

    class Key:
        def __lt__(self, other):
            raise TypeError

        def __iter__(self):
            raise OSError

    for call in (
        lambda: sorted([3, 1], key=fail),
        lambda: sorted([Key(), Key()]),
        lambda: list(map(fail, [1])),
        lambda: max(Key()),
        lambda: functools.reduce(lambda a, b: fail(a), [1, 2]),
        lambda: re.sub("a", fail, "a"),
        lambda: deep(20),
        lambda: getattr(types.SimpleNamespace(), "x"),  # noqa: B009
    ):
        with contextlib.suppress(Exception):
            call()
    if sys.version_info >= (3, 11):
        exec(GROUPS, {"fail": fail, "traceback": traceback})
    weakref.finalize(fail, fail, 1).detach()


def run_contexts():
    """contextlib and functools, with every kind of wrapper."""

    @contextlib.contextmanager
    def manage(swallow):
        try:
            yield swallow
        except ValueError:
            if not swallow:
                raise

    @functools.singledispatch
    def show(value):
        return "?"

    @show.register
    def _(value: int):
        return "int"

    @show.register(list)
    def _(value):
        return [show(item) for item in value]

    @functools.lru_cache(5)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    @functools.total_ordering
    class Version:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    for swallow in (True, False):
        with contextlib.suppress(ValueError), manage(swallow):
            raise ValueError
    with contextlib.ExitStack() as stack:
        for i in range(5):
            stack.enter_context(manage(True))
            stack.callback(show, i)
        stack.push(lambda *error: True)
        raise ValueError
    show([1, "a", [2.0]])
    fib(30)
    sorted((Version(n) for n in (3, 1, 2)), key=functools.cmp_to_key(lambda a, b: -1))
    Version(1) >= Version(2)  # noqa: B015
    functools.partial(show, 1)()


def run_imports():
    """The import system: frozen code, class bodies, reloads."""
    for name in ("colorsys", "this_module_does_not_exist", "sched", "chunk"):
        sys.modules.pop(name, None)
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    importlib.reload(importlib.import_module("colorsys"))


def run_churn():
    """Code that is made, run and thrown away; the same function many times."""
    for i in range(50):
        names = {}
        exec("def f(x):\n    return (lambda y: y + x)(1)\nf(2)", names)
        names["f"](i)
        eval("[i for i in (j for j in range(3))]")
    table = collections.defaultdict(lambda: random.Random(1).random())
    for i in range(10):
        table[i]
    functools.reduce(lambda a, b: a * b, range(1, 20))


def run_recursion():
    """Recursion to the limit and back, and through C.

    Through C it stays away from the limit: there cProfile's own callback raises.
    """

    def down(n):
        return down(n + 1)

    def through_c(n):
        return n and list(map(through_c, [n - 1]))

    class Repr:
        def __init__(self, depth):
            self.inner = Repr(depth - 1) if depth else None

        def __repr__(self):
            return f"({self.inner!r})"

    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, ackermann(m, n - 1) if n else 1)

    with contextlib.suppress(RecursionError):
        down(0)
    through_c(50)
    repr(Repr(50))
    ackermann(2, 5)


WORKLOADS = {
    name[len("run_") :]: function
    for module in (concurrency, libraries, sys.modules[__name__])
    for name, function in vars(module).items()
    if name.startswith("run_")
}
