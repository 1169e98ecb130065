# SPDX-License-Identifier: MIT
"""Each thread's events carry its identity; its stream is handed on when it ends."""

import ctf
import pytest


def test_ten_thousand_threads_make_a_handful_of_files(cunei):
    cunei.write(
        "app.py",
        """\
import threading

def work(i):
    pass

def start(i):
    return threading.Thread(target=work, args=(i,), name=f"thread {i}")

for i in range(0, 10_000, 4):
    threads = [start(i + j) for j in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""",
    )
    done = cunei("record", "-q", "-o", "trace", "--include", ":work", "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    threads = process.threads()
    assert len(list(process.folder.glob("s*"))) <= 6
    assert len(threads) == 10_000
    assert process.count(ctf.ENTER).total() == 10_000
    assert process.is_balanced()
    names = {packets[0].thread_name for packets in threads.values()}
    assert names == {f"thread {i}" for i in range(10_000)}
    assert all(packets[-1].flags & ctf.LAST for packets in threads.values())


@pytest.mark.core
def test_names_of_threads(cunei):
    cunei.write(
        "app.py",
        """\
import _thread, threading

class Hostile(threading.Thread):
    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)

class Named(threading.Thread):
    @property
    def name(self):
        print("name was asked for")
        return "property"

def work():
    pass

def run(thread):
    thread.start()
    thread.join()

run(threading.Thread(target=work, name="plain"))
run(threading.Thread(target=work, name="größer " + "x" * 22 + "ü"))
run(threading.Thread(target=work, name="lone \\udcff surrogate"))
run(threading.Thread(target=work, name=""))
run(Hostile(target=work, name="hostile"))
run(Named(target=work))
done = threading.Event()
_thread.start_new_thread(lambda: (work(), done.set()), ())
done.wait()
""",
    )
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", plain.stdout)

    trace = ctf.read(cunei.folder / "trace")
    (process,) = trace.processes
    threads = sorted(process.threads().items())
    names = [packets[0].thread_name for _, packets in threads]
    assert trace.count("work") == 7
    assert names[:3] == ["MainThread", "plain", "größer " + "x" * 22]
    assert "hostile" in names
    assert process.is_balanced()
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr


@pytest.mark.core
def test_threads_from_outside_of_python(cunei):
    """A thread of C that calls into Python, twice, with another state each time."""
    cunei.write(
        "app.py",
        """\
import ctypes, threading

libc = ctypes.CDLL(None)
kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

def inner():
    pass

@kind
def called(argument):
    inner()
    return None

for _ in range(5):
    thread = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(thread), None, called, None)
    libc.pthread_join(thread, None)
print("done")
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "done\n")

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("called") == trace.count("inner") == 5
    assert trace.is_balanced()
    assert len(trace.processes[0].threads()) == 6


@pytest.mark.core
def test_threads_with_the_smallest_stack(cunei):
    cunei.write(
        "app.py",
        """\
import threading

def deep(n):
    return n and deep(n - 1)

size = 32 * 1024
while True:
    try:
        threading.stack_size(size)
        break
    except ValueError:
        size += 4096
thread = threading.Thread(target=deep, args=(200,))
thread.start()
thread.join()
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("deep") == trace.count("deep", ctf.LEAVE) == 201


@pytest.mark.core
def test_threads_that_run_while_recording_begins_and_ends(cunei):
    """Also measures with the smallest switch interval, where threads race most."""
    cunei.write(
        "app.py",
        """\
import sys, threading
import cunei

sys.setswitchinterval(1e-6)
ended = False

def leaf():
    pass

def spin():
    while not ended:
        leaf()
        sum(range(1000))

def record():
    for _ in range(20):
        cunei.start("trace")
        for _ in range(50):
            leaf()
        cunei.stop()

threads = [threading.Thread(target=spin) for _ in range(3)]
for thread in threads:
    thread.start()
recorder = threading.Thread(target=record)
recorder.start()
recorder.join()
ended = True
for thread in threads:
    thread.join()
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 20
    for process in trace.processes:
        assert process.is_balanced(), process.replay()
        assert process.description["lost"] == "0"
        assert min(process.functions) == ctf.FIRST_FUNCTION
        leaf = sum(
            n for f, n in process.count(ctf.ENTER).items() if f.qualname == "leaf"
        )
        assert leaf >= 50
