# SPDX-License-Identifier: MIT
"""Nothing that was recorded is lost with the process, however it ends.

A program counts its calls in a mapping that it shares with the test, inside the called
function: what it has counted, it has certainly entered.
"""

import os
import random
import shutil
import signal
import subprocess
import sys

import packets
import pytest
from proof import (
    COUNT,
    CUNEI,
    Counters,
    Recording,
    count_with_babeltrace,
    cunei,
    needs_babeltrace,
    wait_for,
    write_program,
)

ROUNDS = int(os.environ.get("CUNEI_ROUNDS", "25"))
SLOTS = 64
FLAG = SLOTS  # a place behind them that counts nothing

# Four threads as fast as they can: packets are written all the time.
FAST = (
    COUNT
    + """
import threading
def make(slot):
    scope = {"counts": counts}
    exec(f"def work_{slot}():\\n    counts[{slot}] += 1", scope)
    return scope[f"work_{slot}"]
def loop(work):
    while True:
        work()
for slot in range(3):
    threading.Thread(target=loop, args=(make(slot),), daemon=True).start()
loop(make(3))
"""
)

# Every call is that of a function never seen before.
NEW = (
    COUNT
    + """
n = 0
while True:
    scope = {"counts": counts}
    exec(f"def work_{n}():\\n    counts[{n % 64}] += 1", scope)
    scope[f"work_{n}"]()
    n += 1
"""
)

# Streams are handed from thread to thread; no two threads at once share a slot.
SHORT = (
    COUNT
    + """
import threading
def make(slot):
    scope = {"counts": counts}
    exec(f"def work_{slot}():\\n    counts[{slot}] += 1", scope)
    return scope[f"work_{slot}"]
works = [make(slot) for slot in range(64)]
running = []
n = 0
while True:
    thread = threading.Thread(target=works[n % 64])
    thread.start()
    running.append(thread)
    n += 1
    if len(running) == 8:
        running.pop(0).join()
"""
)

# What to run, how many calls at most before the kill, which share of the rounds.
PROGRAMS = {
    "fast": (FAST, 400_000, 0.52),
    "new": (NEW, 6_000, 0.24),
    "short": (SHORT, 1_500, 0.24),
}


def entered(directory):
    """Entries of the functions work_N, by slot."""
    found = [0] * SLOTS
    for folder in packets.folders(directory):
        for name, count in packets.entries(folder).items():
            if name.startswith("work_"):
                found[int(name[len("work_") :]) % SLOTS] += count
    return found


def check_nothing_lost(directory, counters, threads=1):
    """A call may have been entered and not counted yet, never the other way round."""
    cunei("recover", directory)
    counted = list(counters.numbers)[:SLOTS]

    found = entered(directory)

    missing = {i: (counted[i], found[i]) for i in range(SLOTS) if found[i] < counted[i]}
    assert not missing, f"slot: (counted, in the trace) {missing}"
    assert sum(found) <= sum(counted) + threads
    events = sum(
        packets.total(packets.count_events(f)) for f in packets.folders(directory)
    )
    assert count_with_babeltrace(directory) == events


def crash_round(tmp_path, seed, text, most, how):
    chance = random.Random(seed)
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, text)
    recording = Recording(directory, program, tmp_path / "counts")

    calls = 1 + int(most * chance.random() ** 3)
    wait_for(lambda: counters.total() >= calls, recording.launcher)
    how(recording)
    status, _, _ = recording.wait()

    assert status == -signal.SIGKILL
    check_nothing_lost(directory, counters, threads=8)


def in_rounds(tmp_path, rounds, text, most, how):
    for seed in range(rounds):
        folder = tmp_path / str(seed)
        folder.mkdir()
        print(f"round {seed}; see {folder}")  # shown where it fails
        crash_round(folder, seed, text, most, how)
        shutil.rmtree(folder)


@pytest.mark.crash
@needs_babeltrace
@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_kill_loses_no_call(tmp_path, kind):
    text, most, share = PROGRAMS[kind]

    in_rounds(tmp_path, round(ROUNDS * share), text, most, Recording.kill_program)


