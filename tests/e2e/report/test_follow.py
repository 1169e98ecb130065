# SPDX-License-Identifier: MIT
"""Reports and calls of a recording that grows."""

import array
import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import termios
import threading
import time

import pytest

DEADLINE_S = 60

# Goes on with each line that it reads.
STEPS = """
import asyncio, multiprocessing, sys, threading

def leaf(n):
    return n + 1

def numbers(n):
    yield from range(n)

def work(n):
    for i in numbers(n):
        leaf(i)
        try:
            raise ValueError
        except ValueError:
            pass

async def step(n):
    await asyncio.sleep(0)
    leaf(n)

async def tasks(n):
    await asyncio.gather(*(step(i) for i in range(n)))

def child(n):
    work(n)

for line in sys.stdin:
    threads = [threading.Thread(target=work, args=(2000,)) for i in range(2)]
    for thread in threads:
        thread.start()
    asyncio.run(tasks(50))
    process = multiprocessing.get_context("fork").Process(target=child, args=(500,))
    process.start()
    process.join()
    for thread in threads:
        thread.join()
    print("done", flush=True)
"""


@contextlib.contextmanager
def started(cunei, *words, **options):
    """A process that is killed if the test takes too long."""
    options.setdefault("stdout", subprocess.PIPE)
    process = cunei.start(*words, text=True, **options)
    timer = threading.Timer(DEADLINE_S, process.kill)
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for file in (process.stdin, process.stdout, process.stderr):
            if file and not file.closed:
                file.close()


@contextlib.contextmanager
def recorded(cunei, source, *options, directory="trace"):
    cunei.write("app.py", source)
    words = ["record", "-q", "-o", directory, *options, "app.py"]
    with started(cunei, *words, stdin=subprocess.PIPE) as program:
        yield program


def advance(program):
    program.stdin.write("\n")
    program.stdin.flush()
    assert program.stdout.readline() == "done\n"


def plain(value):
    """What a report says, in one order, without what the launcher adds at the end."""
    if isinstance(value, dict):
        left_out = ("id", "parent", "exit", "exit_status")
        return {key: plain(item) for key, item in value.items() if key not in left_out}
    if isinstance(value, list):
        return sorted(map(plain, value), key=lambda item: json.dumps(item))
    return value


def calls_of(report, name):
    return sum(f["calls"] for f in report["functions"] if f["qualname"] == name)


def next_report(follower, condition):
    """The first report from now on that fulfils the condition."""
    for line in follower.stdout:
        report = json.loads(line)
        if condition(report):
            return report
    pytest.fail("the follower ended")


@pytest.mark.parametrize("keep", [(), ("--keep", "64M")])
def test_a_report_grows_with_the_recording(cunei, keep):
    words = ["report", "trace", "--follow", "--json", "--interval", "20ms"]
    with recorded(cunei, STEPS, *keep) as program:
        advance(program)
        with started(cunei, *words) as follower:
            # Two threads with 2000 calls, 50 tasks, and 500 in a child process.
            next_report(follower, lambda r: calls_of(r, "leaf") == 4550)
            advance(program)
            next_report(follower, lambda r: calls_of(r, "leaf") == 9100)
            program.stdin.close()
            *_, last = follower.stdout
            assert follower.wait(DEADLINE_S) == 0
        assert program.wait(DEADLINE_S) == 0

    wanted = json.loads(cunei("report", "trace", "--json", "--limit", "0").stdout)
    assert calls_of(json.loads(last), "leaf") == calls_of(wanted, "leaf") == 9100
    assert json.loads(last)["missing_packets"] == 0


def test_the_last_report_is_that_of_the_finished_trace(cunei):
    options = ["--json", "--limit", "0", "--tree", "--callers", "leaf"]
    with recorded(cunei, STEPS) as program:
        advance(program)
        with started(cunei, "report", "trace", "--follow", *options) as follower:
            next_report(follower, lambda r: calls_of(r, "leaf") == 4550)
            program.stdin.close()
            *_, last = follower.stdout
        assert program.wait(DEADLINE_S) == 0

    wanted = json.loads(cunei("report", "trace", *options).stdout)
    assert plain(json.loads(last)) == plain(wanted)


REGIONS = """
import cunei, sys
def work():
    for i in range(100):
        with cunei.region("step"):
            pass
for line in sys.stdin:
    work()
    print("done", flush=True)
"""


