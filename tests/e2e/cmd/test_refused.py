# SPDX-License-Identifier: MIT
"""What cannot be recorded: the program is unharmed, the launcher says so once."""

import json
import os
import pathlib
import shutil
import subprocess

import ctf
import proof
import pytest
from test_space import mounted


def run(cunei, source, *words):
    """Record a program, which behaves as always; the lines that cunei prints."""
    cunei.write("app.py", source)
    plain = cunei.run(cunei.python, "app.py", *words)
    shutil.rmtree(cunei.folder / "trace", ignore_errors=True)
    done = cunei("record", "-o", "trace", "app.py", *words)

    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    return done.stderr.splitlines()


CHILDREN = """
import os, subprocess, sys

def work():
    pass

work()
if sys.argv[1:] == ["child"]:
    print("child", flush=True)
    sys.exit()
{prepare}
for _ in range(2):
    subprocess.run([sys.executable, __file__, "child"], check=True)
if os.fork() == 0:
    work()
    os._exit(0)
os.wait()
for _ in range(50_000):
    work()
{restore}
"""


@pytest.mark.core
def test_a_directory_that_is_not_there_in_the_children(cunei):
    prepare = "if os.path.exists('trace'): os.rename('trace', 'away')"
    restore = "if os.path.exists('away'): os.rename('away', 'trace')"
    printed = run(cunei, CHILDREN.format(prepare=prepare, restore=restore))

    assert printed[1:] == [
        "cunei: 3 processes could not be recorded: No such file or directory"
    ]
    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 1
    assert not (cunei.folder / "away").exists()


def test_a_directory_that_the_program_removed(cunei):
    prepare = "import shutil; shutil.rmtree('trace', ignore_errors=True)"
    printed = run(cunei, CHILDREN.format(prepare=prepare, restore=""))

    assert printed == [
        "cunei: nothing was recorded: 'trace' could not be written to: "
        "No such file or directory"
    ]
    assert not (cunei.folder / "trace").exists()


def is_root_mounted():
    """Not where it was changed into: such a root cannot be made private."""
    rows = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return any(row.split()[4] == "/" for row in rows)


@proof.needs_root
@pytest.mark.skipif(not is_root_mounted(), reason="the root is no mount of its own")
def test_a_directory_that_is_read_only_in_the_children(cunei):
    prepare = """
import ctypes
libc = ctypes.CDLL(None)
if os.path.exists("trace"):
    path = os.path.abspath("trace").encode()
    PRIVATE, BIND, REMOUNT, READ_ONLY = 0x44000, 0x1000, 0x20, 1
    assert libc.unshare(0x20000) == 0
    assert libc.mount(b"none", b"/", None, PRIVATE, None) == 0
    assert libc.mount(path, path, None, BIND, None) == 0
    assert libc.mount(path, path, None, BIND | REMOUNT | READ_ONLY, None) == 0
"""
    printed = run(cunei, CHILDREN.format(prepare=prepare, restore=""))

    assert printed[1:] == [
        "cunei: events were lost: Read-only file system",
        "cunei: 3 processes could not be recorded: Read-only file system",
    ]
    assert len(ctf.read(cunei.folder / "trace").processes) == 1


GIVES_UP = """
import os

def work():
    pass

pid = os.fork()
if pid == 0:
    {prepare}
    for _ in range(2):
        if os.fork() == 0:
            work()
            os._exit(0)
        os.wait()
    work()
    os._exit(3)
print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.core
@proof.needs_root
@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        ("os.setgid(65534); os.setuid(65534)", "Permission denied"),
        ("os.chroot('/proc'); os.chdir('/')", "No such file or directory"),
    ],
    ids=["another user", "another root"],
)
def test_children_that_do_not_reach_the_directory(cunei, prepare, reason):
    printed = run(cunei, GIVES_UP.format(prepare=prepare))

    assert printed[1:] == [f"cunei: 2 processes could not be recorded: {reason}"]
    assert ctf.read(cunei.folder / "trace").count("work") == 1


def test_what_run_says_of_it(cunei):
    prepare = """
import glob
here = os.environ["TMPDIR"]
for name in glob.glob(here + "/cunei-*"):
    os.rename(name, name + "x")
"""
    restore = """
for name in glob.glob(here + "/cunei-*x"):
    os.rename(name, name[:-1])
