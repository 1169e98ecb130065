# SPDX-License-Identifier: MIT
"""Python without a GIL: threads that are in the probe at the same time."""

from collections import Counter

import ctf
import pytest
from proof import FREE_THREADED

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not FREE_THREADED, reason="this Python has a GIL"),
]

# Ends the program if the GIL is ever switched on: after that nothing is tested.
HEAD = """\
import sys, threading

def run(count, target, *args):
    assert not sys._is_gil_enabled()
    threads = [
        threading.Thread(target=target, args=(i, *args), name=f"thread {i}")
        for i in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not sys._is_gil_enabled()

"""


def check(done, stdout=""):
    assert (done.returncode, done.stderr, done.stdout) == (0, "", stdout)


def record(cunei, source, *options, balanced=True):
    """Record a program that prints nothing, and whose trace is whole."""
    cunei.write("app.py", HEAD + source)
    check(cunei("record", "-q", "-o", "trace", *options, "app.py"))
    trace = ctf.read(cunei.folder / "trace")
    check_whole(trace, balanced)
    return trace


def check_whole(trace, balanced=True):
    for process in trace.processes:
        assert process.description["lost"] == "0", process.description
        assert not balanced or process.is_balanced(), process.replay()
        identities = Counter(process.functions.values())
        assert max(identities.values()) == 1, identities.most_common(3)


def by_thread(process, qualname, phase=ctf.ENTER):
    """How often each thread entered a function, by the thread's name."""
    ids = {n for n, f in process.functions.items() if f.qualname == qualname}
    counts = Counter()
    for packets in process.threads().values():
        for packet in packets:
            found = packet.count().items()
            counts[packets[-1].thread_name] += sum(
                n for (function, p), n in found if function in ids and p == phase
            )
    return +counts


def test_the_gil_stays_off(cunei):
    cunei.write(
        "app.py",
        """\
import sys, warnings
warnings.simplefilter("error")
import cunei
seen = [sys._is_gil_enabled()]
with cunei.recording("inside"):
    seen.append(sys._is_gil_enabled())
print(*seen, sys._is_gil_enabled())
""",
    )
    check(cunei.run(cunei.python, "app.py"), "False False False\n")
    cunei.write("plain.py", "import sys; print(sys._is_gil_enabled())")
    check(cunei("record", "-q", "-o", "trace", "plain.py"), "False\n")


def test_threads_that_call_at_full_speed(cunei):
    """Each fills packets of its own; nothing is lost, or counted for another."""
    trace = record(
        cunei,
        """\
def leaf():
    pass

def call(i):
    for _ in range(60_000 + i):
        leaf()

run(6, call)
""",
    )

    (process,) = trace.processes
    assert by_thread(process, "leaf") == {f"thread {i}": 60_000 + i for i in range(6)}
    assert by_thread(process, "leaf", ctf.LEAVE) == by_thread(process, "leaf")


def test_threads_that_begin_and_end_while_others_call(cunei):
    trace = record(
        cunei,
        """\
def leaf():
    pass

def call(i):
    for _ in range(50_000):
        leaf()

def short(i):
    leaf()

def start_others(i):
    for _ in range(40):
        run(5, short)

threads = [threading.Thread(target=start_others, args=(i,)) for i in range(2)]
for thread in threads:
    thread.start()
run(3, call)
for thread in threads:
    thread.join()
""",
    )

    (process,) = trace.processes
    assert trace.count("leaf") == 3 * 50_000 + 2 * 40 * 5
    assert trace.count("short") == trace.count("short", ctf.LEAVE) == 2 * 40 * 5
    assert len(list(process.folder.glob("s*"))) <= 20