@pytest.mark.crash
@needs_babeltrace
def test_a_kill_of_launcher_and_program_loses_no_call(tmp_path):
    in_rounds(tmp_path, max(6, ROUNDS // 4), FAST, 100_000, Recording.kill_all)


@pytest.mark.crash
@needs_babeltrace
def test_a_kill_in_the_middle_of_recoveries_loses_no_call(tmp_path):
    def kill_beside_recoveries(recording):
        words = [CUNEI, "recover", recording.directory]
        started = [
            subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(3)
        ]
        recording.kill_program()
        started += [
            subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(2)
        ]
        for recovery in started:
            _, errors = recovery.communicate()
            assert (recovery.returncode, errors) == (0, b"")

    in_rounds(tmp_path, max(6, ROUNDS // 4), FAST, 20_000, kill_beside_recoveries)


@needs_babeltrace
def test_a_kill_loses_no_definition_beyond_the_classes(tmp_path):
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, NEW)
    recording = Recording(directory, program, tmp_path / "counts")

    wait_for(lambda: counters.total() >= 21_000, recording.launcher)
    recording.kill_program()
    recording.wait()

    check_nothing_lost(directory, counters)


@pytest.mark.core
@needs_babeltrace
def test_one_kill_loses_no_call(tmp_path):
    crash_round(tmp_path, 0, FAST, 100_000, Recording.kill_program)


ENDS = {
    "os._exit": ("import os; os._exit(3)", 3),
    "segfault": ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    "abort": ("import os; os.abort()", -signal.SIGABRT),
    "terminated": ("import os, signal; os.kill(os.getpid(), 15)", -signal.SIGTERM),
}


@pytest.mark.core
@needs_babeltrace
@pytest.mark.parametrize("end", ENDS)
def test_an_end_without_farewell_loses_nothing(tmp_path, end):
    last_words, wanted = ENDS[end]
    program = write_program(
        tmp_path,
        COUNT
        + "def work_0():\n    counts[0] += 1\nfor _ in range(50_000):\n    work_0()\n"
        + last_words,
    )
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"

    recording = Recording(directory, program, tmp_path / "counts")
    status, _, errors = recording.wait()

    assert status == wanted
    assert "0 lost" in errors
    assert counters[0] == 50_000
    assert entered(directory)[0] == 50_000
    check_nothing_lost(directory, counters)


def test_recovery_gives_back_the_place_that_was_reserved(tmp_path):
    program = write_program(
        tmp_path,
        """
        import os
        def f():
            pass
        for _ in range(150_000):
            f()
        os._exit(0)
        """,
    )
    directory = tmp_path / "trace"

    cunei("record", "-o", directory, program)

    (stream,) = directory.glob("*/s0")
    status = stream.stat()
    assert status.st_size > 2_400_000
    assert status.st_blocks * 512 < status.st_size + 65536


# What appears in a trace directory, in this order, before the first call is recorded.
STAGES = ["*-*-*", "*/.live", "*/.process", "*/metadata"]


@needs_babeltrace
@pytest.mark.parametrize("stage", STAGES)
def test_a_kill_during_the_start_leaves_nothing_harmful(tmp_path, stage):
    directory = tmp_path / "trace"
    program = write_program(tmp_path, "input()")
    recording = Recording(directory, program, stdin=subprocess.PIPE)

    wait_for(lambda: list(directory.glob(stage)), recording.launcher)
    recording.kill_all()
    recording.wait()

    shown = cunei("report", directory, check=False)
    assert shown.returncode in (0, 1)
    assert shown.stderr.count("\n") <= 1
    # A second recording in the same directory is read beside the stillborn one.
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import cunei, sys; cunei.start(sys.argv[1]); (lambda: 0)(); cunei.stop()",
            directory,
        ],
        check=True,
    )
    assert count_with_babeltrace(directory) >= 2
    assert "<lambda>" in cunei("dump", directory).stdout
