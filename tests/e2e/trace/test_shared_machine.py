# SPDX-License-Identifier: MIT
"""Another user who may change the trace directory, and folders that vanish."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from proof import CUNEI, DEADLINE_S, cunei, wait_for, write_program
from test_recovery import dead_trace, digest  # noqa: F401

NOBODY = 65534
SECRET = "not yours\n"

needs_second_user = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"),
    reason="only root can act as a second user, by setpriv",
)

# It waits in the middle for a line on its input.
PROGRAM = """
import sys
def f():
    pass
def work():
    for _ in range(60_000):
        f()
work()
print("ready", flush=True)
sys.stdin.readline()
work()
print("done")
"""


SECOND_USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def attack(script, *words):
    """Run a shell script as the second user."""
    words = [*SECOND_USER, "sh", "-ec", script, "sh", *words]
    subprocess.run([str(word) for word in words], check=True)


@pytest.fixture
def shared():
    """A sticky folder of the attacker, in which everyone may write."""
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def secret(tmp_path):
    """A file of root in a folder that only root may enter."""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    path = folder / "secret"
    path.write_text(SECRET)
    return path


@contextlib.contextmanager
def recording(directory, folder, program=PROGRAM, options=()):
    """Record the program; in the middle of it, the body of `with` is run."""
    words = [CUNEI, "record", "-o", directory, *options, write_program(folder, program)]
    launcher = subprocess.Popen(
        [str(word) for word in words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ended = subprocess.CompletedProcess(words, None)
    try:
        assert launcher.stdout.readline() == "ready\n"
        yield ended
        ended.stdout, ended.stderr = launcher.communicate("\n", timeout=DEADLINE_S)
        ended.returncode = launcher.returncode
    finally:
        launcher.kill()
        launcher.wait()
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


def only_folder(directory):
    (folder,) = directory.glob("*-*-*")
    return folder


# The folder of the process makes way for a link to one of the attacker, in which all
# names of files in a trace lead to a file of the victim.
NAMES = [
    ".live",
    ".ring",
    ".process",
    "metadata",
    "s0",
    "s1",
    ".metadata.new",
    "..process.new",
]
SWAP = f"""
mkdir -m 777 "$3"
for name in {" ".join(NAMES)}; do
    ln -s "$4" "$3/$name"
