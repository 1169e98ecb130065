# SPDX-License-Identifier: MIT
"""Recordings that keep their last part, snapshots of any recording, and their list."""

import json
import os
import pathlib
import signal
import subprocess

import pytest
from proof import (
    CUNEI,
    UNPRIVILEGED,
    Recording,
    count_with_babeltrace,
    cunei,
    needs_babeltrace,
    needs_root,
    python,
    wait_for,
    write_program,
)

# Calls until a file appears, so that a test can look at it meanwhile.
BUSY = """
import os, sys
def work(n):
    return n
def many():
    for n in range(1000):
        work(n)
while not os.path.exists(sys.argv[1]):
    many()
"""


def calls(directory):
    rows = json.loads(cunei("report", "--json", directory).stdout)
    return {each["qualname"]: each["calls"] for each in rows["functions"]}


def report(directory):
    return json.loads(cunei("report", "--json", directory).stdout)


def keep(tmp_path, program, *options):
    directory = tmp_path / "trace"
    done = cunei("record", "--keep", "2M", *options, "-o", directory, program)
    return directory, done


@pytest.fixture
def busy(tmp_path):
    """A recording that continues until the test has ended."""
    program = write_program(tmp_path, BUSY)
    stop = tmp_path / "stop"
    options = ["--keep", "30s,8M"]
    recording = Recording(tmp_path / "trace", program, stop, options=options)
    try:
        recording.program_pid()
        wait_for(lambda: list(recording.directory.glob("*/metadata")))
        yield recording
    finally:
        stop.touch()
        recording.wait()


@pytest.mark.core
@needs_babeltrace
def test_the_last_calls_of_a_program_that_ended_are_kept(tmp_path):
    program = write_program(
        tmp_path,
        """
        def early():
            pass
        def late():
            pass
        for _ in range(400_000):
            early()
        for _ in range(20_000):
            late()
        """,
    )

    directory, done = keep(tmp_path, program)

    found = calls(directory)
    assert found["late"] == 20_000
    assert 50_000 < found["early"] < 150_000
    assert "0 lost" in done.stderr
    assert list(directory.glob("*/.ring")) == []
    assert count_with_babeltrace(directory) == report(directory)["events"]
    assert report(directory)["complete_ns"] > 0


@pytest.mark.core
def test_what_fits_in_the_ring_is_complete(tmp_path):
    program = write_program(tmp_path, "def f():\n    pass\nfor _ in range(1000): f()\n")

    directory, _ = keep(tmp_path, program)

    assert calls(directory)["f"] == 1000
    assert "complete_ns" not in report(directory)


PROGRAMS = {
    "fork": (
        """
        import os
        def f():
            pass
        for _ in range(3):
            if os.fork() == 0:
                for _ in range(1000): f()
                os._exit(0)
        for _ in range(3): os.wait()
        """,
        {"f": 3000},
    ),
    "exec": (
        """
        import os, sys
        def f():
            pass
        f()
        if len(sys.argv) < 2:
            os.execv(sys.executable, [sys.executable, __file__, "again"])
        """,
        {"f": 2},
    ),
    "threads": (
        """
        import threading
        def f():
            pass
        for _ in range(2000):
            thread = threading.Thread(target=f)
            thread.start()
            thread.join()
        """,
        {"f": 2000},
    ),
    "exceptions": (
        """
        def f():
            raise ValueError
        for _ in range(3000):
            try:
                f()
            except ValueError:
                pass
        """,
        {"f": 3000},
    ),
}


@pytest.mark.core
@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_ring_holds_what_files_would(tmp_path, kind):
    text, wanted = PROGRAMS[kind]
    program = write_program(tmp_path, text)

    directory = tmp_path / "trace"
    cunei("record", "--keep", "16M", "-o", directory, program)

    found = calls(directory)
    assert {name: found[name] for name in wanted} == wanted
    assert report(directory)["missing_packets"] == 0
    assert kind != "exceptions" or report(directory)["raised"] == 3000


def test_a_budget_works_with_a_ring(tmp_path):
    program = write_program(
        tmp_path, "def f():\n    pass\nfor _ in range(300_000): f()\n"
    )

    directory, _ = keep(tmp_path, program, "--budget", "50%")

    assert report(directory)["damaged"] == []
    assert report(directory)["lost"] == 0


def test_a_running_ring_is_read_as_it_is(busy):
    wait_for(lambda: has_wrapped(busy))

    facts = report(busy.directory)

    assert facts["damaged"] == []
    assert facts["missing_packets"] == 0
    assert facts["complete_ns"] > 0
    assert list(busy.directory.glob("*/.ring"))


def has_wrapped(recording):
    info = json.loads(cunei("info", "--json", recording.directory).stdout)
    return info["processes"][0]["complete_ns"] > 0


