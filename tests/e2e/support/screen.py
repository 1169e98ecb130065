# SPDX-License-Identifier: MIT
"""A command in a terminal of its own, whose screen pyte keeps."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

DEADLINE_S = 30


class Stream(pyte.ByteStream):
    """With what xterm has and pyte does not: scrolling, and repeating a character."""

    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down", "b": "repeat"}
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down", "repeat"}


class Screen(pyte.Screen):
    last = " "

    def draw(self, data):
        super().draw(data)
        self.last = data[-1:]

    def repeat(self, count=1):
        super().draw(self.last * (count or 1))

    def _scroll(self, change):
        before = self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        change()
        self.cursor.y = before

    def scroll_up(self, count=1):
        self._scroll(lambda: self.delete_lines(count or 1))

    def scroll_down(self, count=1):
        self._scroll(lambda: self.insert_lines(count or 1))


class Terminal:
    """Runs a command on a new terminal; use as a context manager."""

    def __init__(self, command, *, rows=24, columns=80, cwd=None, env=None, **options):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.ours, its = pty.openpty()
        self._set_size(rows, columns)
        self.before = termios.tcgetattr(its)
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=options.pop("stdin", its),
            stdout=options.pop("stdout", its),
            stderr=its,
            cwd=cwd,
            env={"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(its, termios.TIOCSCTTY, 0),
            **options,
        )
        self.its = its

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.its)

    def _set_size(self, rows, columns):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)
        os.killpg(self.process.pid, signal.SIGWINCH)

    def read(self, seconds=0.05):
        """Take in what the command prints within that time; False: nothing came."""
        ready, _, _ = select.select([self.ours], [], [], seconds)
        if not ready:
            return False
        data = os.read(self.ours, 65536)
        self.raw += data
        self.stream.feed(data)
        return True

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait(self, condition, what="the screen"):
        """Read until the condition holds, which is a text or a function."""
        end = time.monotonic() + DEADLINE_S
        holds = condition if callable(condition) else lambda: condition in self.text
        while not holds():
            assert time.monotonic() < end, f"{what}: {condition!r} not in\n{self.text}"
            self.read()
        return self

    def type(self, keys):
        os.write(self.ours, keys.encode() if isinstance(keys, str) else keys)
        return self

    def end(self):
        """Read until the command has ended; its exit status."""
        end = time.monotonic() + DEADLINE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end\n{self.text}"
            self.read()
        while self.read():
            pass
        return self.process.returncode

    def is_restored(self):
        """Whether modes are as before, and the screen was given back."""
        on = self.raw.count(b"\x1b[?1049h")
        off = self.raw.count(b"\x1b[?1049l")
        cursor = self.raw.rfind(b"\x1b[?25h") > self.raw.rfind(b"\x1b[?25l")
        return termios.tcgetattr(self.its) == self.before and on <= off and cursor
