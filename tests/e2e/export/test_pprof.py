# SPDX-License-Identifier: MIT
"""`--to pprof`: samples of the call tree, whose times and calls are the report's."""

import gzip
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

Profile = namedtuple("Profile", "types samples functions")


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: numbers, and bytes of all that has a length."""
    at, found = 0, {}
    while at < len(data):
        tag, at = number(data, at)
        value, at = number(data, at)
        if tag & 7 == 2:
            at += value
            value = data[at - value : at]
        else:
            assert tag & 7 == 0, tag
        found.setdefault(tag >> 3, []).append(value)
    return found


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = number(data, at)
        values.append(value)
    return values


def read(path):
    profile = fields(gzip.decompress(path.read_bytes()))
    strings = [text.decode() for text in profile[6]]
    types = []
    for each in map(fields, profile[1]):
        types.append((strings[each[1][0]], strings[each[2][0]]))
    functions = {}
    for each in map(fields, profile[5]):
        functions[each[1][0]] = (
            strings[each[2][0]],
            strings[each[4][0]],
            each[5][0],
        )
    places = {}
    for each in map(fields, profile[4]):
        (line,) = map(fields, each[4])
        places[each[1][0]] = functions[line[1][0]][0]
    samples = []
    for each in map(fields, profile[2]):
        stack = tuple(places[place] for place in packed(each[1][0]))
        samples.append((stack, packed(each[2][0])))
    return Profile(types, samples, functions)


@pytest.fixture(autouse=True)
def zlib(cunei):
    """Only with it the format is there."""
    done = cunei("export", "none", "--to", "pprof")
    if "zlib" in done.stderr:
        pytest.skip("cunei was built without zlib")


@pytest.mark.parametrize("program", [None, DEEP], ids=["threads", "long"])
def test_samples_add_up_to_the_report(cunei, program):
    record(cunei, **({"program": program} if program else {}))

    profile = read(export(cunei, "pprof"))

    calls, times = Counter(), Counter()
    for stack, (count, ns) in profile.samples:
        calls[stack[0]] += count
        times[stack[0]] += ns
    functions = report(cunei)["functions"]
    assert profile.types == [("calls", "count"), ("time", "nanoseconds")]
    assert differences(calls, totals(functions, "calls")) == {}
    assert differences(times, totals(functions, "self_ns")) == {}


def test_a_function_that_calls_itself_is_one_frame(cunei):
    record(cunei)

    stacks = {stack[::-1] for stack, _ in read(export(cunei, "pprof")).samples}

    head = ("__main__:<module>", "__main__:main", "__main__:naïve")
    assert (*head, "__main__:naïve.<locals>.<lambda>", "__main__:fib") in stacks
    assert not any(stack[-2:] == ("__main__:fib",) * 2 for stack in stacks)


def test_functions_have_their_place(cunei):
    record(cunei)

    functions = read(export(cunei, "pprof")).functions.values()

    names = {name: (file, line) for name, file, line in functions}
    path = str(cunei.folder / "app.py")
    assert names["__main__:fib"] == (path, 4)
    assert names["__main__:" + visible(RECORDED)] == (path, 4)


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_go_tool_pprof_reads_it(cunei):
    record(cunei)
    path = export(cunei, "pprof")

    # The first time, go builds its tool.
    done = cunei.run(
        *("go", "tool", "pprof", "-top", "-nodecount=9999", "-nodefraction=0"),
        *("-sample_index=calls", path),
        timeout=600,
    )

    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^ *(\d+) .*% +\d+ .*%  (.*)$", done.stdout, re.MULTILINE)
    got = Counter({name.replace(" (inline)", ""): int(count) for count, name in rows})
    wanted = totals(report(cunei)["functions"], "calls")
    assert {name: got[name] for name in +wanted} == +wanted
    assert f"Total samples = {sum(wanted.values())}" in done.stdout