def test_a_function_that_many_threads_see_first(cunei):
    """It gets one id, and its definition stands there once.

    CPython 3.13 at times notifies no tool of a start: where a thread has read the
    first instruction just before another one has put its own in place.
    """
    trace = record(
        cunei,
        """\
COUNT = 500
source = "\\n".join(f"def f{n}():\\n    return {n}" for n in range(COUNT))
exec(compile(source, "made.py", "exec"))
barrier = threading.Barrier(8)

def call(i):
    for n in range(COUNT):
        function = globals()[f"f{n}"]
        if n % 50 == 0:
            barrier.wait()
        assert function() == n

run(8, call)
""",
        balanced=False,
    )

    (process,) = trace.processes
    counts = process.count(ctf.LEAVE)
    made = {f.qualname: n for f, n in counts.items() if f.file == "made.py"}
    assert made == {"<module>": 1} | {f"f{n}": 8 for n in range(500)}
    missing = process.count(ctf.LEAVE) - process.count(ctf.ENTER)
    assert missing.total() <= 3 and all(f.file == "made.py" for f in missing), missing


def test_code_that_is_made_and_freed_in_many_threads(cunei):
    trace = record(
        cunei,
        """\
import gc

def churn(i):
    for n in range(2_000):
        scope = {}
        exec(f"def made():\\n    return {n % 7}\\n", scope)
        assert scope["made"]() == n % 7
        if n % 500 == 0:
            gc.collect()

run(4, churn)
""",
    )

    assert trace.count("made") == trace.count("made", ctf.LEAVE) == 8_000


def test_exceptions_and_generators_in_many_threads(cunei):
    """Generators that one thread after the other resumes, collections, raises."""
    trace = record(
        cunei,
        """\
import gc

def numbers():
    n = 0
    while True:
        n += 1
        yield n

shared = numbers()
lock = threading.Lock()

def fail(n):
    if n == 0:
        raise ValueError(n)
    fail(n - 1)

def work(i):
    own = numbers()
    for n in range(1_500):
        with lock:
            next(shared)
        next(own)
        if n % 10 == 0:
            try:
                fail(5)
            except ValueError:
                pass
        if n % 1_000 == 0:
            gc.collect()
    own.close()

run(4, work)
assert next(shared) == 6_001
""",
    )

    assert trace.count("fail") == trace.count("fail", ctf.LEAVE) == 4 * 150 * 6
    # The first of each generator is an entry.
    assert trace.count("numbers") == 5
    assert trace.count("numbers", ctf.YIELD) == 4 * 1_500 + 6_001
    raised = sum(
        event.kind == ctf.EXCEPTION and event.phase == ctf.ENTER
        for event in trace.processes[0].events()
        if event.kind == ctf.EXCEPTION and event.value.type.endswith("ValueError")
    )
    assert raised == 4 * 150


def test_calls_of_c_functions_and_arguments_in_many_threads(cunei):
    trace = record(
        cunei,
        """\
def leaf(number, items):
    items.insert(0, number)
    return len(items)

def call(i):
    items = []
    for n in range(1_500):
        leaf(n, items)
        items.clear()
        items.reverse()

run(4, call)
""",
        "--c-calls",
        "--args",
        ":leaf",
        "--return",
        ":leaf",
    )

    assert trace.count("leaf") == 6_000
    assert trace.count("list.insert") == trace.count("list.reverse") == 6_000
    assert trace.count("list.reverse", ctf.LEAVE) == 6_000
    texts = Counter(
        (event.phase, event.value.name, event.value.text)
        for event in trace.processes[0].events()
        if event.kind == ctf.ARGUMENT
    )
    for n in (0, 17, 1_499):
        assert texts[ctf.ENTER, "number", str(n)] == 4
    assert texts[ctf.ENTER, "items", "[]"] == texts[ctf.LEAVE, "", "1"] == 6_000


def test_event_loops_in_many_threads(cunei):
    trace = record(
        cunei,
        """\
import asyncio

async def step(n):
    await asyncio.sleep(0)
    return n

async def main():
    async with asyncio.TaskGroup() as group:
        for n in range(20):
            group.create_task(step(n), name=f"task {n}")

def loop(i):
    for _ in range(5):
        asyncio.run(main())

run(4, loop)
""",
    )

    assert trace.count("step") == trace.count("step", ctf.LEAVE) == 4 * 5 * 20
    tasks = {
        event.value.task: event.value.name
        for event in trace.processes[0].events()
        if event.kind == ctf.TASK and event.value.name
    }
    names = Counter(tasks.values())
    assert [names[f"task {n}"] for n in range(20)] == [20] * 20
