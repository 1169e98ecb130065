# SPDX-License-Identifier: MIT
"""Reading and recovering what others record, or what they left when they died."""

import ctypes
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from proof import (
    COUNT,
    CUNEI,
    UNPRIVILEGED,
    Counters,
    Recording,
    cunei,
    needs_babeltrace,
    wait_for,
    write_program,
)
from test_crash import FLAG, SLOTS, check_nothing_lost, entered

PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h


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
    status, _, errors = recording.wait()

    assert after == before
    assert any("/.live" in name for name in before)
    assert shown[2].stdout.count("work_0") == 120_000
    assert "not changed" in shown[4].stdout
    assert (status, "0 lost" in errors) == (0, True)
    assert entered(directory)[0] == counters[0] == 90_000
    assert not list(directory.glob("*/.live"))
    check_nothing_lost(directory, counters)


@needs_babeltrace
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
    _, errors = launcher.communicate(b"\n", timeout=60)

    assert after == before
    assert (launcher.returncode, b"0 lost" in errors) == (0, True), errors
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
    status, _, errors = recording.wait()

    assert (status, "0 lost" in errors) == (0, True), errors
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
def heirs():
    """Children that are orphaned are ours, and stay until we wait for them."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def test_a_process_that_ended_without_a_wait_is_dead(heirs, dead_trace):
    directory, _ = dead_trace
    (folder,) = directory.glob("*-*-*")
    pid = int(folder.name.split("-")[-2])
    assert "State:\tZ" in Path(f"/proc/{pid}/status").read_text()

    done = cunei("recover", directory)
    os.waitpid(pid, 0)

    assert "appended" in done.stdout


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
    before = digest(copy)

    shown = {
        name: cunei(*words, copy, **UNPRIVILEGED)
        for name, words in (("dump", ["dump"]), ("json", ["report", "--json"]))
    }

    assert digest(copy) == before
    assert shown["dump"].stdout == cunei("dump", directory).stdout
    assert not list(directory.glob("*/.live"))
    recovered = cunei("report", "--json", directory).stdout
    assert shown["json"].stdout.count("work_0") == recovered.count("work_0") == 1


FULL = """
import os, signal, sys, threading

def call():
    pass

def work(count):
    for _ in range(count):
        call()

begun, full = threading.Event(), threading.Event()

def late():
    begun.set()
    full.wait()
    work(100_000)
    if sys.argv[1:]:
        os.kill(os.getpid(), signal.SIGKILL)

thread = threading.Thread(target=late)
thread.start()
begun.wait()
work(100_000)
full.set()
thread.join()
"""


@needs_babeltrace
@pytest.mark.parametrize("ending", [[], ["killed"]], ids=["ended", "killed"])
def test_losses_before_a_first_packet_are_counted(tmp_path, ending):
    """Of a thread that fills its first packet when no more may be written."""
    trace = tmp_path / "trace"
    program = write_program(tmp_path, FULL)
    words = ["record", "--max-size", "1M", "-o", trace, program, *ending]
    cunei(*words, check=False)

    done = subprocess.run(["babeltrace2", trace], capture_output=True, text=True)
    report = json.loads(cunei("report", "--json", trace).stdout)

    assert done.returncode == 0
    assert "may have discarded" not in done.stderr
    lost = re.findall(r"discarded (\d+) events", done.stderr)
    assert len(lost) == 2
    assert sum(map(int, lost)) == report["lost"]


def test_what_cannot_be_repaired_has_one_reason(dead_trace):
    directory, _ = dead_trace
    (folder,) = directory.glob("*-*-*")
    stream = folder / "s0"
    stream.write_bytes(b"no packet")
    os.truncate(stream, 1 << 40)  # with a hole

    refused = cunei("recover", directory, check=False)

    assert refused.returncode == 1
    assert refused.stderr.startswith(
        f"cunei: cannot repair '{folder}': '{stream}' is damaged, and nothing can be "
        "appended to it; other commands read it as it is\n"
    )
