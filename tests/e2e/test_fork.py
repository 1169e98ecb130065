# SPDX-License-Identifier: MIT
"""Forked children: each records into a folder of its own, its parent stays intact."""

import ctf
import pytest

pytestmark = pytest.mark.core


def record(cunei, source, *options, status=0):
    """Record a program whose warnings are errors; it does what it does without us."""
    cunei.write("app.py", source)
    strict = {"PYTHONWARNINGS": "error"}
    plain = cunei.run(cunei.python, "app.py", env=strict)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py", env=strict)

    assert done.returncode == plain.returncode == status, done.stderr
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    return ctf.read(cunei.folder / "trace")


def family(trace):
    """The program's own process, and its children in order."""
    (first,) = (p for p in trace.processes if p.description["forked"] == "0")
    children = [p for p in trace.processes if p is not first]
    return first, children


def calls(process, qualname):
    counts = process.count(ctf.ENTER)
    return sum(n for function, n in counts.items() if function.qualname == qualname)


def first_stack(process):
    """What was open when the process began."""
    event = next(process.packets[0].events())
    assert event.kind == ctf.STACK
    return [process.functions[number].qualname for number in event.value]


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

def fork(n):
    pid = os.fork()
    if pid == 0:
        in_child(n)
        os._exit(0)
    in_parent(pid)

for n in (0, 5, 50_000):
    fork(n)
print("parent")
"""


@pytest.mark.parametrize("options", [[], ["--include", "__main__"]])
def test_a_child_has_a_folder_of_its_own(cunei, options):
    trace = record(cunei, FORK, *options)

    parent, children = family(trace)
    assert calls(parent, "fork") == calls(parent, "in_parent") == 3
    assert calls(parent, "in_both") == 3
    assert calls(parent, "in_child") == 0
    assert [calls(child, "in_both") for child in children] == [0, 5, 50_000]
    assert [calls(child, "in_child") for child in children] == [1, 1, 1]
    assert sum(calls(child, "in_parent") for child in children) == 0
    assert trace.lost() == 0
    assert trace.is_balanced()


def test_a_child_begins_with_what_is_open(cunei):
    _, children = family(record(cunei, FORK))

    for child in children:
        assert first_stack(child) == ["<module>", "fork"]


def test_a_child_knows_its_parent_and_its_end(cunei):
    parent, children = family(record(cunei, FORK))

    for child in children:
        said = child.description
        assert said["forked"] == said["left"] == said["ended"] == "1"
        assert said["parent_folder"] == parent.folder.name
        assert int(said["parent"]) == parent.pid
        assert int(said["cpu_ns"]) > 0
        start, end = int(said["start_ns"]), int(said["end_ns"])
        assert int(parent.description["start_ns"]) < start <= end
        assert end <= int(parent.description["end_ns"])
    assert parent.description["exited"] == "1"
    assert parent.description["exit_status"] == "0"


@pytest.mark.parametrize("taken", [(), (3,), (4,), (5,), (3, 4), (3, 5), (4, 5)])
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
@pytest.mark.parametrize("options", [[], ["--include", ":work"]])
def test_the_end_of_a_child_is_told(cunei, end, left, status, options):
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
    said = child.description
    assert (said["ended"], said["left"], said["exit_status"]) == ("1", left, status)
    assert said["exited"] == ("0" if left == "1" else "1")
    assert calls(parent, "work") == calls(child, "work") == 1


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
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
work()
""",
    )

    parent, (child,) = family(trace)
    assert calls(parent, "work") == calls(child, "work") == calls(child, "leave") == 1
    assert len(child.threads()) == 2
    assert trace.is_balanced()


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
    """Beyond those that have a class of their own, too."""
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


def test_a_fork_that_python_does_not_hear_of(cunei):
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
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 6
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
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == n
""",
    )

    _, children = family(trace)
    found = {
        int(child.description["exit_status"]): calls(child, "work")
        for child in children
    }
    assert found == {n: n for n in range(200)}
    assert trace.lost() == 0


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


def test_a_recording_from_inside_goes_on_in_the_child(cunei):
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
    assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
    work()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
work()
""",
    )

    parent, (child,) = family(trace)
    assert calls(parent, "work") == calls(child, "work") == 1


def test_events_of_watched_code_are_gone_with_the_recording(cunei):
    """Who takes the tool id next must not hear of calls that it never asked for."""
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
heard = []
monitoring = sys.monitoring
monitoring.use_tool_id(4, "other")
monitoring.register_callback(4, monitoring.events.CALL, lambda *words: heard.append(1))
leaves(False)
assert monitoring.get_local_events(4, leaves.__code__) == 0
assert not heard
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
