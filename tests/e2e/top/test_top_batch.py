# SPDX-License-Identifier: MIT
"""`cunei top` without a screen, and what it refuses."""

import json
import os
import signal
import subprocess

import pytest
from proof import wait_for
from screen import Terminal

PROGRAM = """
def g(): pass
def f():
    for _ in range(10): g()
for _ in range(100): f()
"""


@pytest.fixture
def trace(cunei):
    cunei.write("app.py", PROGRAM)
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0
    return "trace"


def test_once_prints_a_table(cunei, trace):
    result = cunei("top", "--once", trace, "-n", "3", "--sort", "calls")

    lines = result.stdout.splitlines()
    assert result.returncode == 0 and result.stderr == ""
    assert lines[0].startswith(" cunei top  app.py")
    assert lines[4].split()[-2:] == ["g", "app.py:2"]
    assert len(lines) == 4 + 3


def test_json_has_the_fields_of_the_report_and_rates(cunei, trace):
    line, *rest = cunei("top", "--json", trace).stdout.splitlines()
    ours = json.loads(line)
    theirs = json.loads(cunei("report", "--json", trace).stdout)

    assert rest == []
    assert theirs.keys() <= ours.keys()
    assert ours.keys() - theirs.keys() == {
        *("trace", "time_ns", "running", "missed", "rates")
    }
    for key in ours.keys() & theirs.keys() - {"functions"}:
        assert ours[key] == theirs[key], key
    for one, other in zip(ours["functions"], theirs["functions"], strict=True):
        assert other.items() <= one.items()
        assert {"calls_per_s", "self_share", "total_share"} <= one.keys()
    assert ours["running"] is False
    assert sum(f["self_share"] for f in ours["functions"] if not f["waits"]) < 1.001


def test_a_batch_of_samples(cunei):
    cunei.write(
        "app.py",
        "import time\n"
        "def f(): pass\n"
        "def main():\n"
        "    end = time.monotonic() + 5\n"
        "    while time.monotonic() < end: f()\n"
        "main()\n",
    )
    result = cunei(
        *("top", "--batch", "3", "-d", "300ms", "--json"),
        *("--python", cunei.python, "app.py"),
    )

    samples = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(samples) == 3
    calls = []
    for sample in samples:
        functions = {row["qualname"]: row for row in sample["functions"]}
        calls.append(functions["f"]["calls"] if "f" in functions else 0)
    assert calls == sorted(calls) and calls[2] > calls[0]
    assert samples[2]["rates"]["interval_s"] >= 0.25
    last = {row["qualname"]: row for row in samples[2]["functions"]}
    assert last["f"]["calls_per_s"] > 0
    assert last["main"]["total_share"] > 0.5
    # What is still running when the samples are printed is ended.
    assert result.returncode == -signal.SIGTERM


def test_the_output_of_a_program_is_not_among_the_samples(cunei):
    cunei.write("app.py", "def f(): print('hello')\nf()\nraise SystemExit(3)\n")
    result = cunei("top", "--json", "--python", cunei.python, "app.py")

    assert [json.loads(line) for line in result.stdout.splitlines()]
    assert "hello" in result.stderr
    assert result.returncode == 3


def test_a_program_that_ends_at_once_is_shown_as_a_whole(cunei):
    cunei.write("app.py", PROGRAM)
    words = ["--python", cunei.python, "app.py"]
    sample = json.loads(cunei("top", "--json", *words).stdout)
    table = cunei("top", "--once", "--columns", "calls,calls/s", *words).stdout

    (row,) = (row for row in sample["functions"] if row["qualname"] == "g")
    assert row["calls"] == 1000 and row["calls_per_s"] > 1000
    assert "since the start" in table.splitlines()[0]
    (cells,) = (line.split() for line in table.splitlines() if line.endswith(" g"))
    assert cells[:2] == ["1", "000"] and cells[2] not in ("0", "0.00")


def test_what_is_named_twice_counts_once(cunei, trace):
    (folder,) = (cunei.folder / trace).iterdir()
    once = cunei("top", "--once", trace)

    for words in ([trace, trace], [trace, folder], [folder, trace], [folder, folder]):
        result = cunei("top", "--once", *words)
        assert (result.returncode, result.stdout) == (0, once.stdout), words
        lines = cunei("top", "--json", *words).stdout.splitlines()
        assert len(lines) == 1


def test_groups(cunei, trace):
    result = cunei("top", "--once", "--group", "module", trace)
    rows = [line.split() for line in result.stdout.splitlines()[4:]]

    assert any(row[-1] == "__main__" for row in rows)


def test_a_filter(cunei, trace):
    lines = cunei("top", "--once", "--filter", "app.py:2", trace).stdout.splitlines()

    assert len(lines) == 5 and lines[4].split()[-2] == "g"


