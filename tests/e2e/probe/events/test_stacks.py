# SPDX-License-Identifier: MIT
"""However frames begin and end, stacks stay balanced, or the imbalance is counted."""

import json
import platform
import sys

import ctf
import pytest

pytestmark = pytest.mark.core


def record(cunei, source, *options, status=0, output=None, recover=False):
    """Record a program that behaves as it does without us, and read its trace."""
    cunei.write("app.py", source)
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")

    assert done.returncode == plain.returncode == status, done.stderr
    assert done.stdout == plain.stdout
    assert output is None or done.stdout == output
    assert done.stderr == plain.stderr
    if recover:
        recovered = cunei("recover", "trace")
        assert recovered.returncode == 0, recovered.stderr
    return ctf.read(cunei.folder / "trace")


def report(cunei):
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def calls(cunei):
    """What the report says: calls and resumes by qualified name."""
    return {
        row["qualname"]: (row["calls"], row["resumes"])
        for row in report(cunei)["functions"]
    }


GENERATORS = """\
def generate():
    try:
        while True:
            try:
                yield 1
            except KeyError:
                yield 2
    finally:
        len("")

def plain():
    yield 1
    yield 2

closed, thrown, failed, dropped, kept = (generate() for _ in range(5))
for generator in (closed, thrown, failed, dropped, kept):
    next(generator)
closed.close()
assert thrown.throw(KeyError) == 2
try:
    failed.throw(ValueError)
except ValueError:
    pass
del dropped, generator
list(plain())
unstarted = plain()
unstarted.close()
abandoned = plain()
next(abandoned)
"""


def test_generators_closed_thrown_into_dropped_and_abandoned(cunei):
    trace = record(cunei, GENERATORS)

    # Entered five times; closed, thrown into twice, dropped; two more at exit.
    assert trace.count("generate", ctf.ENTER) == 5
    assert trace.count("generate", ctf.RESUME) >= 4
    assert trace.count("plain", ctf.ENTER) == 2
    assert trace.is_balanced()
    for name in ("generate", "plain"):
        enters = trace.count(name, ctf.ENTER, ctf.RESUME)
        assert enters == trace.count(name, ctf.LEAVE, ctf.YIELD)
    assert calls(cunei)["generate"] == (5, trace.count("generate", ctf.RESUME))


CLOSED = """\
def inner():
    yield 1

def outer():
    yield from inner()

for _ in range(20_000):
    for generator in (inner(), outer()):
        next(generator)
        generator.close()
"""


def test_generators_closed_wherever_a_packet_begins(cunei):
    """The stack that opens a packet holds one that ends where it was suspended."""
    record(cunei, CLOSED)

    facts = report(cunei)
    assert (facts["orphans"], facts["unclosed"], facts["appeared"]) == (0, 0, 0)


