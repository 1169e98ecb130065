# SPDX-License-Identifier: MIT
"""`cunei record --trigger`: a snapshot when something happens, with its cause."""

import json
import os
import re
import signal
import subprocess

import pytest
from proof import CUNEI, Recording, cunei, needs_monitoring, wait_for, write_program

# Calls and an exception, which a snapshot of any trigger has as well.
USUAL = """\
import os, signal, sys, threading, time
import cunei

# Before 3.12 an exception that its own function catches is not recorded.
def refuse(kind):
    raise kind("no")

def fail(kind):
    try:
        refuse(kind)
    except kind:
        pass

def handle(seconds):
    time.sleep(seconds)

def crash(number):
    os.kill(os.getpid(), number)

class Refused(Exception):
    pass

fail(KeyError)
handle(0)
"""

# What happens, the triggers that are set, and what the snapshot says of the one that
# fires: in words, in which function, and in which thread.
CASES = {
    "exception": (
        "fail(Refused)",
        "exception:Refused",
        ("Refused raised", "__main__:refuse", "MainThread"),
    ),
    "exception-glob": (
        "fail(ConnectionResetError)",
        "exception:Connection*Error",
        ("ConnectionResetError raised", "__main__:refuse", "MainThread"),
    ),
    "slow": (
        "handle(0.08)",
        "slow:__main__:handle>50ms",
        (r"call took [\d.]+ ms", "__main__:handle", "MainThread"),
    ),
    "slow-thread": (
        "t = threading.Thread(target=handle, args=(0.08,), name='worker')\n"
        "t.start(); t.join()",
        "slow:__main__:handle>50ms",
        (r"call took [\d.]+ ms", "__main__:handle", "worker"),
    ),
    "slow-region": (
        "with cunei.region('checkout'): handle(0.08)",
        "slow::checkout>50ms",
        (r"call took [\d.]+ ms", "region checkout", "MainThread"),
    ),
    "mark": (
        "cunei.mark('paid', 12)",
        "mark:pa*",
        ("mark 'paid' = 12", "__main__:<module>", "MainThread"),
    ),
    "exit": ("sys.exit(3)", "exit!=0", ("exit status 3", None, None)),
    "exit-exception": ("raise Refused", "exit!=0", ("exit status 1", None, None)),
    "segv": ("crash(signal.SIGSEGV)", "crash", ("killed by SIGSEGV", None, None)),
    "kill": ("crash(signal.SIGKILL)", "crash", ("killed by SIGKILL", None, None)),
    "abort": ("os.abort()", "crash", ("killed by SIGABRT", None, None)),
}


def causes(directory):
    """Those of a snapshot, in the order of their time."""
    found = json.loads(cunei("report", "--json", directory).stdout).get("causes", [])
    return sorted(found, key=lambda each: each["time_ns"])


def calls(directory):
    rows = json.loads(cunei("report", "--json", directory).stdout)
    return {each["qualname"]: each["calls"] for each in rows["functions"]}


def record(tmp_path, program, triggers, *options):
    directory = tmp_path / "trace"
    words = [word for trigger in triggers for word in ("--trigger", trigger)]
    done = cunei(
        *("record", "--keep", "30s,8M", *words, *options, "-o", directory, program),
        check=False,
    )
    return directory, done


def snapshots(tmp_path):
    return sorted(tmp_path.glob("trace-snapshot*"))


@pytest.mark.core
@pytest.mark.parametrize("case", CASES)
def test_a_trigger_makes_a_snapshot_that_has_its_cause(tmp_path, case):
    happens, trigger, (what, function, thread) = CASES[case]
    program = write_program(tmp_path, USUAL + happens + "\n")
    others = ["exception:OSError", "slow:__main__:handle>5s", "mark:x", "lag>5s"]

    _, done = record(tmp_path, program, [trigger, *others])

    [snapshot] = snapshots(tmp_path)
    [cause] = causes(snapshot)
    assert cause["trigger"] == trigger
    assert re.fullmatch(what, cause["what"])
    assert cause["function"] == function
    assert cause["thread"] == thread
    assert cause["count"] == 1
    assert calls(snapshot)["fail"] >= 1
    assert f"snapshot in {snapshot}: {trigger}: " in done.stderr
    assert cause["what"] in cunei("info", snapshot).stdout
    assert cause["what"] in " ".join(cunei("report", snapshot).stdout.split())


@pytest.mark.core
@pytest.mark.parametrize("options", [[], ["--only-project"]], ids=["all", "own"])
def test_an_event_loop_that_is_busy_fires(tmp_path, options):
    program = write_program(
        tmp_path,
        """
        import asyncio, time
        def block():
            time.sleep(0.15)
        async def job():
            await asyncio.sleep(0.05)
            block()
            await asyncio.sleep(0.05)
        async def main():
            await asyncio.gather(job(), asyncio.sleep(0.3))
        asyncio.run(main())
        """,
    )

    record(tmp_path, program, ["lag>100ms"], *options)

    [snapshot] = snapshots(tmp_path)
    [cause] = causes(snapshot)
    assert 150_000_000 <= cause["value"] < 5_000_000_000
    assert cause["function"] == "__main__:job"


