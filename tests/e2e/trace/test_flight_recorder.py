# SPDX-License-Identifier: MIT
"""A recording that keeps its last part: after a kill and in snapshots nothing is
missing from the time on that is stated.

Three processes call functions in an order that numbers the calls: call n is of function
a<n % 251>, and each 251st call has one of b<n // 251 % 4093> before it.  They count in
a mapping that they share with the test, inside the called function, and note there the
time before each 1024th call.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal

import packets
import pytest
from proof import (
    COUNT,
    Counters,
    Recording,
    count_with_babeltrace,
    cunei,
    needs_babeltrace,
    wait_for,
    write_program,
)

# 10 in `make test`, 200 in `make soak`.
ROUNDS = int(os.environ.get("CUNEI_ROUNDS", "50")) // 5
PROCESSES = 3
A, B = 251, 4093
CLOCK_NS = 100_000  # that the clock of a trace may be off

NUMBERED = (
    COUNT
    + """
import os, signal, threading, time
slot = 0
for child in (1, 2):
    if slot == 0 and os.fork() == 0:
        slot = child
def make(name, body):
    scope = {"counts": counts}
    exec(f"def {name}():\\n    {body}", scope)
    return scope[name]
each = [make(f"a{i}", f"counts[{slot}] += 1") for i in range(251)]
block = [make(f"b{i}", "pass") for i in range(4093)]
def noise():
    pass
def make_noise():
    while n < 1_000_000:
        noise()
n = 0
threading.Thread(target=make_noise, daemon=True).start()
while n < 1_000_000:
    if n % 1024 == 0:
        counts[3 + slot * 1024 + n // 1024] = time.time_ns()
    if n % 251 == 0:
        block[n // 251 % 4093]()
    each[n % 251]()
    n += 1
while True:
    signal.pause()
"""
)


def numbered(folder):
    """The numbers of the calls of a process, in their order.

    None: the ring was overwritten while it was copied, and what is left of it is less
    than a block, which has no number.
    """
    names = packets.function_names(folder)
    kinds = {
        number: (name[0], int(name[1:]))
        for number, name in names.items()
        if re.fullmatch(r"[ab]\d+", name)
    }
    found, first = [], None
    for packet in packets.packets(folder):
        for word in packet.words:
            kind = kinds.get(word >> 40 & 0x3FFFFF)
            if kind and word >> 62 == packets.ENTER:
                found.append(kind)
    numbers, number = [], None
    for letter, value in found:
        if letter == "b":
            assert number is None or number % A == 0, "a block before its time"
            assert number is None or value == number // A % B, "a block is missing"
            number = value * A
            if first is None:
                first = len(numbers)
        else:
            assert number is None or value == number % A, "a call is missing"
            numbers.append(value if number is None else number)
            number = None if number is None else number + 1
    if first is None:
        assert len(numbers) <= A
        return None
    # Before the first block only the number in a block is known.
    if first:
        start = numbers[first] - first if first < len(numbers) else 0
        assert [n % A for n in range(start, start + first)] == numbers[:first]
        numbers[:first] = range(start, start + first)
    return numbers


def check(directory, noted, counted_before, counted_after):
    """Whether a trace has each process's last calls, from the stated time on."""
    info = json.loads(cunei("info", "--json", directory).stdout)
    # In the order of their places: the parent, and the children as they were forked.
    processes = sorted(
        info["processes"], key=lambda each: (bool(each["parent_folder"]), each["pid"])
    )
    assert len(processes) == PROCESSES
    folders = packets.folders(directory)
    events = sum(packets.total(packets.count_events(f)) for f in folders)
    assert count_with_babeltrace(directory) == events
    for slot, process in enumerate(processes):
        folder = pathlib.Path(process["folder"])
        numbers = numbered(folder)
        if process["complete_ns"] > process["snapshot_ns"] > 0:
            continue  # its ring was overwritten before it was copied, and it says so
        if numbers is None and process["snapshot_ns"] > 0:
            assert process["complete_ns"] > 0
            continue
        assert numbers, folder
        last = numbers[-1]
        # Called and not counted yet, or the other way round while it runs.
        assert counted_before[slot] - 1 <= last <= counted_after[slot], folder
        assert len(numbers) == last - numbers[0] + 1
        assert numbers[0] <= first_after(noted, slot, process["complete_ns"]), folder


def first_after(counters, slot, since_ns):
    """A call that was made after this time, at most 1024 calls after the first one."""
    if since_ns == 0:
        return 0
    begin = PROCESSES + slot * 1024
    times = counters.numbers[begin : begin + 1024]
    return 1024 * next(
        (i for i, time in enumerate(times) if time == 0 or time > since_ns + CLOCK_NS),
        1024,
    )


def counted(counters):
    return [counters[slot] for slot in range(PROCESSES)]


def kill_all_three(directory):
    for path in directory.glob("*-*-*"):
        os.kill(int(path.name.split("-")[-2]), signal.SIGKILL)


def crash_round(tmp_path, seed):
    chance = random.Random(seed)
    counters = Counters(tmp_path / "counts", PROCESSES * 1025)
    directory = tmp_path / "trace"
    program = write_program(tmp_path, NUMBERED)
    sizes = ["8M", "1h,12M"] if seed % 2 else ["1M", "1h,3M", "2M,memory"]
    options = ["--keep", chance.choice(sizes)]
    recording = Recording(directory, program, tmp_path / "counts", options=options)

    def has_called():
        return min(counted(counters)) >= calls

    calls = 1 + int(250_000 * chance.random() ** 2)
    try:
        wait_for(has_called, recording.launcher)
        if seed % 2:
            before = counted(counters)
            cunei("snapshot", directory, "-o", tmp_path / "while-running")
            check(tmp_path / "while-running", counters, before, counted(counters))
    finally:
        kill_all_three(directory)
        recording.wait()
    ended = counted(counters)

    if seed % 4 < 2:
        cunei("snapshot", directory, "-o", tmp_path / "after")
        check(tmp_path / "after", counters, ended, ended)
    cunei("recover", directory)
    check(directory, counters, ended, ended)


@pytest.mark.crash
@needs_babeltrace
def test_a_kill_leaves_the_last_calls_of_three_processes(tmp_path):
    for seed in range(ROUNDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        print(f"round {seed}; see {folder}")  # shown where it fails
        crash_round(folder, seed)
        shutil.rmtree(folder)