"""
    cunei.write("app.py", CHILDREN.format(prepare=prepare, restore=restore))
    done = cunei("run", "app.py")

    assert done.returncode == 0
    message = "cunei: 3 processes could not be recorded: No such file or directory\n"
    assert done.stderr.startswith(message)
    assert "work" in done.stderr
    assert not list(cunei.folder.parent.glob("cunei-*"))


NONSENSE = {
    "empty": "",
    "a word": "nonsense",
    "relative": "some/where",
    "relative in words": "v=1 dir=some/where",
    "another version": "v=99 dir=/tmp/x",
    "no directory": "v=1 freq=1000000000",
    "an odd number": "v=1 dir={folder}/x freq=99999999999999999999999",
    "an unknown key": "v=1 dir={folder}/x colour=red",
    "an odd pattern": "v=1 dir={folder}/x include=re:((",
    "a file": "{folder}/app.py",
    "a device": "/dev/null",
    "a pipe": "{folder}/pipe",
    "nowhere": "/nowhere/at/all",
    "in proc": "/proc/nothing",
    "very long": "v=1 dir=/{long}",
    "not UTF-8": "v=1 dir={folder}/missing/\udcff\udcfe",
    "for another process": "v=1 dir={folder} only=1",
}


@pytest.mark.parametrize("value", NONSENSE.values(), ids=NONSENSE)
def test_a_variable_that_makes_no_sense(cunei, value):
    os.mkfifo(cunei.folder / "pipe")
    cunei.write("app.py", "print('done')")
    value = value.format(folder=cunei.folder, long="x" * 100_000)
    before = sorted(os.listdir(cunei.folder))
    strict = {"CUNEI_RECORD": value, "PYTHONWARNINGS": "error"}
    done = cunei.run(cunei.python, "app.py", env=strict)

    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.core
@pytest.mark.parametrize("value", ["nonsense", "/dev/null", "/nowhere/at/all"])
def test_cunei_debug_prints_the_reason(cunei, value):
    debug = {"CUNEI_RECORD": value, "CUNEI_DEBUG": "1"}
    done = cunei.run(cunei.python, "-c", "print('done')", env=debug)

    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.startswith("cunei: not recording")
    assert done.stderr.count("\n") == 1


def test_a_path_alone_makes_its_directory(cunei):
    path = str(cunei.folder / "by hand")
    code = "def f(): pass\nf()"
    done = cunei.run(cunei.python, "-c", code, env={"CUNEI_RECORD": path})

    assert (done.returncode, done.stderr) == (0, "")
    assert ctf.read(cunei.folder / "by hand").count("f") == 1


NESTED = [
    ["record", "-o", "inner", "-c", "pass"],
    ["run", "-c", "pass"],
]


@pytest.mark.core
@pytest.mark.parametrize("words", NESTED, ids=["record", "run"])
def test_a_recording_inside_a_recording_is_refused(cunei, words):
    cunei.write(
        "app.py",
        f"""\
import subprocess, sys
inner = subprocess.run([{cunei.executable!r}, *{words!r}], stderr=subprocess.PIPE)
print(inner.returncode, inner.stderr.decode())
inner = subprocess.run(
    [sys.executable, "-m", "cunei", *{words!r}], stderr=subprocess.PIPE)
print(inner.returncode, inner.stderr.decode())
""",
    )
    done = cunei("record", "-q", "-o", "trace", "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    sentence = (
        f"2 cunei: this program is already being recorded to '{cunei.folder}/trace'; "
        "run it without the inner cunei, or record the outer program with "
        "--no-children\n"
    )
    assert done.stdout == f"{sentence}\n" * 2
    assert not (cunei.folder / "inner").exists()


def test_a_recording_inside_one_that_leaves_it_out(cunei):
    words = ["record", "--no-children", "-q", "-o", "outer", "--", cunei.python]
    code = f"""\
import subprocess
subprocess.run([{cunei.executable!r}, "record", "-q", "-o", "inner", "-c", "pass"])
"""
    done = cunei(*words, "-c", code)

    assert (done.returncode, done.stderr) == (0, "")
    outer = ctf.read(cunei.folder / "outer")
    inner = ctf.read(cunei.folder / "inner")
    assert len(outer.processes) == len(inner.processes) == 1


@pytest.mark.core
def test_a_program_in_a_recording_cannot_start_one(cunei):
    code = """\
import cunei
try:
    cunei.start("inner")
except cunei.Error as error:
    print(error)
