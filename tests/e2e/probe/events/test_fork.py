# SPDX-License-Identifier: MIT
"""Forked children: each records into a folder of its own, its parent stays intact."""

import ctf
import pytest
from family import calls, family, first_stack, record
from proof import needs_monitoring

FORK = """\
import os

def in_both():
    pass

def in_child(n):
    for _ in range(n):
        in_both()

def in_parent(pid):
    assert os.waitpid(pid, 0)[1] == 0
    in_both()

def branch(n):
    pid = os.fork()
    if pid == 0:
        in_child(n)
        os._exit(0)
    in_parent(pid)

for n in (0, 5, 50_000):
    branch(n)
print("parent")
"""


@pytest.mark.core
@pytest.mark.parametrize("options", [[], ["--include", "__main__"], ["--c-calls"]])
def test_a_child_has_a_folder_of_its_own(cunei, options):
    trace = record(cunei, FORK, *options)

    parent, children = family(trace)
    assert calls(parent, "branch") == calls(parent, "in_parent") == 3
    assert calls(parent, "in_both") == 3
    assert calls(parent, "in_child") == 0
    assert [calls(child, "in_both") for child in children] == [0, 5, 50_000]
    assert [calls(child, "in_child") for child in children] == [1, 1, 1]
    assert sum(calls(child, "in_parent") for child in children) == 0
    assert trace.lost() == 0
    assert trace.is_balanced()


@pytest.mark.core
def test_a_child_begins_with_what_is_open(cunei):
    _, children = family(record(cunei, FORK))

    for child in children:
        assert first_stack(child) == ["<module>", "branch"]


def test_a_child_knows_its_parent_and_its_end(cunei):
    parent, children = family(record(cunei, FORK))

    for child in children:
        facts = child.description
        assert facts["forked"] == facts["left"] == facts["ended"] == "1"
        assert facts["parent_folder"] == parent.folder.name
        assert int(facts["parent"]) == parent.pid
        assert int(facts["cpu_ns"]) > 0
        start, end = int(facts["start_ns"]), int(facts["end_ns"])
        assert int(parent.description["start_ns"]) < start <= end
        assert end <= int(parent.description["end_ns"])
    assert parent.description["exited"] == "1"
    assert parent.description["exit_status"] == "0"


@pytest.mark.core
@pytest.mark.parametrize(
    "taken",
    [
        (),
        *(
            pytest.param(taken, marks=needs_monitoring)
            for taken in [(3,), (4,), (5,), (3, 4), (3, 5), (4, 5)]
        ),
    ],
)
def test_a_selection_beside_other_tools(cunei, taken):
    """Whichever ids are left, one or two, and in whichever order they are called."""
    cunei.write(
        "app.py",
        f"""\
import os, sys
import cunei

for tool in {taken}:
    sys.monitoring.use_tool_id(tool, "other")

def numbers():
    yield 1
    yield 2

def work():
    return list(numbers())

early = numbers()
next(early)
with cunei.recording("trace", include=":numbers"):
    waiting = numbers()
    next(waiting)
    next(early)
    work()
    if os.fork() == 0:
        work()
        next(waiting)
        list(numbers())
        list(early)
        os._exit(0)
    os.wait()
""",
    )
    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    parent, (child,) = family(trace)
    assert calls(parent, "numbers") == calls(child, "numbers") == 2
    assert sum(parent.count(ctf.RESUME).values()) == 1 + 2
    assert sum(child.count(ctf.RESUME).values()) == 2 + 1 + 2 + 1
    assert trace.is_balanced()


def test_children_of_children(cunei):
    trace = record(
        cunei,
        """\
import os

def work(depth):
    if depth == 0:
        return
    if os.fork() == 0:
        work(depth - 1)
        work(0)
        os._exit(depth)
    os.wait()

work(5)
""",
    )

    first, children = family(trace)
    assert calls(first, "work") == 1
    assert [calls(child, "work") for child in children] == [2] * 5
    line = [first.folder.name] + [child.folder.name for child in children]
    parents = [child.description["parent_folder"] for child in children]
    assert parents == line[:-1]
    depths = [len(first_stack(child)) for child in children]
    assert depths == [2, 3, 4, 5, 6]
    statuses = [int(child.description["exit_status"]) for child in children]
    assert statuses == [5, 4, 3, 2, 1]


