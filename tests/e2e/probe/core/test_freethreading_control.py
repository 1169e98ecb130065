# SPDX-License-Identifier: MIT
"""Python without a GIL: recordings that begin and end, and forks, while threads run."""

import ctf
import pytest
from proof import FREE_THREADED
from test_freethreading import HEAD, by_thread, check, check_whole, record

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not FREE_THREADED, reason="this Python has a GIL"),
]


def test_recordings_that_begin_and_end_while_threads_run(cunei):
    """In any moment of their calls: each recording is whole, and holds its own."""
    cunei.write(
        "app.py",
        HEAD
        + """\
import cunei

ended = False

def leaf(n):
    if n:
        return leaf(n - 1)

def numbers():
    n = 0
    while True:
        n += 1
        yield n

def fail():
    raise KeyError

def spin(i):
    own = numbers()
    while not ended:
        leaf(5)
        sum(range(2_000))
        next(own)
        scope = {}
        exec("def made():\\n    pass", scope)
        scope["made"]()
        try:
            fail()
        except KeyError:
            pass

def record(i):
    global ended
    try:
        for round in range(100):
            with cunei.recording("trace", exclude="threading" if round % 2 else ()):
                for _ in range(20):
                    leaf(5)
    finally:
        ended = True

threads = [threading.Thread(target=spin, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()
run(1, record)
for thread in threads:
    thread.join()
""",
    )
    check(cunei.run(cunei.python, "app.py"))

    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 100
    check_whole(trace)
    for process in trace.processes:
        assert min(process.functions) == ctf.FIRST_FUNCTION
        assert by_thread(process, "leaf")["thread 0"] == 20 * 6


def test_threads_that_start_and_stop_at_once(cunei):
    """One of them records, the others are refused."""
    cunei.write(
        "app.py",
        HEAD
        + """\
import cunei

barrier = threading.Barrier(4)
started = refused = 0
lock = threading.Lock()

def leaf():
    pass

def race(i):
    global started, refused
    for _ in range(30):
        barrier.wait()
        try:
            cunei.start("trace")
        except cunei.Error as error:
            assert "being recorded already" in str(error), error
            with lock:
                refused += 1
        else:
            with lock:
                started += 1
        leaf()
        barrier.wait()
        cunei.stop()
        barrier.wait()
        assert not cunei.is_recording()

run(4, race)
assert (started, refused) == (30, 90), (started, refused)
assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
""",
    )
    check(cunei.run(cunei.python, "app.py"))

    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 30
    check_whole(trace)


def test_a_fork_while_other_threads_call(cunei):
    trace = record(
        cunei,
        """\
import os, warnings
warnings.simplefilter("ignore")
ended = False

def leaf():
    pass

def spin(i):
    while not ended:
        leaf()
        sum(range(500))

def in_child():
    for _ in range(1_000):
        leaf()

def fork(i):
    for _ in range(10):
        pid = os.fork()
        if pid == 0:
            in_child()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0

threads = [threading.Thread(target=spin, args=(i,)) for i in range(2)]
for thread in threads:
    thread.start()
run(1, fork)
ended = True
for thread in threads:
    thread.join()
""",
    )

    assert len(trace.processes) == 11
    assert trace.count("in_child") == 10
    for process in trace.processes[1:]:
        assert sum(by_thread(process, "leaf").values()) == 1_000


def test_a_fork_while_other_threads_collect(cunei):
    """They wait to stop the world: in the child, we must not wait for them."""
    trace = record(
        cunei,
        """\
import gc, os, warnings
warnings.simplefilter("ignore")
ended = False

def leaf():
    pass

def collect(i):
    while not ended:
        gc.collect(0)

def leave():
    leaf()
    os._exit(0)

def fork(i):
    for n in range(40):
        pid = os.fork()
        if pid == 0 and n % 2 == 0:
            leave()
        if pid == 0:
            leaf()
            return
        assert os.waitpid(pid, 0)[1] == 0

threads = [threading.Thread(target=collect, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()
fork(0)
ended = True
for thread in threads:
    thread.join()
""",
    )

    assert len(trace.processes) == 41
    assert trace.count("leaf") == 40
    assert trace.count("leave") == 20


def test_code_that_is_not_selected(cunei):
    """Its events are switched off where there are many, and on again afterwards."""
    cunei.write(
        "app.py",
        HEAD
        + """\
import cunei

def leaf():
    pass

def numbers(count):
    for n in range(count):
        yield n

def call(i, count):
    for _ in range(count):
        leaf()
    for _ in numbers(count):
        pass

with cunei.recording("trace", exclude=[":leaf", ":numbers"]):
    run(3, call, 20_000)
with cunei.recording("trace"):
    run(3, call, 1_000)
sys.monitoring.use_tool_id(1, "another tool, which is to notice nothing")
with cunei.recording("trace", exclude=[":leaf", ":numbers"]):
    run(3, call, 20_000)
with cunei.recording("trace", include=":leaf"):
    run(3, call, 1_000)
for tool in range(2, 6):
    assert sys.monitoring.get_tool(tool) is None
    sys.monitoring.use_tool_id(tool, "next")
    assert sys.monitoring.get_events(tool) == 0
    assert sys.monitoring.get_local_events(tool, leaf.__code__) == 0
""",
    )
    check(cunei.run(cunei.python, "app.py"))

    trace = ctf.read(cunei.folder / "trace")
    check_whole(trace)
    counts = [
        {f.qualname: n for f, n in process.count(ctf.ENTER).items()}
        for process in trace.processes
    ]
    for excluded in (counts[0], counts[2]):
        assert excluded["call"] == 3
        assert "leaf" not in excluded and "numbers" not in excluded
    assert (counts[1]["leaf"], counts[1]["numbers"]) == (3_000, 3)
    assert counts[3] == {"leaf": 3_000}
    assert trace.count("numbers", ctf.YIELD) == 3_000