@pytest.mark.core
def test_what_fires_together_makes_one_snapshot(tmp_path):
    program = write_program(
        tmp_path,
        USUAL + "for _ in range(5): fail(Refused)\ncunei.mark('paid')\nsys.exit(2)\n",
    )

    record(tmp_path, program, ["exception:Refused", "mark:paid", "exit!=0"])

    [snapshot] = snapshots(tmp_path)
    found = {cause["trigger"]: cause["count"] for cause in causes(snapshot)}
    assert found == {"exception:Refused": 5, "mark:paid": 1, "exit!=0": 1}


def test_several_processes_are_causes_of_one_snapshot(tmp_path):
    program = write_program(
        tmp_path,
        USUAL + "pids = [os.fork(), os.fork()]\nfail(Refused)\n"
        "[os.waitpid(pid, 0) for pid in pids if pid]\n",
    )

    _, done = record(tmp_path, program, ["exception:Refused"])

    [snapshot] = snapshots(tmp_path)
    found = causes(snapshot)
    assert len({cause["pid"] for cause in found}) == 4
    for cause in found:
        assert f"of process {cause['pid']}" in done.stderr


@pytest.mark.core
def test_the_crash_of_a_child_fires(tmp_path):
    program = write_program(
        tmp_path,
        USUAL + "pid = os.fork()\nif not pid: crash(signal.SIGSEGV)\n"
        "os.waitpid(pid, 0)\n",
    )

    _, done = record(tmp_path, program, ["crash"])

    [cause] = causes(*snapshots(tmp_path))
    assert (cause["what"], cause["value"]) == ("killed by SIGSEGV", signal.SIGSEGV)
    assert done.returncode == 0


def test_a_child_that_its_parent_terminates_has_not_crashed(tmp_path):
    program = write_program(
        tmp_path,
        USUAL + "pid = os.fork()\nif not pid: signal.pause()\n"
        "os.kill(pid, signal.SIGTERM)\nos.waitpid(pid, 0)\n",
    )

    record(tmp_path, program, ["crash"])

    assert snapshots(tmp_path) == []


# The marks come in an interval of their own: the test answers when a snapshot is there.
STEPS = """
import sys
import cunei
for number, line in enumerate(sys.stdin):
    cunei.mark(line.strip(), number)
    print(number, flush=True)
"""


def mark(recording, name):
    recording.launcher.stdin.write(f"{name}\n".encode())
    recording.launcher.stdin.flush()
    recording.launcher.stdout.readline()


def start_steps(tmp_path, *options):
    program = write_program(tmp_path, STEPS)
    words = ["--keep", "30s,2M", "--trigger", "mark:go", *options]
    return Recording(tmp_path / "trace", program, options=words, stdin=subprocess.PIPE)


def made(tmp_path):
    """Snapshots that are complete: they hold the process that is the cause."""
    return [path for path in snapshots(tmp_path) if list(path.glob("*/metadata"))]


def finish(recording):
    recording.launcher.stdin.close()
    recording.launcher.stdin = None
    return recording.wait()


def test_there_is_one_snapshot_a_minute(tmp_path):
    recording = start_steps(tmp_path)
    mark(recording, "go")
    wait_for(lambda: len(made(tmp_path)) == 1, recording.launcher)
    mark(recording, "go")
    mark(recording, "go")

    status, _, err = finish(recording)

    assert status == 0
    assert len(made(tmp_path)) == 1
    assert (
        "triggers fired 2 more times, without a snapshot: "
        "2 because of --snapshot-interval" in err
    )


def test_the_number_of_snapshots_is_limited(tmp_path):
    limits = ["--snapshot-interval", "0s", "--snapshot-count", "2"]
    recording = start_steps(tmp_path, *limits)
    for number in (1, 2):
        mark(recording, "go")
        wait_for(lambda n=number: len(made(tmp_path)) == n, recording.launcher)
    mark(recording, "go")

    _, _, err = finish(recording)

    assert len(made(tmp_path)) == 2
    assert "1 more time, without a snapshot: 1 because of --snapshot-count" in err


def test_a_snapshot_that_does_not_fit_is_not_made(tmp_path):
    recording = start_steps(tmp_path, "--snapshot-space", "1K")
    mark(recording, "go")

    _, _, err = finish(recording)

    assert snapshots(tmp_path) == []
    assert "1 more time, without a snapshot: 1 because of --snapshot-space" in err