@needs_babeltrace
def test_a_snapshot_is_a_trace_of_its_own(busy, tmp_path):
    wait_for(lambda: has_wrapped(busy))

    done = cunei("snapshot", busy.directory, "-o", tmp_path / "first")
    overlapping = cunei("snapshot", str(busy.program_pid()), "-o", tmp_path / "second")

    assert "was too small" in done.stderr, done.stderr
    assert "1 process" in overlapping.stderr
    for name in ("first", "second"):
        facts = report(tmp_path / name)
        assert facts["events"] == count_with_babeltrace(tmp_path / name)
        assert facts["damaged"] == []
    info = json.loads(cunei("info", "--json", tmp_path / "first").stdout)
    assert info["processes"][0]["state"] == "snapshot"
    assert [path.name for path in (tmp_path / "first").glob("*/.*")] == [".process"]


FORKED = """
import os, sys, time
pid = os.fork()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
if pid:
    os.waitpid(pid, 0)
"""


def test_the_title_of_a_snapshot_counts_its_processes(tmp_path):
    program, stop = write_program(tmp_path, FORKED), tmp_path / "stop"
    recording = Recording(tmp_path / "trace", program, stop)
    try:
        wait_for(lambda: len(list(recording.directory.glob("*/metadata"))) == 2)
        cunei("snapshot", recording.directory, "-o", tmp_path / "now")
    finally:
        stop.touch()
        recording.wait()

    title = cunei("report", tmp_path / "now").stdout.splitlines()[0]
    assert "1 more process · 2 running at the snapshot" in title


@needs_babeltrace
def test_the_last_part_of_a_recording_to_files_can_be_copied(tmp_path):
    program = write_program(tmp_path, BUSY)
    stop = tmp_path / "stop"
    recording = Recording(tmp_path / "trace", program, stop)
    wait_for(lambda: any(p.stat().st_size > 2**22 for p in tmp_path.glob("trace/*/s0")))

    cunei("snapshot", tmp_path / "trace", "-o", tmp_path / "all")
    half = f"{report(tmp_path / 'all')['duration_ns'] // 2}ns"
    cunei("snapshot", tmp_path / "trace", "-o", tmp_path / "part", "--last", half)
    stop.touch()
    recording.wait()

    part, whole = report(tmp_path / "part"), report(tmp_path / "all")
    assert part["events"] > 0
    assert part["begin_ns"] > whole["begin_ns"]
    assert count_with_babeltrace(tmp_path / "part") == part["events"]
    assert part["complete_ns"] > 0
    assert "complete_ns" not in whole
    assert report(tmp_path / "trace")["damaged"] == []


def test_the_list_has_the_living_and_the_dead(busy, tmp_path):
    pid = busy.program_pid()

    def listed():
        rows = json.loads(cunei("list", "--json").stdout)["recordings"]
        return {row["pid"]: row for row in rows}

    row = listed()[pid]
    assert (row["state"], row["program"]) == ("recording", "program.py")
    assert row["keep_ns"] == 30 * 10**9
    assert row["trace"] == str(busy.directory)
    wait_for(lambda: (listed()[pid]["events_per_second"] or 0) > 1000)
    os.kill(busy.launcher.pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: listed()[pid]["state"] == "killed")
    assert f"{pid}" in cunei("list").stdout
    cunei("snapshot", str(pid), "-o", tmp_path / "last")
    assert calls(tmp_path / "last")["work"] > 0
    cunei("recover", busy.directory)
    assert pid not in listed()


BAD = [
    (["snapshot"], "missing pid or directory"),
    (["snapshot", "a", "b"], "unexpected argument 'b'"),
    (["snapshot", "nowhere"], "there is no trace 'nowhere'"),
    (["snapshot", "1"], "process 1 is not being recorded"),
    (["snapshot", "999999999"], "there is no process 999999999"),
    (["snapshot", "x", "--after", "soon"], "--after needs"),
    (["list", "x"], "unexpected argument 'x'"),
    (["record", "--keep", "30", "x.py"], "--keep needs a time, a size"),
    (["record", "--keep", "1000G", "x.py"], "a size from 1M to 64G"),
    (["record", "--keep", "1M", "--max-size", "1M", "x.py"], "cannot be used with"),
]


@pytest.mark.parametrize("words, sentence", BAD, ids=lambda each: "-".join(each)[:30])
def test_a_wrong_command_line_is_one_sentence(tmp_path, words, sentence):
    done = cunei(*words, check=False, cwd=tmp_path)

    assert done.returncode != 0
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_ring_that_does_not_fit_is_refused_before_the_program_runs(tmp_path):
    program = write_program(tmp_path, "open('ran', 'w')\n")

    words = ["--keep", "64G,memory", "-o", tmp_path / "trace", program]
    done = cunei("record", *words, check=False, cwd=tmp_path)

    assert done.returncode == 1
    assert "choose a smaller --keep" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "trace").exists()


