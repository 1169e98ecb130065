# SPDX-License-Identifier: MIT
"""Corners that a second reading of the code found: each was wrong once."""

import os
import re
import signal
import sys

import pytest


def frequency(folder):
    (metadata,) = folder.glob("*/metadata")
    return int(re.search(r"freq = (\d+)", metadata.read_text())[1])


def run(cunei, source, *words):
    cunei.write("app.py", source)
    done = cunei.run(cunei.python, "app.py", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.core
def test_recovery_leaves_a_good_clock_good(cunei):
    cunei.write(
        "app.py",
        "import os, time\n"
        "def leaf(): pass\n"
        "end = time.monotonic() + 1.5\n"
        "while time.monotonic() < end: leaf()\n"
        "text = next(os.scandir('trace')).path + '/metadata'\n"
        "print(open(text).read(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n",
    )

    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert done.returncode == -signal.SIGKILL
    calibrated = int(re.search(r"freq = (\d+)", done.stdout)[1])
    recovered = frequency(cunei.folder / "trace")
    assert abs(recovered - calibrated) <= 50e-6 * calibrated


def test_no_property_of_a_thread_runs_for_its_name(cunei):
    lines = run(
        cunei,
        "import cunei, threading\n"
        "asked = []\n"
        "class Thread(threading.Thread):\n"
        "    @property\n"
        "    def _name(self):\n"
        "        asked.append(cunei.is_recording())\n"
        "        return 'x'\n"
        "    @_name.setter\n"
        "    def _name(self, name): pass\n"
        "    def _bootstrap_inner(self): self._started.set()\n"
        "thread = Thread()\n"
        "asked.clear()\n"
        "with cunei.recording('trace'): thread._bootstrap()\n"
        "print(asked)\n",
    )

    assert lines == ["[]"]


def test_a_subinterpreter_can_import_and_is_refused(cunei):
    interpreters = "_xxsubinterpreters as i" if sys_version(cunei) < (3, 13) else ""
    lines = run(
        cunei,
        f"import {interpreters or '_interpreters as i'}\n"
        "text = '''\n"
        "import cunei\n"
        "try: cunei.start('sub')\n"
        "except cunei.Error as error: print(error, flush=True)\n"
        "'''\n"
        f"i.run_string(i.create({'' if interpreters else repr('legacy')}), text)\n"
        "import cunei\n"
        "with cunei.recording('trace'): (lambda: 0)()\n"
        "print('recorded')\n",
    )

    assert lines == [
        "only the main interpreter of a process can be recorded",
        "recorded",
    ]


def sys_version(cunei):
    asked = cunei.run(cunei.python, "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(int(number) for number in asked.stdout.split())


SIZE = """
import pathlib
def size():
    files = pathlib.Path('trace').glob('*/*')
    return sum(file.stat().st_size for file in files if file.name != '.live')
"""


def test_nothing_is_defined_when_recording_has_stopped(cunei):
    before, after = run(
        cunei,
        SIZE + "import cunei\n"
        "def leaf(): pass\n"
        "cunei.start('trace', max_size=300_000)\n"
        "for _ in range(60_000): leaf()\n"
        "print(size())\n"
        "for i in range(2000):\n"
        "    names = {}\n"
        "    exec(compile(f'def f(): pass', f'/{i}.py', 'exec'), names)\n"
        "    names['f']()\n"
        "print(size())\n"
        "cunei.stop()\n",
    )

    assert int(after) <= int(before) + 4096


def test_threads_that_ended_hold_no_memory(cunei):
    # A thread that was joined may still be on its way out: the system's list shows it.
    before, after = run(
        cunei,
        "import cunei, os, threading, time\n"
        "def resident():\n"
        "    return int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "def leaf(): pass\n"
        "def work():\n"
        "    for _ in range(40_000): leaf()\n"
        "    barrier.wait()\n"
        "barrier = threading.Barrier(65)\n"
        "cunei.start('trace')\n"
        "print(resident())\n"
        "tasks = len(os.listdir('/proc/self/task'))\n"
        "threads = [threading.Thread(target=work) for _ in range(64)]\n"
        "for thread in threads: thread.start()\n"
        "barrier.wait()\n"
        "for thread in threads: thread.join()\n"
        "deadline = time.monotonic() + 20\n"
        "while len(os.listdir('/proc/self/task')) > tasks:\n"
        "    assert time.monotonic() < deadline\n"
        "print(resident())\n"
        "cunei.stop()\n",
    )

    assert int(after) - int(before) < 12 << 20, (before, after)


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="a recorded frame takes C stack there"
)
def test_a_deep_recursion_is_not_looked_through(cunei):
    source = (
        "import resource, sys\n"
        "sys.setrecursionlimit(10**6)\n"
        "def leaf(): pass\n"
        "def down(n):\n"
        "    if n: return down(n - 1)\n"
        "    for _ in range(100_000): leaf()\n"
        "down(300_000)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    (plain,) = run(cunei, source)

    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) - int(plain) < 40 << 10, (plain, done.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")
def test_a_process_that_may_no_longer_write_is_reported(cunei):
    done = cunei(
        "record",
        "-o",
        "trace",
        "-c",
        "import os, threading\n"
        "def leaf(): pass\n"
        "def work():\n"
        "    for _ in range(1000): leaf()\n"
        "os.setuid(65534)\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "thread.join()\n"
        "os._exit(0)\n",
    )

    assert done.returncode == 0
    assert "a thread could not be recorded" in done.stderr, done.stderr