"""
    done = cunei("record", "-q", "-o", "trace", "-c", code)

    folder = cunei.folder / "trace"
    assert done.stdout == (
        f"this process is being recorded already, into '{folder}'; stop that first\n"
    )


@pytest.mark.core
def test_a_part_that_is_recorded_is_a_region_of_the_whole(cunei):
    code = """\
import cunei
def work(): pass
with cunei.record("inner"):
    work()
block = cunei.recording("other", instrumenter="none")
with block, block:
    work()
assert cunei.is_recording()
work()
"""
    done = cunei("record", "-q", "-o", "trace", "-c", code)

    assert (done.returncode, done.stderr) == (0, "")
    assert ctf.read(cunei.folder / "trace").count("work") == 3
    report = json.loads(cunei("report", "--json", "--regions", "trace").stdout)
    regions = {each["name"]: each["count"] for each in report["regions"]}
    assert regions == {"record inner": 1, "record other": 2}
    assert [path.name for path in cunei.folder.iterdir() if path.is_dir()] == ["trace"]


@pytest.mark.core
def test_only_the_outermost_block_ends_the_recording(cunei):
    code = """\
import cunei
def work(): pass
with cunei.record("outer", max_size=100):
    for i in range(100):
        work()
    with cunei.record("full"):
        pass
with cunei.record("outer"):
    with cunei.record("inner"):
        work()
    cunei.stop()
    with cunei.record("second"):
        work()
assert not cunei.is_recording()
"""
    done = cunei.run(cunei.python, "-c", code)

    assert (done.returncode, done.stderr) == (0, "")
    names = [path.name for path in cunei.folder.iterdir() if path.is_dir()]
    assert sorted(names) == ["outer", "second"]


@pytest.fixture
def crowded():
    """A control group in which only so many processes fit; for root alone."""
    group = "/sys/fs/cgroup/pids/cunei-test"
    try:
        os.mkdir(group)
    except OSError:
        pytest.skip("processes cannot be limited here")
    yield group
    os.rmdir(group)


@pytest.mark.parametrize("room", [1, 2, 3, 4, 6])
def test_a_full_process_table(cunei, crowded, room):
    cunei.write(
        "app.py",
        """\
import os

def work():
    pass

pids = []
try:
    while len(pids) < 20:
        pid = os.fork()
        if pid == 0:
            work()
            os._exit(0)
        pids.append(pid)
except BlockingIOError:
    print("full")
for pid in pids:
    os.waitpid(pid, 0)
work()
""",
    )
    with open(f"{crowded}/pids.max", "w") as file:
        file.write(str(room))

    def enter():
        with open(f"{crowded}/cgroup.procs", "w") as file:
            file.write("0")

    done = cunei("record", "-o", "trace", "app.py", preexec_fn=enter)

    if room == 1:  # not even the Python can be asked
        assert done.returncode == 1
        assert "Resource temporarily unavailable" in done.stderr
        assert done.stderr.count("\n") == 1
        return
    assert (done.returncode, done.stdout) == (0, "full\n")
    assert "0 lost" in done.stderr and done.stderr.count("\n") == 1
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("work") == len(trace.processes)


def test_the_launcher_holds_nothing_open(cunei):
    """What it listens with is not the program's, and has a number of its own."""
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:4])"
    plain = cunei.run(cunei.python, "-c", code)
    done = cunei("record", "-q", "-o", "trace", "-c", code)
    assert done.stdout == plain.stdout

    shell = 'exec "$0" "$@" <&- >&- 2>&-'
    words = [cunei.executable, "record", "-q", "-o", "closed", "-c", "pass"]
    done = subprocess.run(["sh", "-c", shell, *words], cwd=cunei.folder, check=False)
    assert done.returncode == 0
    assert len(ctf.read(cunei.folder / "closed").processes) == 1


@proof.needs_root
def test_children_where_the_disk_is_nearly_full(cunei, tmp_path):
    """Each would take 768 KB of it, if only for as long as it runs."""
    cunei.write("app.py", CHILDREN.format(prepare="", restore=""))
    with mounted(tmp_path / "small", "64m") as small:
        done = cunei("record", "-o", small / "trace", "app.py")
        folders = list((small / "trace").glob("*/metadata"))

    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert (
        lines[-1] == "cunei: one process could not be recorded: No space left on device"
    )
    assert len(folders) == 3  # what is started anew makes do with what there is
