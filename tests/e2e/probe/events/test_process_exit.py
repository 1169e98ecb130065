# SPDX-License-Identifier: MIT
"""The ways out of a process, and how they are reported."""

import ctf
import pytest
from family import calls, family, first_stack, record
from proof import needs_monitoring


@pytest.mark.parametrize(
    ("end", "left", "status"),
    {
        "os._exit": ("os._exit(3)", "1", "3"),
        "by keyword": ("os._exit(status=4)", "1", "4"),
        "a bool": ("os._exit(True)", "1", "1"),
        "a byte": ("os._exit(-1)", "1", "255"),
        "imported": ("from posix import _exit; _exit(5)", "1", "5"),
        "deep inside": ("deep(50)", "1", "7"),
        "sys.exit": ("sys.exit(8)", "0", "8"),
        "the end": ("raise SystemExit", "0", "0"),
    }.values(),
    ids=lambda value: value if "(" not in value else "",
)
@pytest.mark.parametrize(
    "options", [pytest.param([], marks=pytest.mark.core), ["--include", ":work"]]
)
def test_the_end_of_a_child_is_reported(cunei, end, left, status, options):
    trace = record(
        cunei,
        f"""\
import os, sys

def deep(n):
    if n == 0:
        os._exit(7)
    deep(n - 1)

def work():
    pass

def child():
    work()
    {end}

if os.fork() == 0:
    child()
else:
    os.wait()
    work()
""",
        *options,
    )

    parent, (child,) = family(trace)
    facts = child.description
    assert (facts["ended"], facts["left"], facts["exit_status"]) == ("1", left, status)
    assert facts["exited"] == ("0" if left == "1" else "1")
    assert calls(parent, "work") == calls(child, "work") == 1


@pytest.mark.core
def test_a_call_of_exit_that_comes_back(cunei):
    """It was to leave, its recording ended, and it stayed: it records in another."""
    trace = record(
        cunei,
        """\
import os

def work():
    pass

def main():
    for arguments in ((1, 2), (2**40,), ("x",), ()):
        try:
            os._exit(*arguments)
        except (TypeError, OverflowError) as error:
            print(type(error).__name__)
        work()

main()
try:
    os._exit(1, 2)
except TypeError:
    pass
work()
""",
    )

    assert trace.count("work") == 5
    assert trace.lost() == 0


def test_a_child_ends_as_it_likes(cunei):
    """Through sys.exit, with the parent's atexit functions and its own threads."""
    trace = record(
        cunei,
        """\
import atexit, os, sys, threading

atexit.register(lambda: print("exit", flush=True))

def work():
    pass

def leave():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sys.exit(5)

pid = os.fork()
if pid == 0:
    leave()
assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 5
work()
""",
    )

    parent, (child,) = family(trace)
    assert calls(parent, "work") == calls(child, "work") == calls(child, "leave") == 1
    assert len(child.threads()) == 2
    assert trace.is_balanced()


@pytest.mark.core
def test_fork_and_another_program(cunei):
    trace = record(
        cunei,
        """\
import os, sys

def work():
    pass

def become(*words):
    pid = os.fork()
    if pid == 0:
        work()
        os.execv(words[0], words)
    assert os.waitpid(pid, 0)[1] == 0

if sys.argv[1:]:
    work()
else:
    become(sys.executable, __file__, "again")
    become("/bin/true")
    try:
        os.execv("/nowhere", ["x"])
    except FileNotFoundError:
        work()
""",
    )

    assert trace.count("work") == 4
    first, image, again, other = trace.processes
    assert image.pid == again.pid
    assert image.folder.name.endswith("-0") and again.folder.name.endswith("-1")
    assert image.description["became"] and image.description["ended"] == "0"
    assert other.description["became"] == "/bin/true"
    assert first.description["ended"] == "1"


