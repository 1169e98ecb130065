# SPDX-License-Identifier: MIT
"""Nothing that was recorded is lost with the process, however it ends.

A program counts its calls in a mapping that it shares with the test, inside the called
function: what it has counted, it has certainly entered.
"""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
        try:
            crash_round(folder, seed, text, most, how)
        except BaseException as error:
            error.add_note(f"in round {seed}; see {folder}")
            raise
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
            _, said = recovery.communicate()
            assert (recovery.returncode, said) == (0, b"")

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
    status, _, said = recording.wait()

    assert status == wanted
    assert "0 lost" in said
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


def digest(directory):
    """Every file of a trace with its content, hidden ones too."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


READERS = [
    ["report"],
    ["report", "--json"],
    ["dump"],
    ["info"],
    ["recover"],
    ["recover", "--force"],
]

WAITING = (
    COUNT
    + """
import threading
def work_0():
    counts[0] += 1
def loop():
    for _ in range(30_000):
        work_0()
thread = threading.Thread(target=loop)
thread.start()
thread.join()
loop()
counts[64] = 1
sys.stdin.readline()
loop()
"""
)


@pytest.mark.core
@needs_babeltrace
def test_a_live_recording_is_read_and_not_touched(tmp_path):
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, WAITING)
    recording = Recording(
        directory, program, tmp_path / "counts", stdin=subprocess.PIPE
    )
    wait_for(lambda: counters[FLAG], recording.launcher)
    pid = recording.program_pid()
    wait_for(lambda: is_asleep(pid), recording.launcher)

    before = digest(directory)
    shown = [cunei(*words, directory) for words in READERS]
    after = digest(directory)
    recording.launcher.stdin.write(b"\n")
    status, _, said = recording.wait()

    assert after == before
    assert any("/.live" in name for name in before)
    assert shown[2].stdout.count("work_0") == 120_000
    assert "left alone" in shown[4].stdout
    assert (status, "0 lost" in said) == (0, True)
    assert entered(directory)[0] == counters[0] == 90_000
    assert not list(directory.glob("*/.live"))
    check_nothing_lost(directory, counters)


def test_a_live_recording_in_a_container_is_not_touched(tmp_path):
    wrap = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    probe = subprocess.run([*wrap, "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"cannot make a process namespace: {probe.stderr.strip()}")
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, WAITING)
    words = [*wrap, CUNEI, "record", "-o", directory, program, tmp_path / "counts"]
    launcher = subprocess.Popen(
        [str(word) for word in words], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for(lambda: counters[FLAG], launcher)

    before = sorted(digest(directory))
    for words in READERS:
        cunei(*words, directory)
    after = sorted(digest(directory))
    _, said = launcher.communicate(b"\n", timeout=60)

    assert after == before
    assert (launcher.returncode, b"0 lost" in said) == (0, True), said
    assert entered(directory)[0] == counters[0] == 90_000
    check_nothing_lost(directory, counters)


def is_asleep(pid):
    """Whether the main thread waits in a system call: it records nothing then."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


BUSY = (
    COUNT
    + """
import threading
def work_0():
    counts[0] += 1
def work_1():
    counts[1] += 1
def loop(work):
    while not counts[64]:
        for _ in range(100):
            work()
def extra():
    pass
thread = threading.Thread(target=loop, args=(work_1,))
thread.start()
while not counts[64]:
    for _ in range(100):
        work_0()
    short = threading.Thread(target=extra)
    short.start()
    short.join()
thread.join()
"""
)


@needs_babeltrace
def test_reading_while_packets_are_written_harms_neither_side(tmp_path):
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, BUSY)
    recording = Recording(directory, program, tmp_path / "counts")
    wait_for(lambda: counters.total() > 1000, recording.launcher)

    for words in READERS:
        before = counters[0], counters[1]
        shown = cunei(*words, directory)
        assert shown.stderr == "", words
        if words == ["dump"]:
            lines = shown.stdout.split("\n")
            assert (
                sum("work_0 (" in line and "enter" in line for line in lines)
                >= (before[0])
            )
    counters.numbers[FLAG] = 1
    status, _, said = recording.wait()

    assert (status, "0 lost" in said) == (0, True), said
    found = entered(directory)
    assert (found[0], found[1]) == (counters[0], counters[1])
    check_nothing_lost(directory, counters)


# Many streams with something in the live file: recovery takes its time.
MANY = (
    COUNT
    + """
import threading
def work_0():
    counts[0] += 1
lock = threading.Lock()
ready = threading.Barrier(25)
def loop():
    with lock:
        for _ in range(5_000):
            work_0()
    ready.wait()
    threading.Event().wait()
for _ in range(24):
    threading.Thread(target=loop, daemon=True).start()
ready.wait()
counts[64] = 1
threading.Event().wait()
"""
)


@pytest.fixture
def dead_trace(tmp_path):
    """A trace of 25 threads, killed, not recovered yet, and its counters."""
    counters = Counters(tmp_path / "counts", SLOTS + 1)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, MANY)
    recording = Recording(directory, program, tmp_path / "counts")
    wait_for(lambda: counters[FLAG], recording.launcher)
    recording.kill_all()
    recording.wait()
    assert list(directory.glob("*/.live"))
    return directory, counters


@needs_babeltrace
def test_recovery_can_be_killed_and_done_again(tmp_path, dead_trace):
    directory, counters = dead_trace
    wanted = tmp_path / "wanted"
    shutil.copytree(directory, wanted)
    began = time.monotonic()
    cunei("recover", wanted)
    took_s = time.monotonic() - began
    chance = random.Random(1)

    for _ in range(25):
        recovery = subprocess.Popen(
            [CUNEI, "recover", directory], stdout=subprocess.DEVNULL
        )
        moment = time.monotonic() + chance.random() * took_s
        wait_for(lambda moment=moment: time.monotonic() >= moment, None)
        recovery.kill()
        recovery.wait()
    cunei("recover", directory)

    # Copies have other times in their folder's name only.
    drafts = {name for name in digest(directory) if name.endswith(".new")}
    found = {k: v for k, v in digest(directory).items() if k not in drafts}
    assert found == digest(wanted)
    assert entered(directory)[0] == 24 * 5_000
    check_nothing_lost(directory, counters)


def test_a_second_recovery_changes_nothing(dead_trace):
    directory, _ = dead_trace
    assert "appended" in cunei("recover", directory).stdout
    before = digest(directory)

    again = cunei("recover", directory)

    assert "nothing to do" in again.stdout
    assert digest(directory) == before


@pytest.fixture
def public_folder():
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    shutil.rmtree(folder)


def test_a_read_only_copy_reads_the_same_without_recovery(dead_trace, public_folder):
    directory, _ = dead_trace
    copy = public_folder / "trace"
    shutil.copytree(directory, copy)
    subprocess.run(["chmod", "-R", "a+rX,a-w", public_folder], check=True)
    # Rights do not bind root.
    user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    before = digest(copy)

    shown = {
        name: cunei(*words, copy, **user)
        for name, words in (("dump", ["dump"]), ("json", ["report", "--json"]))
    }

    assert digest(copy) == before
    assert shown["dump"].stdout == cunei("dump", directory).stdout
    assert not list(directory.glob("*/.live"))
    recovered = cunei("report", "--json", directory).stdout
    assert shown["json"].stdout.count("work_0") == recovered.count("work_0") == 1
