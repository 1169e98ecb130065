# SPDX-License-Identifier: MIT
"""What an export takes does not grow with the trace."""

import os
import subprocess

import pytest
from exported import record

PROGRAM = """\
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

for i in range(COUNT):
    fib(23)
"""
# Of a trace that is long enough for all that is done ahead to be under way.
SHORT, LONG = 4, 16
# What differs from one run to the next: which pieces are ready before their turn.
SLACK_KB = 6_000


@pytest.fixture(scope="module")
def traces(shared):
    for count in SHORT, LONG:
        program = PROGRAM.replace("COUNT", str(count))
        record(shared, program=program, name=f"trace{count}")
    return shared


def use_two_cores():
    """Each takes memory, and a short trace has not enough pieces for many."""
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:2])


def peak_kb(cunei, form, count):
    """The most memory that an export had; the file it makes is gone again."""
    process = cunei.start(
        *("export", f"trace{count}", "--to", form, "-o", "-"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=use_two_cores,
    )
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, errors
    return usage.ru_maxrss


@pytest.mark.parametrize("form", ["perfetto", "chrome", "speedscope", "csv"])
def test_memory_does_not_grow_with_the_trace(traces, form):
    short = min(peak_kb(traces, form, SHORT) for _ in range(2))
    long = min(peak_kb(traces, form, LONG) for _ in range(2))

    assert long < short * 1.2 + SLACK_KB


@pytest.mark.parametrize("form", ["otf2", "ctf"])
def test_memory_of_a_folder_does_not_grow_either(traces, form):
    peaks = []
    for count in SHORT, LONG:
        done = traces("export", "none", "--to", form)
        if "was built without" in done.stderr:
            pytest.skip(f"cunei was built without {form}")
        process = traces.start(
            *("export", f"trace{count}", "--to", form, "-fo", "out"),
            stderr=subprocess.PIPE,
            preexec_fn=use_two_cores,
        )
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        assert status == 0, errors
        peaks.append(usage.ru_maxrss)

    assert peaks[1] < peaks[0] * 1.2 + SLACK_KB