def test_snapshots_go_where_they_are_wanted(tmp_path):
    program = write_program(tmp_path, USUAL + "fail(Refused)\n")
    place = tmp_path / "place"

    record(tmp_path, program, ["exception:Refused"], "--snapshot-dir", place)

    assert [path.name for path in place.iterdir()] == ["trace-snapshot"]
    assert place.stat().st_mode & 0o777 == 0o700
    files = [path for path in place.rglob("*") if path.is_file()]
    assert files
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_recording_in_the_working_directory_has_its_snapshot_beside_it(tmp_path):
    program = write_program(tmp_path, USUAL + "fail(Refused)\n")
    here = tmp_path / "here"
    here.mkdir()

    cunei(
        *("record", "--keep", "1M", "--trigger", "exception:Refused"),
        *("-o", ".", program),
        cwd=here,
    )

    assert [path.name for path in tmp_path.glob("*-snapshot*")] == ["here-snapshot"]


def test_a_place_that_cannot_be_made_is_refused_before_the_program_runs(tmp_path):
    program = write_program(tmp_path, "print('it ran')\n")
    (tmp_path / "file").write_text("")

    directory, done = record(
        tmp_path, program, ["crash"], "--snapshot-dir", tmp_path / "file"
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        "Not a directory; choose another directory with --snapshot-dir" in done.stderr
    )
    assert done.stderr.count("\n") == 1
    assert not directory.exists()


def test_a_place_that_vanishes_does_not_affect_the_program(tmp_path):
    place = tmp_path / "place"
    recording = start_steps(tmp_path, "--snapshot-dir", place)
    wait_for(place.exists, recording.launcher)
    place.rmdir()
    place.write_text("")
    mark(recording, "go")

    status, _, err = finish(recording)

    assert status == 0
    assert "no snapshot could be made for mark:go" in err
    assert "Not a directory; choose another with --snapshot-dir\n" in err


@pytest.mark.core
@pytest.mark.parametrize("end", ["sys.exit(5)", "crash(signal.SIGTERM)", "pass"])
def test_the_program_is_not_affected(tmp_path, end):
    program = write_program(
        tmp_path,
        USUAL + "print('out', len(threading.enumerate()))\n"
        "print('err', sorted(os.listdir('/proc/self/fd')), file=sys.stderr)\n" + end,
    )
    words = ["--keep", "30s,2M", "-q", "-o", tmp_path / "trace"]
    triggers = ["--trigger", "exception:KeyError", "--trigger", "crash"]

    plain = cunei("record", *words, program, check=False)
    triggered = cunei("record", "--force", *words, *triggers, program, check=False)

    assert triggered.stdout == plain.stdout
    assert triggered.stderr == plain.stderr
    assert triggered.returncode == plain.returncode
    assert snapshots(tmp_path)


def test_the_import_system_does_not_fire_for_its_own_exceptions(tmp_path):
    program = write_program(
        tmp_path,
        """
        import colorsys
        try:
            import missing_module
        except ImportError:
            pass
        """,
    )

    record(tmp_path, program, ["exception:KeyError", "exception:ModuleNotFoundError"])

    [snapshot] = snapshots(tmp_path)
    assert [each["trigger"] for each in causes(snapshot)] == [
        "exception:ModuleNotFoundError"
    ]


@needs_monitoring
def test_a_pattern_that_matches_no_function_is_noted(tmp_path):
    program = write_program(tmp_path, USUAL)

    _, done = record(tmp_path, program, ["slow:__main__:handel>5s"])

    assert "no function called in" in done.stderr
    assert "did you mean 'slow::handle'?" in done.stderr


REFUSED = {
    "no keep": (["--trigger", "crash"], "--trigger needs --keep"),
    "no trigger": (
        ["--keep", "1M", "--snapshot-count", "3"],
        "need --trigger, for example --trigger crash",
    ),
    "unknown": (["--keep", "1M", "--trigger", "crahs"], "there is no trigger 'crahs'"),
    "no time": (["--keep", "1M", "--trigger", "slow:f>x"], "needs a time after"),
    "no pattern": (["--keep", "1M", "--trigger", "mark:"], "not of the form mark:NAME"),
    "no calls": (
        ["--keep", "1M", "--trigger", "slow:f>1s", "--instrumenter", "none"],
        "--trigger slow:f>1s cannot fire with --instrumenter none",
    ),
    "no exceptions": (
        ["--keep", "1M", "--trigger", "exception:X", "--instrumenter", "profile"],
        "which records no exceptions",
    ),
    "no place": (
        ["--keep", "1M", "--trigger", "crash", "--snapshot-dir", ""],
        "--snapshot-dir needs the name of a directory",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_options_are_refused_in_one_sentence(tmp_path, case):
    options, wanted = REFUSED[case]
    marker = tmp_path / "marker"

    done = subprocess.run(
        [CUNEI, "record", *options, "-c", f"open({str(marker)!r}, 'w')"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )

    assert done.returncode == 2
    assert wanted in done.stderr
    assert done.stderr.count("\n") == 1
    assert not marker.exists()
    assert os.listdir(tmp_path) == []
