# SPDX-License-Identifier: MIT
"""Regions, counters, marks, parameters, metadata and tokens that a program records."""

import math
import sys
import textwrap

import ctf
import pytest
from proof import cunei, needs_babeltrace, print_with_babeltrace, python
from user_events import record

DEFAULT = "monitoring" if sys.version_info >= (3, 12) else "frame"
HOOKS = ["profile", "trace"]

REGIONS = """
    import asyncio, types

    @types.coroutine
    def turn():
        yield

    @cunei.region
    def decorated(n):
        cunei.parameter("n", n)

    class Class:
        @cunei.region("method")
        def method(self):
            pass
        @cunei.region("static")
        @staticmethod
        def static():
            pass
        @classmethod
        @cunei.region("of the class")
        def of_class(cls):
            pass

    @cunei.region("generator")
    def generate():
        yield 1
        yield 2

    def inside():
        with cunei.region("outer"), cunei.region("inner"):
            yield 1
            yield 2

    async def wait(name):
        with cunei.region(name):
            await turn()
            cunei.parameter("name", name)

    @cunei.region("asynchronous")
    async def produce():
        yield 1
        await turn()
        yield 2

    async def main():
        await asyncio.gather(wait("a"), wait("b"))
        async for _ in produce():
            pass

    def recurse(n):
        with cunei.region("recursion"):
            if n:
                recurse(n - 1)

    def work():
        with cunei.region("whole"):
            decorated(7)
            Class().method()
            Class.static()
            Class.of_class()
            list(generate())
            list(inside())
            recurse(2)
    work()
    asyncio.run(main())
"""
ALL_REGIONS = (
    "whole outer inner ~inner ~outer +outer +inner ~inner ~outer +outer +inner "
    "-inner -outer recursion recursion recursion -recursion -recursion -recursion "
    "-whole a ~a b ~b +a -a +b -b"
)


@pytest.mark.core
@pytest.mark.parametrize("instrumenter", [DEFAULT, *HOOKS])
def test_regions(tmp_path, instrumenter):
    recorded = record(tmp_path, REGIONS, "--instrumenter", instrumenter)

    assert recorded.regions() == ALL_REGIONS
    assert recorded.tags() == {
        "decorated": "decorated",
        "Class.method": "method",
        "Class.static": "static",
        "Class.of_class": "of the class",
        "generate": "generator",
        "produce": "asynchronous",
    }
    assert recorded.parameters() == [
        ("n", 7, "decorated"),
        ("name", "a", "a"),
        ("name", "b", "b"),
    ]


@pytest.mark.core
def test_regions_without_calls(tmp_path):
    recorded = record(tmp_path, REGIONS, "--instrumenter", "none")

    assert set(recorded.tags().values()) == {
        *("decorated", "method", "static", "of the class", "generator", "asynchronous"),
    }
    # The suspension of a frame that is not decorated is not seen.
    assert recorded.regions() == (
        "whole outer inner -inner -outer recursion recursion recursion -recursion "
        "-recursion -recursion -whole a b -a -b"
    )
    assert [each[:2] for each in recorded.parameters()] == [
        ("n", 7),
        ("name", "a"),
        ("name", "b"),
    ]
    assert recorded.parameters()[0][2] == "decorated"


def test_a_region_is_suspended_inside_its_frame(tmp_path):
    recorded = record(tmp_path, REGIONS)
    events = recorded.phases("outer", "inside")

    assert events == [
        ("inside", "enter"),
        ("outer", "enter"),
        *[("outer", "yield"), ("inside", "yield")],
        *[("inside", "resume"), ("outer", "resume")],
        *[("outer", "yield"), ("inside", "yield")],
        *[("inside", "resume"), ("outer", "resume")],
        ("outer", "leave"),
        ("inside", "leave"),
    ]


def test_a_decorated_function_is_recorded_whatever_is_excluded(tmp_path):
    recorded = record(tmp_path, REGIONS, "--exclude", "__main__")

    assert recorded.tags()["decorated"] == "decorated"
    assert recorded.trace.count("decorated") == 1
    assert recorded.trace.count("work") == 0
    # The parameter is of the function that is a region, not of one that it is in.
    assert ("n", 7, "decorated") in recorded.parameters()


