# SPDX-License-Identifier: MIT
"""Real programs for tests that count calls: the standard library at work.

Each is a function without arguments that leaves no thread behind.  What a program
needs is imported before it runs, but for those that are about importing.
"""

import _pydecimal
import argparse
import ast
import asyncio
import collections
import concurrent.futures
import configparser
import contextlib
import copy
import csv
import dataclasses
import difflib
import email.message
import email.parser
import enum
import fnmatch
import fractions
import functools
import heapq
import html.parser
import importlib
import inspect
import io
import json
import json.decoder
import json.encoder
import json.scanner
import logging
import pickle
import pprint
import queue
import random
import re
import shlex
import statistics
import string
import sys
import textwrap
import threading
import tokenize
import traceback
import types
import typing
import unittest
import urllib.parse
import weakref
import xml.etree.ElementTree
import zipfile


def run_json():
    """json with its scanner, string and container code in Python."""
    text = json.dumps(
        {"a": [1, 2.5, None, True, "é\n"], "b": {"c": [[]] * 5}}, indent=1
    )
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    value = decoder.decode(text)
    for _ in range(20):
        encode = json.encoder._make_iterencode(
            None,
            json.JSONEncoder().default,
            json.encoder.py_encode_basestring,
            " ",
            float.__repr__,
            ": ",
            ", ",
            True,
            False,
            False,
        )
        "".join(encode(value, 0))
    with contextlib.suppress(json.JSONDecodeError):
        decoder.decode("[1, 2")


def run_re():
    """The compiler of regular expressions."""
    re.purge()
    for source in (r"(?P<a>a|b)*?(?P=a)[^x-z]{2,5}$", r"\b(?:[a-c]|\d+)(?<!q)", "("):
        with contextlib.suppress(re.error):
            re.sub(source, lambda match: match[0].upper(), "abcab 12 q")


def run_ast():
    """Parse a module of the library, change it, write it out again."""

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.copy_location(ast.Name(node.id.upper(), node.ctx), node)

    tree = ast.parse(inspect.getsource(fnmatch))
    tree = ast.fix_missing_locations(Rename().visit(tree))
    getattr(ast, "unparse", ast.dump)(tree)


def run_decimal():
    """Arithmetic of the decimal module in Python: deep, with many contexts."""
    number = _pydecimal.Decimal
    with _pydecimal.localcontext() as context:
        context.prec = 30
        total = sum((number(i) / 7 for i in range(1, 30)), number(0))
        total.sqrt() + total.ln() - (total % number("0.3")).quantize(number("0.01"))
        with contextlib.suppress(_pydecimal.InvalidOperation):
            number("-1").sqrt()
    str(fractions.Fraction(3, 7) ** 5)


def run_asyncio():
    """Tasks, a queue, a group that fails, time-outs, cancellation, generators."""

    async def produce(target, count):
        for i in range(count):
            await target.put(i)
            await asyncio.sleep(0)
        await target.put(None)

    async def consume(source):
        total = 0
        while (item := await source.get()) is not None:
            total += item
        return total

    async def count():
        try:
            for i in range(10):
                yield i
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)

    async def fail():
        await asyncio.sleep(0)
        raise ValueError

    async def for_ever():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)

    async def in_groups():
        line = asyncio.Queue(3)
        async with asyncio.TaskGroup() as group:
            group.create_task(produce(line, 20))
            group.create_task(consume(line))
        with contextlib.suppress(Exception):
            async with asyncio.TaskGroup() as group:
                group.create_task(for_ever())
                group.create_task(fail())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.001):
                await for_ever()

    async def main():
        line = asyncio.Queue(3)
        await asyncio.gather(produce(line, 20), consume(line))
        if sys.version_info >= (3, 11):
            await in_groups()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(for_ever(), 0.001)
        async for i in count():
            if i == 3:
                break
        [i async for i in count()]
        loop = asyncio.get_running_loop()
        await asyncio.gather(loop.run_in_executor(None, sum, [1]), asyncio.sleep(0))

    asyncio.run(main())