done
ln -s "$3" "$1"
"""


MOVES = {
    "the folder": 'mv "$1" "$2"\n',
    "the trace": 'mv "$(dirname "$1")" "$(dirname "$2")"\nmkdir "$(dirname "$1")"\n',
}


@needs_second_user
@pytest.mark.parametrize("options", [[], ["--keep", "64M"]], ids=["all", "ring"])
@pytest.mark.parametrize("what", MOVES)
def test_a_swapped_folder_loses_events_and_no_file(
    tmp_path, shared, secret, what, options
):
    directory = shared / "trace"
    attack('mkdir -m 1777 "$1"', directory)
    with recording(directory, tmp_path, options=options) as ended:
        folder = only_folder(directory)
        moved = (
            directory / "aside"
            if what == "the folder"
            else shared / "hidden" / folder.name
        )
        attack(MOVES[what] + SWAP, folder, moved, shared / "fake", secret)

    assert secret.read_text() == SECRET
    assert {path.name for path in (shared / "fake").iterdir()} == set(NAMES)
    assert not re.search(r"\b0 lost", ended.stderr)
    reasons = {
        "the folder": "events were lost: its folder in the trace was moved, replaced "
        "or removed\n",
        "the trace": f"the trace is not in '{directory}': another file or "
        "directory has its place\n",
    }
    assert reasons[what] in ended.stderr
    assert "could not be recorded" not in ended.stderr
    # What was recorded before is in the folder of the victim, the loss as well.
    assert moved.stat().st_uid == 0 and moved.stat().st_mode & 0o777 == 0o700
    shown = json.loads(cunei("report", "--json", moved).stdout)
    assert shown["events"] > 60_000 and shown["lost"] > 0


@needs_second_user
def test_the_default_directory_is_never_taken_over(tmp_path, shared):
    program = write_program(tmp_path, "print('done')")
    script = f'{" ".join(SECOND_USER)} mkdir -m 777 cunei-program.py-$$; exec "$@"'

    done = subprocess.run(
        ["sh", "-ec", script, "sh", CUNEI, "record", program],
        cwd=shared,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    taken, made = sorted(shared.iterdir())
    assert made.name == f"{taken.name}-1"
    assert not list(taken.iterdir())
    assert made.stat().st_uid == 0 and only_folder(made)
    assert f"in {made.name}\n" in done.stderr


def test_a_live_file_that_became_a_link_is_not_followed(tmp_path, secret):
    directory = tmp_path / "trace"
    with recording(directory, tmp_path) as ended:
        live = only_folder(directory) / ".live"
        live.unlink()
        live.symlink_to(secret)

    assert secret.read_text() == SECRET
    assert " 0 lost" in ended.stderr  # everything reached the stream files


@needs_second_user
def test_root_reads_the_trace_of_another_user_and_writes_nothing(dead_trace):  # noqa: F811
    directory, _ = dead_trace
    wanted = directory.parent / "wanted"
    shutil.copytree(directory, wanted)
    for path in [directory, *directory.rglob("*")]:
        os.lchown(path, NOBODY, NOBODY)
    before = digest(directory)

    shown = cunei("dump", directory).stdout
    reported = json.loads(cunei("report", "--json", directory).stdout)
    refused = cunei("recover", directory, check=False)

    assert digest(directory) == before
    assert shown == cunei("dump", wanted).stdout
    assert reported["lost"] == 0
    assert refused.returncode == 1
    assert refused.stderr == (
        f"cunei: cannot repair '{only_folder(directory)}': it belongs to another user, "
        "who can repair it; other commands read it as it is\n"
    )


@needs_second_user
@pytest.mark.parametrize("name", ["s0", "s1", "metadata", ".process", ".live"])
def test_root_recovers_nothing_through_links(dead_trace, secret, name):  # noqa: F811
    directory, _ = dead_trace
    path = only_folder(directory) / name
    path.unlink(missing_ok=True)
    path.symlink_to(secret)
    for each in [directory, *directory.rglob("*")]:
        os.lchown(each, NOBODY, NOBODY)

    for command in ("report", "recover", "dump"):
        cunei(command, directory, check=False)

    assert secret.read_text() == SECRET
    assert path.is_symlink()


@needs_second_user
def test_root_recovers_nothing_in_a_folder_behind_a_link(dead_trace, shared):  # noqa: F811
    directory, _ = dead_trace
    before = digest(directory)
    attack('mkdir "$1" && ln -s "$2" "$1"', shared / "trace", only_folder(directory))

    shown = cunei("report", shared / "trace", check=False)

    assert "contains no trace" in shown.stderr
    assert digest(directory) == before


def test_a_folder_that_vanishes_is_named_as_the_reason(tmp_path):
    directory = tmp_path / "trace"
    with recording(directory, tmp_path) as ended:
        shutil.rmtree(only_folder(directory))

    assert ended.stderr == (
        "cunei: nothing was recorded: its folder in the trace was moved, replaced or "
        "removed\n"
    )
    assert not directory.exists()


def test_what_a_replaced_folder_lost_is_known_in_the_trace(tmp_path):
    directory = tmp_path / "trace"
    with recording(directory, tmp_path) as ended:
        folder = only_folder(directory)
        folder.rename(directory / "aside")
        folder.mkdir(mode=0o700)

    lost = json.loads(cunei("report", "--json", directory).stdout)["lost"]
    reason = "its folder in the trace was moved, replaced or removed"
    printed = " ".join(ended.stderr.split())
    shown = " ".join(cunei("report", directory).stdout.split())
    assert lost > 0
    assert f" {lost:,} lost,".replace(",", " ", 1) in printed
    assert printed.endswith(f" cunei: events were lost: {reason}")
    assert f" events not recorded: {reason} " in shown
    assert f" dropped: {reason} " in shown
    assert re.search(r"wall, ≥ \S+ ms CPU", shown)
    described = " ".join(cunei("info", directory).stdout.split())
    assert f" because {reason} " in described


def count_program_events(directory):
    """Without the stack at the start of each packet, which is an event of cunei."""
    lines = cunei("dump", directory).stdout.splitlines()
    return sum(" stack: enter, " not in line for line in lines)


def test_each_event_around_a_replaced_folder_is_recorded_or_lost(tmp_path):
    directory, whole = tmp_path / "trace", tmp_path / "whole"
    with recording(whole, tmp_path):
        pass
    with recording(directory, tmp_path):
        folder = only_folder(directory)
        folder.rename(directory / "aside")
        folder.mkdir(mode=0o700)

    lost = json.loads(cunei("report", "--json", directory).stdout)["lost"]
    assert lost > 0
    assert count_program_events(directory) + lost == count_program_events(whole)


# It starts a Python after the line on its input.
PARENT = """
import subprocess, sys
print("ready", flush=True)
sys.stdin.readline()
subprocess.run([sys.executable, "-c", "def f(): pass\\nf()"])
print("done")
"""


def test_a_child_makes_nothing_in_the_place_of_the_directory(tmp_path):
    directory, place = tmp_path / "trace", tmp_path / "place"
    place.mkdir()
    with recording(directory, tmp_path, PARENT, ["--max-size", "1G"]) as ended:
        directory.rename(tmp_path / "moved")
        directory.symlink_to(place)

    assert not list(place.iterdir())
    assert ended.stderr == (
        f"cunei: the trace is not in '{directory}': another file or directory has its "
        "place\n"
    )


def test_a_child_that_found_another_directory_has_a_reason(tmp_path):
    directory, moved = tmp_path / "trace", tmp_path / "moved"
    restore = f"""
