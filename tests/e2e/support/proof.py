# SPDX-License-Identifier: MIT
"""What the proofs share: running cunei and babeltrace2, counting from inside."""

import mmap
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import textwrap
import time

import pytest

# Whether the Python that is tested has no GIL.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "e2e" / "support" / "programs"
CUNEI = pathlib.Path(sysconfig.get_path("scripts")) / "cunei"
DEADLINE_S = 60

needs_babeltrace = pytest.mark.skipif(
    not shutil.which("babeltrace2"), reason="babeltrace2 is not installed"
)
needs_monitoring = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="sys.monitoring came with 3.12"
)

# Tool ids that others have taken: three, two or one are left.
TAKEN = [
    pytest.param("", id="three free"),
    pytest.param("3", id="two free", marks=needs_monitoring),
    pytest.param("35", id="one free", marks=needs_monitoring),
]


def become_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


# Options of subprocess that run a command without the rights of root, who may do
# everything.  Its own (user, group) came with 3.9.
UNPRIVILEGED = {"preexec_fn": become_nobody} if os.geteuid() == 0 else {}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")


def cunei(*words, check=True, **options):
    """Run a command of cunei's to its end."""
    done = subprocess.run(
        [CUNEI, *words],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=DEADLINE_S,
        **options,
    )
    if check:
        assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done


def write_program(folder, text, name="program.py"):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def wait_for(condition, process=None):
    """Wait until it holds, or until the process that should make it so has ended."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        if process is not None and process.poll() is not None:
            assert condition(), f"the program ended early: {process.returncode}"
            return
        assert time.monotonic() < deadline, "waited too long"
        os.sched_yield()


class Counters:
    """64-bit numbers that a test and the program it runs share."""

    def __init__(self, path, size):
        path.write_bytes(bytes(8 * size))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 8 * size)
        self.numbers = memoryview(self._memory).cast("Q")

    def __getitem__(self, index):
        return self.numbers[index]

    def total(self):
        return sum(self.numbers)


# What a program puts in front to count in such a mapping, named by its first argument.
COUNT = """\
import mmap, sys
_file = open(sys.argv[1], "r+b")
counts = memoryview(mmap.mmap(_file.fileno(), 0)).cast("Q")
"""


def is_gone(pid):
    """Whether nothing but its number is left of a process, with all its threads.

    Its list of tasks may end at one that ends while it is read: the count does not.
    """
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    state, threads = re.search(
        r"^State:\s*(\S)(?:.*\n)*?Threads:\s*(\d+)", text, re.M
    ).groups()
    return state in "ZX" and int(threads) <= 1


class Recording:
    """`cunei record` of a program, in a process group of its own."""

    def __init__(self, directory, program, *arguments, options=(), **more):
        self.directory = directory
        words = [CUNEI, "record", "-o", directory, *options, program, *arguments]
        self.launcher = subprocess.Popen(
            [str(word) for word in words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **more,
        )

    def program_pid(self):
        """The child of the launcher, as soon as it records."""
        wait_for(self._folders, self.launcher)
        return int(self._folders()[0].name.split("-")[-2])

    def _folders(self):
        return list(self.directory.glob("*-*-*"))

    def kill_program(self):
        os.kill(self.program_pid(), signal.SIGKILL)

    def kill_all(self):
        """Kill launcher and program, and wait until there is nothing left of them."""
        pids = [int(folder.name.split("-")[-2]) for folder in self._folders()]
        os.killpg(self.launcher.pid, signal.SIGKILL)
        wait_for(lambda: all(map(is_gone, pids)))

    def wait(self):
        """Output and status of the launcher at its end."""
        try:
            out, err = self.launcher.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill_all()
            self.launcher.communicate()
            raise
        return self.launcher.returncode, out.decode(), err.decode()


def count_with_babeltrace(directory):
    """Events that stock babeltrace2 finds, and how many it says were discarded.

    It must read the whole trace and end with 0.
    """
    done = subprocess.run(
        ["babeltrace2", directory, "-c", "sink.utils.counter", "-p", "step=+0"],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    events = re.findall(r"(\d+) Event messages?\n", done.stdout)
    return int(events[-1]) if events else 0


def print_with_babeltrace(directory, *options):
    """The lines that stock babeltrace2 prints, and what it says on stderr."""
    done = subprocess.run(
        ["babeltrace2", *options, directory],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    # Not splitlines(), which also splits at characters that names may hold.
    return done.stdout.split("\n")[:-1], done.stderr


def python(*words, **options):
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        **options,
    )
