# SPDX-License-Identifier: MIT
"""Programs that take requests, and controllers: cunei's own, and bare sockets."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

from proof import DEADLINE_S, wait_for

# What cunei waits for a controller to come back, with room for a busy machine.
PATIENCE_S = 2

# Each line of its input is code that it runs.  It prints what `say` is called with.
PROGRAM = """
import sys, threading

def say(*words):
    print(*words, flush=True)

def leaf(n):
    return n + 1

def work(n):
    for i in range(n):
        leaf(i)

def busy(counts, place):
    while not stop.is_set():
        counts[place] += 1
        leaf(1)

stop = threading.Event()

def commands():
    for line in sys.stdin:
        exec(line, globals())
        say("done")
"""
SERVE = PROGRAM + "\ncommands()\n"


def environment(cunei, **more):
    """A runtime folder of the test's own, so that other tests do not matter."""
    folder = cunei.folder.parent / "runtime"
    folder.mkdir(mode=0o700, exist_ok=True)
    return {**cunei.environment, "XDG_RUNTIME_DIR": str(folder), **more}


class Program:
    """A program that runs, and does what it is asked to on its input."""

    def __init__(self, process, environment):
        self.process = process
        self.pid = process.pid
        self.environment = environment

    def read(self):
        line = self.process.stdout.readline()
        assert line, f"the program ended early: {self.process.wait()}"
        return line[:-1]

    def begin(self, code):
        self.process.stdin.write(f"{code}\n")
        self.process.stdin.flush()

    def do(self, code):
        """Run the code in the program; what it has printed until it was done."""
        self.begin(code)
        lines = []
        while True:
            line = self.read()
            if line == "done":
                return lines
            lines.append(line)

    def get(self, expression):
        return json.loads(self.do(f"import json; say(json.dumps({expression}))")[0])

    def end(self):
        """Its status, and what it still prints."""
        out, err = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, out, err


@contextlib.contextmanager
def running(command, environment, **options):
    """The command's process, which is killed at the end."""
    options.setdefault("stdin", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )
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
                with contextlib.suppress(BrokenPipeError):
                    file.close()


@contextlib.contextmanager
def armed(cunei, source=SERVE, *arguments, before=(), **more):
    """The program under `cunei arm`; `before` comes before that."""
    script = cunei.write("app.py", source)
    variables = environment(cunei, **more)
    words = [*before, cunei.executable, "arm", script, *arguments]
    with running(words, variables, cwd=cunei.folder) as process:
        program = Program(process, variables)
        # It is armed when it runs, and is still the launcher's process.
        assert program.do("import os; say(os.getpid())") == [str(program.pid)]
        yield program


def control(program, cunei, *words, **options):
    """`cunei attach` of the program, to its end."""
    options.setdefault("env", program.environment)
    return cunei("attach", program.pid, *words, **options)


def succeed(program, cunei, *words, **options):
    done = control(program, cunei, *words, **options)
    assert done.returncode == 0, done.stderr
    return done


def status(program, cunei):
    return json.loads(succeed(program, cunei, "--status", "--json").stdout)


@contextlib.contextmanager
def attached(program, cunei, *words, directory="trace"):
    """`cunei attach` in the foreground, which records already."""
    command = [cunei.executable, "attach", program.pid, "-o", directory, *words]
    with running(command, program.environment, cwd=cunei.folder) as process:
        assert "; Ctrl-C detaches" in process.stderr.readline()
        yield process


def interrupt(process):
    """Ctrl-C, and what the command then prints."""
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, err
    return err


def report(cunei, directory="trace"):
    done = cunei("report", "--json", directory)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def calls(cunei, name, directory="trace"):
    """How often a function was called, all processes together."""
    functions = report(cunei, directory)["functions"]
    return sum(f["calls"] for f in functions if f["qualname"] == name)


def socket_of(program):
    """The path of its socket."""
    folder = Path(program.environment["XDG_RUNTIME_DIR"]) / "cunei"
    namespace = os.stat(f"/proc/{program.pid}/ns/pid").st_ino
    return folder / f"{program.pid}-{namespace}.control"


class Controller:
    """A bare connection to an armed process."""

    def __init__(self, program):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE_S)
        # The whole path may be too long for an address.
        path = socket_of(program)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            self.socket.connect(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, line):
        self.socket.sendall(line)

    def answer(self):
        """The next answer; None: the process has closed the connection."""
        try:
            line = self.file.readline()
        except ConnectionResetError:
            return None
        return json.loads(line) if line else None

    def ask(self, do, **members):
        request = {"cunei": 1, "do": do, **members}
        self.send(json.dumps(request).encode() + b"\n")
        return self.answer()

    def start(self, directory, session=1, stay=False):
        directory.mkdir(exist_ok=True)
        place = str(directory).replace("%", "%25").replace(" ", "%20")
        return self.ask("start", session=session, stay=stay, record=f"v=1 dir={place}")


def is_idle(program):
    """Whether its socket answers that it records nothing."""
    with Controller(program) as controller:
        return controller.ask("status").get("directory") is None


def wait_until_idle(program):
    wait_for(lambda: is_idle(program), program.process)


def cpu_ticks(pid, name="cunei"):
    """The CPU time of the process's threads of that name, in clock ticks."""
    ticks = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "stat").read_text()
        if re.search(r"\((.*)\)", text).group(1) == name:
            fields = text.rpartition(")")[2].split()
            ticks.append(int(fields[11]) + int(fields[12]))
    return ticks
