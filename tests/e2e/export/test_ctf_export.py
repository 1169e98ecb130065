# SPDX-License-Identifier: MIT
"""`--to ctf`: the trace written anew, for babeltrace2 and for cunei itself."""

import csv
import re
from collections import Counter

import packets
import pytest
import timeline
from exported import PROGRAM, export, record, report
from proof import needs_babeltrace

MANY = """\
def f():
    pass

names = ["co_name"] + ["co_qualname"] * hasattr(f.__code__, "co_qualname")
for n in range(20_100):
    exec(f.__code__.replace(**dict.fromkeys(names, f"f{n}")))

def last(n):
    if n:
        last(n - 1)
    raise ValueError

try:
    last(3)
except ValueError:
    pass
"""


def rows(cunei, *options, name="trace"):
    """What csv has of it; times that do not depend on where the trace begins."""
    with export(cunei, "csv", *options, name=name).open(newline="") as file:
        found = list(csv.DictReader(file))
    for row in found:
        del row["start"]
    return Counter(tuple(row.items()) for row in found)


def dump(cunei, name):
    done = cunei("dump", name)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed(cunei, name):
    done = cunei.run("babeltrace2", "--names=none", name)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def test_an_export_to_ctf_equals_the_recording(cunei):
    record(cunei, *timeline.OPTIONS, program=timeline.PROGRAM)

    name = export(cunei, "ctf").name

    assert report(cunei, name=name) == report(cunei)
    assert dump(cunei, name) == dump(cunei, "trace")


def test_packets_that_were_missing_are_missing_still(cunei):
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    packets.drop(path, {1, 3, 4})

    name = export(cunei, "ctf").name

    assert report(cunei, name=name) == report(cunei)
    assert report(cunei)["missing_packets"] == 3


SELECTIONS = {
    "functions": ("--include", "__main__:*", "--exclude", "*:fib"),
    "a thread": ("--thread", "work*"),
    "a time": None,
}


def middle(cunei):
    """The time in which half of the calls begin, however long that is."""
    with export(cunei, "csv").open(newline="") as file:
        starts = sorted(int(row["start"]) for row in csv.DictReader(file))
    begin, end = starts[len(starts) // 4], starts[len(starts) * 3 // 4]
    return ("--from", f"{begin / 1e9:.9f}", "--until", f"{end / 1e9:.9f}")


@pytest.mark.parametrize("options", SELECTIONS.values(), ids=SELECTIONS)
def test_a_filtered_export_has_the_selected_calls_only(cunei, options):
    record(cunei, program=PROGRAM)
    options = options or middle(cunei)

    name = export(cunei, "ctf", *options).name

    wanted = rows(cunei, *options)
    assert wanted and wanted != rows(cunei)
    assert rows(cunei, name=name) == wanted


def test_functions_that_are_not_wanted_are_not_named(cunei):
    record(cunei, program=PROGRAM)

    path = export(cunei, "ctf", "--exclude", "*:fib")

    (metadata,) = path.glob("*/metadata")
    text = metadata.read_text(errors="replace")
    assert '"__main__:ping (' in text
    assert '"__main__:fib (' not in text


@pytest.fixture(scope="module")
def many(shared):
    """More functions than there are classes for in a recording."""
    record(shared, program=MANY)
    return shared


def test_with_names_cunei_reads_it_as_before(many):
    name = export(many, "ctf", "--names").name

    got, wanted = report(many, name=name), report(many)
    assert got["functions"] == wanted["functions"]
    assert got["threads"] == wanted["threads"]
    assert rows(many, name=name) == rows(many)
    # Definitions, which were events, are none any more.
    assert " define: " in dump(many, "trace")
    assert " define: " not in dump(many, name)


def test_with_names_it_can_be_written_once_more(many):
    export(many, "ctf", "--names").rename(many.folder / "named")

    again = export(many, "ctf", "--include", "*:f2009?", name="named")

    functions = report(many, name=again.name)["functions"]
    named = {f["qualname"] for f in functions if f["calls"]}
    assert named == {f"f{n}" for n in range(20_090, 20_100)}


def test_definitions_of_what_is_not_wanted_are_left_out(many):
    name = export(many, "ctf", "--include", "*:f20099", "--include", "*:last").name

    defined = [line for line in dump(many, name).splitlines() if " define: " in line]

    assert len(defined) == 2
    functions = report(many, name=name)["functions"]
    assert {f["qualname"]: f["calls"] for f in functions} == {"f20099": 1, "last": 4}


@needs_babeltrace
def test_with_names_babeltrace_shows_every_function(many):
    options = ("--include", "*:f2*", "--include", "*:last")
    name = export(many, "ctf", "--names", *options).name

    lines = printed(many, name)

    got = Counter(re.findall(r"__main__:(\w+) \(", "\n".join(lines)))
    wanted = {f"f{n}": 2 for n in range(20_100) if str(n).startswith("2")}
    assert got == {**wanted, "last": 8}
    assert not any(" call: " in line for line in lines)


@needs_babeltrace
def test_babeltrace_reads_what_was_filtered(cunei):
    record(cunei, program=PROGRAM)

    name = export(cunei, "ctf", "--include", "*:p*ng", "--thread", "work*").name

    names = Counter(re.findall(r"__main__:(\w+) \(", "\n".join(printed(cunei, name))))
    assert names == {"ping": 10, "pong": 10}


def test_tasks_that_were_named_before_a_window_have_their_names(cunei):
    record(cunei, *timeline.OPTIONS, program=timeline.PROGRAM)
    window, names = timeline.after_names(cunei)

    name = export(cunei, "ctf", *window).name

    tasks = report(cunei, name=name)["tasks"]
    assert {(t["pid"], t["task"]): t["name"] for t in tasks} == names
    lines = [line for line in dump(cunei, name).splitlines() if "t\u00e9a" in line]
    assert len(lines) == len([each for each in names.values() if "t\u00e9a" in each])