import os
os.rmdir({str(directory)!r})  # it is empty
os.rename({str(moved)!r}, {str(directory)!r})
"""
    with recording(directory, tmp_path, PARENT + restore) as ended:
        directory.rename(moved)
        directory.mkdir()

    assert ended.stderr.splitlines()[1:] == [
        "cunei: one process could not be recorded: another file or directory has the "
        "place of the trace directory"
    ]


def test_an_empty_directory_that_existed_stays(tmp_path):
    directory, made = tmp_path / "trace", tmp_path / "made"
    directory.mkdir()

    cunei("record", "-o", directory, "true")
    cunei("record", "-o", made, "true")

    assert not list(directory.iterdir())
    assert not made.exists()


def test_a_directory_that_was_moved_is_named(tmp_path):
    directory = tmp_path / "trace"
    with recording(directory, tmp_path) as ended:
        directory.rename(tmp_path / "moved")

    assert ended.stderr == (
        f"cunei: the trace is not in '{directory}': "
        "the directory was moved or removed\n"
    )
    reported = json.loads(cunei("report", "--json", tmp_path / "moved").stdout)
    assert reported["lost"] == 0


@pytest.mark.parametrize("what", ["a file", "another trace", "a link to it"])
def test_what_has_the_place_of_the_directory_is_not_read(tmp_path, what):
    directory, other = tmp_path / "trace", tmp_path / "other"
    cunei("record", "-q", "-o", other, write_program(tmp_path, "print()"))
    with recording(directory, tmp_path) as ended:
        directory.rename(tmp_path / "moved")
        if what == "a file":
            directory.write_text("text\n")
        elif what == "another trace":
            other.rename(directory)
        else:
            directory.symlink_to(other)

    assert ended.stderr == (
        f"cunei: the trace is not in '{directory}': another file or directory has its "
        "place\n"
    )


def unix_sockets():
    """Number and name of each; a connection that was not accepted has number 0."""
    rows = Path("/proc/net/unix").read_text().splitlines()[1:]
    return [tuple(row.split()[6:8]) for row in rows if "@" in row]


@contextlib.contextmanager
def silent_connections(launcher):
    """When its program has ended, the launcher accepts them and waits for messages.

    The body of `with` gets a function that returns whether it has done so.
    """
    own = set()
    for path in Path(f"/proc/{launcher.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            own.add(os.readlink(path))
    (name,) = [name for number, name in unix_sockets() if f"socket:[{number}]" in own]

    def are_accepted():
        return sum(each[1] == name and each[0] != "0" for each in unix_sockets()) > 1

    with contextlib.ExitStack() as stack:
        for _ in range(8):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect("\0" + name[1:])
        yield are_accepted


def test_a_trace_in_the_place_of_an_empty_one_is_not_removed(tmp_path):
    directory, precious = tmp_path / "trace", tmp_path / "precious"
    cunei("record", "-q", "-o", precious, write_program(tmp_path, "print()"))
    before = digest(precious)
    launcher = subprocess.Popen(
        [CUNEI, "record", "-o", directory, "sh", "-c", "echo ready; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert launcher.stdout.readline() == "ready\n"
    with silent_connections(launcher) as are_accepted:
        launcher.stdin.write("\n")
        launcher.stdin.flush()
        wait_for(are_accepted, launcher)
        directory.rename(tmp_path / "gone")
        directory.symlink_to(precious)
        printed = launcher.communicate(timeout=DEADLINE_S)[1]

    assert digest(precious) == before
    assert directory.is_symlink()
    assert printed == (
        f"cunei: the trace is not in '{directory}': another file or directory has its "
        "place\n"
    )


@needs_second_user
@pytest.mark.parametrize("place", ["trace", "link"])
def test_force_removes_no_trace_of_another_user(tmp_path, place):
    program = write_program(tmp_path, "print()")
    cunei("record", "-q", "-o", tmp_path / "trace", program)
    (tmp_path / "link").symlink_to("trace")
    folder = only_folder(tmp_path / "trace")
    os.chown(folder, NOBODY, NOBODY)
    before = digest(tmp_path / "trace")

    refused = cunei("record", "--force", "-o", tmp_path / place, program, check=False)

    assert refused.returncode == 1
    assert refused.stderr == (
        f"cunei: cannot remove the old trace in '{tmp_path / place}': a process of "
        "another user recorded it; choose another directory with -o\n"
    )
    assert digest(tmp_path / "trace") == before


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("?\n")])
@pytest.mark.parametrize("calls", ["60_000", "10"])  # in stream files, in the live file
def test_what_was_recorded_stays_when_metadata_vanishes(tmp_path, change, calls):
    directory = tmp_path / "trace"
    with recording(directory, tmp_path, PROGRAM.replace("60_000", calls)) as ended:
        folder = only_folder(directory)
        change(folder / "metadata")

    assert len(ended.stderr.splitlines()) == 1
    assert f"{folder}" in ended.stderr and "metadata" in ended.stderr
    assert (folder / ".live").exists() or (folder / "s0").stat().st_size > 0


@pytest.mark.parametrize("name", ["metadata", "s0"])
def test_a_file_of_a_trace_that_is_a_link_is_named(tmp_path, secret, name):
    directory = tmp_path / "trace"
    cunei("record", "-q", "-o", directory, write_program(tmp_path, "print()"))
    path = only_folder(directory) / name
    path.unlink()
    path.symlink_to(secret)

    for command in ("report", "info", "recover", "dump"):
        shown = cunei(command, directory, check=False)
        assert shown.returncode == 1
        assert (
            f"'{path}' is not a regular file (links are not followed)" in shown.stderr
        )


def test_a_folder_that_is_renamed_is_found_and_reported(tmp_path):
    directory = tmp_path / "trace"
    with recording(directory, tmp_path) as ended:
        folder = only_folder(directory)
        folder.rename(tmp_path / "moved")

    assert "its folder in the trace was moved, replaced or removed" in ended.stderr
    assert json.loads(cunei("report", "--json", tmp_path / "moved").stdout)["lost"] == 0


# Installs a filter that denies fallocate(2), as some sandboxes do, and executes.
DENY = """
import ctypes, os, struct, sys
number = {"x86_64": 285, "aarch64": 47}[os.uname().machine]
def step(code, true, false, value):
    return struct.pack("HBBI", code, true, false, value)
