# SPDX-License-Identifier: MIT
"""Regions that are open across threads, forks, packets, recordings, greenlets."""

import sys

import ctf
import pytest
from proof import FREE_THREADED, cunei, python
from user_events import Recorded, record


@pytest.mark.core
def test_regions_that_stay_open(tmp_path):
    recorded = record(
        tmp_path,
        """
        import threading
        def work():
            cunei.region_begin("of a thread")
            cunei.region("entered").__enter__()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        cunei.region_begin("of the program")
        def end():
            cunei.region_end("of the program")
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        """,
        errors=1,
    )

    assert sorted(recorded.regions().split(" -")) == [recorded.regions()]
    assert recorded.regions() == "of the program of a thread entered" or (
        recorded.regions() == "of a thread entered of the program"
    )


@pytest.mark.core
def test_regions_float(tmp_path):
    recorded = record(
        tmp_path,
        """
        import contextlib
        def begin():
            cunei.region_begin("floating")
        def end():
            cunei.region_end("floating")
        begin()
        end()
        with contextlib.ExitStack() as stack:
            for name in "abc":
                stack.enter_context(cunei.region(name))
        """,
    )

    assert recorded.regions() == "floating -floating a b c -c -b -a"
    assert recorded.phases("begin", "end", "floating") == [
        ("begin", "enter"),
        ("floating", "enter"),
        ("begin", "leave"),
        ("end", "enter"),
        ("floating", "leave"),
        ("end", "leave"),
    ]


@pytest.mark.core
def test_a_context_manager_is_open_for_its_block(tmp_path):
    recorded = record(
        tmp_path,
        """
        import asyncio, contextlib
        @contextlib.contextmanager
        def stage(name):
            with cunei.region(name):
                yield
        @contextlib.asynccontextmanager
        async def step(name):
            with cunei.region(name):
                yield
        async def main():
            async with step("b"):
                cunei.mark("inside b")
        with stage("a"):
            cunei.mark("inside a")
        asyncio.run(main())
        """,
    )

    assert recorded.regions() == "a -a b -b"


@pytest.mark.core
def test_packets_list_the_regions_that_are_open(tmp_path):
    recorded = record(
        tmp_path,
        """
        import threading
        def nothing():
            pass
        def generate():
            with cunei.region("suspended"):
                while True:
                    yield
        def middle():
            with cunei.region("inner"):
                for _ in range(40_000):
                    nothing()
        def work():
            generator = generate()
            next(generator)
            with cunei.region("outer"):
                middle()
            generator.close()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """,
    )

    stacks = [
        [recorded.name(function) for function in event.value]
        for event in recorded.events(ctf.STACK)
    ]
    full = [stack[stack.index("work") :] for stack in stacks if "middle" in stack]
    assert len(full) >= 6
    for stack in full:
        assert stack[:4] == ["work", "outer", "middle", "inner"]
    assert not any("suspended" in stack for stack in stacks)
    assert recorded.trace.count("suspended", ctf.LEAVE) == 3


def test_many_begins_and_ends(tmp_path):
    recorded = record(
        tmp_path,
        """
        for _ in range(20_000):
            with cunei.region("x"):
                cunei.region_begin("y")
                cunei.region_end()
        """,
    )

    assert recorded.trace.count("x") == recorded.trace.count("y") == 20_000
    assert recorded.trace.count("x", ctf.LEAVE) == 20_000