def test_regions_and_lines_are_followed(cunei):
    words = ["report", "trace", "--follow", "--json", "--interval", "20ms"]

    def counts(report):
        hits = sum(line["hits"] for line in report.get("lines", []))
        return [(r["name"], r["count"]) for r in report["regions"]], hits > 0

    with recorded(cunei, REGIONS, "--lines", ":work") as program:
        advance(program)
        with started(cunei, *words) as follower:
            next_report(follower, lambda r: counts(r)[0] == [("step", 100)])
            advance(program)
            next_report(follower, lambda r: counts(r)[0] == [("step", 200)])
            program.stdin.close()
            *_, last = follower.stdout

    wanted = json.loads(cunei("report", "trace", "--json").stdout)
    assert plain(json.loads(last)) == plain(wanted)


def test_a_program_that_is_killed_is_reported_to_its_last_call(cunei):
    with recorded(cunei, STEPS) as program:
        advance(program)
        [metadata] = [path for path in (cunei.folder / "trace").glob("*/.live")]
        pid = int(metadata.parent.name.rsplit("-", 2)[1])
        words = ["report", "trace", "--follow", "--json"]
        with started(cunei, *words) as follower:
            next_report(follower, lambda r: calls_of(r, "leaf") == 4550)
            os.kill(pid, signal.SIGKILL)
            *_, last = follower.stdout
            assert follower.wait(DEADLINE_S) == 0

    assert calls_of(json.loads(last), "leaf") == 4550


def test_an_empty_directory_is_waited_for(cunei):
    (cunei.folder / "trace").mkdir()
    words = ["report", "trace", "--follow", "--json", "--interval", "20ms"]
    with started(cunei, *words, stderr=subprocess.PIPE) as follower:
        assert (
            follower.stderr.readline() == "cunei: waiting for a recording in 'trace'\n"
        )
        with recorded(cunei, STEPS) as program:
            advance(program)
            next_report(follower, lambda r: calls_of(r, "leaf") == 4550)


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_the_last_report(cunei, signal_number):
    words = ["report", "trace", "-f", "--interval", "1h", "--sort", "calls"]
    with recorded(cunei, STEPS) as program:
        advance(program)
        with started(cunei, *words) as follower:
            for line in follower.stdout:
                if line.startswith("next "):
                    break
            advance(program)
            follower.send_signal(signal_number)
            rest = follower.stdout.read()
            assert follower.wait(DEADLINE_S) == 0

    assert "\n----" in rest
    [row] = [line for line in rest.splitlines() if " leaf " in line]
    assert "9 100" in row


# Whatever more is written to a pipe does not fit.
FULL_PIPE = 60_000


