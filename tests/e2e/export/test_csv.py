# SPDX-License-Identifier: MIT
"""`--to csv`: a row for each stretch of a call, the same that `cunei replay` shows."""

import csv
import json
from collections import Counter

import packets
import pytest
from exported import DEEP, RECORDED, export, record, report, visible

OUTCOMES = {"return", "yield", "raise"}


def read(path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("process", "thread", "start", "duration", "self", "depth"):
            row[key] = int(row[key])
    return rows


NAMES = [
    "=1+2",
    "+1",
    "-1",
    "@SUM(1)",
    "＝1",
    "＋1",
    "－1",
    "＠A1",
    "\t=1",
    "'quoted",
    "plain",
]
ESCAPED = [name.replace("\t", "\\x09") for name in NAMES]


def test_names_are_no_formulas(cunei):
    """A spreadsheet takes a cell that begins with =, +, - or @ for a formula.

    Some East Asian ones also take their full-width forms.
    """
    cunei.write(
        "app.py",
        f"""
import cunei
for name in {NAMES!r}:
    cunei.mark(name, -1)
    exec(compile("(lambda: cunei.mark('inside'))()", "f", "exec"),
         {{"cunei": cunei, "__name__": name}})
""",
    )
    cunei("record", "-q", "-o", "trace", "app.py")
    guarded = [f"'{name}" if name[0] in "=+-@＝＋－＠" else name for name in ESCAPED]

    for names, words in ((guarded, []), (ESCAPED, ["--raw-cells"])):
        words = ["--to", "csv", "-o", "t.csv", "--force", *words]
        done = cunei("export", "trace", *words)
        assert done.returncode == 0, done.stderr
        rows = read(cunei.folder / "t.csv")
        marks = [row for row in rows if row["kind"] == "mark"]
        functions = {row["function"] for row in rows if row["kind"] == "call"}
        assert {row["function"] for row in marks} == {*names, "inside"}
        assert {f"{name}:<module>" for name in names} <= functions
        assert {row["parent"] for row in rows} <= functions | {""}
        # Numbers stay numbers.
        assert '"value"":-1' in (cunei.folder / "t.csv").read_text()


def replay(cunei):
    """Each stretch that replay prints, as a row."""
    done = cunei("replay", "--json", "trace")
    assert done.returncode == 0, done.stderr
    rows = Counter()
    for line in done.stdout.splitlines():
        row = json.loads(line)
        rows[
            row["pid"],
            row["thread"],
            visible(f"{row['module']}:{row['qualname']}"),
            row["begin_ns"],
            row["depth"],
            "resume" if row["resumed"] else "call",
        ] += 1
    return rows


def keys(rows):
    names = ("process", "thread", "function", "start", "depth", "kind")
    return Counter(tuple(row[name] for name in names) for row in rows)


def check_nesting(rows):
    """Each row lies in its parent, and has for itself what its children leave."""
    threads = {}
    for row in rows:
        threads.setdefault((row["process"], row["thread"]), []).append(row)
    for stretches in threads.values():
        stretches.sort(key=lambda row: (row["start"], row["depth"]))
        above = []
        for row in stretches:
            row["left"] = row["duration"]
            del above[row["depth"] :]
            assert len(above) == row["depth"]
            if above:
                parent = above[-1]
                assert row["parent"] == parent["function"]
                assert row["start"] + row["duration"] <= (
                    parent["start"] + parent["duration"]
                )
                parent["left"] -= row["duration"]
            else:
                assert row["parent"] == ""
            above.append(row)
        assert all(row["left"] == row["self"] for row in stretches)


def check_self_times(rows, report):
    """Each function's are rounded in the report, each stretch's ends in the rows."""
    functions = report["functions"]
    roots = sum(row["depth"] == 0 for row in rows)
    difference = sum(row["self"] for row in rows) - sum(
        function["self_ns"] for function in functions
    )
    assert abs(difference) <= len(functions) + roots


def test_there_is_a_row_for_each_stretch(cunei):
    record(cunei)

    rows = read(export(cunei, "csv"))

    assert keys(rows) == replay(cunei)
    check_nesting(rows)
    check_self_times(rows, report(cunei))
    assert {row["outcome"] for row in rows} == OUTCOMES


def test_stretches_that_continue_from_piece_to_piece_are_one_row(cunei):
    record(cunei, program=DEEP)

    rows = read(export(cunei, "csv"))

    # Two stretches may begin at once: order them by depth, as they nest.
    assert keys(rows) == replay(cunei)
    check_nesting(rows)
    check_self_times(rows, report(cunei))


def test_time_of_which_nothing_is_known_is_in_no_self_time(cunei):
    record(cunei, program=DEEP)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    assert packets.drop(path, {2, 3, 9}) > 10

    rows = read(export(cunei, "csv"))

    assert report(cunei)["missing_packets"] == 3
    check_self_times(rows, report(cunei))
    assert {"unseen"} < {row["outcome"] for row in rows} <= {"unseen", "open", "return"}


GREENLETS = """\
import greenlet

def leaf():
    pass

def work(other):
    for i in range(3):
        leaf()
        other().switch()

one = greenlet.greenlet(lambda: work(lambda: two))
two = greenlet.greenlet(lambda: work(lambda: one))
one.switch()
"""


def test_what_a_greenlet_runs_between_switches_is_a_row(cunei):
    pytest.importorskip("greenlet")
    record(cunei, program=GREENLETS)

    rows = read(export(cunei, "csv"))

    check_nesting(rows)
    check_self_times(rows, report(cunei))
    kinds = Counter(row["kind"] for row in rows if row["function"] == "__main__:work")
    outcomes = Counter(
        row["outcome"] for row in rows if row["function"] == "__main__:work"
    )
    assert kinds == {"call": 2, "switch": 5}
    assert outcomes == {"switch": 6, "return": 1}


def test_values_are_json(cunei):
    cunei.write(
        "app.py", "def say(word, *, n=2):\n    return word * n\nsay('a, \"b\"')\n"
    )
    done = cunei(
        "record",
        "-q",
        "-o",
        "trace",
        *("--args", "__main__:say"),
        *("--return", "__main__:say"),
        "app.py",
    )
    assert done.returncode == 0, done.stderr

    rows = read(export(cunei, "csv"))

    (row,) = (row for row in rows if row["function"] == "__main__:say")
    assert json.loads(row["arguments"]) == {
        "word": "'a, \"b\"'",
        "n": "2",
        "return": '\'a, "b"a, "b"\'',
    }


def test_any_name_stays_one_field(cunei):
    record(cunei)

    names = {row["function"] for row in read(export(cunei, "csv"))}

    assert "__main__:" + visible(RECORDED) in names
    assert "__main__:naïve.<locals>.<lambda>" in names


def test_duckdb_reads_it(cunei):
    duckdb = pytest.importorskip("duckdb")
    record(cunei)
    path = export(cunei, "csv")

    ((self_ns, calls, names),) = duckdb.sql(
        f"select sum(self), count(*) filter (kind = 'call'), list(distinct function)"
        f" from '{path}'"
    ).fetchall()

    rows = read(path)
    assert self_ns == sum(row["self"] for row in rows)
    assert calls == report(cunei)["calls"]
    assert set(names) == {row["function"] for row in rows}


# The part of a file from which DuckDB guesses its quoting has no quotes.
LATE_QUOTES = """\
import cunei

def work():
    pass

for _ in range(30_000):
    work()
cunei.mark("done, really", 3)
"""


def test_duckdb_reads_quotes_that_come_late(cunei):
    duckdb = pytest.importorskip("duckdb")
    record(cunei, program=LATE_QUOTES)
    path = export(cunei, "csv")

    rows = duckdb.sql(f"select function, arguments from '{path}'").fetchall()

    assert ("done, really", '{"value":3}') in rows
    assert len(rows) == len(read(path))
