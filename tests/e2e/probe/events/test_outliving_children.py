# SPDX-License-Identifier: MIT
"""Children that outlive their parents, are left out, killed, or run all at once."""

import os
import signal

import ctf
import proof
import pytest
from family import calls, described, record

DAEMON = """\
import os, sys, time

def work():
    pass

def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.001)

def daemon():
    work()
    open("daemon", "w").write(str(os.getpid()))
    wait_for("end")
    work()

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        daemon()
    os._exit(0)
os.wait()
wait_for("daemon")
work()
"""


@pytest.mark.core
def test_a_daemon_outlives_the_launcher(cunei):
    cunei.write("app.py", DAEMON)
    done = cunei("record", "-o", "trace", "app.py")
    pid = int((cunei.folder / "daemon").read_text())

    assert done.returncode == 0
    assert not proof.is_gone(pid)
    assert done.stderr.splitlines()[1:] == [
        f"cunei: process {pid} is still running and being recorded"
    ]
    (cunei.folder / "end").touch()
    proof.wait_for(lambda: proof.is_gone(pid))
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("work") == 1 + 2
    assert described(trace, "exit_status")[pid] == "0"


def test_what_is_left_of_a_daemon_that_is_killed(cunei):
    cunei.write("app.py", DAEMON)
    done = cunei("record", "-q", "-o", "trace", "app.py")
    pid = int((cunei.folder / "daemon").read_text())
    os.kill(pid, signal.SIGKILL)
    proof.wait_for(lambda: proof.is_gone(pid))

    assert (done.returncode, done.stderr) == (0, "")
    assert cunei("recover", "trace").returncode == 0
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("work") == 1 + 1
    assert described(trace, "ended")[pid] == "0"


def test_an_orphan_knows_its_parent(cunei):
    """Its parent has ended, and the system has given it another one."""
    trace = record(
        cunei,
        """\
import os

def work():
    pass

read, write = os.pipe()
pid = os.fork()
if pid == 0:
    if os.fork() == 0:
        os.close(write)
        os.read(read, 1)  # until its parent is gone
        work()
        os.write(1, b"orphan\\n")
        os._exit(0)
    os._exit(0)
os.close(write)
os.waitpid(pid, 0)
while os.read(read, 1):
    pass
""",
    )

    assert trace.count("work") == 1
    _, middle, orphan = trace.processes
    assert int(orphan.description["parent"]) == middle.pid
    assert orphan.description["parent_folder"] == middle.folder.name


@pytest.mark.core
def test_without_children(cunei):
    trace = record(
        cunei,
        """\
import os, subprocess, sys

def work():
    pass

work()
if not sys.argv[1:]:
    subprocess.run([sys.executable, __file__, "x"], check=True)
    if os.fork() == 0:
        assert not any(sys.monitoring.get_tool(tool) for tool in range(6))
        work()
        os._exit(0)
    os.wait()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
""",
        "--no-children",
    )

    first, again = trace.processes
    assert first.pid == again.pid
    assert (calls(first, "work"), calls(again, "work")) == (1, 1)


def test_without_children_a_shell_leads_to_nothing(cunei):
    cunei.write("run.sh", f"#!/bin/sh\n{cunei.python} -c pass\ntrue\n", True)
    done = cunei("record", "--no-children", "-o", "trace", "./run.sh")

    assert done.returncode == 0
    assert done.stderr == (
        "cunei: nothing was recorded: 'run.sh' is not a Python program, and "
        "--no-children excludes the Pythons that it starts\n"
    )
    assert not (cunei.folder / "trace").exists()
    cunei.write("exec.sh", f"#!/bin/sh\nexec {cunei.python} -c pass\n", True)
    done = cunei("record", "--no-children", "-o", "trace", "./exec.sh")
    assert "0 lost" in done.stderr


KILLED = """\
import os, signal

def work():
    pass

for n in range(150):
    pid = os.fork()
    if pid == 0:
        while True:
            work()
    for _ in range(300 * n):
        pass
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    work()
"""


def test_children_that_are_killed_while_they_begin(cunei):
    trace = record(cunei, KILLED)

    parent = trace.processes[0]
    assert calls(parent, "work") == 150
    assert parent.is_balanced()
    for child in trace.processes[1:]:
        assert child.description["forked"] == "1"

    done = cunei("run", "app.py")
    assert done.returncode == 0
    assert not list(cunei.folder.parent.glob("cunei-*"))
    done = cunei("record", "-q", "--force", "-o", "trace", "-c", "pass")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_the_signal_that_ended_the_program_is_reported(cunei, signum):
    cunei.write("app.py", f"import os\nos.kill(os.getpid(), {int(signum)})\n")
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert done.returncode == -signum
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.description["signal"] == str(int(signum))
    assert process.description["ended"] == "0"


def test_children_of_which_many_run_at_once(cunei):
    trace = record(
        cunei,
        """\
import os

def work():
    pass

read, write = os.pipe()
pids = []
for _ in range(150):
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)  # until all of them are there
        work()
        os._exit(0)
    pids.append(pid)
os.close(write)
assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * len(pids)
""",
    )

    assert trace.count("work") == 150
    assert len(trace.processes) == 151
    assert set(described(trace, "left").values()) == {"0", "1"}
