# SPDX-License-Identifier: MIT
"""`--to folded`: stacks for flame graphs, whose times are the report's."""

from collections import Counter

from exported import (
    DEEP,
    RECORDED,
    differences,
    export,
    record,
    report,
    totals,
    visible,
)


def read(path):
    """Nanoseconds by stack."""
    stacks = Counter()
    for line in path.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[tuple(stack.split(";"))] += int(count)
    return stacks


def self_times(stacks):
    times = Counter()
    for stack, ns in stacks.items():
        times[stack[-1]] += ns
    return times


def wanted(cunei):
    times = totals(report(cunei)["functions"], "self_ns")
    return Counter({name.replace(";", "\\x3b"): ns for name, ns in times.items() if ns})


def test_the_lines_of_each_function_add_up_to_its_self_time(cunei):
    record(cunei)

    stacks = read(export(cunei, "folded"))

    assert differences(self_times(stacks), wanted(cunei)) == {}


def test_a_long_recording_adds_up_as_well(cunei):
    record(cunei, program=DEEP)

    stacks = read(export(cunei, "folded"))

    assert differences(self_times(stacks), wanted(cunei)) == {}
    module, ping, pong = (f"__main__:{name}" for name in ("<module>", "ping", "pong"))
    assert (module, ping, pong, ping, "__main__:fib") in stacks


REGIONS = """\
import cunei
import json
import argparse

def inner():
    with cunei.region("one"):
        with cunei.region("two"):
            json.dumps([1] * 50)

for _ in range(100):
    inner()
with cunei.region("outer"):
    inner()
"""


def test_what_passes_in_regions_is_their_functions(cunei):
    record(cunei, "--startup", program=REGIONS)

    times = Counter()
    for stack, ns in read(export(cunei, "folded")).items():
        functions = [frame for frame in stack if not frame.startswith("region:")]
        times[functions[-1]] += ns

    assert differences(times, wanted(cunei)) == {}


def test_any_name_stays_one_frame_of_one_line(cunei):
    record(cunei)

    stacks = read(export(cunei, "folded"))

    odd = "__main__:" + visible(RECORDED).replace(";", "\\x3b")
    assert ("__main__:<module>", "__main__:odd", odd) in stacks
    assert any("__main__:naïve.<locals>.<lambda>" in stack for stack in stacks)
