# SPDX-License-Identifier: MIT
"""Programs that cunei attaches to, and the driver that does it (attach_driver.c)."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DRIVER = ROOT / "build" / "gcc" / "tests" / "unit" / "attach_driver"
TIMEOUT_S = 60
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@functools.lru_cache(maxsize=None)
def pythons():
    """The newest Python of each series, as {"3.13": path}; "3.13t" without a GIL."""
    lines = subprocess.run(
        [ROOT / "tools" / "python.sh"], capture_output=True, text=True, cwd=ROOT
    ).stdout.splitlines()
    found = {}
    for line in lines:
        version, state, path = line.split(maxsplit=2)
        series = ".".join(version.split(".")[:2])
        if state == "ready":
            found.setdefault(series + "t" * version.endswith("t"), path)
    return found


def drive(*words, before=()):
    """What the driver says: status and text."""
    assert DRIVER.exists(), f"{DRIVER} is missing: ninja -C build/gcc builds it"
    command = [*before, DRIVER, *words]
    result = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert result.returncode in (0, 1, 2), result
    assert result.stderr == ""
    return result.returncode, result.stdout.strip()


def look(pid):
    status, text = drive("look", pid)
    assert status == 0, text
    return json.loads(text)


def inject(pid, script, seconds=30, count=1):
    """What came of executing the script, one dictionary for each time."""
    status, text = drive("run", pid, seconds, script, count)
    assert status != 2, text
    return [json.loads(line) for line in text.splitlines()]


def left_files(pid):
    """Files for the process in the folders where scripts are written to."""
    folders = ("/tmp", "/var/tmp", "/dev/shm", os.environ.get("XDG_RUNTIME_DIR"))
    paths = [path for folder in folders if folder for path in Path(folder).glob(NAMES)]
    return [path for path in paths if is_for(path, pid)]


def is_for(path, pid):
    """Other tests may make and remove such files at the same time."""
    with contextlib.suppress(FileNotFoundError):
        return f"posix.getpid() != {pid}:" in path.read_text()
    return False


NAMES = "cunei-" + "[0-9a-f]" * 16 + ".py"


class Program:
    """A Python program that has printed "ready"."""

    def __init__(self, python, code, *options, before=(), arguments=(), **variables):
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [*before, python, "-X", "dev", *options, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, **variables},
        )
        first = self.process.stdout.readline()
        assert first.startswith("ready"), (first, self.stderr())
        words = first.split()
        self.pid = int(words[1]) if len(words) > 1 else self.process.pid

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def end(self):
        """Close its standard input, on which it ends; what it printed after that."""
        output, _ = self.process.communicate(timeout=TIMEOUT_S)
        status, errors = self.process.returncode, self.stderr()
        assert (status, errors) == (0, ""), f"status {status}, printed: {errors}"
        return output


def fields(pid, tid):
    """Those of /proc/PID/stat behind the name: the state first."""
    with open(f"/proc/{pid}/task/{tid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def is_asleep(pid):
    return all(fields(pid, tid)[0] == "S" for tid in os.listdir(f"/proc/{pid}/task"))


def wait_until_asleep(pid):
    """Until all of its threads wait for something, and not for each other."""
    in_a_row = 0
    deadline = time.monotonic() + TIMEOUT_S
    while in_a_row < 20:
        in_a_row = in_a_row + 1 if is_asleep(pid) else 0
        assert time.monotonic() < deadline


def wait_until_stopped(pid):
    """By a signal; it may still be on its way back to that after it was looked at."""
    deadline = time.monotonic() + TIMEOUT_S
    while fields(pid, pid)[0] != "T":
        assert time.monotonic() < deadline


def wait_until_computing(pid):
    """Until it has used the processor for a while since now."""
    begin = int(fields(pid, pid)[11])
    deadline = time.monotonic() + TIMEOUT_S
    while int(fields(pid, pid)[11]) < begin + 3:
        assert time.monotonic() < deadline


@contextlib.contextmanager
def program(python, code, *options, **more):
    started = Program(python, code, *options, **more)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(started.process.pid, signal.SIGKILL)
            started.process.wait()
        started.process.stdin.close()
        started.process.stdout.close()
        started.errors.close()
