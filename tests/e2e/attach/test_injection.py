# SPDX-License-Identifier: MIT
"""A script runs in a Python that did nothing for it, and the program is unharmed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest
from injecting import (
    AS_NOBODY,
    DRIVER,
    drive,
    inject,
    left_files,
    look,
    program,
    pythons,
    wait_until_asleep,
    wait_until_computing,
    wait_until_stopped,
)

ATTACHABLE = ["3.12", "3.13", "3.14", "3.15"]

# What every program below begins and ends with.  It ends when its standard input does.
BEGIN = """\
import os, sys, threading, time
ended = False
def wait_for_end():
    global ended
    sys.stdin.read()
    ended = True
def ready():
    threading.Thread(target=wait_for_end).start()
    print("ready", flush=True)
sys.seen = []
"""
END = """
print("end", sys.seen, len(os.listdir("/proc/self/fd")))
"""

BUSY = """
ready()
n = 0
while not ended:
    n += 1
"""
BUSY_THREADS = """
def work():
    n = 0
    while not ended:
        n += 1
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
ready()
for thread in threads: thread.join()
"""
SLEEPING = """
ready()
while not ended:
    time.sleep(0.02)
"""
JOINING = """
def work():
    while not ended:
        time.sleep(0.02)
thread = threading.Thread(target=work)
thread.start()
ready()
thread.join()
"""
RUNNING = {
    "busy": BUSY,
    "busy threads": BUSY_THREADS,
    "sleeping": SLEEPING,
    "main thread in join": JOINING,
}

# No thread executes bytecode, until the input ends.
BLOCKED = """
print("ready", flush=True)
sys.stdin.read()
"""
LOCKED = """
lock = threading.Lock()
lock.acquire()
def release():
    sys.stdin.read()
    lock.release()
threading.Thread(target=release).start()
print("ready", flush=True)
lock.acquire()
"""
HOLDING_THE_GIL = """
print("ready", flush=True)
sum(range(200_000_000))
"""
NOT_RUNNING = {
    "blocked in read": (BLOCKED, wait_until_asleep),
    "blocked in a lock": (LOCKED, wait_until_asleep),
    "in a C loop with the GIL": (HOLDING_THE_GIL, wait_until_computing),
}

SCRIPT = "import sys; sys.seen.append(__name__)"


@pytest.fixture(params=ATTACHABLE)
def python(request):
    if request.param not in pythons():
        pytest.skip(f"there is no Python {request.param}")
    return pythons()[request.param]


def ended(text):
    """The list of what was seen, and the number of descriptors."""
    word, rest = text.split(" ", 1)
    assert word == "end"
    seen, descriptors = rest.rsplit(" ", 1)
    return seen, int(descriptors)


@pytest.mark.parametrize("kind", RUNNING)
def test_a_script_runs_in_a_running_program(python, kind):
    with program(python, BEGIN + RUNNING[kind] + END) as started:
        (result,) = inject(started.pid, SCRIPT)
        assert (result["outcome"], result["error"]) == ("ran", "")
        assert left_files(started.pid) == []
        seen, descriptors = ended(started.end())
    assert seen == "['<cunei>']"
    assert descriptors <= 4  # standard ones and that of the folder


@pytest.mark.parametrize("kind", NOT_RUNNING)
def test_where_no_bytecode_runs_the_request_is_withdrawn(python, kind):
    code, wait = NOT_RUNNING[kind]
    with program(python, BEGIN + code + END) as started:
        wait(started.pid)
        (result,) = inject(started.pid, SCRIPT, seconds=0.3)
        assert result["outcome"] == "withdrawn"
        assert left_files(started.pid) == []
        seen, _ = ended(started.end())
    assert seen == "[]"


def test_a_script_waits_for_the_first_thread_that_runs(python):
    """The request is made while the program blocks, and served when it continues."""
    code = BEGIN + BLOCKED + "while not sys.seen: pass\n" + END
    with program(python, code) as started:
        wait_until_asleep(started.pid)
        driver = subprocess.Popen(
            [str(word) for word in command(started.pid)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert driver.stdout.readline() == "asked\n"
        assert ended(started.end())[0] == "['<cunei>']"
        assert '"outcome": "ran"' in driver.communicate()[0]


def command(pid):
    return [DRIVER, "run", pid, 30, SCRIPT, 1, "asked"]


def test_two_hundred_scripts_in_a_row(python):
    with program(python, BEGIN + BUSY_THREADS + END) as started:
        results = inject(started.pid, "import sys; sys.seen.append(1)", count=200)
        assert {result["outcome"] for result in results} == {"ran"}
        assert left_files(started.pid) == []
        seen, descriptors = ended(started.end())
    assert seen == str([1] * 200)
    assert descriptors <= 4


def test_threads_that_come_and_go(python):
    code = """
