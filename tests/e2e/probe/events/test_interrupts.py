# SPDX-License-Identifier: MIT
"""Exceptions from outside, at any moment: stacks stay balanced."""

import signal
import sys

import ctf
import pytest
from test_stacks import record, report

pytestmark = pytest.mark.core


def test_keyboard_interrupts(cunei):
    cunei.write(
        "app.py",
        """\
import os, signal

# Whoever runs the tests may ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def wait():
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass

def try_it():
    try:
        wait()
    except KeyboardInterrupt:
        print("interrupted", flush=True)

for _ in range(20):
    try_it()
wait()
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert done.returncode == -signal.SIGINT
    assert done.stdout == "interrupted\n" * 20
    assert "KeyboardInterrupt" in done.stderr

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("wait") == trace.count("wait", ctf.LEAVE) == 21
    assert trace.is_balanced()


ASYNCHRONOUS = """\
import ctypes, signal, sys, threading, time

class Stop(BaseException):
    pass

rounds = 150
caught = 0
ready = False
sys.setswitchinterval(1e-5)

def leaf(n):
    return n

def recurse(n):
    return recurse(n - 1) + leaf(n) if n else 0

def generate(n):
    for i in range(n):
        yield leaf(i)

def work():
    recurse(30)
    sum(generate(10))

def run():
    global caught, ready
    while caught < rounds:
        try:
            ready = True
            while True:
                work()
        except Stop:
            caught += 1
"""

FROM_A_THREAD = """
def throw(thread):
    global ready
    inject = ctypes.pythonapi.PyThreadState_SetAsyncExc
    while thread.is_alive():
        if ready:
            ready = False
            inject(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop))
        time.sleep(0)

thread = threading.Thread(target=run)
thread.start()
throw(thread)
"""

FROM_A_SIGNAL = """
def throw(number, frame):
    global ready
    if ready:
        ready = False
        raise Stop

signal.signal(signal.SIGALRM, throw)
signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
run()
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.parametrize("source", [FROM_A_THREAD, FROM_A_SIGNAL])
def test_exceptions_from_outside_at_any_moment(cunei, source):
    """From 3.13 on, CPython raises some of them in frames before their start event."""
    cunei.write("app.py", ASYNCHRONOUS + source)
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(cunei.folder / "trace").processes
    replays = process.replay().values()

    for replay in replays:
        assert (replay.unclosed, replay.stack) == (0, [])
        assert (replay.orphans, replay.appeared) == (0, 0)
    enters = sum(process.count(ctf.ENTER, ctf.RESUME).values())
    leaves = sum(process.count(ctf.LEAVE, ctf.YIELD).values())
    assert leaves == enters
    shown = report(cunei)
    assert (shown["orphans"], shown["appeared"], shown["unclosed"]) == (0, 0, 0)


@pytest.mark.skipif(
    sys.version_info < (3, 10), reason="interrupt_main takes no signal before 3.10"
)
def test_a_handler_before_the_start_of_what_it_interrupts(cunei):
    """From 3.13 on handlers run between a frame's making and the event of its start."""
    trace = record(
        cunei,
        """\
import _thread, signal

def leaf():
    pass

def handle(number, frame):
    for _ in range(20_000):  # more than a packet holds
        leaf()

def interrupted(_):
    return leaf()

def generate():
    yield leaf()
    yield leaf()

def signals():
    return map(_thread.interrupt_main, [signal.SIGUSR1])

signal.signal(signal.SIGUSR1, handle)
list(map(interrupted, signals()))
generator = generate()
list(zip(signals(), generator))
list(zip(signals(), generator))
""",
    )

    (process,) = trace.processes
    assert process.is_balanced(), process.replay()
    assert (trace.count("handle"), trace.count("leaf")) == (3, 60_003)
    assert (trace.count("interrupted"), trace.count("generate")) == (1, 1)
    (main,) = process.replay().values()
    assert main.appeared == 0
    shown = report(cunei)
    assert (shown["unclosed"], shown["orphans"], shown["appeared"]) == (0, 0, 0)


OTHER_TOOL = """\
import sys
class Quit(Exception):
    pass

def calls(function, times):
    for _ in range(times):
        try:
            function()
        except Quit:
            pass

def target(depth=1):
    return depth and target(depth - 1)

def generate():
    while True:
        try:
            yield
        except Quit:
            pass

def quit(code, offset):
    if code.co_name in ("target", "generate"):
        raise Quit

def use(tool, event):
    sys.monitoring.use_tool_id(tool, "other")
    sys.monitoring.register_callback(tool, event, quit)
    sys.monitoring.set_events(tool, event)

def forget(tool):
    sys.monitoring.set_events(tool, 0)
    sys.monitoring.free_tool_id(tool)

events = sys.monitoring.events
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")
def test_a_call_that_another_tool_ends_at_its_start_is_recorded_once(cunei):
    """CPython calls the tool with the highest id first, so cunei before tool 0."""
    trace = record(
        cunei,
        OTHER_TOOL + "use(0, events.PY_START)\ncalls(target, 10)\nforget(0)\n",
    )

    (process,) = trace.processes
    assert process.is_balanced(), process.replay()
    assert trace.count("target") == 10


@pytest.mark.skipif(
    sys.version_info < (3, 13), reason="from 3.13 on a missed resume is found"
)
@pytest.mark.parametrize("options", [[], ["--include", "__main__:generate"]])
def test_a_resume_that_another_tool_ends_is_recorded(cunei, options):
    """A tool with a higher id raises before cunei is called."""
    cunei.write(
        "app.py",
        OTHER_TOOL
        + """
generator = generate()
next(generator)
use(5, events.PY_RESUME)
calls(generator.__next__, 20)
forget(5)
""",
    )
    done = cunei("record", "-q", *options, "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(cunei.folder / "trace").processes

    (main,) = process.replay().values()
    assert (main.orphans, main.appeared) == (0, 0)
    resumes = process.count(ctf.RESUME)
    assert {f.qualname: n for f, n in resumes.items()} == {"generate": 20}


@pytest.mark.skipif(
    sys.version_info[:2] == (3, 10),
    reason="3.10 crashes there by itself, in some of a thousand runs",
)
def test_the_interpreter_ends_while_daemons_run(cunei):
    trace = record(
        cunei,
        """\
import threading

def spin(started):
    while True:
        started.set()
        leaf()

def leaf():
    sum(range(10_000))

for _ in range(4):
    started = threading.Event()
    threading.Thread(target=spin, args=(started,), daemon=True).start()
    started.wait()
print("done")
""",
    )

    assert trace.count("spin") == 4
    assert trace.count("leaf") > 0
    (process,) = trace.processes
    assert process.is_balanced(), process.replay()
    assert process.description["ended"] == "1"
