# SPDX-License-Identifier: MIT
"""The evaluator of frames on CPython 3.12 and later, where it is not the default."""

import sys

import ctf
import pytest
from proof import FREE_THREADED

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(sys.version_info < (3, 12), reason="it is the default there"),
    pytest.mark.skipif(
        sys.version_info[:2] == (3, 13), reason="3.13 runs __init__ past an evaluator"
    ),
    pytest.mark.skipif(FREE_THREADED, reason="an evaluator needs the GIL"),
]


def record(cunei, text, *options):
    program = cunei.write("app.py", text)
    words = ("-o", "trace", "--instrumenter", "frame", *options, program)
    done = cunei("record", *words)
    assert done.returncode == 0, done.stderr
    return done, ctf.read(cunei.folder / "trace")


DEEP = """
import sys
import threading

def down(depth):
    return depth and 1 + down(depth - 1)

def without_end():
    return 1 + without_end()

def begin(size, depth):
    threading.stack_size(size)
    thread = threading.Thread(target=lambda: print(down(depth)))
    thread.start()
    thread.join()

print(down(970))
try:
    without_end()
except RecursionError as error:
    print(error)
sys.setrecursionlimit(200000)
print(down(100000))
begin(0, 30000)
begin(65536, 5000)
"""


def test_recursion_goes_as_deep_as_without_it(cunei):
    alone = cunei.run(cunei.python, cunei.write("alone.py", DEEP))
    done, trace = record(cunei, DEEP)

    assert done.stdout == alone.stdout
    assert trace.count("down") == 971 + 100001 + 30001 + 5001
    assert trace.is_balanced()


GREENLETS = """
import greenlet
import sys

def down(depth):
    return depth and 1 + down(depth - 1)

print(down(900))
print(greenlet.greenlet(down).switch(900))
sys.setrecursionlimit(200000)
try:
    print(down(100000))
except RecursionError:
    print("too deep")
"""


def test_with_greenlets_the_c_stack_is_the_limit(cunei):
    """greenlet copies stacks, so there is no other one: an error, and no crash."""
    pytest.importorskip("greenlet")
    done, trace = record(cunei, GREENLETS)

    assert done.stdout.splitlines() == ["900", "900", "too deep"]
    assert trace.is_balanced()


OPEN = """
import cunei

def work():
    pass

def begin():
    cunei.start("trace", instrumenter="frame")
    work()

def middle():
    begin()
    work()

def generate():
    middle()
    yield 1
    work()

def outer():
    for _ in generate():
        work()
    work()

outer()
work()
cunei.stop()
"""


def test_frames_that_were_open_are_left_when_the_next_function_is_entered(cunei):
    done = cunei.run(cunei.python, cunei.write("open.py", OPEN))
    assert done.returncode == 0, done.stderr
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.is_balanced()
    depths, stack = [], []
    for events in process.threads().values():
        for event in (event for packet in events for event in packet.events()):
            if event.kind == ctf.STACK:
                stack = [process.functions[open_].qualname for open_ in event.value]
            elif event.kind == ctf.CALL and event.phase in (ctf.ENTER, ctf.RESUME):
                stack.append(process.functions[event.function].qualname)
                depths.append(stack[-2:])
            elif event.kind == ctf.CALL:
                assert stack.pop() == process.functions[event.function].qualname
    works = [above for above, name in depths if name == "work"]
    assert works == ["begin", "middle", "outer", "generate", "outer", "<module>"]


VALUES = """
def outer(first, *rest, kept):
    def inner():
        return first
    return inner() + len(rest)

async def wait(x):
    return x

def generate(n):
    for i in range(n):
        got = yield i

outer(1, 2, kept=3)
list(generate(2))
try:
    wait(5).send(None)
except StopIteration:
    pass
"""


def test_arguments_and_results(cunei):
    _, trace = record(cunei, VALUES, "--args", "*", "--return", "*")
    (process,) = trace.processes
    told = [
        (process.functions[event.value.function].qualname, *event.value[2:])
        for packets in process.threads().values()
        for packet in packets
        for event in packet.events()
        if isinstance(event.value, ctf.Argument)
    ]
    assert ("outer", "first", "1") in told
    assert ("outer", "rest", "(2,)") in told
    assert ("outer", "kept", "3") in told
    assert ("wait", "x", "5") in told
    assert ("generate", "n", "2") in told
    assert ("outer.<locals>.inner", "", "1") in told
    assert ("outer", "", "2") in told


def test_the_report_says_that_exceptions_were_not_told(cunei):
    record(cunei, "def f():\n    1 / 0\ntry:\n    f()\nexcept Exception:\n    pass\n")
    done = cunei("report", "--exceptions", "trace")
    assert "--instrumenter frame does not tell of them" in done.stdout
