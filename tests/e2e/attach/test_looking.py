# SPDX-License-Identifier: MIT
"""What cunei says about a running process, and why it cannot attach to it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess

import pytest
from injecting import AS_NOBODY, drive, look, program, pythons

WAITING = "print('ready', flush=True); import sys; sys.stdin.read()"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def python_of(series):
    if series not in pythons():
        pytest.skip(f"there is no Python {series}")
    return pythons()[series]


def refusal(pid, word="check", before=()):
    status, text = drive(word, pid, before=before)
    assert status == 2, text
    return text


ALL = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.15"]


@pytest.mark.parametrize("series", ALL)
def test_each_python_is_recognised(series):
    python = python_of(series)
    ask = "import sys; print(list(sys.version_info[:3]))"
    version = subprocess.run([python, "-c", ask], capture_output=True, text=True).stdout
    with program(python, WAITING) as started:
        facts = look(started.pid)
        listed = [json.loads(line) for line in drive("list")[1].splitlines()]
    minor, patch = json.loads(version)[1:]
    assert facts["minor"] == minor
    assert facts["patch"] == (patch if minor >= 11 else -1)
    assert facts["free_threaded"] == series.endswith("t")
    assert facts["pid"] == facts["inner_pid"] == started.pid
    for name in ("debug", "static", "probe", "recording", "armed", "pid_namespace"):
        assert not facts[name], name
    assert facts in listed


@pytest.mark.parametrize("series", ["3.8", "3.9", "3.10", "3.11"])
def test_older_pythons_are_refused(series):
    with program(python_of(series), WAITING) as started:
        assert refusal(started.pid) == (
            f"process {started.pid} cannot be attached: it runs Python {series}, and "
            "only 3.12 and newer can be attached while they run; start the program "
            "with 'cunei arm'"
        )


def test_a_free_threaded_python_3_13_is_refused():
    with program(python_of("3.13t"), WAITING) as started:
        assert refusal(started.pid) == (
            f"process {started.pid} cannot be attached: it runs a free-threaded Python "
            "3.13, which can be attached only from 3.14 on; start the program with "
            "'cunei arm'"
        )


@pytest.mark.parametrize("series", ["3.14", "3.15"])
def test_remote_debugging_switched_off_is_refused(series):
    python = python_of(series)
    begin = "process {} cannot be attached: it was started with "
    with program(python, WAITING, PYTHON_DISABLE_REMOTE_DEBUG="1") as started:
        assert refusal(started.pid) == begin.format(started.pid) + (
            "PYTHON_DISABLE_REMOTE_DEBUG; unset it, or start the program with "
            "'cunei arm'"
        )
    for options in (["-X", "disable-remote-debug"], ["-Xdisable-remote-debug"]):
        with program(python, WAITING, *options) as started:
            assert refusal(started.pid) == begin.format(started.pid) + (
                "-X disable-remote-debug; leave that out, or start the program with "
                "'cunei arm'"
            )


def test_a_process_that_does_not_exist():
    with open("/proc/sys/kernel/pid_max") as file:
        pid = int(file.read()) - 1
    assert refusal(pid) == (
        f"there is no process {pid}; 'cunei list' shows the Python processes"
    )
    assert refusal(0).startswith("there is no process 0;")


def test_a_thread_is_not_a_process():
    code = "import sys, threading\nthreading.Thread(target=sys.stdin.read).start()\n"
    code += "print('ready', flush=True)"
    with program(python_of("3.13"), code) as started:
        threads = {int(tid) for tid in os.listdir(f"/proc/{started.pid}/task")}
        (thread,) = threads - {started.pid}
        assert refusal(thread) == (
            f"there is no process {thread}: that is a thread of process {started.pid}"
        )


def test_a_process_that_has_ended():
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert refusal(process.pid) == (
        f"process {process.pid} has ended; its parent has not taken notice of it yet"
    )
    process.wait()


def test_a_process_that_is_no_python():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        path = os.path.realpath(shutil.which("cat"))
        wait_for_program(process.pid, path)
        assert refusal(process.pid) == (
            f"process {process.pid} is not a Python: its program '{path}' contains no "
            "CPython; 'cunei list' shows the Python processes"
        )
        process.stdin.close()


def wait_for_program(pid, path):
    while os.readlink(f"/proc/{pid}/exe") != path:
        pass


@needs_root
def test_a_part_of_the_kernel():
    if not os.path.isdir("/proc/2") or os.path.exists("/proc/2/exe"):
        pytest.skip("there are no kernel threads in this pid namespace")
    assert refusal(2).startswith(
        "process 2 is not a Python: it is a part of the kernel"
    )


def control_of(folder, pid):
    (folder / "cunei").mkdir(mode=0o700, exist_ok=True)
    return folder / "cunei" / f"{pid}-{os.stat(f'/proc/{pid}/ns/pid').st_ino}.control"


def test_an_armed_process_is_recognised_by_its_socket(tmp_path):
    runtime = tmp_path.resolve()
    with program(python_of("3.13"), WAITING, XDG_RUNTIME_DIR=str(runtime)) as started:
        path = control_of(runtime, started.pid)
        facts = look(started.pid)
        assert (facts["armed"], facts["control"]) == (False, str(path))
        with socket.socket(socket.AF_UNIX) as control:
            control.bind(str(path))
            assert look(started.pid)["armed"]


def test_another_file_or_a_link_in_its_place_is_not_a_socket(tmp_path):
    runtime = tmp_path.resolve()
    with program(python_of("3.13"), WAITING, XDG_RUNTIME_DIR=str(runtime)) as started:
        path = control_of(runtime, started.pid)
        path.write_text("")
        assert not look(started.pid)["armed"]
        path.unlink()
        with socket.socket(socket.AF_UNIX) as control:
            control.bind(str(runtime / "other"))
            path.symlink_to(runtime / "other")
            assert not look(started.pid)["armed"]


MAPPING = """
import mmap, sys
def keep(path):
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
kept = [keep(path) for path in sys.argv[1:]]
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("names", "probe", "recording"),
    [
        ([], False, False),
        (["cunei/_probe.cpython-313.so"], True, False),
        (["cunei/_probe.cpython-313.so", "trace/host-1-0/.live"], True, True),
        (["trace/host-1-0/.live"], False, False),
        (["cunei/_probe_of_another.so", "live"], False, False),
    ],
)
def test_what_cunei_has_mapped_is_recognised(tmp_path, names, probe, recording):
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 4096)
    with program(python_of("3.13"), MAPPING, arguments=paths) as started:
        facts = look(started.pid)
    assert (facts["probe"], facts["recording"]) == (probe, recording)


