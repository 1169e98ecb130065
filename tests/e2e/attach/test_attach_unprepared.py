# SPDX-License-Identifier: MIT
"""Attaching to programs that know nothing of cunei, and what is shown of them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest
from proof import DEADLINE_S, UNPRIVILEGED, needs_root, wait_for

# Calls work for ever, from three threads, and counts the calls of one of them.
PROGRAM = """
import sys, threading, time
def work(n):
    return n
def repeat(pause):
    while True:
        work(1)
        time.sleep(pause)
for _ in range(2):
    threading.Thread(target=repeat, args=(0.001,), daemon=True).start()
print("ready", flush=True)
repeat(0.001)
"""

# It sleeps, and calls next to nothing.
QUIET = """
import time
def work():
    pass
print("ready", flush=True)
while True:
    work()
    time.sleep(0.2)
"""

VERSION = sys.version_info[:2]
HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
IS_ATTACHABLE = VERSION >= (3, 14) or (VERSION >= (3, 12) and HAS_GIL)

needs_injection = pytest.mark.skipif(
    not IS_ATTACHABLE, reason="this Python can only be attached if it is armed"
)


@contextlib.contextmanager
def running(cunei, text, *before):
    script = cunei.write("program.py", text)
    process = subprocess.Popen(
        [*before, cunei.python, script],
        cwd=cunei.folder,
        env=cunei.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def threads(process):
    return sorted(os.listdir(f"/proc/{process.pid}/task"))


def functions(cunei, directory):
    done = cunei("report", "--json", directory)
    if done.returncode != 0:
        return {}
    return {row["qualname"]: row for row in json.loads(done.stdout)["functions"]}


def pythons(cunei, **options):
    listed = json.loads(cunei("list", "--json", **options).stdout)
    return {row["pid"]: row for row in listed["pythons"]}


def state_of(cunei, pid):
    done = cunei("attach", pid, "--status", "--json")
    return json.loads(done.stdout)["state"] if done.returncode == 0 else None


@pytest.mark.core
@needs_injection
def test_all_threads_are_recorded_and_then_the_process_is_as_it_was(cunei):
    with running(cunei, PROGRAM) as process:
        before = threads(process)
        done = cunei("attach", process.pid, "--for", "300ms", "-o", "trace")
        wait_for(lambda: threads(process) == before)
        again = cunei("attach", process.pid, "--for", "100ms", "-o", "again")

    assert done.returncode == again.returncode == 0, done.stderr + again.stderr
    assert ", 0 lost, " in done.stderr
    found = functions(cunei, "trace")
    assert found["work"]["calls"] > 100
    assert "open_at_attach" not in found["work"]
    assert found["repeat"]["open_at_attach"] is True
    assert found["repeat"]["calls"] == 0
    report = json.loads(cunei("report", "--json", "trace").stdout)
    assert report["orphans"] == report["unclosed"] == 0
    shown = cunei("report", "trace").stdout
    assert "attached   recording began while the program was running" in shown


@needs_injection
def test_the_recording_stays_until_it_is_told_to_end(cunei):
    with running(cunei, PROGRAM) as process:
        begun = cunei("attach", process.pid, "--stay", "--keep", "10s", "-o", "trace")
        assert begun.returncode == 0, begun.stderr
        assert state_of(cunei, process.pid) == "attached"
        second = cunei("attach", process.pid)
        ended = cunei("attach", process.pid, "--detach")

    assert "is attached already" in second.stderr
    assert f"'cunei attach {process.pid} --detach'" in second.stderr
    assert ended.returncode == 0, ended.stderr
    assert functions(cunei, "trace")["work"]["calls"] > 0


@pytest.mark.core
@pytest.mark.skipif(IS_ATTACHABLE, reason="this Python can be attached")
def test_an_old_python_is_refused_with_the_reason_and_what_to_do(cunei):
    with running(cunei, PROGRAM) as process:
        done = cunei("attach", process.pid)
        shown = cunei("doctor", process.pid)

    assert done.returncode == shown.returncode == 1
    assert "cannot be attached" in done.stderr
    assert "'cunei arm'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "attaching    bad" in shown.stdout
    assert not list(cunei.folder.glob("cunei-*"))


@pytest.mark.core
def test_the_list_shows_what_can_be_attached_and_why_the_rest_cannot(cunei):
    wanted = "attachable" if IS_ATTACHABLE else "closed"
    with running(cunei, PROGRAM) as process:
        row = pythons(cunei)[process.pid]
        shown = cunei("list").stdout

    assert (row["state"], row["program"]) == (wanted, "program.py")
    whole = ".".join(map(str, sys.version_info[:3]))
    assert row["python"] == (whole if VERSION >= (3, 11) else whole[: whole.rfind(".")])
    assert ("reason" in row) == (wanted == "closed")
    assert f"{process.pid}" in shown


def test_an_armed_process_is_listed_and_examined_as_such(cunei):
    script = cunei.write("program.py", PROGRAM)
    process = cunei.start("arm", script, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        row = pythons(cunei)[process.pid]
        shown = cunei("doctor", process.pid, "--json")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()

    assert row["state"] == "armed"
    assert json.loads(shown.stdout)["can_attach"] is True


@contextlib.contextmanager
def being_recorded(cunei):
    """A process that `cunei record` records."""
    script = cunei.write("program.py", PROGRAM)
    words = ["record", "-q", "-o", "trace", script]
    process = cunei.start(*words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        listed = json.loads(cunei("list", "--json").stdout)["recordings"]
        trace = str(cunei.folder / "trace")
        yield next(row["pid"] for row in listed if row["trace"] == trace)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


READS = """
import sys
print("ready", flush=True)
sys.stdin.read()
"""


@needs_injection
def test_a_process_that_ends_while_it_is_being_attached(cunei):
    """It reads in C code, so that the first Python code that it executes is its end."""
    script = cunei.write("reads.py", READS)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with contextlib.ExitStack() as stack:
        runtime = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
        pipes["env"] = {"XDG_RUNTIME_DIR": runtime}
        process = stack.enter_context(subprocess.Popen([cunei.python, script], **pipes))
        assert process.stdout.readline() == "ready\n"
        controller = cunei.start(
            "attach", process.pid, "-o", "trace", stderr=subprocess.PIPE, text=True
        )
        wait_for(lambda: os.listdir(runtime))  # the script is there
        process.stdin.close()
        said = controller.communicate(timeout=DEADLINE_S)[1]

    assert process.returncode == 0
    assert controller.returncode == 1 and len(said.splitlines()) == 1
    assert f"process {process.pid} " in said
    assert "has ended meanwhile" in said or "its Python is ending" in said
    assert not (cunei.folder / "trace").exists()


@needs_injection
def test_a_process_that_is_recorded_is_refused_before_it_is_armed(cunei):
    with being_recorded(cunei) as pid:
        doctor = cunei("doctor", pid)
        done = cunei("attach", pid, "--for", "1s", "-o", "other")
        status = cunei("attach", pid, "--status")

    assert doctor.returncode == 1 and "being recorded already" in doctor.stdout
    assert done.returncode == 1
    assert f"process {pid} is being recorded already" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert f"process {pid} is not attached" in status.stderr
    assert not (cunei.folder / "other").exists()


def test_the_list_has_a_table_of_recordings_and_one_of_other_pythons(cunei):
    with running(cunei, PROGRAM) as process, being_recorded(cunei) as pid:
        recordings, others = cunei("list").stdout.split("\n\n")

    heads = recordings.splitlines()[0], others.splitlines()[0]
    assert "trace" in heads[0] and "why" not in heads[0]
    assert "≈events/s" not in heads[1] and "trace" not in heads[1]
    assert any(line.split()[0] == str(pid) for line in recordings.splitlines())
    assert any(line.split()[0] == str(process.pid) for line in others.splitlines())


@needs_injection
def test_the_doctor_says_how_a_process_can_be_attached(cunei):
    with running(cunei, PROGRAM) as process:
        done = cunei("doctor", process.pid)
        found = json.loads(cunei("doctor", process.pid, "--json").stdout)

    assert done.returncode == 0
    assert f"cunei attach {process.pid}" in done.stdout
    assert found["can_attach"] is True
    assert [each["name"] for each in found["checks"]] == [
        "process",
        "python",
        "namespaces",
        "cunei",
        "attaching",
    ]


@pytest.mark.skipif(not os.access("/usr/bin/python3", os.X_OK), reason="needs another")
def test_the_doctor_says_where_cunei_must_come_from(cunei):
    other = subprocess.run(
        ["/usr/bin/python3", "-V"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    if other.startswith(f"{VERSION[0]}.{VERSION[1]}."):
        pytest.skip("the other Python has the same version")
    script = cunei.write("program.py", QUIET)
    process = subprocess.Popen(
        ["/usr/bin/python3", script], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        checks = json.loads(cunei("doctor", process.pid, "--json").stdout)["checks"]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()

    found = {each["name"]: each for each in checks}["cunei"]
    assert found["state"] == "note"
    assert "from the environment of its Python" in found["text"]


def test_a_controller_that_waits_in_vain_leaves_no_socket(cunei):
    port = cunei.folder / "port"
    words = ["attach", "--port", port]
    controller = cunei.start(*words, stderr=subprocess.PIPE, text=True)
    assert "waiting for a program" in controller.stderr.readline()
    wait_for(port.exists)
    controller.send_signal(signal.SIGINT)
    printed = controller.communicate(timeout=60)[1]

    assert printed == f"cunei: no program has connected to '{port}'\n"
    assert controller.returncode == 1
    assert not port.exists()


@pytest.mark.parametrize("command", ["attach", "doctor"])
@pytest.mark.parametrize(
    "word, sentence",
    [
        ("x", "is not a pid"),
        ("999999999", "no process 999999999"),
        ("1", "1"),
    ],
)
def test_what_cannot_be_examined_is_one_sentence(cunei, command, word, sentence):
    done = cunei(command, word)

    assert done.returncode != 0
    assert sentence in done.stderr + done.stdout
    assert done.stderr.count("\n") <= 1


def test_a_process_that_is_no_python_is_said_to_be_none(cunei):
    process = subprocess.Popen(["sleep", "60"])
    try:
        done = cunei("attach", process.pid)
    finally:
        process.kill()
        process.wait()

    assert done.returncode == 1
    assert "not a Python" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.core
@needs_injection
def test_top_records_a_process_while_it_shows_it(cunei):
    with running(cunei, PROGRAM) as process:
        done = cunei("top", "--batch", "2", "--json", process.pid)
        left = pythons(cunei)[process.pid]["state"]

    assert done.returncode == 0, done.stderr
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    names = [row["qualname"] for row in samples[-1]["functions"]]
    assert "work" in names
    assert left == "attachable"


@needs_injection
def test_top_shows_a_quiet_process_again_and_again(cunei):
    with running(cunei, QUIET) as process:
        for _ in range(3):
            done = cunei("top", "--once", process.pid)
            assert done.returncode == 0, done.stderr
            assert "program.py" in done.stdout


@needs_injection
def test_triggers_make_snapshots_of_an_attached_program(cunei):
    words = ["--keep", "10s", "--trigger", "slow::work>0ns", "-o", "trace"]
    with running(cunei, PROGRAM) as process:
        done = cunei("attach", process.pid, *words, "--for", "2s")
        staying = cunei("attach", process.pid, *words, "--stay")

    assert "cunei: snapshot in trace-snapshot: slow::work>0ns" in done.stderr
    assert functions(cunei, "trace-snapshot")["work"]["calls"] > 0
    assert staying.returncode == 2
    assert "cunei watch PID" in staying.stderr


@needs_root
@needs_injection
def test_another_user_learns_nothing_and_cannot_attach(cunei):
    with running(cunei, PROGRAM) as process:
        options = {"cwd": "/", **UNPRIVILEGED}
        done = cunei("attach", process.pid, "-o", "/tmp/never", **options)
        row = pythons(cunei, **options).get(process.pid)

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert not os.path.exists("/tmp/never")
    assert row is None or row["state"] == "closed"


def can_unshare():
    words = ["unshare", "-p", "-f", "-m", "--mount-proc", "true"]
    return bool(
        shutil.which("unshare")
        and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )


# Where /tmp is another, but the Python, $1, is where it is outside.
CONTAINER = """
set -e
mount --bind "$1" "$2"
mount -t tmpfs none /tmp
mkdir -p "$1"
mount --bind "$2" "$1"
cat > /tmp/program.py
exec "$1/bin/python" /tmp/program.py
"""


@contextlib.contextmanager
def in_a_container(cunei, text):
    """The pid, as seen from outside, of a program in other namespaces."""
    home = tempfile.mkdtemp(dir="/opt")
    environment = os.path.dirname(os.path.dirname(cunei.python))
    words = ["unshare", "-p", "-f", "-m", "--mount-proc", "sh", "-c", CONTAINER, "sh"]
    process = subprocess.Popen(
        [*words, environment, home],
        cwd="/",
        env=cunei.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = None
    try:
        process.stdin.write(text)
        process.stdin.close()
        assert process.stdout.readline() == "ready\n"
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            pid = int(file.read())
        yield pid
    finally:
        if pid:
            os.kill(pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        os.rmdir(home)


@needs_root
@needs_injection
@pytest.mark.skipif(not can_unshare(), reason="namespaces cannot be made here")
@pytest.mark.skipif(not os.access("/opt", os.W_OK), reason="/opt cannot be written")
def test_a_container_is_attached_from_outside(cunei):
    with in_a_container(cunei, PROGRAM) as pid:
        doctor = cunei("doctor", pid)
        done = cunei("attach", pid, "--for", "300ms", "-o", "trace")
        begun = cunei("attach", pid, "--stay", "--keep", "10s")
        snapshot = cunei("snapshot", pid, "-o", "snapshot")
        watched = cunei("top", "--once", pid)
        ended = cunei("attach", pid, "--detach", "-o", "kept")
        top = cunei("top", "--once", pid)
        inside = os.listdir(f"/proc/{pid}/root/tmp")

    assert "pid, mount: other ones" in doctor.stdout
    for each in (done, begun, snapshot, watched, ended, top):
        assert each.returncode == 0, each.stderr
    assert functions(cunei, "trace")["work"]["calls"] > 100
    assert functions(cunei, "kept")["work"]["calls"] >= 0
    assert "work" in functions(cunei, "snapshot")
    assert "program.py" in watched.stdout
    assert "program.py" in top.stdout
    assert [name for name in inside if name.startswith("cunei-")] == []
    assert not list(cunei.folder.glob("cunei-*"))


@pytest.mark.core
@needs_injection
def test_a_process_that_ends_meanwhile_leaves_its_trace(cunei):
    with running(cunei, PROGRAM) as process:
        controller = cunei.start(
            "attach", process.pid, "-o", "trace", stderr=subprocess.PIPE, text=True
        )
        assert "recording process" in controller.stderr.readline()
        wait_for(lambda: list((cunei.folder / "trace").glob("*/metadata")))
        process.kill()
        process.wait()
        printed = controller.communicate(timeout=60)[1]

    assert f"process {process.pid} has ended" in printed
    assert controller.returncode == 0
    assert functions(cunei, "trace")["work"]["calls"] > 0