steps = [
    step(0x20, 0, 0, 0),  # load the number of the system call
    step(0x15, 0, 1, number),  # if it is that one,
    step(0x06, 0, 0, 0x00050001),  # return EPERM,
    step(0x06, 0, 0, 0x7FFF0000),  # otherwise allow it
]
text = ctypes.create_string_buffer(b"".join(steps))
class Program(ctypes.Structure):
    _fields_ = [("size", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
program = Program(len(steps), ctypes.addressof(text))
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
if prctl(22, 2, ctypes.byref(program), 0, 0) != 0:  # PR_SET_SECCOMP
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(
    os.uname().machine not in ("x86_64", "aarch64"), reason="another numbering"
)
def test_where_fallocate_is_denied_zeros_are_written(tmp_path):
    directory = tmp_path / "trace"
    program = write_program(
        tmp_path,
        """
        import glob, os, sys
        (live,) = glob.glob(sys.argv[1] + "/*/.live")
        status = os.stat(live)
        assert status.st_blocks * 512 >= status.st_size  # it has no holes
        """,
    )
    words = [CUNEI, "record", "--max-size", "1G", "-o", directory, program, directory]

    done = subprocess.run(
        [sys.executable, "-c", DENY, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )

    if done.returncode == 77:
        pytest.skip("there is no seccomp")
    assert done.returncode == 0, done.stderr
    assert " 0 lost" in done.stderr