def run_coroutines():
    """Coroutines driven by hand; all that can be thrown into them."""

    @types.coroutine
    def pause(value):
        return (yield value)

    async def down(depth):
        if depth:
            return await down(depth - 1)
        try:
            return await pause(depth)
        except KeyError:
            return await pause("caught")

    async def count():
        try:
            for i in range(5):
                try:
                    yield await pause(i)
                except KeyError:
                    yield "caught"
        finally:
            await pause("last")

    @contextlib.asynccontextmanager
    async def manage():
        await pause("enter")
        try:
            yield
        finally:
            await pause("exit")

    async def use():
        async with manage():
            async for _ in count():
                pass
            return [i async for i in count() if i]

    async def abandon():
        generator = count()
        await generator.asend(None)
        with contextlib.suppress(StopAsyncIteration):
            await generator.athrow(KeyError)
            await generator.athrow(ValueError)

    def drive(awaitable, *errors):
        errors = list(errors)
        with contextlib.suppress(StopIteration, ValueError, RuntimeError):
            awaitable.send(None)
            while True:
                if errors:
                    awaitable.throw(errors.pop(0))
                else:
                    awaitable.send(1)

    for depth in range(8):
        drive(down(depth))
        drive(down(depth), KeyError)
        drive(down(depth), KeyError, ValueError)
        drive(down(depth), ValueError)
        suspended = down(depth)
        suspended.send(None)
        suspended.close()
        down(depth).close()
    for _ in range(3):
        drive(use())
        drive(use(), ValueError)
        drive(abandon())
        drive(count().aclose())
        drive(down(3).__await__(), KeyError)


def run_tasks():
    """Tasks that start at once, in Python, cancelled deep within, in crowds."""

    async def down(depth, event):
        if depth:
            return await down(depth - 1, event)
        await event.wait()

    async def at_once(depth):
        if depth:
            await asyncio.create_task(at_once(depth - 1))
        return depth

    async def count():
        for i in range(5):
            await asyncio.sleep(0)
            yield i

    async def cancel(depth):
        task = asyncio.create_task(down(depth, asyncio.Event()))
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def crowd(limit, n):
        async with limit:
            await asyncio.sleep(0)
            return n

    async def main():
        for depth in range(8):
            await cancel(depth)
            await asyncio.tasks._PyTask(at_once(depth))
        never = asyncio.create_task(at_once(3))
        never.cancel()
        limit = asyncio.Semaphore(3)
        together = [crowd(limit, n) for n in range(20)]
        await asyncio.gather(*together, never, return_exceptions=True)
        generator = count()
        for _ in range(3):
            await asyncio.create_task(generator.__anext__())
        await generator.aclose()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(down(5, asyncio.Event()), 0.001)
        if sys.version_info >= (3, 12):
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        await at_once(10)
        tasks = [asyncio.create_task(at_once(n)) for n in range(5)]
        await asyncio.gather(*tasks)
        event = asyncio.Event()
        waiting = [asyncio.create_task(down(n, event)) for n in range(5)]
        event.set()
        await asyncio.wait(waiting)
        return tasks

    asyncio.run(main())


def run_futures():
    """A pool of threads."""

    def work(n):
        if n == 7:
            raise ValueError(n)
        return sum(i for i in range(n))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(work, n) for n in range(40)]
        list(pool.map(work, range(5)))
        for future in concurrent.futures.as_completed(futures):
            future.exception()


def run_threads():
    """Threads, a queue between them, locals, a timer."""
    line, own = queue.Queue(5), threading.local()

    def take():
        own.seen = 0
        while line.get() is not None:
            own.seen += 1

    workers = [threading.Thread(target=take, name=f"worker {i}") for i in range(3)]
    for worker in workers:
        worker.start()
    for item in [*range(100), *(None for _ in workers)]:
        line.put(item)
    for worker in workers:
        worker.join()
    timer = threading.Timer(0, take)
    line.put(None)
    timer.start()
    timer.join()


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list, compare=False)

    def __post_init__(self):
        self.x = int(self.x)


def run_pickle():
    """The pickler and unpickler in Python; deep copies."""
    value = {"points": [Point(i, [i]) for i in range(5)], "shared": [Point(1)] * 3}
    value["self"] = value
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = io.BytesIO()
        pickle._Pickler(data, protocol).dump(value)
        pickle._Unpickler(io.BytesIO(data.getvalue())).load()
    copy.deepcopy(value)
    with contextlib.suppress(AttributeError, pickle.PicklingError):
        pickle._Pickler(io.BytesIO()).dump(lambda: None)


