# SPDX-License-Identifier: MIT
"""Each thread's events carry its identity; its stream is handed on when it ends."""

import json
import sys

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
    threads = {
        thread: packets
        for thread, packets in process.threads().items()
        if packets[0].thread_name != "MainThread"  # which may collect garbage
    }
    assert len(list(process.folder.glob("s*"))) <= 6
    assert len(threads) == 10_000
    assert sum(process.count(ctf.ENTER).values()) == 10_000
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
    # Before 3.11 a Python frame takes a piece of it, and there is room for some 60.
    depth = 200 if sys.version_info >= (3, 11) else 50
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
thread = threading.Thread(target=deep, args=(DEPTH,))
thread.start()
thread.join()
""".replace("DEPTH", str(depth)),
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("deep") == trace.count("deep", ctf.LEAVE) == depth + 1


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


def recorded_names(process):
    """All names of each thread, the last one last, by its first."""
    names = {}
    for packets in process.threads().values():
        recorded = names.setdefault(packets[0].thread_name, [])
        for packet in packets:
            for event in packet.events():
                if event.kind == ctf.THREAD_NAME:
                    assert event.value.thread == packet.thread
                    recorded.append(event.value.name)
    return names


def record(cunei, source, *options):
    cunei.write("app.py", source)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.is_balanced(), process.replay()
    assert process.description["lost"] == "0"
    return process


RENAMED = """\
import threading

def leaf():
    pass

class Worker(threading.Thread):
    def __init__(self, name, names):
        super().__init__(name=name)
        self.names = names
        self.waits, self.goes = threading.Event(), threading.Event()

    def run(self):
        leaf()
        for name in self.names:
            self.name = name
            leaf()
        self.waits.set()
        self.goes.wait()
        leaf()

def start(worker):
    worker.start()
    worker.waits.wait()
    return worker

leaf()
own = start(Worker("own", ["own 1", "own 2"]))
blocked = start(Worker("blocked", []))
same = start(Worker("same", ["same"]))
blocked.name = "renamed"
blocked.name = "renamed again"
for worker in (own, blocked, same):
    worker.goes.set()
    worker.join()
blocked.name = "dead"
threading.current_thread().name = "chief"
leaf()
"""


@pytest.mark.core
@pytest.mark.parametrize("options", [[], ["--include", ":leaf"]])
def test_names_that_change(cunei, options):
    """By the thread itself, by another while it is blocked; recorded or not."""
    process = record(cunei, RENAMED, *options)

    assert recorded_names(process) == {
        "MainThread": ["chief"],
        "own": ["own 1", "own 2"],
        "blocked": ["renamed again"],
        "same": [],
    }


@pytest.mark.core
def test_names_in_the_packets_that_follow(cunei):
    """Also the name that was changed behind threading's back."""
    process = record(
        cunei,
        """\
import threading

def leaf():
    pass

def work():
    thread = threading.current_thread()
    thread.name = "second " + "x" * 100
    for _ in range(50_000):
        leaf()
    thread._name = "third"
    for _ in range(50_000):
        leaf()

thread = threading.Thread(target=work, name="first " + "y" * 100)
thread.start()
thread.join()
""",
    )

    first, second = "first " + "y" * 100, "second " + "x" * 100
    assert recorded_names(process)[first[:32]] == [first, second, "third"]
    (packets,) = (
        packets
        for packets in process.threads().values()
        if packets[0].thread_name == first[:32]
    )
    heads = [packet.thread_name for packet in packets]
    assert heads == sorted(heads)
    assert set(heads) == {first[:32], second[:32], "third"}


@pytest.mark.core
def test_names_of_threads_of_all_kinds(cunei):
    process = record(
        cunei,
        """\
import _thread, concurrent.futures, ctypes, threading

def work():
    pass

# First: threading keeps what it knows of others, and idents are used again.
libc = ctypes.CDLL(None)

@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def native(argument):
    work()

libc.prctl(15, b"native")  # PR_SET_NAME, which new threads inherit
thread = ctypes.c_ulong()
libc.pthread_create(ctypes.byref(thread), None, native, None)
libc.pthread_join(thread, None)
libc.prctl(15, b"python")

with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
    list(pool.map(lambda _: work(), range(10)))

def name_it():
    threading.current_thread().name = "low level"
    work()
    done.set()

done = threading.Event()
_thread.start_new_thread(name_it, ())
done.wait()

timer = threading.Timer(0, work)
timer.name = "timer"
timer.start()
timer.join()
""",
    )

    names = recorded_names(process)
    last = {(recorded or [name])[-1] for name, recorded in names.items()}
    assert last >= {"MainThread", "pool_0", "low level", "timer", "native"}


TIMES = """\
import json, queue, threading, time

def burn():
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        sum(range(1000))

def wait():
    threading.Event().wait(0.2)

def nothing():
    pass

def measure(function):
    wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
    function()
    wall, cpu = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
    measured[threading.current_thread().name] = [wall, cpu]

measured = {}
for function in (burn, wait, nothing):
    thread = threading.Thread(
        target=measure, args=(function,), name=function.__name__
    )
    thread.start()
    thread.join()
get = queue.SimpleQueue().get
threading.Thread(target=get, name="daemon", daemon=True).start()
start = time.perf_counter_ns()
threading.Event().wait(0.2)
measured["daemon"] = [time.perf_counter_ns() - start, 0]
print(json.dumps(measured))
"""


@pytest.mark.core
def test_wall_and_cpu_and_waiting_times(cunei):
    """Of short threads, of one that works, and of one that waits until the end."""
    cunei.write("app.py", TIMES)
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    measured = json.loads(done.stdout)

    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    report = json.loads(shown.stdout)
    threads = {thread["name"]: thread for thread in report["threads"]}
    for name, (wall_ns, cpu_ns) in measured.items():
        thread = threads[name]
        # A little more happens in a thread than what it measures itself.
        assert wall_ns <= thread["wall_ns"] <= wall_ns + 1_000_000_000
        assert cpu_ns <= thread["cpu_ns"] <= cpu_ns + 50_000_000
        # One that did next to nothing had run longer before its first call than since.
        rest_ns = max(0, thread["wall_ns"] - thread["cpu_ns"])
        assert rest_ns - thread["waiting_ns"] in (0, 1)
        assert thread["ended"] == (name != "daemon") == (thread["open_depth"] == 0)
    assert threads["burn"]["cpu_ns"] >= 100_000_000
    assert threads["wait"]["waiting_ns"] >= 150_000_000
    assert threads["daemon"]["waiting_ns"] >= 150_000_000
    main = threads["MainThread"]
    assert main["wall_ns"] >= sum(threads[n]["wall_ns"] for n in ("burn", "wait"))
