# SPDX-License-Identifier: MIT
"""What recording and reading take of memory does not grow with the events."""

import json
import os
import subprocess
import sys

import pytest
from pairs import pairs
from proof import CUNEI, FREE_THREADED, cunei, write_program

KIB = 1 << 10
MIB = 1 << 20


def peak_bytes(*words):
    """The most memory that a command of cunei's had at once."""
    process = subprocess.Popen(
        [CUNEI, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    errors = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert (status, errors) == (0, b"")
    return usage.ru_maxrss * KIB


def record_calls(folder, calls):
    program = write_program(
        folder,
        f"""
        def f():
            pass
        def loop(n):
            for _ in range(n):
                f()
        for _ in range({calls // 10_000}):
            loop(10_000)
        """,
    )
    directory = folder / f"trace{calls}"
    cunei("record", "-q", "-o", directory, program)
    return directory


def check_reading(tmp_path, few, many):
    small, large = record_calls(tmp_path, few), record_calls(tmp_path, many)
    size = sum(path.stat().st_size for path in large.rglob("s*"))
    assert size >= 16 * many
    for words in (["report"], ["report", "--tree"], ["report", "--json"], ["info"]):
        before, after = peak_bytes(*words, small), peak_bytes(*words, large)
        # What the machine lends a process (page tables, a thread more) comes and goes.
        assert after < before + 4 * MIB, (words, before, after)


def test_reading_a_long_trace_takes_no_more_than_a_short_one(tmp_path):
    check_reading(tmp_path, 600_000, 5_000_000)


@pytest.mark.soak
def test_reading_a_very_long_trace_takes_no_more_than_a_short_one(tmp_path):
    check_reading(tmp_path, 600_000, 25_000_000)


def test_json_of_many_marks_is_not_held_as_a_text(tmp_path):
    program = write_program(
        tmp_path,
        """
        import cunei
        for i in range(300_000):
            cunei.mark("a name", i)
        """,
    )
    cunei("record", "-q", "-o", tmp_path / "trace", program)

    shown = peak_bytes("report", "--marks", tmp_path / "trace")
    whole = peak_bytes("report", "--json", tmp_path / "trace")
    size = len(cunei("report", "--json", tmp_path / "trace").stdout)

    assert size > 20 * MIB
    assert whole < shown + 4 * MIB, (shown, whole, size)


# Its own memory, as the system counts it, before and after many events.
GROWTH = """
import json, sys, threading
def f():
    pass
def used():
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Rss:"):
                return int(line.split()[1]) * 1024
def loop():
    for _ in range(100_000):
        f()
def churn():
    for _ in range(2_000):
        exec("def g():\\n    return (lambda: 0)()\\ng()", {})
        append = type("T", (list,), {})().append
        append(1)
sizes = []
for _ in range(6):
    loop()
    churn()
    thread = threading.Thread(target=loop)
    thread.start()
    thread.join()
    sizes.append(used())
print(json.dumps(sizes))
"""


@pytest.mark.core
@pytest.mark.parametrize("options", [[], ["--c-calls", "--args", ":g"]])
@pytest.mark.skipif(FREE_THREADED, reason="without a GIL CPython 3.13 keeps dead code")
def test_recording_takes_no_more_with_more_events(tmp_path, options):
    program = write_program(tmp_path, GROWTH)

    done = cunei("record", "-q", "-o", tmp_path / "trace", *options, program)

    sizes = json.loads(done.stdout)
    assert sizes[-1] < sizes[1] + MIB, sizes


# Threads that all live at the same time, each with a stream of its own.
THREADS = """
import json, sys, threading
sys.path.insert(0, "")
def used():
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Rss:"):
                return int(line.split()[1]) * 1024
def f():
    pass
def work(go, done):
    for _ in range(50_000):
        f()
    done.release()
    go.wait()
count = int(sys.argv[1])
go, done = threading.Event(), threading.Semaphore(0)
threads = [threading.Thread(target=work, args=(go, done)) for _ in range(count)]
for thread in threads:
    thread.start()
for _ in threads:
    done.acquire()
print(used())
go.set()
for thread in threads:
    thread.join()
"""


def test_recording_takes_little_memory_for_each_thread(tmp_path):
    program = write_program(tmp_path, THREADS)
    plain, recorded = [], []
    for count in ("1", "21"):
        words = [program, count]
        plain.append(int(subprocess.check_output([sys.executable, *words])))
        directory = tmp_path / f"trace{count}"
        done = cunei("record", "-q", "-o", directory, *words)
        recorded.append(int(done.stdout))

    extra = [with_us - without for with_us, without in pairs(recorded, plain)]
    assert extra[0] < 8 * MIB + 0.6 * MIB * 2, extra
    assert extra[1] < 8 * MIB + 0.6 * MIB * 22, extra