def run_difflib():
    """Differences of two texts: generators in generators."""
    before = inspect.getsource(Point).splitlines(True)
    after = [line.replace("int", "float") for line in before] + ["\n"]
    list(difflib.unified_diff(before, after))
    list(difflib.ndiff(before, after))
    difflib.get_close_matches("appel", ["ape", "apple", "peach"])
    next(difflib._mdiff(before, after))


def run_parsers():
    """tokenize, configparser, shlex, csv, argparse."""
    source = inspect.getsource(sys.modules[__name__]).encode()
    whole = source[: source.index(b"\n\n\n", 4000)]
    list(tokenize.tokenize(io.BytesIO(whole).readline))
    with contextlib.suppress(tokenize.TokenError):
        list(tokenize.tokenize(io.BytesIO(b"(").readline))
    config = configparser.ConfigParser()
    config.read_string("[a]\nx = 1\ny = %(x)s0\n[b : a]\n")
    config.getint("a", "y")
    with contextlib.suppress(configparser.NoOptionError):
        config.get("a", "z")
    shlex.split('a \'b c\' "d\\"" # e')
    list(csv.DictReader(io.StringIO("a,b\n1,2\n3,4\n")))
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=3)
    parser.add_argument("names", nargs="*")
    parser.parse_args(["--number", "4", "a", "b"])
    if sys.version_info >= (3, 9):
        parser.exit_on_error = False
        with contextlib.suppress(argparse.ArgumentError):
            parser.parse_args(["--number", "x"])


def run_templates():
    """string.Template and string.Formatter in a loop."""
    template = string.Template("$who owes ${what} $$")
    for i in range(50):
        template.safe_substitute(who=i)
        with contextlib.suppress(KeyError):
            template.substitute(who=i)
        string.Formatter().format("{0!r:>{width}} {x[0]}", i, width=5, x=[i])


def run_html():
    """An HTML parser that calls back, and an XML tree."""

    class Links(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.found = []

        def handle_starttag(self, tag, attrs):
            self.found += [value for name, value in attrs if name == "href"]

    links = Links()
    for piece in ("<p>a &amp; b<a hr", "ef='x'>y</a><!-- c --><br/>", "<b") * 5:
        links.feed(piece)
    links.close()
    root = xml.etree.ElementTree.fromstring("<a><b x='1'/><b>t</b></a>")
    xml.etree.ElementTree.tostring(root)
    list(root.iter("b"))


def run_text():
    """textwrap, pprint, statistics, fnmatch, urllib."""
    text = " ".join(word for word in dir(sys))
    textwrap.shorten(text, 100)
    textwrap.dedent(textwrap.indent(textwrap.fill(text, 30), "  "))
    pprint.pformat({"a": [text.split()] * 2, "b": {1: (2, {3})}}, width=40)
    statistics.quantiles([1.5, 2.5, 4.5, 8.5])
    statistics.harmonic_mean([1, 2, 3])
    fnmatch.filter(["a.py", "b.c"], "*.py")
    urllib.parse.urlsplit(urllib.parse.urlunsplit(("http", "a:1", "/b c", "d=e", "")))
    urllib.parse.parse_qs(urllib.parse.urlencode({"a": [1, 2]}, doseq=True))


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


def run_mail():
    """email and logging: old code, many small methods."""
    message = email.message.EmailMessage()
    message["Subject"] = "é" * 50
    message["To"] = "a@example.org, B <b@example.org>"
    message.set_content("text\n" * 10)
    email.parser.BytesParser().parsebytes(bytes(message)).as_string()
    logger = logging.Logger("own")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    for i in range(10):
        logger.warning("number %d", i)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a", "b")


def run_unittest():
    """A test suite within the program."""

    class Case(unittest.TestCase):
        def test_good(self):
            self.assertEqual([1], [1])

        def test_bad(self):
            self.assertEqual({"a": 1}, {"a": 2})

        @unittest.skip("never")
        def test_skipped(self):
            pass

        def test_subtests(self):
            for i in range(3):
                with self.subTest(i=i):
                    self.assertLess(i, 2)

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
    unittest.TextTestRunner(io.StringIO()).run(suite)


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
    for name, function in list(globals().items())
    if name.startswith("run_")
}
