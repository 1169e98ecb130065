# SPDX-License-Identifier: MIT
"""`--to callgrind`: self times, calls and their costs as in the report."""

import re
import shutil
from collections import Counter, namedtuple

import pytest
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

Profile = namedtuple("Profile", "summary own inclusive calls")


def read(path):
    """Costs by name; those of calls by callee, and their number by both."""
    profile = Profile([], Counter(), Counter(), Counter())
    names, caller, callee, calls = {}, None, None, 0
    for line in path.read_text().splitlines():
        if match := re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line):
            key, number, name = match.groups()
            name = names.setdefault(number, name)
            if key == "fn":
                caller = name
            else:
                callee = name
        elif line.startswith("calls="):
            calls = int(line[len("calls=") :].split()[0])
        elif line.startswith("summary: "):
            profile.summary.append(int(line.split()[1]))
        elif line[:1].isdigit() and calls:
            profile.inclusive[callee] += int(line.split()[1])
            profile.calls[caller, callee] += calls
            calls = 0
        elif line[:1].isdigit():
            profile.own[caller] += int(line.split()[1])
    return profile


@pytest.mark.parametrize("program", [None, DEEP], ids=["threads", "long"])
def test_costs_are_the_reports_times(cunei, program):
    record(cunei, **({"program": program} if program else {}))

    profile = read(export(cunei, "callgrind"))

    functions = report(cunei)["functions"]
    assert differences(profile.own, totals(functions, "self_ns")) == {}
    assert profile.summary == [sum(profile.own.values())]
    wanted = totals(functions, "total_ns")
    # A function without a caller has no line with the time of its calls.
    assert "__main__:fib" in profile.inclusive
    assert profile.inclusive == {name: wanted[name] for name in profile.inclusive}


REGIONS = """\
import cunei
import json
import argparse

def inner():
    with cunei.region("one"):
        json.dumps([1] * 50)

for _ in range(100):
    inner()
"""


def test_only_functions_with_regions_give_them_of_their_time(cunei):
    record(cunei, "--startup", program=REGIONS)

    own = read(export(cunei, "callgrind")).own

    wanted = totals(report(cunei)["functions"], "self_ns")
    assert differences(own, wanted).keys() == {"__main__:inner", "region:one"}
    missing = wanted["__main__:inner"] - own["__main__:inner"] - own["region:one"]
    assert 0 <= missing <= 2


def test_calls_are_counted_by_caller(cunei):
    record(cunei)

    calls = read(export(cunei, "callgrind")).calls

    assert calls["__main__:ping", "__main__:pong"] == 2 * 5
    assert calls["__main__:pong", "__main__:ping"] == 2 * 4
    assert calls["__main__:fib", "__main__:fib"] == 2 * 14
    assert calls["__main__:main", "__main__:numbers"] == 2 * (1 + 10)


def test_any_name_stays_one_line(cunei):
    record(cunei)

    own = read(export(cunei, "callgrind")).own

    assert "__main__:" + visible(RECORDED) in own
    assert "__main__:naïve.<locals>.<lambda>" in own


@pytest.mark.skipif(
    not shutil.which("callgrind_annotate"), reason="valgrind is not installed"
)
def test_callgrind_annotate_reads_it(cunei):
    record(cunei)
    path = export(cunei, "callgrind")

    # It takes the current folder out of the names of callers, but not of callees.
    done = cunei.run(
        *("callgrind_annotate", "--inclusive=yes", "--threshold=100", path), cwd="/"
    )

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    numbers = {}
    for line in done.stdout.splitlines():
        if match := re.match(
            r" *([\d,]+) \([ \d.]+%\)  (?:.*:)?(__main__:.*|PRO.*)", line
        ):
            numbers[match[2].split(" [")[0]] = int(match[1].replace(",", ""))
    functions = report(cunei)["functions"]
    wanted = totals(functions, "total_ns")
    assert numbers["PROGRAM TOTALS"] == sum(each["self_ns"] for each in functions)
    assert numbers["__main__:main"] == wanted["__main__:main"]
    assert numbers["__main__:fib"] == wanted["__main__:fib"]