def test_generators_and_frames_that_were_open_when_recording_began(cunei):
    cunei.write(
        "app.py",
        """\
import cunei

def generate():
    for i in range(100):
        yield i

def inner():
    cunei.start("trace")
    next(generator)

def outer():
    inner()

generator = generate()
next(generator)
outer()
for _ in range(3):
    next(generator)
generator.close()
cunei.stop()
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert done.returncode == 0, done.stderr
    trace = ctf.read(cunei.folder / "trace")

    assert trace.count("inner") == trace.count("outer") == 0
    assert trace.count("inner", ctf.LEAVE) == trace.count("outer", ctf.LEAVE) == 1
    assert trace.count("generate", ctf.ENTER) == 0
    assert trace.count("generate", ctf.RESUME) >= 4
    assert trace.is_balanced()
    (process,) = trace.processes
    first = next(process.events())
    names = [process.functions[number].qualname for number in first.value]
    assert names == ["<module>", "outer", "inner"]
    shown = calls(cunei)
    assert shown["outer"] == shown["inner"] == (0, 0)


OPEN_ELSEWHERE = """\
import sys, _thread
import cunei, other

def locked():
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock

began, may_end, done = locked(), locked(), locked()

def leaf():
    pass

def run():
    sys.setprofile(lambda *arguments: None)
    other.helper(began, may_end)
    leaf()
    again, at_once = locked(), locked()
    at_once.release()
    other.helper(again, at_once)
    done.release()

_thread.start_new_thread(run, ())
began.acquire()
cunei.start("trace")
may_end.release()
done.acquire()
cunei.stop()
"""


def test_a_frame_that_was_open_is_named_by_its_own_module(cunei):
    """Its end is known when the thread next enters a function, of another module."""
    cunei.write("other.py", "def helper(a, b):\n    a.release()\n    b.acquire()\n")
    cunei.write("app.py", OPEN_ELSEWHERE)
    done = cunei.run(cunei.python, "app.py")
    assert done.returncode == 0, done.stderr
    (process,) = ctf.read(cunei.folder / "trace").processes
    named = {
        (function.module, function.qualname)
        for function in process.functions.values()
        if function.qualname in ("helper", "leaf", "run")
    }
    assert named == {("other", "helper"), ("__main__", "leaf"), ("__main__", "run")}


def test_exceptions_through_frames_of_c(cunei):
    trace = record(
        cunei,
        """\
import functools, re

def fail(x):
    raise ValueError(x)

def through(n):
    return sorted([n], key=fail if n == 0 else lambda x: through(x - 1))

class Iterator:
    def __iter__(self):
        return self
    def __next__(self):
        fail(self)

for call in (lambda: through(5), lambda: list(Iterator()),
             lambda: re.sub("a", fail, "a"),
             lambda: functools.reduce(lambda a, b: fail(a), "ab")):
    try:
        call()
    except ValueError:
        print("caught")
""",
        output="caught\n" * 4,
    )

    assert trace.count("fail") == 4
    assert trace.count("through") == 6
    assert trace.is_balanced()
    # fail, through and its lambdas, __next__, the lambda of reduce, the four calls
    assert len(unwound_in_main(trace)) == 4 + 6 + 5 + 1 + 1 + 4


def unwound_in_main(trace):
    """The functions of __main__ that exceptions ended."""
    (process,) = trace.processes
    events = list(process.events())
    ended = [
        process.functions[leave.function]
        for unwind, leave in zip(events, events[1:])
        if unwind.kind == ctf.UNWIND
    ]
    return [function for function in ended if function.module == "__main__"]


def test_recursion_to_the_limit_and_back(cunei):
    trace = record(
        cunei,
        """\
import sys

depth = 0

def down():
    global depth
    depth += 1
    down()

def through_c(n):
    global depth
    depth += 1
    list(map(through_c, [n]))

class Text:
    def __repr__(self):
        global depth
        depth += 1
        return repr(self)

for limit in (sys.getrecursionlimit(), 200, 5000):
    sys.setrecursionlimit(limit)
    for call in (down, lambda: through_c(1), lambda: repr(Text())):
        try:
            call()
        except RecursionError:
            print(depth)
""",
    )

    (process,) = trace.processes
    counts = process.count(ctf.ENTER)
    counted = sum(
        count
        for function, count in counts.items()
        if function.qualname in ("down", "through_c", "Text.__repr__")
    )
    printed = cunei.run(cunei.python, "app.py").stdout.split()
    assert counted == int(printed[-1])
    assert trace.is_balanced(), process.replay()
    assert process.replay()[1].deepest > 4900
    assert len(process.replay()[1].stack) == 0


# By itself 3.8 comes to the end of the C stack before that.
DEPTH = 20_000 if sys.version_info >= (3, 9) else 11_000


def test_recursion_far_beyond_what_a_stack_event_holds(cunei):
    trace = record(
        cunei,
        f"""\
import sys

def down(n):
    return n and down(n - 1)

sys.setrecursionlimit(30000)
for _ in range(4):
    down({DEPTH})
""",
    )

    assert trace.count("down") == trace.count("down", ctf.LEAVE) == 4 * (DEPTH + 1)
    (process,) = trace.processes
    stacks = [event for event in process.events() if event.kind == ctf.STACK]
    assert any(event.phase for event in stacks), "no stack was cut short"
    assert process.is_balanced(), process.replay()
    shown = report(cunei)
    assert (shown["orphans"], shown["unclosed"]) == (0, 0)
    (down,) = (row for row in shown["functions"] if row["qualname"] == "down")
    assert (down["calls"], down["recursive"]) == (4 * (DEPTH + 1), 4 * DEPTH)


SET_DEEP_WITHIN = """\
import ctypes, signal, sys, threading

libm = ctypes.CDLL("libm.so.6")
rounds_up = 0x800

def down(n):
    if n:
        return down(n - 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    libm.fesetround(rounds_up)

def run():
    down(DEPTH)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    print(signal.SIGUSR1 in blocked, libm.fegetround() == rounds_up)

sys.setrecursionlimit(30000)
threading.stack_size(1 << 20)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it rounds by a number")
def test_what_is_set_deep_within_stays(cunei):
    """An evaluator of frames continues in memory of its own, and comes back from it."""
    # Before 3.11 a Python frame takes a piece of the thread's stack.
    depth = 20_000 if sys.version_info >= (3, 11) else 1_500
    source = SET_DEEP_WITHIN.replace("DEPTH", str(depth))
    trace = record(cunei, source, output="True True\n")
    assert trace.count("down") == trace.count("down", ctf.LEAVE) == depth + 1


def test_an_exit_from_deep_within(cunei):
    trace = record(
        cunei,
        """\
import atexit, sys

def bye():
    print("bye")

def down(n):
    if n == 0:
        sys.exit(3)
    down(n - 1)

atexit.register(bye)
down(10)
""",
        status=3,
    )

    assert trace.count("down") == trace.count("down", ctf.LEAVE) == 11
    assert trace.count("bye") == 1
    assert trace.is_balanced()


def test_an_uncaught_exception(cunei):
    trace = record(cunei, "def f():\n    1 / 0\nf()\n", status=1)

    assert trace.count("f") == trace.count("f", ctf.LEAVE) == 1
    assert trace.is_balanced()


def test_the_end_without_any_clean_up(cunei):
    trace = record(
        cunei,
        """\
import os

def down(n):
    if n == 0:
        os._exit(4)
    down(n - 1)

down(10)
""",
        status=4,
        recover=True,
    )

    assert trace.count("down") == 11
    assert trace.count("down", ctf.LEAVE) == 0
    assert len(trace.processes[0].replay()[1].stack) == 12
    assert calls(cunei)["down"] == (11, 0)


def test_a_program_that_replaces_itself(cunei):
    trace = record(
        cunei,
        """\
import os, sys

def before():
    os.execv(sys.executable, [sys.executable, __file__, "again"])

def after():
    print("after")

after() if sys.argv[1:] else before()
""",
        output="after\n",
        recover=True,
    )

    first, second = trace.processes
    assert first.pid == second.pid
    assert [process.folder.name.split("-")[-1] for process in trace.processes] == [
        "0",
        "1",
    ]
    assert [f.qualname for f in first.count(ctf.ENTER)] == ["<module>", "before"]
    assert [f.qualname for f in second.count(ctf.ENTER)] == ["<module>", "after"]
    assert trace.is_balanced()
    info = json.loads(cunei("info", "--json", "trace").stdout)
    assert [p["state"] for p in info["processes"]] == ["replaced", "ended"]
    assert ", replaced by execv\n" in cunei("info", "trace").stdout
    assert "killed" not in cunei("report", "trace").stdout


LATE = """\
import time

import cunei

def work():
    end = time.perf_counter() + 0.003
    while time.perf_counter() < end:
        pass

def around():
    with cunei.record("trace"):
        work()

around()
"""


def test_replay_is_in_order_where_short_calls_are_left_out(cunei):
    cunei.write("app.py", LATE)
    cunei.run(cunei.python, "app.py")

    replay = cunei("replay", "--min-time", "1ms", "trace").stdout
    times = [float(line.split()[0]) for line in replay.splitlines()[1:]]
    assert replay.count("was already running") == 2 and "  work  app.py" in replay
    assert times == sorted(times), replay
