# SPDX-License-Identifier: MIT
"""A report's row of each process: when it ended, its times, its parent."""

import json
import re
import signal

import pytest


def processes(cunei, source, *options, status=0):
    cunei.write("app.py", source)
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert done.returncode == status, done.stderr
    return report(cunei)["processes"]


def report(cunei):
    done = cunei("report", "trace", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_functions_open_in_a_child_have_names(cunei):
    """It has no event of its own but the stack that it began with."""
    processes(
        cunei,
        """\
import os

def branch():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

branch()
""",
    )

    _, child = report(cunei)["threads"]
    assert child["open"] == ["<module>", "branch"]


BURN = """\
import os, signal, time

def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

def wait_for_child(seconds):
    pid = os.fork()
    if pid == 0:
        burn(seconds)
        os._exit(0)
    os.waitpid(pid, 0)
"""


@pytest.mark.core
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_a_signal_ends_lasted_until_then(cunei, signum):
    """Its children's time is not its own."""
    (program, child) = processes(
        cunei,
        BURN
        + f"""\
burn(0.2)
wait_for_child(0.5)
os.kill(os.getpid(), {int(signum)})
""",
        "--include",
        "__main__",
        status=-signum,
    )

    assert program["signal"] == signum
    assert program["wall_ns"] >= 700_000_000
    assert 200_000_000 <= program["cpu_ns"] <= 450_000_000
    assert program["end_ns"] - program["start_ns"] == program["wall_ns"]
    assert child["cpu_ns"] >= 500_000_000
    title = cunei("report", "trace", env={"COLUMNS": "200"}).stdout.splitlines()[0]
    number, unit = re.search(r"([\d.]+) (m?s) wall", title).groups()
    assert float(number) * {"s": 1, "ms": 1e-3}[unit] >= 0.7


@pytest.mark.core
def test_what_a_program_took_before_it_became_another(cunei):
    first, _, second = processes(
        cunei,
        BURN
        + """\
import sys
burn(0.2)
wait_for_child(0.1)
os.execv(sys.executable, [sys.executable, "-c", "pass"])
""",
        "--include",
        "__main__:nothing",
    )

    assert (first["exit"], second["exit"]) == ("execv", "exit(0)")
    assert first["wall_ns"] >= 300_000_000
    assert 200_000_000 <= first["cpu_ns"] <= first["wall_ns"]
    assert second["cpu_ns"] < 100_000_000
    assert first["end_ns"] <= second["start_ns"]


def test_an_execv_that_failed_is_no_end(cunei):
    (program,) = processes(
        cunei,
        BURN
        + """\
try:
    os.execv("/nonexistent", ["nonexistent"])
except OSError:
    pass
burn(0.2)
""",
    )

    assert program["exit"] == "exit(0)"
    assert program["cpu_ns"] >= 200_000_000
    assert program["wall_ns"] >= 200_000_000


@pytest.mark.core
@pytest.mark.parametrize("options", [[], ["--include", "__main__"]])
def test_no_process_ends_before_it_starts(cunei, options):
    found = processes(
        cunei,
        """\
import os, signal, sys

def child():
    os.execv(sys.executable, [sys.executable, "-c", "pass"])

for end in child, lambda: os._exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL):
    pid = os.fork()
    if pid == 0:
        end()
    os.waitpid(pid, 0)
""",
        *options,
    )

    assert len(found) == 5
    first = found[0]
    for process in found:
        assert process["start_ns"] <= process["begin_ns"] <= process["end_ns"]
        assert process["end_ns"] - process["start_ns"] == process["wall_ns"]
        assert first["start_ns"] <= process["start_ns"]
        assert process["end_ns"] <= first["end_ns"]


@pytest.mark.core
def test_a_child_of_a_shell_is_below_the_process_that_started_the_shell(cunei):
    cunei.write("leaf.py", "import sys; print(sys.stdin.read() + 'leaf')\n")
    found = processes(
        cunei,
        """\
import os, subprocess, sys

leaf = f"'{sys.executable}' leaf.py"
os.system(f"{leaf} < /dev/null | {leaf}; true")
subprocess.run(f"sh -c \\"{leaf}; true\\"; true", shell=True, input=b"")
subprocess.run([sys.executable, "leaf.py"], input=b"")
if os.fork() == 0:
    os.execv("/bin/sh", ["sh", "-c", f"{leaf} < /dev/null; true"])
os.wait()
""",
    )

    (program,) = (p for p in found if p["program"] == "app.py" and not p["forked"])
    (forked,) = (p for p in found if p["forked"])
    leaves = [p for p in found if p["program"] == "leaf.py"]
    assert program["parent_folder"] is None
    assert [p["parent_folder"] for p in leaves] == 4 * [program["folder"]] + [
        forked["folder"]
    ]
    assert [p["parent"] == program["pid"] for p in leaves] == [
        False, False, False, True, False
    ]  # fmt: skip


ALIKE = """\
import multiprocessing, os, subprocess, sys

def start(*words):
    subprocess.run([sys.executable, *words], input=b"", stdout=subprocess.DEVNULL)

if __name__ == "__main__":
    start("-c", "a = 1\\nb = 2")
    start("-c", "print()", "x y")
    start("leaf.py", "--port", "80")
    start("-m", "json.tool", "-h")
    start("-", "two")
    start("-X", "dev", "-c", "1" + 200 * " + 1")
    for method in "spawn", "forkserver":
        process = multiprocessing.get_context(method).Process(target=int)
        process.start()
        process.join()
"""


def test_processes_are_distinguished_by_their_arguments(cunei):
    cunei.write("leaf.py", "")
    processes(cunei, ALIKE)

    wide, narrow = (
        cunei("report", "trace", "--processes", env={"COLUMNS": columns}).stdout
        for columns in ("160", "80")
    )
    for name in [
        "├ python -c a = 1 b = 2",
        "├ python -c print() x y",
        "├ leaf.py --port 80",
        "├ python -m json.tool -h",
        "├ python two",
        "├ resource tracker",
        "├ spawn · SpawnProcess-1",
        "└ forkserver",
        "  └ forkserver · ForkServerProcess-2",
    ]:
        assert any(line.endswith(" " + name) for line in wide.splitlines()), name
    assert "├ python -c 1 + 1 + 1" in wide
    assert max(map(len, narrow.splitlines())) <= 80
    assert "leaf.py --port 80" in narrow