@pytest.mark.core
def test_recordings_begin_and_end_in_the_middle(tmp_path):
    program = """
import cunei
items = cunei.counter("items")
cunei.metadata("key", "early")
@cunei.region
def tagged():
    pass
tagged()
items.add(5)
cunei.region_begin("before")
with cunei.region("around"):
    for number in range(2):
        tokens = cunei.tokens("tokens")
        with cunei.recording(f"trace{number}"):
            tagged()
            items.add()
            tokens.tick()
            with cunei.region("inside"):
                pass
            cunei.region("left open").__enter__()
            cunei.region_begin("begun")
            if number:
                cunei.region_end("before")
        cunei.region_end("begun")
tagged()
"""
    done = python("-c", program, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")

    for number in range(2):
        recorded = Recorded(tmp_path / f"trace{number}")
        assert recorded.regions() == "inside -inside left open begun"
        assert recorded.tags() == {"tagged": "tagged"}
        assert recorded.trace.count("tagged") == 1
        assert recorded.counts() == [("items", "resume", 1, 6 + number)]
        assert [each.value for each in recorded.values(ctf.METADATA)] == ["early"]
        assert recorded.tokens() == [(number + 1, "resume", 1)]


@pytest.mark.core
def test_a_forked_child_continues_with_what_is_open(tmp_path):
    directory = tmp_path / "trace"
    program = tmp_path / "program.py"
    program.write_text(
        """
import cunei, os
cunei.metadata("key", 1)
items = cunei.counter("items")
@cunei.region
def tagged():
    pass
def generate():
    with cunei.region("generator"):
        yield
        yield
generator = generate()
next(generator)
tagged()
with cunei.region("around"):
    child = os.fork()
    tagged()
    items.add()
    with cunei.region("of both"):
        pass
    list(generator)
if child:
    os.waitpid(child, 0)
"""
    )
    cunei("record", "-q", "-o", directory, program)

    recorded = Recorded.__new__(Recorded)
    trace = ctf.read(directory)
    assert trace.is_balanced()
    for process in trace.processes:
        recorded.trace = ctf.Trace([process])
        assert recorded.tags() == {"tagged": "tagged"}
        assert [each.value for each in recorded.values(ctf.METADATA)] == [1]
        assert recorded.regions().endswith(
            "of both -of both +generator ~generator +generator -generator -around"
        )
        assert recorded.counts() == [("items", "resume", 1, 1)]
    assert len(trace.processes) == 2


@pytest.mark.skipif(sys.version_info < (3, 12), reason="interpreters share all before")
def test_other_interpreters_say_nothing(tmp_path):
    recorded = record(
        tmp_path,
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        interpreters.run_string(other, '''if True:
            import cunei
            with cunei.region("other"):
                cunei.counter("x").add()
                cunei.mark("y")
            @cunei.region
            def function():
                pass
            function()
        ''')
        interpreters.destroy(other)
        with cunei.region("mine"):
            pass
        """,
    )

    assert recorded.regions() == "mine -mine"
    assert recorded.marks() == []


def test_threads_count_together(tmp_path):
    recorded = record(
        tmp_path,
        """
        import threading
        def work():
            for _ in range(2_500):
                cunei.counter("items").add()
                with cunei.region("shared"):
                    pass
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(cunei.counter("items").value)
        """,
    )

    assert recorded.out == "10000\n"
    totals = sorted(count[3] for count in recorded.counts())
    assert totals == list(range(1, 10_001))
    assert recorded.trace.count("shared") == 10_000


def test_greenlets_have_regions_of_their_own(tmp_path):
    pytest.importorskip("greenlet")
    if FREE_THREADED:
        pytest.skip("greenlet switches the GIL on")
    recorded = record(
        tmp_path,
        """
        import greenlet
        def work(name):
            with cunei.region(name):
                main.switch()
                cunei.parameter("name", name)
        main = greenlet.getcurrent()
        with cunei.region("main"):
            others = [greenlet.greenlet(work) for _ in range(3)]
            for number, other in enumerate(others):
                other.switch(str(number))
            for other in others:
                other.switch()
            cunei.parameter("name", "main")
        """,
    )

    assert [each[1:] for each in recorded.parameters()] == [
        (name, name) for name in ("0", "1", "2", "main")
    ]
    assert recorded.regions() == "main 0 1 2 -0 -1 -2 -main"
