# SPDX-License-Identifier: MIT
"""The screen of `cunei top`, in a terminal."""

import os
import re
import signal
import subprocess
import time

import pytest
from proof import wait_for
from screen import Terminal

# f is called 3000 times and g 1500 times; then the program waits for the gate, without
# an event, which ends it.
PROGRAM = """
import os, sys

def g(n):
    return sum(range(n))

def f(n):
    return g(n) if n % 2 else n

def 検索する(n):
    return [n] * n

def work():
    for n in range(3000):
        f(n)
    for n in range(100):
        検索する(n)

def wait(gate):
    os.read(os.open(gate, os.O_RDONLY), 1)

def main():
    work()
    print("printed by the program", flush=True)
    wait(sys.argv[1])

main()
"""


@pytest.fixture
def gate(cunei):
    path = cunei.folder / "gate"
    os.mkfifo(path)
    return path


def open_gate(gate):
    with open(gate, "w") as writer:
        writer.write("x")


def top(cunei, *words, rows=24, columns=100, env=None, **options):
    """`cunei top` in a terminal, with this user's pointers in a folder of the test."""
    environment = {**cunei.environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    environment["PATH"] = (
        os.path.dirname(cunei.executable) + os.pathsep + environment["PATH"]
    )
    return Terminal(
        [cunei.executable, "top", *words],
        rows=rows,
        columns=columns,
        cwd=cunei.folder,
        env={**environment, **(env or {})},
        **options,
    )


def run(cunei, gate, *, options=(), **settings):
    cunei.write("app.py", PROGRAM)
    settings.setdefault("columns", 160)
    return top(cunei, *options, "--python", cunei.python, "app.py", gate, **settings)


def row_of(lines, name):
    """The cells of a function's row, which stand two columns apart."""
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        if name in cells:
            return cells
    return None


def record(cunei, text=PROGRAM, *words):
    """A finished recording."""
    cunei.write("app.py", text)
    gate = cunei.folder / "open"
    gate.write_text("x")
    result = cunei("record", "-q", "-o", "trace", "app.py", gate, *words)
    assert result.returncode == 0, result.stderr
    return cunei.folder / "trace"


def test_the_figures_are_those_of_the_report(cunei):
    trace = record(cunei)
    report = cunei(
        "report", "--no-fold", "--limit", "0", trace, env={"COLUMNS": "240"}
    ).stdout.splitlines()

    with top(cunei, trace, columns=240, rows=60) as terminal:
        terminal.wait("ended after").wait("検索する")
        for name in ("f", "g", "work", "検索する", "main"):
            theirs, ours = row_of(report, name), row_of(terminal.lines, name)
            assert theirs and ours, (name, theirs, ours)
            # self % total %tree calls mean p50 p99 max
            if "–" not in theirs:
                self_ns, share, total, tree, calls, mean, _, p99, longest = theirs[:9]
                for figure in (
                    *(self_ns, share, total, tree, calls),
                    *(mean, p99, longest),
                ):
                    assert figure in ours, (name, figure, ours)
        terminal.type("q")
        assert terminal.end() == 0
        assert terminal.is_restored()


def test_a_running_program_is_counted_exactly(cunei, gate):
    with run(cunei, gate) as terminal:
        terminal.wait(lambda: "3 000" in (row_of(terminal.lines, "f") or ()))
        assert "1 500" in row_of(terminal.lines, "g")
        assert "running" in terminal.lines[0]

        open_gate(gate)
        terminal.wait("ended with status 0")
        assert "3 000" in row_of(terminal.lines, "f")
        terminal.type("q")
        assert terminal.end() == 0
        assert terminal.is_restored()
        assert b"printed by the program" in terminal.raw


def test_the_exit_status_is_the_programs(cunei):
    cunei.write("app.py", "import sys\ndef f(): sys.exit(7)\nf()\n")

    with top(cunei, "--python", cunei.python, "app.py") as terminal:
        terminal.wait("ended with status 7").type("q")
        assert terminal.end() == 7


def test_a_killed_program_is_shown_as_it_was(cunei, gate):
    with run(cunei, gate) as terminal:
        terminal.wait(lambda: "3 000" in (row_of(terminal.lines, "f") or ()))
        pid = int(re.search(r"pid (\d+)", terminal.lines[0])[1])
        os.kill(pid, signal.SIGKILL)

        terminal.wait("ended by signal 9")
        assert "3 000" in row_of(terminal.lines, "f")
        terminal.type("3").wait("wait")
        terminal.type("q")
        assert terminal.end() == -signal.SIGKILL
        assert terminal.is_restored()


@pytest.mark.parametrize("rows, columns", [(24, 80), (43, 132), (100, 300)])
def test_each_size_shows_the_table_and_the_keys(cunei, rows, columns):
    trace = record(cunei)

    with top(cunei, trace, rows=rows, columns=columns) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        assert terminal.lines[0].startswith(" cunei top  app.py")
        assert "Quit" in terminal.lines[rows - 1]
        assert all(len(line) <= columns for line in terminal.lines)
        terminal.type("q").end()


def test_the_window_changes_its_size(cunei, gate):
    with run(cunei, gate, rows=24, columns=80) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        for rows, columns in ((50, 200), (10, 40), (5, 20), (24, 80)):
            terminal.resize(rows, columns)
            if rows > 5:
                terminal.wait(lambda last=rows - 1: "1Hel" in terminal.lines[last])
            else:
                terminal.wait("window too small")
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        terminal.type("q").wait("Quit?").type("y")
        assert terminal.end() == -signal.SIGTERM
        assert terminal.is_restored()


def test_wide_names_keep_the_columns(cunei):
    trace = record(cunei)

    with top(cunei, trace, columns=120) as terminal:
        terminal.wait("検索する")
        wide = next(line for line in terminal.screen.display if "検索する" in line)
        plain = next(line for line in terminal.screen.display if "app.py:13" in line)
        # pyte has an empty cell behind each wide character.
        assert terminal.screen.buffer
        assert "app.py:" in wide and "app.py:" in plain
        y = terminal.screen.display.index(wide)
        x = next(
            i
            for i in range(120)
            if "".join(terminal.screen.buffer[y][j].data for j in range(i, i + 6))
            == "app.py"
        )
        head = terminal.screen.display[4]
        assert head.index("file:line") == x
        terminal.type("q").end()


def test_a_thousand_threads(cunei, gate):
    cunei.write(
        "app.py",
        "import os, sys, threading\n"
        "threading.stack_size(65536)\n"
        "event = threading.Event()\n"
        "def sleeper(): event.wait()\n"
        "threads = [threading.Thread(target=sleeper) for _ in range(1000)]\n"
        "for thread in threads: thread.start()\n"
        "def wait(): os.read(os.open(sys.argv[1], os.O_RDONLY), 1)\n"
        "wait()\n"
        "event.set()\n",
    )

    with top(
        cunei, "--python", cunei.python, "app.py", gate, rows=60, columns=120
    ) as terminal:
        terminal.wait("threads 1 001")
        terminal.type("4").wait("sleeper")
        terminal.type("3").wait("open functions")
        terminal.type("G").wait("Thread._bootstrap")
        open_gate(gate)
        terminal.wait("ended with status 0").type("q")
        assert terminal.end() == 0


SIGNALS = [
    *(signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS),
]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_terminal_is_restored_after_a_signal(cunei, number):
    trace = record(cunei)

    with top(cunei, trace) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        assert not terminal.is_restored()
        os.kill(terminal.process.pid, number)

        assert terminal.end() == -number
        assert terminal.is_restored()


def test_ctrl_c_ends_top(cunei):
    trace = record(cunei)

    with top(cunei, trace) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f")).type("\x03")

        assert terminal.end() == -signal.SIGINT
        assert terminal.is_restored()


def test_ctrl_c_interrupts_the_program(cunei, gate):
    with run(cunei, gate) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f")).type("\x03")

        # Python ends by SIGINT after it has printed the traceback.
        assert terminal.end() == -signal.SIGINT
        assert terminal.is_restored()
        assert b"KeyboardInterrupt" in terminal.raw


def state_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def test_ctrl_z_gives_the_terminal_to_the_shell(cunei):
    trace = record(cunei)

    # The group of a session's leader is orphaned: the system would not stop it.
    command = ["sh", "-c", 'set -m; "$0" top "$1"; fg', cunei.executable, str(trace)]
    environment = {**cunei.environment, "TERM": "xterm-256color"}
    with Terminal(command, cwd=cunei.folder, env=environment) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        shell = terminal.process.pid
        children = f"/proc/{shell}/task/{shell}/children"
        with open(children) as file:
            pid = int(file.read().split()[0])
        before = terminal.raw.count(b"\x1b[?1049h")
        terminal.type("\x1a")
        # fg continues it at once.
        terminal.wait(lambda: terminal.raw.count(b"\x1b[?1049h") > before)
        assert b"\x1b[?1049l" in terminal.raw
        assert state_of(pid) != "T"
        terminal.wait(lambda: row_of(terminal.lines, "f")).type("q")
        terminal.end()
        assert terminal.is_restored()


def test_the_filter_is_applied_as_it_is_typed(cunei):
    trace = record(cunei)

    with top(cunei, trace, columns=120) as terminal:
        terminal.wait("検索する").type("\\wor")
        terminal.wait(
            lambda: row_of(terminal.lines, "work") and not row_of(terminal.lines, "f")
        )
        terminal.type("\x1b").wait(lambda: row_of(terminal.lines, "f"))
        terminal.type("q")
        assert terminal.end() == 0


def test_a_search_in_vain_says_so_while_it_is_typed(cunei):
    trace = record(cunei)

    with top(cunei, trace, columns=120) as terminal:
        terminal.wait("検索する").type("/zz")
        terminal.wait(lambda: terminal.lines[-1].startswith(" Search: zz"))
        assert "no function has that text" in terminal.lines[-1]
        terminal.type("\x1b").wait("Quit").type("q")
        assert terminal.end() == 0


def test_a_function_has_callers_callees_durations_and_history(cunei):
    trace = record(cunei)

    with top(cunei, trace, columns=120, rows=40) as terminal:
        terminal.wait("検索する").type("/")
        terminal.type("app.py:7\n").type("\n")
        terminal.wait("callers and callees")
        assert "called by" in terminal.text and "work" in terminal.text
        assert "calls" in terminal.text and row_of(terminal.lines, "g")
        assert "durations of single calls" in terminal.text
        terminal.type("\x1b").wait("検索する").type("q").end()


def test_the_order_of_the_command_line(cunei):
    trace = record(cunei)

    with top(cunei, "--sort", "calls", "--columns", "calls,self", trace) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        counts = [
            int(match[1].replace(" ", ""))
            for match in (
                re.match(r"\s*([\d ]+?)\s{2,}", line) for line in terminal.lines[5:-1]
            )
            if match
        ]
        assert counts == sorted(counts, reverse=True) and counts[0] == 3000
        head = terminal.lines[4].split()
        assert head == ["calls", "self", "function"]
        terminal.type("q").end()


def test_names_do_not_reach_the_terminal_unescaped(cunei):
    trace = record(
        cunei,
        "def f(): pass\n"
        "name = '\\x1b[31mEVIL\\x07\\u202e'\n"
        "code = compile('def f(): pass', name, 'exec').co_consts[0]\n"
        "exec(code)\n",
    )

    with top(cunei, trace, columns=240) as terminal:
        terminal.wait("EVIL")
        assert b"\x1b[31mEVIL" not in terminal.raw
        assert "\u202e".encode() not in terminal.raw
        for key in "234567":
            terminal.type(key).wait("Quit")
        terminal.type("q").end()
        assert b"\x1b[31mEVIL" not in terminal.raw


COLORS = re.compile(rb"\x1b\[([0-9;:]*;)?(3[0-8]|4[0-8])([;:][0-9;:]*)?m")


@pytest.mark.parametrize("name", ["xterm", "xterm-256color", "xterm-direct", "vt100"])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_colours(cunei, name, no_color):
    known = subprocess.run(["infocmp", name], capture_output=True, check=False)
    if known.returncode:
        pytest.skip(f"the terminal database has no {name} (package ncurses-term)")
    trace = record(cunei)

    with top(cunei, trace, env={"TERM": name, "NO_COLOR": no_color}) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f")).type("q")
        assert terminal.end() == 0
    assert bool(COLORS.search(terminal.raw)) == (not no_color and name != "vt100")


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_without_utf8_the_screen_is_ascii(cunei, locale):
    trace = record(cunei)

    with top(cunei, trace, env={"LC_ALL": locale}) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        for key in "234567?xi\n":
            terminal.type(key)
        terminal.wait("Quit").type("\x1b").type("q").end()
    assert max(terminal.raw) < 0x80


def test_the_output_of_the_program_has_a_pane(cunei, gate):
    with run(cunei, gate) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        assert "printed by the program" not in terminal.text
        terminal.type("o").wait("printed by the program")
        open_gate(gate)
        terminal.wait("ended with status 0").type("q")
        assert terminal.end() == 0


def test_a_program_that_reads_from_the_terminal(cunei):
    cunei.write("app.py", "def ask(): return input('name? ')\nask()\n")

    with top(cunei, "--python", cunei.python, "app.py", columns=80) as terminal:
        # The sentence is longer than the screen is wide.
        terminal.wait("The program reads from the terminal").wait("'cunei top PID'")
        terminal.type("q").wait("Quit?").type("y")
        terminal.end()
        assert terminal.is_restored()


def test_a_program_that_reads_from_a_pipe_gets_it(cunei):
    cunei.write("app.py", "import sys\ndef f(): sys.exit(len(input()))\nf()\n")
    (cunei.folder / "input").write_text("12345\n")

    with open(cunei.folder / "input") as file:
        words = ["--python", cunei.python, "app.py"]
        with top(cunei, *words, stdin=file) as terminal:
            terminal.wait("ended with status 5").type("q")
            assert terminal.end() == 5


def test_the_temporary_trace_is_removed(cunei, gate):
    with run(cunei, gate) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        folder = cunei.folder.parent
        open_gate(gate)
        terminal.wait("ended with status 0").type("q").end()
    assert not [path for path in folder.iterdir() if path.name.startswith("cunei-")]


def test_a_snapshot_and_an_export_are_made(cunei, gate):
    with run(cunei, gate) as terminal:
        terminal.wait(lambda: "3 000" in (row_of(terminal.lines, "f") or ()))
        terminal.type("s")
        wait_for(lambda: list(cunei.folder.glob("snapshot-*/*/metadata")))
        # The last row shows its summary when it has ended.
        terminal.wait(lambda: "snapshot-" in terminal.lines[-1]).type("e")
        terminal.wait(lambda: list(cunei.folder.glob("top-*.html")))
        open_gate(gate)
        terminal.wait(lambda: "ended with status" in terminal.lines[0]).type("q").end()
    snapshot = next(cunei.folder.glob("snapshot-*"))
    assert "3 000" in row_of(cunei("report", snapshot).stdout.splitlines(), "f")


FORKING = """
import os, sys
def wait(): os.read(os.open(sys.argv[1], os.O_RDONLY), 1)
def f(): return os.fork()
pid = f()
wait()
if pid:
    os.waitpid(pid, 0)
"""


def test_a_snapshot_has_all_processes_of_each_recording(cunei, gate):
    cunei.write("fork.py", FORKING)
    words = ["record", "-q", "-o"]
    recordings = [cunei.start(*words, name, "fork.py", gate) for name in ("one", "two")]
    try:
        wait_for(lambda: len(list(cunei.folder.glob("*/*/metadata"))) == 4)
        # The folder of one process, and all of another recording.
        folder = next((cunei.folder / "one").iterdir())
        with top(cunei, folder, "two", columns=160) as terminal:
            terminal.wait("and 2 more").type("s")
            terminal.wait(lambda: "2 snapshots" in terminal.lines[-1])
            assert len(list(cunei.folder.glob("snapshot-*/*/metadata"))) == 4
            terminal.type("e").wait(lambda: "2 pages" in terminal.lines[-1])
            assert len(list(cunei.folder.glob("top-*.html"))) == 2
            terminal.type("q")
            assert terminal.end() == 0
    finally:
        for _ in range(4):
            open_gate(gate)
    assert [recording.wait(30) for recording in recordings] == [0, 0]


def start_recorded(cunei, gate):
    """A program that is being recorded by another command."""
    cunei.write("server.py", PROGRAM)
    runtime = cunei.folder / "runtime"
    runtime.mkdir(mode=0o700)
    env = {**cunei.environment, "XDG_RUNTIME_DIR": str(runtime)}
    words = ["record", "-q", "-o", "live", "server.py", gate]
    process = cunei.start(*words, env=env, stdout=subprocess.DEVNULL)
    wait_for(lambda: list((runtime / "cunei").glob("[0-9]*")), process)
    (link,) = (runtime / "cunei").glob("[0-9]*")
    return process, link.name, {"XDG_RUNTIME_DIR": str(runtime)}


@pytest.mark.parametrize("by", ["pid", "name", "directory"])
def test_a_recorded_process_is_watched(cunei, gate, by):
    process, pid, env = start_recorded(cunei, gate)
    word = {"pid": pid, "name": "server", "directory": "live"}[by]
    if by == "name":
        word = "server.py"
    (cunei.folder / "elsewhere").mkdir()

    # The file server.py is not in that folder: it is the name of a recorded program.
    command = [cunei.executable, "top", word if by != "directory" else "../live"]
    environment = {**cunei.environment, **env, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    with Terminal(
        command, columns=160, cwd=cunei.folder / "elsewhere", env=environment
    ) as terminal:
        terminal.wait(lambda: "3 000" in (row_of(terminal.lines, "f") or ()))
        assert f"pid {pid}" in terminal.lines[0]
        open_gate(gate)
        terminal.wait("ended after").type("q")
        assert terminal.end() == 0
    assert process.wait(timeout=30) == 0


def is_asleep(process):
    """Or over."""
    if process.poll() is not None:
        return True
    with open(f"/proc/{process.pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] == "S"


def test_a_program_whose_recording_has_just_begun_is_found_by_name(cunei, gate):
    process, pid, env = start_recorded(cunei, gate)
    wait_for(lambda: list(cunei.folder.glob("live/*/metadata")), process)
    (metadata,) = cunei.folder.glob("live/*/metadata")
    (cunei.folder / "elsewhere").mkdir()
    late = metadata.rename(metadata.with_name("late"))

    command = [cunei.executable, "top", "--once", "server.py"]
    viewer = subprocess.Popen(
        command,
        cwd=cunei.folder / "elsewhere",
        env={**cunei.environment, **env},
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: is_asleep(viewer))
    late.rename(metadata)

    shown, _ = viewer.communicate(timeout=30)
    open_gate(gate)
    assert process.wait(timeout=30) == 0
    assert viewer.returncode == 0
    assert f"pid {pid}" in shown


def selected_line(terminal):
    for y, line in enumerate(terminal.screen.display[3:], 3):
        if terminal.screen.buffer[y][0].bg != "default":
            return line
    return ""


def test_without_words_there_is_a_list_to_choose_from(cunei, gate):
    process, pid, env = start_recorded(cunei, gate)

    with top(cunei, columns=160, env=env) as terminal:
        terminal.wait("server.py").wait(pid)
        # Recordings come first, and above the first row there is none to go on to.
        while pid not in selected_line(terminal).split():
            terminal.type("k").read(0.2)
        terminal.type("\n")
        terminal.wait(lambda: "3 000" in (row_of(terminal.lines, "f") or ()))
        open_gate(gate)
        terminal.wait("ended after").type("q")
        assert terminal.end() == 0
        assert terminal.is_restored()
    assert process.wait(timeout=30) == 0


def test_several_recordings_are_shown_together(cunei):
    record(cunei)
    gate = cunei.folder / "open"
    assert cunei("record", "-q", "-o", "two", "app.py", gate).returncode == 0

    with top(cunei, "trace", "two", columns=160) as terminal:
        terminal.wait(lambda: "6 000" in (row_of(terminal.lines, "f") or ()))
        terminal.type("7").wait(lambda: terminal.text.count("app.py") >= 2)
        terminal.type("q").end()


def test_a_replay_shows_the_recording_as_it_grew(cunei):
    cunei.write(
        "app.py",
        "import time\n"
        "def f(): pass\n"
        "def g():\n"
        "    end = time.monotonic() + 2\n"
        "    while time.monotonic() < end: f()\n"
        "g()\n",
    )
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0
    whole = cunei("report", "--limit", "0", "trace").stdout.splitlines()

    begin = time.monotonic()
    with top(cunei, "trace", "--speed", "2", "-d", "200ms", columns=160) as terminal:
        terminal.wait(lambda: row_of(terminal.lines, "f"))
        early = row_of(terminal.lines, "f")
        terminal.wait("ended after")
        assert time.monotonic() - begin > 0.9
        terminal.wait(lambda: row_of(whole, "f")[4] in row_of(terminal.lines, "f"))
        assert row_of(terminal.lines, "f") != early
        terminal.type("q").end()


def test_a_pause_stops_a_replay(cunei):
    cunei.write("app.py", "import time\ndef f(): time.sleep(3)\nf()\n")
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0

    with top(cunei, "trace", "--replay", "-d", "100ms", columns=160) as terminal:
        terminal.wait("running").type("p").wait("PAUSED")
        paused = time.monotonic()
        while time.monotonic() - paused < 4:
            terminal.read()
        shown = terminal.lines[0].split()[-2:]
        terminal.type("p").wait(lambda: terminal.lines[0].split()[-2:] != shown)
        # It is not at its end, where the clock would have it.
        assert "running" in terminal.lines[0], terminal.lines[0]
        terminal.wait("ended after").type("q").end()
