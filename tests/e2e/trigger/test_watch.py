# SPDX-License-Identifier: MIT
"""`cunei watch` and `cunei try-trigger`: triggers from outside, and afterwards."""

import json
import re
import select
import signal
import subprocess

import pytest
from proof import CUNEI, DEADLINE_S, Recording, cunei, wait_for, write_program

# Does what the lines of its input name.
SERVICE = """
import os, sys, time
import cunei
# Before 3.12 an exception that its own function catches is not recorded.
def refuse():
    raise ValueError("no")
def fail():
    try:
        refuse()
    except ValueError:
        pass
def handle():
    time.sleep(0.08)
fail()
for line in sys.stdin:
    if line == "fail\\n": fail()
    if line == "handle\\n": handle()
    if line == "abort\\n": os.abort()
    if line == "child\\n":
        pid = os.fork()
        if not pid: os.abort()
        os.waitpid(pid, 0)
    print(line, end="", flush=True)
"""


class Service:
    """A recorded program, and `cunei watch` of it."""

    def __init__(self, tmp_path, *options):
        self.folder = tmp_path
        self.recording = Recording(
            tmp_path / "trace",
            write_program(tmp_path, SERVICE),
            options=options,
            stdin=subprocess.PIPE,
        )
        self.pid = self.recording.program_pid()
        self.do("begin")

    def do(self, what):
        self.recording.launcher.stdin.write(f"{what}\n".encode())
        self.recording.launcher.stdin.flush()
        if what != "abort":
            assert self.recording.launcher.stdout.readline() == f"{what}\n".encode()

    def watch(self, target, *words):
        return subprocess.Popen(
            [CUNEI, "watch", str(target), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )

    def end(self):
        if not self.recording.launcher.stdin.closed:
            self.recording.launcher.stdin.close()
        self.recording.launcher.stdin = None
        return self.recording.wait()


@pytest.fixture
def service(tmp_path):
    service = Service(tmp_path, "--keep", "30s,2M")
    try:
        yield service
    finally:
        if service.recording.launcher.poll() is None:
            service.end()


def next_snapshot(watching):
    """The directory and the rest of the next line that `cunei watch` prints."""
    ready, _, _ = select.select([watching.stdout], [], [], DEADLINE_S)
    assert ready, "no snapshot was made"
    line = watching.stdout.readline()
    return re.fullmatch(r"snapshot in (\S+): (.*)\n", line).groups()


def causes(directory):
    return json.loads(cunei("report", "--json", directory).stdout)["causes"]


def wait_until_watching(watching):
    """It blocks the signals that it waits for once it looks."""
    status = f"/proc/{watching.pid}/status"

    def blocks():
        with open(status) as file:
            blocked = int(re.search(r"SigBlk:\s*(\w+)", file.read())[1], 16)
        return blocked & 1 << (signal.SIGTERM - 1)

    wait_for(blocks, watching)


@pytest.mark.core
@pytest.mark.parametrize("by", ["directory", "pid"])
def test_a_recording_in_progress_is_watched(service, by):
    target = service.recording.directory if by == "directory" else service.pid
    words = ["--trigger", "exception:ValueError", "--trigger", "crash"]
    watching = service.watch(target, *words, "--snapshot-interval", "0s")
    wait_until_watching(watching)
    service.do("fail")

    directory, words = next_snapshot(watching)
    service.do("abort")
    service.end()
    last, last_words = next_snapshot(watching)

    # What was before the watch does not count.
    [cause] = causes(directory)
    assert (cause["trigger"], cause["count"]) == ("exception:ValueError", 1)
    assert words.startswith(
        "exception:ValueError: ValueError raised in __main__:refuse"
    )
    assert [each["what"] for each in causes(last)] == ["killed by SIGABRT"]
    assert last_words.startswith("crash: killed by SIGABRT")
    assert watching.wait(60) == 0
    assert watching.stderr.read() == ""


def test_children_that_crash_are_watched(service):
    words = ["--trigger", "crash", "--snapshot-interval", "0s"]
    watching = service.watch(service.recording.directory, *words)
    wait_until_watching(watching)
    for _ in range(2):
        service.do("child")
        directory, _ = next_snapshot(watching)
        [cause] = causes(directory)
        assert cause["what"] == "killed by SIGABRT"
        assert cause["pid"] != service.pid
    service.end()

    assert watching.wait(60) == 0


def test_a_watch_ends_by_a_signal_and_tells_what_it_left_out(service):
    words = ["--trigger", "slow::handle>50ms", "--snapshot-count", "1"]
    watching = service.watch(service.recording.directory, *words)
    wait_until_watching(watching)
    service.do("handle")
    next_snapshot(watching)
    service.do("handle")
    watching.send_signal(signal.SIGINT)
    out, _ = watching.communicate(timeout=60)

    assert watching.returncode == 0
    assert out in (
        "triggers fired 1 more time, without a snapshot: "
        "1 because of --snapshot-count\n",
        "",  # the signal came before the call had been read
    )


def test_a_recording_without_a_ring_is_watched(tmp_path):
    service = Service(tmp_path)
    words = ["--trigger", "exception:ValueError", "--last", "10s"]
    watching = service.watch(service.recording.directory, *words)
    wait_until_watching(watching)
    service.do("fail")

    directory, _ = next_snapshot(watching)
    service.end()

    assert len(causes(directory)) == 1
    assert watching.wait(60) == 0


def test_a_recording_that_has_ended_is_not_watched(service):
    service.end()

    done = cunei(
        *("watch", service.recording.directory, "--trigger", "crash"), check=False
    )

    assert done.returncode == 1
    assert "has ended; 'cunei try-trigger' shows" in done.stderr
    assert done.stderr.count("\n") == 1


WRONG = {
    "no words": (["watch"], 2, "missing pid or directory"),
    "no trigger": (["watch", "1"], 2, "missing trigger"),
    "two": (["watch", "1", "2"], 2, "unexpected argument '2'"),
    "no process": (["watch", "999999999"], 1, "there is no process 999999999"),
    "not recorded": (["watch", "1"], 1, "process 1 is not being recorded"),
    "no directory": (["watch", "nothing"], 1, "nothing"),
    "no trace": (["watch", "."], 1, "no trace"),
    "bad trigger": (["watch", "1"], 2, "there is no trigger 'x'"),
    "try no words": (["try-trigger"], 2, "missing trace directory"),
    "try no trace": (["try-trigger", "."], 1, "no trace"),
    "try no directory": (["try-trigger", "nothing"], 1, "nothing"),
    "try no trigger": (["try-trigger", "."], 2, "missing trigger"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_words_are_refused_in_one_sentence(tmp_path, case):
    words, status, wanted = WRONG[case]
    (tmp_path / "file").write_text("")
    trigger = {"bad trigger": ["--trigger", "x"]}.get(case, ["--trigger", "crash"])
    if "no trigger" in case or case == "no words":
        trigger = []

    done = cunei(*words, *trigger, check=False, cwd=tmp_path)

    assert done.returncode == status
    assert wanted in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.core
def test_what_would_have_fired_is_what_fires(service):
    service.do("fail")
    service.do("handle")
    service.end()
    triggers = ["exception:ValueError", "slow::handle>50ms", "mark:x", "exit!=0"]
    words = [word for trigger in triggers for word in ("--trigger", trigger)]

    found = json.loads(
        cunei("try-trigger", "--json", service.recording.directory, *words).stdout
    )

    fired = {each["trigger"]: each["fired"] for each in found["triggers"]}
    assert fired == dict(zip(triggers, (2, 1, 0, 0)))
    assert found["snapshots"] == 1
    assert [each["function"] for each in found["firings"]] == [
        *("__main__:refuse", "__main__:refuse", "__main__:handle")
    ]
    assert 80_000_000 <= found["firings"][2]["value"] < 10_000_000_000
