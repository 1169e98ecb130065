"""What being armed and attached costs: speed, idle time, and how soon it begins.

The program is attach_program.py; requests are sent to its socket as 'cunei attach'
sends them, and the command is timed as well.
"""

import ast
import json
import os
import socket
import statistics
import subprocess
import tempfile
import time

from builds import ROOT

TURNS = 40
STARTS = 60
IDLE_S = 5

# What the program does while it is attached, and in how many threads.
PROGRAMS = {
    "sleeping": None,
    "busy, 1 thread": ("busy", 1),
    "busy, 4 threads": ("busy", 4),
    "C calls of about 5 ms": ("c_bound", 1),
}


class Program:
    def __init__(self, python, folder):
        self.folder = tempfile.mkdtemp(dir=folder)
        os.makedirs(f"{self.folder}/run", mode=0o700)
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": f"{self.folder}/run"}
        self.cunei = str(python.cunei)
        self.process = subprocess.Popen(
            [str(python.path), str(ROOT / "bench" / "attach_program.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ask(self, expression):
        self.process.stdin.write(f"{expression}\n")
        self.process.stdin.flush()
        return ast.literal_eval(self.process.stdout.readline())

    def connect(self):
        pid = self.process.pid
        namespace = os.stat(f"/proc/{pid}/ns/pid").st_ino
        control = socket.socket(socket.AF_UNIX)
        control.connect(f"{self.folder}/run/cunei/{pid}-{namespace}.control")
        return control


def request(control, lines, **members):
    control.sendall(json.dumps({"cunei": 1, **members}).encode() + b"\n")
    answer = json.loads(lines.readline())
    assert "error" not in answer, answer


def measure_starts(program):
    """Milliseconds from a request to its answer: to start, and to stop."""
    starts, stops = [], []
    with program.connect() as control, control.makefile("rb") as lines:
        for i in range(STARTS):
            record = f"v=1 dir={program.folder}/{i}"
            began = time.perf_counter()
            request(control, lines, do="start", session=i + 1, record=record)
            started = time.perf_counter()
            request(control, lines, do="stop", session=i + 1)
            stops.append(time.perf_counter() - started)
            starts.append(started - began)
    return starts, stops


def measure_command(program):
    """The whole command, besides the millisecond that it records."""
    took = []
    for i in range(10):
        words = ["attach", str(program.process.pid), "-q", "--for", "1ms"]
        began = time.perf_counter()
        subprocess.run(
            [program.cunei, *words, "-o", f"{program.folder}/command{i}"],
            env=program.environment,
            check=True,
        )
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def measure_latency(python, folder, work):
    with Program(python, folder) as program:
        program.ask("cunei.arm()")
        if work:
            program.ask(f"begin({work[0]}, {work[1]})")
        starts, stops = measure_starts(program)
        return {
            "start_ms": statistics.median(starts) * 1e3,
            "start_max_ms": max(starts) * 1e3,
            "stop_ms": statistics.median(stops) * 1e3,
            "command_ms": measure_command(program) * 1e3,
        }


def measure_speed(python, folder):
    with Program(python, folder) as program:
        words = (program.cunei, f"{program.folder}", TURNS)
        figures = program.ask(f"ratios{words!r}")
        program.ask("cunei.arm()")
        before = program.ask("own_ticks()")
        time.sleep(IDLE_S)
        return {**figures, "idle_ticks": program.ask("own_ticks()") - before}


def measure(python, folder):
    speed = measure_speed(python, folder)
    latency = {
        name: measure_latency(python, folder, work) for name, work in PROGRAMS.items()
    }
    return {"speed": speed, "latency": latency}


def limits(figures):
    """Rows of the table of limits."""
    speed = figures["speed"]
    yield at_most("armed, speed of calls × plain", speed["armed"])
    yield at_most("after attach and detach, × plain", speed["detached"])
    ticks = speed["idle_ticks"]
    yield f"armed and idle, CPU ticks in {IDLE_S} s", "0", str(ticks), ticks == 0


def at_most(title, value, limit=1.02):
    return title, f"≤ {limit:.2f}", f"{value:.3f}", value <= limit


def show(figures):
    heads = ("start", "longest", "stop", "command")
    title = "attaching to a program, ms"
    print(f"\n  {title:<28}" + "".join(f"{head:>10}" for head in heads))
    for name, row in figures["latency"].items():
        cells = (row["start_ms"], row["start_max_ms"], row["stop_ms"])
        print(
            f"  {name:<28}"
            + "".join(f"{cell:>10.2f}" for cell in (*cells, row["command_ms"]))
        )