def test_a_post_mortem_shows_open_functions_and_the_last_rates(cunei):
    cunei.write(
        "app.py",
        "import os, signal\n"
        "def die(): os.kill(os.getpid(), signal.SIGKILL)\n"
        "def inner(): die()\n"
        "def outer(): inner()\n"
        "for _ in range(1000): (lambda: None)()\n"
        "outer()\n",
    )
    cunei("record", "-q", "-o", "trace", "app.py")
    result = cunei("top", "trace", "--post-mortem")

    assert result.returncode == 0, result.stderr
    assert "SIGKILL" in result.stdout.splitlines()[0]
    names = [
        line.split()[-2]
        for line in result.stdout.partition("open functions")[2].splitlines()[2:]
    ]
    assert names == ["die", "inner", "outer", "<module>"]
    line = cunei("top", "trace", "--post-mortem", "--json").stdout
    (row,) = (
        row
        for row in json.loads(line)["functions"]
        if (row["module"], row["qualname"]) == ("__main__", "<lambda>")
    )
    assert row["calls"] == 1000 and row["calls_per_s"] >= 1000


REFUSED = [
    (["--once", "99999999"], 1, "there is no process 99999999"),
    ([str(os.getpid())], 1, "stdout is not a terminal"),
    (["nosuch"], 1, "'nosuch' is not a pid, a trace, a program"),
    (["--once", "empty-file"], 1, ""),
    (["--once", "--sort", "nonsense", "trace"], 2, "there is no column 'nonsense'"),
    (["--once", "--columns", "self,x", "trace"], 2, "there is no column 'x'"),
    (["--once", "--interval", "1ms", "trace"], 2, "--interval must be at least 20ms"),
    (["--batch", "0", "trace"], 2, "--batch needs a number above 0"),
    (["--speed", "-1", "trace"], 2, "--speed needs a number above 0, not '-1'"),
    (["--once", "--group", "x", "trace"], 2, "--group"),
    (["trace"], 1, "stdout is not a terminal"),
    ([], 1, "stdout is not a terminal"),
]


@pytest.mark.parametrize("words, status, sentence", REFUSED)
def test_what_is_refused_is_one_sentence(cunei, trace, words, status, sentence):
    result = cunei("top", *words)

    assert result.returncode == status
    assert result.stdout == ""
    assert sentence in result.stderr
    assert result.stderr.startswith("cunei: ") and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("nonsense", "the terminal database has no 'nonsense' (TERM)"),
        ("", "TERM is not set"),
        ("dumb", "a terminal 'dumb' (TERM) cannot show a screen"),
    ],
)
def test_an_unknown_terminal_is_refused(cunei, trace, name, sentence):
    environment = {**cunei.environment, "TERM": name}
    command = [cunei.executable, "top", trace]
    with Terminal(command, cwd=cunei.folder, env=environment, columns=200) as terminal:
        assert terminal.end() == 1
    assert sentence in terminal.text
    assert b"\x1b" not in terminal.raw


def recorded(cunei, env):
    rows = json.loads(cunei("list", "--json", env=env).stdout)["recordings"]
    return [row["pid"] for row in rows if row["state"] == "recording"]


def test_without_words_there_must_be_one_recording(cunei):
    runtime = cunei.folder / "runtime"
    runtime.mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(runtime)}
    before, after = None, recorded(cunei, env)
    # Other tests record at the same time, for the same user.
    while before != after:
        before = after
        result = cunei("top", "--once", env=env)
        after = recorded(cunei, env)

    if len(after) == 1:
        assert result.returncode == 0 and f"pid {after[0]}" in result.stdout
    else:
        sentence = "choose one by its pid" if after else "nothing is being recorded"
        assert result.returncode == 1 and sentence in result.stderr


# The main thread's first packet is overwritten, and its second one is never full: the
# other thread fills the ring again and again.
WRAPPING = """
import sys, threading, time

def f(): pass

def work():
    while not stop.is_set():
        for _ in range(10_000): f()

def main():
    sys.stdin.read()
    stop.set()

stop = threading.Event()
for _ in range(20_000): f()
threading.Thread(target=work).start()
main()
"""


def test_the_first_interval_of_a_ring_has_no_time_from_before(cunei):
    program = cunei.write("app.py", WRAPPING)
    words = ["record", "-q", "--keep", "2M", "-o", "trace", program]
    process = cunei.start(*words, stdin=subprocess.PIPE)
    try:
        wait_for(lambda: list(cunei.folder.glob("trace/*/metadata")), process)
        cunei("top", "--batch", "2", "-d", "1s", "--json", "trace")
        for _ in range(3):
            result = cunei("top", "--batch", "1", "-d", "1s", "--json", "trace")
            sample = json.loads(result.stdout)
            shares = {row["qualname"]: row for row in sample["functions"]}
            # Two threads, each of them in one of these all the time.
            assert 0.35 < shares["main"]["total_share"] < 0.65, sample["rates"]
            assert 0.35 < shares["work"]["total_share"] < 0.65, sample["rates"]
            assert sum(f["self_share"] for f in sample["functions"]) < 1.01
    finally:
        process.communicate(b"")
    assert process.returncode == 0