def work():
    pass
def start():
    while not ended:
        threads = [threading.Thread(target=work) for _ in range(5)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
starters = [threading.Thread(target=start) for _ in range(3)]
for thread in starters: thread.start()
ready()
for thread in starters: thread.join()
"""
    with program(python, BEGIN + code + END) as started:
        results = inject(started.pid, "import sys; sys.seen.append(1)", count=50)
        assert {result["outcome"] for result in results} == {"ran"}
        assert ended(started.end())[0] == str([1] * 50)


def test_a_forked_child_does_not_run_the_script(python):
    """The child has inherited the request; the script is not for it."""
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
ready()
failed = 0
while not ended:
    pid = os.fork()
    if pid == 0:
        for _ in range(1000): pass
        os._exit(os.getpid() in sys.seen)
    failed += os.waitpid(pid, 0)[1] != 0
print("forked", failed, set(sys.seen) == {os.getpid()})
"""
    script = "import os, sys; sys.seen.append(os.getpid())"
    with program(python, BEGIN + code) as started:
        results = inject(started.pid, script, count=50)
        assert {result["outcome"] for result in results} == {"ran"}
        assert started.end() == "forked 0 True\n"


def test_a_script_that_raises_says_what(python):
    with program(python, BEGIN + BUSY + END) as started:
        (result,) = inject(started.pid, "import no_such_module")
        assert result["outcome"] == "failed"
        assert result["error"] == (
            "ModuleNotFoundError: No module named 'no_such_module'"
        )
        assert ended(started.end())[0] == "[]"


def test_a_script_with_every_kind_of_character(python):
    script = (
        "text = 'a\\'\"\\\\n\u00e9\u20ac'\nimport sys\nsys.seen.append(ascii(text))"
    )
    with program(python, BEGIN + BUSY + END) as started:
        assert inject(started.pid, script)[0]["outcome"] == "ran"
        assert ended(started.end())[0] == str([ascii("a'\"\\n\u00e9\u20ac")])


def test_an_interrupt_inside_the_script_reaches_the_program(python):
    code = """
print("ready", flush=True)
try:
    while True:
        pass
except KeyboardInterrupt:
    sys.seen.append("interrupted")
"""
    with program(python, BEGIN + code + END) as started:
        (result,) = inject(started.pid, "raise KeyboardInterrupt")
        assert result["outcome"] == "failed"
        assert ended(started.end())[0] == "['interrupted']"


def test_the_names_of_main_stay_as_they_are(python):
    """The program may have replaced any builtin in its main module."""
    code = (
        BEGIN
        + "open = exec = compile = None\nnames = set(globals()) | {'n', 'names'}\n"
        + BUSY
        + "sys.seen.append(sorted(set(globals()) - names))\n"
        + END
    )
    with program(python, code) as started:
        assert inject(started.pid, SCRIPT)[0]["outcome"] == "ran"
        assert ended(started.end())[0] == "['<cunei>', []]"


def test_a_trace_function_sees_no_file_of_ours(python):
    """Otherwise coverage would look for its source at the end, and fail."""
    code = """
files = set()
def trace(frame, event, argument):
    files.add(frame.f_code.co_filename)
    return trace
ready()
sys.settrace(trace)
def work():
    while not ended:
        pass
work()
sys.settrace(None)
print("files", sorted(files - {"<string>"}))
"""
    with program(python, BEGIN + code) as started:
        assert inject(started.pid, "x = 1")[0]["outcome"] == "ran"
        output = started.end()
    assert output in ("files []\n", "files ['<cunei>']\n")


def test_a_profiler_in_the_program_is_not_disturbed(python):
    code = """
import cProfile
profile = cProfile.Profile()
def work():
    pass
print("ready", flush=True)
calls = 0
profile.enable()
while len(sys.seen) < 10:
    work()
    calls += 1
profile.disable()
rows = {row.code.co_name: row.callcount for row in profile.getstats()
        if hasattr(row.code, "co_name")}
print("calls", rows["work"] == calls)
"""
    with program(python, BEGIN + code) as started:
        results = inject(started.pid, SCRIPT, count=10)
        assert {result["outcome"] for result in results} == {"ran"}
        assert started.end() == "calls True\n"


def test_two_at_once(python):
    """Each script runs, or is refused while the other's request waits."""
    script = "import sys; sys.seen.append(1)"
    with program(python, BEGIN + BUSY_THREADS + END) as started:
        drivers = [
            subprocess.Popen(
                [DRIVER, "run", str(started.pid), "30", script, "20"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        texts = [driver.communicate()[0] for driver in drivers]
        lines = [line for text in texts for line in text.splitlines()]
        ran = [line for line in lines if '"outcome": "ran"' in line]
        others = [line for line in lines if line not in ran]
        assert len(ran) >= 20
        assert all("cannot be attached: " in line for line in others), others
        assert left_files(started.pid) == []
        assert ended(started.end())[0] == str([1] * len(ran))


def test_a_process_that_ends_meanwhile(python):
    with program(python, BEGIN + BLOCKED) as started:
        wait_until_asleep(started.pid)
        driver = subprocess.Popen(
            [str(word) for word in command(started.pid)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert driver.stdout.readline() == "asked\n"
        started.process.kill()
        started.process.wait()
        text = driver.communicate()[0]
    assert '"outcome": "withdrawn"' in text
    assert f"process {started.pid} ended before it was attached" in text
    assert left_files(started.pid) == []


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@needs_root
def test_a_program_in_other_namespaces(python):
    """Its pid is another there, and so is its /tmp."""
    unshare = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "sh", "-c"]
    script = 'mount -t tmpfs none /tmp && exec "$@"'
    code, before = BEGIN + BUSY + END, [*unshare, script, "sh"]
    with program(python, code, before=before) as started:
        pid = child_of(started.process.pid)
        facts = look(pid)
        assert facts["inner_pid"] == 1 and facts["pid_namespace"]
        assert facts["mount_namespace"] and not facts["network_namespace"]
        assert inject(pid, SCRIPT)[0]["outcome"] == "ran"
        assert os.listdir(f"/proc/{pid}/root/tmp") == []
        assert ended(started.end())[0] == "['<cunei>']"


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read().split()[0])


@needs_root
def test_a_program_of_another_user(python):
    """Root attaches, and the file is that user's."""
    change = "os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3)"
    with program(python, f"{BEGIN}\n{change}\n{BUSY}{END}") as started:
        assert look(started.pid)["uid"] == 65534
        assert inject(started.pid, SCRIPT)[0]["outcome"] == "ran"
        assert ended(started.end())[0] == "['<cunei>']"


@needs_root
@pytest.mark.parametrize("series", ["3.12", "3.13"])
def test_an_ordinary_user_attaches_to_a_process_of_theirs(series, driver_for_all):
    """Without the capability that opening files in map_files needs."""
    if series not in pythons():
        pytest.skip(f"there is no Python {series}")
    home = os.path.dirname(os.path.dirname(pythons()[series]))
    script = """
mount --bind "$1" /mnt || exit
shift
export LD_LIBRARY_PATH=/mnt/lib
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""
    before = ["unshare", "--mount", "sh", "-c", script, "sh", home]
    if subprocess.run([*before, "/mnt/bin/python3", "-c", ""]).returncode != 0:
        pytest.skip("this Python does not run in another place")
    with program("/mnt/bin/python3", BEGIN + BUSY + END, before=before) as started:
        words = [*AS_NOBODY, driver_for_all, "run", str(started.pid), "30", SCRIPT]
        result = subprocess.run(words, capture_output=True, text=True)
        assert '"outcome": "ran"' in result.stdout
        assert ended(started.end())[0] == "['<cunei>']"


def test_signals_of_the_program_are_delivered(python):
    code = """
import signal
signal.signal(signal.SIGALRM, lambda *_: sys.seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
ready()
while not ended:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
print("seen", len(sys.seen) > 20)
"""
    with program(python, BEGIN + code) as started:
        results = inject(started.pid, "pass", count=50)
        assert {result["outcome"] for result in results} == {"ran"}
        assert started.end() == "seen True\n"


def test_a_stopped_program_stays_stopped(python):
    with program(python, BEGIN + BUSY + END) as started:
        os.kill(started.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, started.pid, os.WSTOPPED)
        (result,) = inject(started.pid, SCRIPT, seconds=0.1)
        assert result["outcome"] == "withdrawn"
        wait_until_stopped(started.pid)
        os.kill(started.pid, signal.SIGCONT)
        assert ended(started.end())[0] == "[]"


@pytest.mark.skipif(not shutil.which("gdb"), reason="there is no gdb")
def test_a_program_under_a_debugger_is_refused(python):
    with program(python, BEGIN + SLEEPING + END) as started:
        gdb = subprocess.Popen(
            ["gdb", "-q", "-nx", "-p", str(started.pid), "-ex", "echo attached\\n"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
        while "attached" not in (line := gdb.stdout.readline()):
            assert line
        status, text = drive("check", started.pid)
        gdb.communicate("detach\nquit\n")
        assert (status, text) == (
            2,
            f"process {started.pid} cannot be attached: process {gdb.pid} traces it, "
            "such as gdb or strace; end that first",
        )
        assert inject(started.pid, SCRIPT)[0]["outcome"] == "ran"
        started.end()
