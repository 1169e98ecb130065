# SPDX-License-Identifier: MIT
"""How a process ended that wrote nothing about it: its parent or the launcher knows."""

import json

import pytest
from family import record


def ends(cunei):
    """State and words of each process, but for the program's own."""
    words = json.loads(cunei("report", "--json", "--processes", "trace").stdout)
    return [(each["state"], each["exit"]) for each in words["processes"][1:]]


UNNOTICED = {
    "os._exit from C": "import os; list(map(os._exit, [5]))",  # noticed before 3.12
    "_exit": "import ctypes; ctypes.CDLL(None)._exit(5)",
}


@pytest.mark.core
@pytest.mark.parametrize("code", UNNOTICED.values(), ids=UNNOTICED)
def test_a_program_that_exits_unnoticed_is_not_killed(cunei, code):
    done = cunei("record", "-o", "trace", "-c", code)

    assert done.returncode == 5
    assert "killed" not in cunei("report", "trace").stdout
    words = json.loads(cunei("report", "--json", "--processes", "trace").stdout)
    [process] = words["processes"]
    assert (process["state"], process["exit_status"]) == ("ended", 5)
    assert process["exit"] in ("exit(5)", "os._exit(5)")
    assert f", ended by {process['exit']}\n" in cunei("info", "trace").stdout


WAITS = {
    "waitpid": "os.waitpid(pid, 0)",
    "wait": "os.wait()",
    "wait4": "os.wait4(pid, 0)",
    "from C": "list(map(os.waitpid, [pid], [0]))",
}


@pytest.mark.core
@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_a_child_that_exits_unnoticed_is_not_killed(cunei, wait):
    record(
        cunei,
        f"""\
import ctypes, os
pid = os.fork()
if pid == 0:
    ctypes.CDLL(None)._exit(6)
{wait}
""",
    )

    assert ends(cunei) == [("ended", "exit(6)")]
    assert "killed" not in cunei("report", "trace").stdout


@pytest.mark.core
@pytest.mark.parametrize("kill", ["signal.SIGTERM", "9"])
def test_a_child_that_its_parent_terminates(cunei, kill):
    record(
        cunei,
        f"""\
import os, signal
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(writing, b"x")
    signal.pause()
os.read(reading, 1)
os.kill(pid, {kill})
os.waitpid(pid, 0)
""",
    )

    name = "SIGKILL" if kill == "9" else "SIGTERM"
    assert ends(cunei) == [("terminated", f"{name} from its parent")]
    assert f", terminated by {name} from its parent\n" in cunei("info", "trace").stdout
    report = cunei("report", "trace").stdout
    assert "1 process was terminated by its parent; the events" in report
    assert "killed" not in report


@pytest.mark.core
def test_a_child_that_its_parent_stops_and_terminates(cunei):
    """Neither the stop, nor a signal that ends nothing, hides the one that ended it."""
    record(
        cunei,
        """\
import os, signal
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(writing, b"x")
    signal.pause()
os.read(reading, 1)
os.kill(pid, signal.SIGSTOP)
os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
os.kill(pid, signal.SIGTERM)
assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
try:
    os.kill(pid, 999)
except OSError:
    pass
os.kill(pid, signal.SIGCONT)
os.waitpid(pid, 0)
""",
    )

    assert ends(cunei) == [("terminated", "SIGTERM from its parent")]


@pytest.mark.core
def test_a_child_that_kills_itself(cunei):
    record(
        cunei,
        """\
import os, signal
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
""",
    )

    assert ends(cunei) == [("killed", "SIGKILL")]
    assert "1 process was killed; the events" in cunei("report", "trace").stdout


@pytest.mark.core
@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("fork", ["SIGTERM from its parent"] * 2),
        ("spawn", ["SIGTERM from its parent"] * 2),
        ("forkserver", ["SIGTERM"] * 2),  # the server waits, but did not send it
    ],
)
def test_the_workers_of_a_pool_are_terminated_by_their_parent(cunei, method, words):
    cunei.write(
        "app.py",
        f"""\
import multiprocessing, signal

def hang(event):
    event.set()
    signal.pause()

if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    with context.Manager() as manager, context.Pool(2) as pool:
        events = [manager.Event(), manager.Event()]
        pool.map_async(hang, events, chunksize=1)
        for event in events:
            event.wait()
""",
    )
    done = cunei("record", "-o", "trace", "app.py")

    assert done.returncode == 0
    assert [word for _, word in ends(cunei) if word.startswith("SIG")] == words