@needs_root
@pytest.mark.parametrize("owner", [0, 65534])
def test_a_folder_in_memory_of_another_user_is_not_used(tmp_path, owner):
    program = write_program(tmp_path, "print('done')\n")
    script = f"""
mount -t tmpfs none /dev/shm
mkdir -m 700 /dev/shm/cunei-0
chown {owner} /dev/shm/cunei-0
"$@"
test {owner} = 0 || test -z "$(ls /dev/shm/cunei-0)"
"""

    done = subprocess.run(
        ["unshare", "-m", "sh", "-ec", script, "sh", CUNEI, "record"]
        + ["--keep", "4M,memory", "-o", tmp_path / "trace", program],
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    if owner:
        assert "nothing was recorded: there is no folder of this user in" in done.stderr
    else:
        assert " 0 lost" in done.stderr


def test_a_snapshot_does_not_overwrite(busy, tmp_path):
    cunei("snapshot", busy.directory, "-o", tmp_path / "copy")

    again = cunei("snapshot", busy.directory, "-o", tmp_path / "copy", check=False)
    forced = cunei("snapshot", busy.directory, "-o", tmp_path / "copy", "--force")

    assert again.returncode == 1
    assert "already holds a trace" in again.stderr
    assert forced.returncode == 0


@needs_root
def test_a_snapshot_on_a_full_disk_is_one_sentence_and_leaves_nothing(busy, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], check=True
    )
    try:
        wait_for(lambda: has_wrapped(busy))
        done = cunei("snapshot", busy.directory, "-o", small / "copy", check=False)
        left = list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)

    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1
    assert left == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as another user")
def test_another_user_sees_nothing(busy, tmp_path):
    for folder in [tmp_path, *tmp_path.parents[:3]]:
        if folder != pathlib.Path("/tmp"):
            folder.chmod(0o755)
    pid = busy.program_pid()

    def other(*words):
        return cunei(*words, check=False, cwd="/tmp", **UNPRIVILEGED)

    listed = json.loads(other("list", "--json").stdout)
    assert pid not in [row["pid"] for row in listed["recordings"]]
    assert [row["state"] for row in listed["pythons"] if row["pid"] == pid] in (
        [],
        ["closed"],
    )
    by_pid = other("snapshot", str(pid), "-o", "/tmp/other-user")
    by_path = other("snapshot", busy.directory, "-o", "/tmp/other-user")
    read = other("report", busy.directory)

    assert "is not being recorded by this user" in by_pid.stderr
    assert by_path.returncode == read.returncode == 1
    assert not pathlib.Path("/tmp/other-user").exists()


INSIDE = """
import cunei, os, signal, sys, time
signals = []
signal.signal(signal.SIGCHLD, lambda *_: signals.append(1))
cunei.start("trace", keep="10s,2M")
def f():
    pass
for _ in range(1000):
    f()
before = sorted(os.listdir("/proc/self/fd"))
assert cunei.snapshot("now") == os.path.abspath("now")
later = cunei.snapshot("later", after=0.01, last="1h")
for _ in range(500):
    f()
try:
    os.waitpid(-1, 0)
    raise SystemExit("it has a child")
except ChildProcessError:
    pass
try:
    cunei.snapshot("now")
    raise SystemExit("it was overwritten")
except cunei.Error as error:
    assert "already holds a trace" in str(error), error
assert signals == []
assert sorted(os.listdir("/proc/self/fd")) == before
while not os.path.exists(f"{later}/done"):
    if any(name == ".process" for _, _, names in os.walk(later) for name in names):
        open(f"{later}/done", "w").close()
cunei.stop()
try:
    cunei.snapshot()
except cunei.Error as error:
    assert "nothing is being recorded" in str(error), error
"""


@pytest.mark.core
def test_a_program_makes_snapshots_of_itself_without_children(tmp_path):
    program = write_program(tmp_path, INSIDE)

    done = python(program, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert calls(tmp_path / "now")["f"] == 1000
    assert calls(tmp_path / "later")["f"] >= 1000
    assert calls(tmp_path / "trace")["f"] == 1500


@pytest.mark.parametrize(
    "keep, error",
    [
        ("30", ValueError),
        ("1M,2M", ValueError),
        ("memory", ValueError),
        ("65G", ValueError),
        (30, TypeError),
    ],
)
def test_a_wrong_keep_in_a_program_is_an_error(tmp_path, keep, error):
    text = f"import cunei\ncunei.start('trace', keep={keep!r})\n"

    done = python(write_program(tmp_path, text), cwd=tmp_path)

    assert f"{error.__name__}: keep must be" in done.stderr


def test_pyproject_may_ask_for_a_ring(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.cunei]\nkeep = "5s,2M"\n')
    program = write_program(tmp_path, "def f():\n    pass\nf()\n")

    cunei("record", "-o", tmp_path / "trace", program, cwd=tmp_path)

    info = json.loads(cunei("info", "--json", tmp_path / "trace").stdout)
    assert info["processes"][0]["keep_bytes"] == 2 << 20
    assert info["processes"][0]["keep_ns"] == 5 * 10**9