@pytest.mark.core
def test_a_preexec_function_is_recorded_where_there_is_one(cunei):
    trace = record(
        cunei,
        """\
import os, subprocess

def prepare():
    pass

def start(function):
    subprocess.run(["/bin/true"], preexec_fn=function, check=True)

start(prepare)
start(os.getpid)
start(None)
""",
    )

    parent, (child,) = family(trace)
    assert calls(parent, "start") == 3
    assert calls(parent, "prepare") == 0
    assert calls(child, "prepare") == 1
    assert "Popen._execute_child" in first_stack(child)


def test_a_pseudo_terminal(cunei):
    trace = record(
        cunei,
        """\
import os, pty, warnings

def work():
    pass

pid, fd = pty.fork()
if pid == 0:
    work()
    os._exit(6)
assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 6
work()
""",
    )

    parent, (child,) = family(trace)
    assert calls(parent, "work") == calls(child, "work") == 1
    assert child.description["exit_status"] == "6"


def test_two_hundred_short_children(cunei):
    trace = record(
        cunei,
        """\
import os

def work(n):
    pass

pids = []
for n in range(200):
    pid = os.fork()
    if pid == 0:
        for _ in range(n):
            work(n)
        os._exit(n)
    pids.append(pid)
for n, pid in enumerate(pids):
    assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == n
""",
    )

    _, children = family(trace)
    found = {
        int(child.description["exit_status"]): calls(child, "work")
        for child in children
    }
    assert found == {n: n for n in range(200)}
    assert trace.lost() == 0


def test_a_recording_from_inside_continues_in_the_child(cunei):
    cunei.write(
        "app.py",
        """\
import os
import cunei

def work():
    pass

with cunei.recording("trace"):
    pid = os.fork()
    work()
    if pid == 0:
        work()
    else:
        assert os.waitpid(pid, 0)[1] == 0
assert not cunei.is_recording()
work()
if pid == 0:
    cunei.start("other")
    work()
    cunei.stop()
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    trace = ctf.read(cunei.folder / "trace")
    parent, (child,) = family(trace)
    assert (calls(parent, "work"), calls(child, "work")) == (1, 2)
    assert child.description["started_inside"] == "1"
    assert trace.is_balanced()
    (other,) = ctf.read(cunei.folder / "other").processes
    assert (other.pid, calls(other, "work")) == (child.pid, 1)
    assert other.description["forked"] == "0"


def test_a_child_that_stops_leaves_its_parent_recording(cunei):
    trace = record(
        cunei,
        """\
import os, sys

def work():
    pass

pid = os.fork()
if pid == 0:
    import cunei
    work()
    cunei.stop()
    # It does not pay any more, either.
    monitoring = getattr(sys, "monitoring", None)
    assert not monitoring or not any(monitoring.get_tool(id) for id in range(6))
    work()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
work()
""",
    )

    parent, (child,) = family(trace)
    assert calls(parent, "work") == calls(child, "work") == 1


@pytest.mark.core
@needs_monitoring
def test_events_of_watched_code_are_gone_with_the_recording(cunei):
    """The next user of the tool id must not get calls that it never asked for."""
    cunei.write(
        "app.py",
        """\
import os, sys
import cunei

def leaves(really):
    if really:
        os._exit(0)
    return len("x")

cunei.start("trace")
leaves(False)
cunei.stop()
notified = []
monitoring = sys.monitoring
monitoring.use_tool_id(4, "other")
monitoring.register_callback(4, monitoring.events.CALL, lambda *_: notified.append(1))
leaves(False)
assert monitoring.get_local_events(4, leaves.__code__) == 0
assert not notified
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.core
def test_the_ways_out_are_found_where_they_were(cunei):
    record(
        cunei,
        """\
import os, posix

ways = os._exit, os.execv, os.execve
assert os.execve in os.supports_fd
assert ways == (posix._exit, posix.execv, posix.execve)
print([(way.__name__, way.__text_signature__, type(way)) for way in ways])
""",
    )