@pytest.mark.core
def test_a_fork_in_the_middle_of_a_thread(cunei):
    trace = record(
        cunei,
        """\
import os, threading, warnings

# The program's own threads make this warn; ours are none.
warnings.simplefilter("ignore", DeprecationWarning)

def work():
    pass

def in_child():
    work()
    os._exit(0)

def fork():
    for _ in range(1000):
        work()
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            in_child()
        os.waitpid(pid, 0)

def spin(ended):
    while not ended.wait(0):
        work()

ended = threading.Event()
other = threading.Thread(target=spin, args=(ended,))
other.start()
forking = threading.Thread(target=fork)
forking.start()
forking.join()
ended.set()
other.join()
""",
    )

    parent, children = family(trace)
    assert calls(parent, "fork") == 1
    assert calls(parent, "work") > 1000
    assert [calls(child, "work") for child in children] == [1] * 5
    for child in children:
        assert len(child.threads()) == 1
        assert first_stack(child)[-1] == "fork"
    assert trace.is_balanced()


@pytest.mark.core
def test_frames_that_were_open_end_in_the_child(cunei):
    """By return, by an exception and by generators, out of the frame that forked."""
    trace = record(
        cunei,
        """\
import os

def fork():
    return os.fork()

def numbers():
    yield os.fork()
    yield 2

def fails():
    pid = fork()
    if pid == 0:
        raise ValueError
    return pid

def main():
    if fork() == 0:
        return 1
    os.wait()
    generator = numbers()
    if next(generator) == 0:
        next(generator)
        return 2
    os.wait()
    try:
        fails()
    except ValueError:
        return 3
    os.wait()
    return 0

os._exit(main())
""",
    )

    parent, children = family(trace)
    statuses = [int(child.description["exit_status"]) for child in children]
    assert statuses == [1, 2, 3]
    assert [first_stack(child)[1:] for child in children] == [
        ["main", "fork"],
        ["main", "numbers"],
        ["main", "fails", "fork"],
    ]
    for child in (parent, *children):
        (replay,) = child.replay().values()
        names = [child.functions[number].qualname for number in replay.stack]
        assert names == ["<module>"]
    assert trace.is_balanced()


def test_a_deep_recursion_is_open(cunei):
    trace = record(
        cunei,
        """\
import os, sys

sys.setrecursionlimit(20_000)

def down(n):
    if n:
        return down(n - 1)
    if os.fork():
        os.wait()

down(6000)
""",
    )

    _, (child,) = family(trace)
    event = next(child.packets[0].events())
    assert event.phase + len(event.value) >= 6001
    assert sum(child.count(ctf.LEAVE).values()) >= 6001


def test_many_functions_are_defined_again(cunei):
    """Beyond those that have a class of their own as well."""
    trace = record(
        cunei,
        """\
import os

functions = []
for n in range(20_500):
    exec(f"def f{n}(): pass", space := {})
    functions.append(space[f"f{n}"])

def call_all():
    for function in functions:
        function()

call_all()
if os.fork() == 0:
    call_all()
    os._exit(0)
os.wait()
functions[20_400]()
""",
    )

    parent, (child,) = family(trace)
    assert calls(child, "call_all") == calls(parent, "call_all") == 1
    for n in (0, 20_000, 20_499):
        assert calls(child, f"f{n}") == calls(parent, f"f{n}") == 1
    assert calls(parent, "f20400") == 2
    assert trace.lost() == 0


@pytest.mark.core
def test_a_fork_that_python_does_not_notice(cunei):
    """Its child is lost; it must not write into its parent's trace."""
    trace = record(
        cunei,
        """\
import ctypes, os

fork = ctypes.PyDLL(None).fork

def work():
    for _ in range(40_000):
        leaf()

def leaf():
    pass

pid = fork()
work()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
""",
    )

    assert len(trace.processes) == 1
    assert trace.count("leaf") == 40_000
    assert trace.is_balanced()


def test_a_fork_before_the_program_begins(cunei):
    cunei.write(
        "sitecustomize.py",
        """\
import os
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
""",
    )
    cunei.write("app.py", "def work(): pass\nwork()\n")
    words = ["record", "-q", "-o", "trace", "app.py"]
    done = cunei(*words, env={"PYTHONPATH": str(cunei.folder)})

    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    assert [calls(process, "work") for process in trace.processes] == [1, 1]
    assert trace.is_balanced()
