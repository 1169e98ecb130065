# SPDX-License-Identifier: MIT
"""Processes that a recorded program forks, spawns or starts anew."""

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


def test_a_forked_child_records_nothing_and_its_parent_everything(cunei):
    trace = record(
        cunei,
        """\
import os, sys

def in_child():
    for _ in range(50_000):
        in_both()
    print("child", flush=True)
    # It does not pay, either.
    assert not any(sys.monitoring.get_tool(tool) for tool in range(6))

def in_both():
    pass

def in_parent(pid):
    assert os.waitpid(pid, 0)[1] == 0
    in_both()

for _ in range(3):
    pid = os.fork()
    if pid == 0:
        in_child()
        os._exit(0)
    in_parent(pid)
print("parent")
""",
    )

    assert len(trace.processes) == 1
    assert trace.count("in_parent") == trace.count("in_both") == 3
    assert trace.count("in_child") == 0
    assert trace.is_balanced()


def test_a_forked_child_ends_as_it_likes(cunei):
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

    assert trace.count("work") == 1
    assert trace.count("leave") == 0
    assert trace.is_balanced()


def test_a_child_forked_in_the_middle_of_a_thread(cunei):
    trace = record(
        cunei,
        """\
import os, threading, warnings

# The program's own threads make this warn; ours are none.
warnings.simplefilter("ignore", DeprecationWarning)

def work():
    pass

def fork():
    for _ in range(1000):
        work()
    pid = os.fork()
    work()
    if pid == 0:
        os._exit(0)
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

    assert len(trace.processes) == 1
    assert trace.count("fork") == 1
    assert trace.count("work") > 1001
    assert trace.is_balanced()


def test_a_forked_child_may_record_itself(cunei):
    cunei.write(
        "app.py",
        """\
import os
import cunei

def work():
    pass

cunei.start("parent")
pid = os.fork()
if pid == 0:
    assert not cunei.is_recording()
    cunei.start("child")
    work(), work()
    cunei.stop()
    os._exit(0)
work()
assert os.waitpid(pid, 0)[1] == 0
assert cunei.is_recording()
cunei.stop()
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    parent = ctf.read(cunei.folder / "parent")
    child = ctf.read(cunei.folder / "child")
    assert (parent.count("work"), child.count("work")) == (1, 2)
    assert parent.processes[0].pid != child.processes[0].pid


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(cunei, method):
    trace = record(
        cunei,
        f"""\
import multiprocessing

def square(n):
    return n * n

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool:
        print(pool.map(square, range(50)))
    process = context.Process(target=square, args=(3,))
    process.start()
    process.join()
    print(process.exitcode)
""",
        "--include",
        ":square",
    )

    # What ends by os._exit or is terminated is read after recovery.
    if method != "spawn":
        assert trace.count("square") == 0
        return
    assert cunei("recover", "trace").returncode == 0
    assert ctf.read(cunei.folder / "trace").count("square") == 51


def test_processes_started_anew_record_into_folders_of_their_own(cunei):
    trace = record(
        cunei,
        """\
import os, subprocess, sys

def child():
    print("child", sys.argv[1:], flush=True)

def parent():
    for words in (["a"], ["b"]):
        subprocess.run([sys.executable, __file__, *words], check=True)
    subprocess.run([sys.executable, __file__, "c"], check=True, close_fds=False)
    subprocess.run([sys.executable, __file__, "d"], check=True, preexec_fn=os.getpid)
    os.system(f"{sys.executable} {__file__} e")
    words = [sys.executable, __file__, "f"]
    os.waitpid(os.posix_spawn(sys.executable, words, os.environ), 0)

child() if sys.argv[1:] else parent()
""",
    )

    assert len(trace.processes) == 7
    assert len({process.pid for process in trace.processes}) == 7
    assert trace.count("child") == 6
    assert trace.count("parent") == 1
    assert trace.is_balanced()


def test_a_subinterpreter_is_left_alone(cunei):
    """Only the main interpreter is recorded; another one runs as it does without us."""
    trace = record(
        cunei,
        """\
import sys

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    create = lambda: interpreters.create("legacy")
else:
    import _xxsubinterpreters as interpreters
    create = lambda: interpreters.create(isolated=False)

def work():
    pass

source = "def work(): pass\\nwork()\\nwork()"
for _ in range(3):
    other = create()
    assert interpreters.run_string(other, source) is None
    interpreters.destroy(other)
    work()
print("done")
""",
    )

    assert trace.count("work") == 3
    assert trace.is_balanced()