def count_unread(pipe):
    size = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once(cunei, signal_number):
    """The first one waits for what is being printed, which nobody reads here."""
    program = "def f(): pass\nfor _ in range(20_000): f()\n"
    cunei("record", "-q", "-o", "trace", cunei.write("app.py", program))

    with started(cunei, "replay", "--follow", "trace") as follower:
        end = time.monotonic() + DEADLINE_S
        while count_unread(follower.stdout) < FULL_PIPE and time.monotonic() < end:
            os.sched_yield()
        while follower.poll() is None and time.monotonic() < end:
            follower.send_signal(signal_number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                follower.wait(0.05)

    assert follower.returncode == -signal_number


@pytest.mark.parametrize("command", ["report", "replay"])
def test_a_reader_that_leaves_ends_it_quietly(cunei, command):
    with recorded(cunei, STEPS) as program:
        advance(program)
        words = [command, "trace", "--follow"]
        with started(cunei, *words, stderr=subprocess.PIPE) as follower:
            assert follower.stdout.readline()
            follower.stdout.close()
            assert follower.stderr.read() == ""
            assert follower.wait(DEADLINE_S) in (0, 1)


def test_on_a_terminal_the_report_is_redrawn_in_place_and_the_screen_restored(cunei):
    parent, child = pty.openpty()
    with recorded(cunei, STEPS) as program:
        advance(program)
        words = ["report", "trace", "-f", "--interval", "20ms", "--sort", "calls"]
        with started(cunei, *words, stdout=child) as follower:
            os.close(child)
            output = read_until(parent, b"", b"leaf", b"\x1b[H", b"\x1b[H")
            follower.send_signal(signal.SIGINT)
            output = read_until(parent, output, b"\x1b[?1049l", b"leaf", b"next ")
            assert follower.wait(DEADLINE_S) == 0
    os.close(parent)

    assert output.startswith(b"\x1b[?1049h\x1b[?25l")
    assert output.count(b"\x1b[?1049l") == output.count(b"\x1b[?1049h") == 1


def read_until(file, output, *marks):
    """Read until the marks have come, one after the other, behind the output."""
    deadline = time.monotonic() + DEADLINE_S
    at = len(output)
    for mark in marks:
        while output.find(mark, at) < 0:
            left = max(0, deadline - time.monotonic())
            assert select.select([file], [], [], left)[0], output[at:]
            output += os.read(file, 65536)
        at = output.find(mark, at) + len(mark)
    return output


CALLS = """
import sys, threading
def inner(n):
    return n
def outer(n):
    return inner(n)
def work():
    for i in range(20):
        outer(i)
for line in sys.stdin:
    thread = threading.Thread(target=work, name="worker")
    thread.start()
    work()
    thread.join()
    print("done", flush=True)
"""


def test_calls_are_printed_as_they_happen_in_the_order_of_time(cunei):
    with recorded(cunei, CALLS) as program:
        advance(program)
        with started(cunei, "replay", "trace", "--follow") as follower:
            seen = 0
            for line in follower.stdout:
                seen += " inner  " in line
                if seen == 40:
                    break
            advance(program)
            program.stdin.close()
            rest = follower.stdout.readlines()
            assert follower.wait(DEADLINE_S) == 0

    assert sum(" inner  " in line for line in rest) == 40
    assert any(" worker " in line for line in rest)
    assert any(" MainThread " in line for line in rest)


def test_what_was_followed_is_what_replay_prints(cunei):
    with recorded(cunei, CALLS) as program:
        advance(program)
        with started(cunei, "replay", "trace", "--follow", "--json") as follower:
            advance(program)
            program.stdin.close()
            followed = follower.stdout.readlines()
        assert program.wait(DEADLINE_S) == 0
    calls = [json.loads(line) for line in followed]
    replayed = cunei("replay", "trace", "--json").stdout.splitlines()
    ends = [call["begin_ns"] + call["duration_ns"] for call in calls]

    def kinds(calls):
        return sorted((c["thread"], c["depth"], c["qualname"], c["end"]) for c in calls)

    assert kinds(calls) == kinds(map(json.loads, replayed))
    assert ends == sorted(ends)


def test_only_chosen_functions_are_printed(cunei):
    words = ["replay", "trace", "--follow", "--json", "--include", "__main__:inner"]
    with recorded(cunei, CALLS) as program:
        advance(program)
        with started(cunei, *words) as follower:
            advance(program)
            program.stdin.close()
            calls = [json.loads(line) for line in follower.stdout]

    assert {(call["qualname"], call["depth"]) for call in calls} == {("inner", 0)}
    assert len(calls) == 80


def test_run_trace_prints_calls_and_leaves_the_program_alone(cunei):
    program = CALLS + "\nprint('out'); print('err', file=sys.stderr); sys.exit(7)\n"
    cunei.write("app.py", program)

    result = cunei(
        "run", "--trace", "--thread", "MainThread", "app.py", input="\n", stdin=None
    )

    assert result.stdout == "done\nout\n"
    assert result.returncode == 7
    assert result.stderr.count(" inner  ") == 20
    assert "err\n" in result.stderr
    assert "worker" not in result.stderr


def test_run_trace_writes_to_a_file(cunei):
    cunei.write("app.py", CALLS)

    result = cunei(
        "run", "--trace", "--json", "-o", "calls", "app.py", input="\n", stdin=None
    )

    assert (result.stderr, result.returncode) == ("", 0)
    calls = map(json.loads, (cunei.folder / "calls").read_text().splitlines())
    assert sum(call["qualname"] == "inner" for call in calls) == 40


@pytest.mark.parametrize(
    ("words", "status", "parts"),
    [
        (["report", "nowhere", "--follow"], 1, ["'nowhere'"]),
        (["replay", "nowhere", "--follow"], 1, ["'nowhere'"]),
        (["report", "notes.txt", "--follow"], 1, ["notes.txt"]),
        (["report", "things", "--follow"], 1, ["things"]),
        (["replay", "things", "--follow"], 1, ["things"]),
        (["report", "things", "--interval", "1s"], 2, ["--interval", "--follow"]),
        (["report", "things", "--follow", "--interval", "x"], 2, ["--interval"]),
        (["run", "--trace", "--tree", "notes.txt"], 2, ["--trace", "--tree"]),
        (["run", "--min-time", "1ms", "notes.txt"], 2, ["--min-time", "--trace"]),
        (["run", "--thread", "x", "notes.txt"], 2, ["--thread", "--trace"]),
    ],
)
def test_a_wrong_word_is_answered_by_one_sentence(cunei, words, status, parts):
    cunei.write("notes.txt", "hello")
    cunei.write("things/a.txt", "hello")

    result = cunei(*words)

    assert result.stdout == ""
    assert result.stderr.startswith("cunei: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    assert result.returncode == status
