# SPDX-License-Identifier: MIT
"""The call tree of each thread, and the table of threads."""

import os

import pytest
from exported import export, page_of, record

PROGRAM = """\
import os
import threading

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def one():
    fib(12)

def other():
    fib(14)

def run(target, name):
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread

for thread in [run(one, "one"), run(other, "other"), run(one, "one again")]:
    thread.join()
fib(10)
"""


def paths_of(page, node):
    """Calls and self time by path, below a node; calls of the same function are one."""
    tree, names = page["tree"], [row[0] for row in page["functions"]]
    paths, found = {node: ()}, {}
    for i, parent in enumerate(tree["parent"]):
        if i > node and parent in paths:
            paths[i] = (*paths[parent], names[tree["function"][i]])
            found[paths[i]] = tree["calls"][i], tree["self"][i]
    return found


def threads_of(page):
    """The node of each thread, by name."""
    pairs = zip(*(iter(page["tree"]["threads"]),) * 2)
    return {page["thread_facts"][row][2]: node for node, row in pairs}


def test_each_thread_has_its_calls(cunei):
    record(cunei, program=PROGRAM)

    page = page_of(export(cunei, "html"))

    threads = threads_of(page)
    assert set(threads) == {"MainThread", "one", "other", "one again"}
    for name, node in threads.items():
        alone = page_of(export(cunei, "html", "--thread", name))
        (only,) = threads_of(alone).values()
        mine, wanted = paths_of(page, node), paths_of(alone, only)
        assert {path: calls for path, (calls, _) in mine.items()} == {
            path: calls for path, (calls, _) in wanted.items()
        }
        for path, (_, self) in mine.items():
            assert abs(self - wanted[path][1]) <= 1
    paths = paths_of(page, threads["other"])
    assert [calls for path, (calls, _) in paths.items() if path[-1] == "fib"] == [1219]


def test_threads_have_a_table(cunei):
    record(cunei, program=PROGRAM)

    rows = page_of(export(cunei, "html"))["thread_facts"]

    assert [row[2] for row in rows] == ["MainThread", "one", "other", "one again"]
    for process, tid, _, begin, end, *_ in rows:
        assert process == 0 and tid > 0 and begin < end
    assert [row[7] for row in rows][1:3] == [
        calls + rows[1][7] for calls in (0, 1219 - 465)
    ]


def test_many_threads_are_gathered(cunei):
    program = PROGRAM.replace(
        '[run(one, "one"), run(other, "other"), run(one, "one again")]',
        '[run(one, f"t{i}") for i in range(100)]',
    )
    record(cunei, program=program)

    page = page_of(export(cunei, "html"))

    rows = page["tree"]["threads"][1::2]
    assert len(page["thread_facts"]) == 101
    assert len(rows) == 65 and rows.count(-1) == 1
    others = page["tree"]["threads"][2 * rows.index(-1)]
    assert paths_of(page, others)  # the calls of the other threads
    total = sum(page["tree"]["calls"])
    assert total == sum(row[4] for row in page["functions"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_threads_of_two_processes_are_apart(cunei):
    program = "import os\ndef child(): pass\ndef parent(): pass\n"
    program += "pid = os.fork()\nchild() if pid == 0 else parent()\n"
    record(cunei, program=program)

    page = page_of(export(cunei, "html"))

    pairs = zip(*(iter(page["tree"]["threads"]),) * 2)
    names = {
        row: {path[-1] for path in paths_of(page, node)} & {"child", "parent"}
        for node, row in pairs
    }
    assert sorted(map(sorted, names.values())) == [["child"], ["parent"]]
    assert len({row[0] for row in page["thread_facts"]}) == 2
