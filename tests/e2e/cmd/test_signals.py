# SPDX-License-Identifier: MIT
"""Signals reach the program once, from any sender, and cunei ends as it does."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time

import pytest

pytestmark = pytest.mark.core

DEADLINE_S = 30

# Says when it is ready, writes a line for each signal, ends on SIGTERM.
LISTEN = """\
import os, signal

def say(text):
    os.write(1, f"{text}\\n".encode())  # print cannot be interrupted by itself

def received(number, frame):
    say(f"received {signal.Signals(number).name}")
    if number == signal.SIGTERM:
        raise SystemExit(3)

for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGCONT"):
    signal.signal(getattr(signal, name), received)
# Not signal.pause(): it waits for ever if the signal comes right before it.
ours, wakeup = os.pipe()
os.set_blocking(wakeup, False)
signal.set_wakeup_fd(wakeup)
say(f"ready {os.getpid()}")
while True:
    os.read(ours, 1)
"""

# A shell with one job in the foreground: continues it when the terminal stops it.
SHELL = """\
import os, signal, sys

signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    while os.tcgetpgrp(0) != os.getpid():
        pass
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
os.setpgid(job, job)
os.tcsetpgrp(0, job)
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    os.tcsetpgrp(0, os.getpgrp())
    print("stopped", os.WSTOPSIG(status), flush=True)
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
os.tcsetpgrp(0, os.getpgrp())
print("ended", -os.WTERMSIG(status) or os.WEXITSTATUS(status), flush=True)
"""


class Terminal:
    """A shell that runs cunei in the foreground of a terminal of its own."""

    def __init__(self, cunei, *words):
        self.seen = ""
        shell = [cunei.python, "-c", SHELL, cunei.executable, *words]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cunei.folder)
            os.execve(cunei.python, shell, cunei.environment)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, text, count=1):
        """Read until `text` was seen so often."""
        deadline = time.monotonic() + DEADLINE_S
        while self.seen.count(text) < count:
            part = self._read(deadline - time.monotonic())
            if not part:
                break
            self.seen += part
        assert self.seen.count(text) >= count, f"wanted {text!r}, got {self.seen!r}"
        return self.seen

    @property
    def program(self):
        # What is typed may stand right behind it: the terminal writes lines in parts.
        return int(re.search(r"ready (\d+)", self.seen)[1])

    def _read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], max(seconds, 0))
        # Reading from a terminal fails when no process has it open any more.
        with contextlib.suppress(OSError):
            return os.read(self.fd, 4096).decode(errors="replace") if ready else ""
        return ""

    def close(self):
        os.close(self.fd)  # hangs up: the shell and its job end
        os.waitpid(self.pid, 0)


@pytest.fixture
def terminal(cunei):
    terminals = []

    def open_terminal(*words):
        terminals.append(Terminal(cunei, *words))
        return terminals[-1]

    yield open_terminal
    for each in terminals:
        each.close()


@pytest.fixture
def listener(cunei):
    """`cunei record` of a program that prints its signals."""
    cunei.write("listen.py", LISTEN)
    process = cunei.start(
        "record",
        "-o",
        "trace",
        "listen.py",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

    def end():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    # A signal that never comes ends the wait for it.
    watchdog = threading.Timer(DEADLINE_S, end)
    watchdog.start()
    process.program = int(process.stdout.readline().split()[1])
    yield process
    watchdog.cancel()
    end()
    process.communicate(timeout=DEADLINE_S)


def test_typed_input_reaches_the_program_once(cunei, terminal):
    cunei.write("listen.py", LISTEN)
    screen = terminal("record", "-o", "trace", "listen.py")
    screen.read_until("ready")

    screen.type("\x03")
    screen.read_until("received SIGINT")
    screen.type("\x03")
    screen.read_until("received SIGINT", count=2)
    os.kill(screen.program, signal.SIGTERM)
    seen = screen.read_until("ended")

    assert seen.count("received SIGINT") == 2
    assert ", 0 lost, " in seen
    assert "ended 3" in seen


def test_ctrl_c_ends_the_program_and_the_line_still_comes(terminal):
    code = "print('ready', flush=True)\nwhile True: pass"
    screen = terminal("record", "-o", "trace", "-c", code)
    screen.read_until("ready")

    screen.type("\x03")
    seen = screen.read_until("ended")

    assert "KeyboardInterrupt" in seen
    assert ", 0 lost, " in seen
    assert f"ended {-signal.SIGINT}" in seen


def test_ctrl_z_stops_both_and_the_shell_continues_both(cunei, terminal):
    cunei.write("listen.py", LISTEN)
    screen = terminal("record", "-o", "trace", "listen.py")
    screen.read_until("ready")

    screen.type("\x1a")
    screen.read_until(f"stopped {signal.SIGTSTP:d}")
    screen.read_until("received SIGCONT")
    os.kill(screen.program, signal.SIGTERM)
    seen = screen.read_until("ended")

    assert ", 0 lost, " in seen
    assert "ended 3" in seen


def test_a_program_that_does_not_stop_is_not_left_alone(cunei, terminal):
    refuse = "signal.signal(signal.SIGTSTP, lambda *_: say('no'))\n"
    cunei.write("listen.py", LISTEN.replace('say(f"ready', f'{refuse}say(f"ready'))
    screen = terminal("record", "-o", "trace", "listen.py")
    screen.read_until("ready")

    screen.type("\x1a")
    screen.read_until("no")
    screen.type("\x03")
    screen.read_until("received SIGINT")
    os.kill(screen.program, signal.SIGTERM)

    assert "stopped" not in screen.read_until("ended 3")


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", "SIGUSR1"])
def test_a_signal_to_the_launcher_alone_is_passed_on(listener, name):
    listener.send_signal(getattr(signal, name))
    assert listener.stdout.readline() == f"received {name}\n"

    listener.send_signal(signal.SIGTERM)
    rest, errors = listener.communicate(timeout=DEADLINE_S)

    assert rest == "received SIGTERM\n"
    assert listener.returncode == 3
    assert ", 0 lost, " in errors


def test_a_signal_to_the_whole_group_reaches_the_program_once(listener):
    for _ in range(20):
        os.killpg(listener.pid, signal.SIGINT)
        assert listener.stdout.readline() == "received SIGINT\n"
        listener.send_signal(signal.SIGUSR1)
        assert listener.stdout.readline() == "received SIGUSR1\n"

    os.kill(listener.program, signal.SIGTERM)
    rest, _ = listener.communicate(timeout=DEADLINE_S)

    assert rest == "received SIGTERM\n"


def test_output_ends_when_the_program_closes_it(cunei):
    code = (
        "import os, signal\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "os.write(1, b'all')\n"
        "os.close(1)\n"
        "signal.sigwait([signal.SIGTERM])\n"
    )
    process = cunei.start("record", "-q", "-o", "t", "-c", code, stdout=subprocess.PIPE)

    assert process.stdout.read() == b"all"

    process.terminate()
    assert process.wait(timeout=DEADLINE_S) == 0


def test_what_the_program_sends_to_its_group_does_not_come_back(cunei):
    code = (
        "import os, signal\n"
        "count = 0\n"
        "def received(number, frame):\n"
        "    global count\n"
        "    count += 1\n"
        "signal.signal(signal.SIGUSR1, received)\n"
        "os.killpg(0, signal.SIGUSR1)\n"
        "print(count)\n"
    )

    recorded = cunei("record", "-o", "trace", "-c", code, start_new_session=True)

    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == "1\n"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT"])
def test_death_by_a_signal_is_shared(cunei, name):
    code = f"import os, signal; os.kill(os.getpid(), signal.{name})"

    recorded = cunei("record", "-o", "trace", "-c", code)

    assert recorded.returncode == -getattr(signal, name)
    assert ", 0 lost, " in recorded.stderr
    assert not list(cunei.folder.glob("core*"))


def test_the_exit_status_is_the_programs(cunei):
    for status in (0, 1, 2, 77, 255):
        code = f"import os; os._exit({status})"
        assert cunei("record", "-qo", f"t{status}", "-c", code).returncode == status


@pytest.mark.parametrize("ignored", [signal.SIGCHLD, signal.SIGHUP, signal.SIGPIPE])
def test_dispositions_reach_the_program_as_they_were(cunei, ignored):
    code = f"import signal; print(signal.getsignal({int(ignored)}))"

    def set_up():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(ignored, signal.SIG_IGN)

    options = {"preexec_fn": set_up, "restore_signals": False}
    plain = cunei.run(cunei.python, "-c", code, **options)
    recorded = cunei("record", "-q", "-o", "trace", "-c", code, **options)

    assert recorded.stdout == plain.stdout
    assert recorded.returncode == 0, recorded.stderr


def test_the_signal_mask_reaches_the_program_as_it_was(cunei):
    code = "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"

    def set_up():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])

    plain = cunei.run(cunei.python, "-c", code, preexec_fn=set_up)
    recorded = cunei("record", "-q", "-o", "t", "-c", code, preexec_fn=set_up)

    assert "SIGUSR1" in recorded.stdout
    assert recorded.stdout == plain.stdout