STATIC = """\
#include <stdio.h>
char _PyRuntime[4096];
int main(void)
{
    puts("ready");
    fflush(stdout);
    return getchar() == 0 ? _PyRuntime[0] : 0;
}
"""


def test_a_static_python_is_refused(tmp_path):
    """It cannot load an extension.  Its name tells the version."""
    path = tmp_path / "python3.13"
    command = ["cc", "-static", "-x", "c", "-o", path, "-"]
    if subprocess.run(command, input=STATIC, text=True).returncode != 0:
        pytest.skip("there is no static C library")
    with program(path, "") as started:
        assert refusal(started.pid) == (
            f"process {started.pid} cannot be attached: its Python is linked "
            "statically and cannot load cunei's extension; run the program with "
            "another Python"
        )


@pytest.mark.parametrize("series", ["3.12", "3.13", "3.14", "3.15"])
def test_something_that_only_looks_like_a_python_is_refused(tmp_path, series):
    """What is in memory is compared with what must be there; nothing is written."""
    minor = int(series.split(".")[1])
    path = tmp_path / f"python{series}"
    code = f"unsigned long Py_Version = 0x030{minor:x}01f0ul;\n" + STATIC
    command = ["cc", "-rdynamic", "-x", "c", "-o", path, "-"]
    subprocess.run(command, input=code, text=True, check=True)
    with program(path, "") as started:
        assert refusal(started.pid).startswith(
            f"process {started.pid} cannot be attached: "
        )
        assert started.end() == ""


@needs_root
def test_the_processes_of_another_user(driver_for_all):
    as_nobody = [*AS_NOBODY, driver_for_all]
    with program(python_of("3.13"), WAITING) as started:
        result = subprocess.run(
            [*as_nobody, "check", str(started.pid)], capture_output=True, text=True
        )
        listed = subprocess.run([*as_nobody, "list"], capture_output=True, text=True)
    sentence = (
        f"process {started.pid} belongs to user 0, and you are user 65534; run cunei "
        "as that user or as root"
    )
    assert (result.returncode, result.stdout) == (2, sentence + "\n")
    assert {"pid": started.pid, "error": sentence} in [
        json.loads(line) for line in listed.stdout.splitlines()
    ]
