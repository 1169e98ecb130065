# SPDX-License-Identifier: MIT
"""Regions that a helper begins: its frame has ended before they do."""

import ctf
import pytest
from user_events import record

HELPERS = """
import asyncio, contextlib, types
@types.coroutine
def turn():
    yield
def begin(name):
    cunei.region_begin(name)
def end(name):
    cunei.region_end(name)
class Timed:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        begin(self.name)
    def __exit__(self, *exception):
        end(self.name)
class TimedLater(Timed):
    async def __aenter__(self):
        await turn()
        begin(self.name)
    async def __aexit__(self, *exception):
        end(self.name)
@contextlib.contextmanager
def managed(name):
    with cunei.region(name):
        yield
@contextlib.contextmanager
def called(name):
    begin(name)
    yield
    end(name)
@contextlib.asynccontextmanager
async def managed_later(name):
    with cunei.region(name):
        yield
"""

# It takes some packets.
WORK = """
def nothing():
    pass
def work():
    for _ in range(40_000):
        nothing()
"""


def stacks_in(recorded, name):
    """What was open where packets began, while this function ran."""
    stacks = [
        [recorded.name(function) for function in event.value if function]
        for event in recorded.events(ctf.STACK)
    ]
    return [stack for stack in stacks if name in stack]


# How a function may use one, and how a coroutine may besides.
WAYS = {
    "timed": 'with Timed("timed"):',
    "managed": 'with managed("managed"):',
    "called": 'with called("called"):',
    "entered": """with contextlib.ExitStack() as stack:
        stack.enter_context(cunei.region("entered"))""",
}
LATER = {
    "timed later": 'async with TimedLater("timed later"):',
    "managed later": 'async with managed_later("managed later"):',
    "entered later": """async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(managed_later("entered later"))""",
}


@pytest.mark.core
@pytest.mark.parametrize("options", [(), ("--exclude", "contextlib")], ids=["", "less"])
def test_they_are_suspended_with_the_block(tmp_path, options):
    ways = {**WAYS, **LATER}
    tasks = [
        f"""
async def task():
    {way}
        await turn()
asyncio.run(main(task))
"""
        for way in ways.values()
    ]
    recorded = record(
        tmp_path,
        HELPERS
        + """
async def main(task):
    await asyncio.gather(task(), task())
"""
        + "".join(tasks),
        *options,
    )

    for name in ways:
        assert [phase for region, phase in recorded.phases() if region == name] == [
            *("enter", "yield") * 2,
            *("resume", "leave") * 2,
        ], name


@pytest.mark.core
def test_they_are_suspended_with_a_generator(tmp_path):
    recorded = record(
        tmp_path,
        HELPERS
        + """
def generate():
    with Timed("x"):
        yield
try:
    generator = generate()
    next(generator)
    generator.throw(ValueError)
except ValueError:
    pass
""",
    )

    assert recorded.regions() == "x ~x +x -x"


@pytest.mark.parametrize("options", [(), ("--exclude", ":begin")], ids=["", "less"])
def test_packets_list_them_where_the_block_is(tmp_path, options):
    programs = [
        f"""
def program():
    {way}
        work()
program()
"""
        for way in WAYS.values()
    ]
    recorded = record(tmp_path, HELPERS + WORK + "".join(programs), *options)

    stacks = stacks_in(recorded, "work")
    assert {stack[2] for stack in stacks} == set(WAYS)
    for stack in stacks:
        assert stack == ["<module>", "program", stack[2], "work", *stack[4:]]


@pytest.mark.core
def test_they_slide_down_as_often_as_it_takes(tmp_path):
    recorded = record(
        tmp_path,
        HELPERS
        + WORK
        + """
def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        begin("x")
def fails():
    begin("y")
    raise ValueError
deep(10)
try:
    fails()
except ValueError:
    work()
end("x")
end("y")
""",
    )

    stacks = stacks_in(recorded, "work")
    assert len(stacks) >= 2
    for stack in stacks:
        assert stack[:4] == ["<module>", "x", "y", "work"]
