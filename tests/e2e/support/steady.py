# SPDX-License-Identifier: MIT
"""A program whose events are always the same ones, and whose losses can be counted."""

import json
import subprocess

from proof import CUNEI, DEADLINE_S, cunei, write_program

# Its events are always the same ones; it needs 1.7 MB for them.
STEADY = """
import sys
def f(n):
    return n + 1
def g():
    try:
        h()
    except ValueError:
        pass
def h():
    raise ValueError
total = 0
for i in range(90_000):
    total = f(total)
for i in range(5_000):
    g()
print("total", total)
print("warning", file=sys.stderr)
sys.exit(7)
"""


def count_trace(directory):
    """Events in the trace but for the stacks, and what it says was lost."""
    report = json.loads(cunei("report", "--json", directory).stdout)
    lines = cunei("dump", directory).stdout.split("\n")[:-1]
    assert len(lines) == report["events"]
    return sum('" stack: ' not in line for line in lines), report["lost"]


def record(directory, program, *options, wrap=(), **more):
    words = [*wrap, CUNEI, "record", "-o", directory, *options, program]
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        **more,
    )


def messages(done):
    """The lines that cunei printed, without those of the program."""
    lines = done.stderr.splitlines()
    printed = [line for line in lines if line.startswith("cunei: ")]
    assert [line for line in lines if line not in printed] == ["warning"]
    return printed


def check_unharmed(done):
    assert (done.returncode, done.stdout) == (7, "total 90000\n"), done.stderr
    return messages(done)


def record_steady(folder):
    """Write the program, and say how many events it makes."""
    program = write_program(folder, STEADY)
    done = record(folder / "trace", program)
    printed = check_unharmed(done)
    assert len(printed) == 1 and " 0 lost" in printed[0]
    events, lost = count_trace(folder / "trace")
    assert lost == 0
    return program, events


def check_counted(directory, emitted, *, some_events=True):
    """Nothing is missing that is not counted; stock tools read what there is."""
    events, lost = count_trace(directory)
    assert events + lost == emitted
    assert lost > 0
    if some_events:
        assert events > 0