@pytest.mark.core
def test_counters(tmp_path):
    recorded = record(
        tmp_path,
        """
        import math
        items = cunei.counter("items")
        items.add()
        items.add(41)
        items.set(-1)
        items.add(0.5)
        items.add(math.nan)
        items.set(math.inf)
        items.set(2**63 - 1)
        items.add(1)
        items.set(2**63)
        items.set(-(10**400))
        items.set(True)
        assert items is cunei.counter("items")
        assert items.value == 1
        """,
    )

    assert str(recorded.counts()) == str(
        [
            ("items", "resume", 1, 1),
            ("items", "resume", 41, 42),
            ("items", "enter", -1, -1),
            ("items", "resume", 0.5, -0.5),
            ("items", "resume", math.nan, math.nan),
            ("items", "enter", math.inf, math.inf),
            ("items", "enter", 2**63 - 1, 2**63 - 1),
            ("items", "resume", 1, float(2**63)),
            ("items", "enter", float(2**63), float(2**63)),
            ("items", "enter", -math.inf, -math.inf),
            ("items", "enter", 1, 1),
        ]
    )
    dumped = [event for event in recorded.dumped if event["event"] == "counter"]
    assert [event["total"] for event in dumped[3:6]] == [-0.5, "nan", "inf"]


@pytest.mark.core
def test_marks_parameters_and_metadata(tmp_path):
    recorded = record(
        tmp_path,
        """
        def function():
            cunei.parameter("n", 3)
        cunei.mark("plain")
        cunei.mark("text", "a=b")
        cunei.mark(name="number", value=-5)
        cunei.mark("real", 2.5)
        function()
        cunei.region_begin("region")
        function()
        cunei.region_end()
        cunei.metadata("version", "1.0")
        cunei.metadata(key="workers", value=4)
        """,
    )

    assert recorded.marks() == [
        ("plain", None),
        ("text", "a=b"),
        ("number", -5),
        ("real", 2.5),
    ]
    assert recorded.parameters() == [("n", 3, "function"), ("n", 3, "region")]
    metadata = [(each.name, each.value) for each in recorded.values(ctf.METADATA)]
    assert metadata == [("version", "1.0"), ("workers", 4)]
    dumped = [event for event in recorded.dumped if event["event"] == "mark"]
    assert [(event["name"], event["value"]) for event in dumped] == recorded.marks()


@pytest.mark.core
def test_tokens(tmp_path):
    recorded = record(
        tmp_path,
        """
        with cunei.tokens("decode") as first:
            second = cunei.tokens("decode")
            first.tick()
            second.tick(3)
            second.tick(0)
        second.start()
        second.tick()
        second.end()
        second.end()
        second.tick()
        """,
        errors=1,
    )

    assert recorded.tokens() == [
        (1, "enter", 0),
        (2, "enter", 0),
        (1, "resume", 1),
        (2, "resume", 3),
        (1, "leave", 0),
        (2, "leave", 0),
        (3, "enter", 0),
        (3, "resume", 1),
        (3, "leave", 0),
    ]


EVERYTHING = """
    items = cunei.counter("items")
    @cunei.region
    def function():
        cunei.parameter("n", 3)
    with cunei.region("region"):
        function()
        items.add(2)
        cunei.mark("mark", "text")
    cunei.region_end("wrong")
    tokens = cunei.tokens("decode")
    tokens.tick()
    tokens.end()
    cunei.metadata("key", -1)
"""


@needs_babeltrace
def test_babeltrace_shows_user_events(tmp_path):
    recorded = record(tmp_path, EVERYTHING, errors=1)

    lines, warnings = print_with_babeltrace(recorded.directory)
    text = "\n".join(lines)

    assert warnings == ""
    assert len(lines) == len(recorded.dumped)
    assert text.count(":region (<cunei region>:0):") == 2
    assert " mark: {" in text and 'text = "mark=text"' in text
    assert 'text = "wrong=region_end without' in text
    assert "value = 2, total = 2" in text
    assert " metadata: {" in text and "value = -1, kind = 1" in text
    assert " token: {" in text


def test_a_replay_shows_user_events(tmp_path):
    recorded = record(tmp_path, EVERYTHING, errors=1)

    text = cunei("replay", recorded.directory).stdout

    for words in (
        "mark mark = text",
        "parameter n = 3",
        "metadata key = -1",
        "counter items = 2, changed by 2",
        "mark wrong: region_end without",
        "tokens of decode 1: 1",
        "region",
    ):
        assert words in text, words


@pytest.mark.core
def test_nothing_is_recorded_and_nothing_is_wrong(tmp_path):
    text = "import cunei\n" + textwrap.dedent(EVERYTHING)

    done = python("-c", text, cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_importing_loads_nothing():
    done = python(
        "-c",
        "import cunei, sys; assert 'cunei._probe' not in sys.modules; "
        "cunei.mark; assert 'cunei._probe' in sys.modules; print(dir(cunei))",
    )

    assert done.returncode == 0, done.stderr
    assert "'region'" in done.stdout
