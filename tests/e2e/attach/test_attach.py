# SPDX-License-Identifier: MIT
"""Recording a program that runs, for a while."""

import contextlib
import fcntl
import json
import os
import signal
import sys
import termios
import time
from pathlib import Path

import ctf
import pytest
from attaching import (
    PROGRAM,
    SERVE,
    Controller,
    Program,
    armed,
    attached,
    calls,
    control,
    environment,
    interrupt,
    report,
    running,
    status,
    succeed,
    wait_until_idle,
)
from proof import COUNT, DEADLINE_S, FREE_THREADED, Counters, wait_for

# Three threads that call leaf all the time, below frames that are open already, and
# one that sleeps.
BUSY = (
    COUNT
    + PROGRAM
    + """
def outer(place):
    busy(counts, place)

threads = [threading.Thread(target=outer, args=(i,)) for i in range(3)]
sleeper = threading.Thread(target=stop.wait)
for thread in [*threads, sleeper]:
    thread.start()
commands()
"""
)


@contextlib.contextmanager
def record(cunei, words):
    """A program that is recorded, which prints its pid."""
    variables = environment(cunei)
    command = [cunei.executable, *words]
    with running(command, variables, cwd=cunei.folder) as process:
        program = Program(process, variables)
        program.pid = int(program.do("import os; say(os.getpid())")[0])
        yield program


@pytest.fixture
def counters(tmp_path):
    return Counters(tmp_path / "counts", 4)


@pytest.mark.core
def test_what_runs_while_attached_is_recorded_and_nothing_else(cunei):
    with armed(cunei) as program:
        program.do("work(5)")
        with attached(program, cunei) as controller:
            program.do("work(300)")
            printed = interrupt(controller)
        program.do("work(7)")
        with attached(program, cunei, directory="again") as controller:
            program.do("work(40)")
            interrupt(controller)

        assert status(program, cunei)["state"] == "armed"
    assert ", 0 lost, " in printed
    assert calls(cunei, "leaf") == 300
    assert calls(cunei, "work") == 1
    assert calls(cunei, "leaf", "again") == 40


@pytest.mark.core
def test_the_counts_are_those_of_cprofile(cunei):
    profiled = (
        "import cProfile, pstats; p = cProfile.Profile(); p.enable(); work(123); "
        "p.disable(); say(sum(v[0] for k, v in pstats.Stats(p).stats.items() "
        "if k[2] in ('work', 'leaf')))"
    )
    with armed(cunei) as program:
        (expected,) = program.do(profiled)
        with attached(program, cunei) as controller:
            program.do("work(123)")
            interrupt(controller)

    assert calls(cunei, "leaf") + calls(cunei, "work") == int(expected)


@pytest.mark.core
def test_all_threads_are_recorded_with_the_frames_that_are_open(cunei, counters):
    with armed(cunei, BUSY, cunei.folder.parent / "counts") as program:
        wait_for(lambda: all(counters[i] for i in range(3)), program.process)
        first = counters.total()
        with attached(program, cunei) as controller:
            begun = counters.total()
            marks = [counters[i] for i in range(3)]
            wait_for(
                lambda: all(counters[i] > marks[i] + 1000 for i in range(3)),
                program.process,
            )
            last = counters.total()
            interrupt(controller)
        ended = counters.total()
        program.do("stop.set()")

    # A count comes just before its call.
    assert last - begun - 3 <= calls(cunei, "leaf") <= ended - first + 3
    trace = ctf.read(cunei.folder / "trace")
    assert trace.is_balanced() and trace.lost() == 0
    assert len(trace.processes[0].threads()) >= 3
    functions = {f["qualname"]: f for f in report(cunei)["functions"]}
    for name in ("outer", "busy"):
        assert functions[name]["calls"] == 0 and functions[name]["open_at_attach"]


@pytest.mark.core
def test_attaching_ends_after_the_time_that_was_asked_for(cunei):
    with armed(cunei) as program:
        program.begin("busy([0], 0)")
        began = time.monotonic()
        done = succeed(program, cunei, "--for", "300ms", "-o", "trace")

        assert time.monotonic() - began >= 0.3
        assert status(program, cunei)["state"] == "armed"
    assert "0 lost" in done.stderr
    assert report(cunei)["duration_ns"] > 0.2e9
    assert calls(cunei, "leaf") > 0


@pytest.mark.core
def test_the_program_prints_and_ends_as_without_us(cunei):
    source = "import sys\n" + SERVE + "print('bye'); sys.exit('ended')\n"

    cunei.write("app.py", source)
    plain = cunei.run(cunei.python, "app.py", input="work(3)\n", stdin=None)
    with armed(cunei, source) as program, attached(program, cunei):
        program.begin("work(3)")
        out = program.read()
        code, rest, err = program.end()

    assert (code, f"{out}\n{rest}", err) == (
        plain.returncode,
        plain.stdout,
        plain.stderr,
    )


@pytest.mark.core
def test_a_program_that_ends_while_attached_is_recorded_to_its_end(cunei):
    with armed(cunei) as program, attached(program, cunei) as controller:
        program.do("work(50)")
        program.end()
        _, err = controller.communicate(timeout=DEADLINE_S)
        assert controller.returncode == 0, err

    assert f"process {program.pid} has ended" in err
    assert calls(cunei, "leaf") == 50


def test_a_program_that_becomes_another_is_recorded_up_to_that(cunei):
    with armed(cunei) as program, attached(program, cunei) as controller:
        program.do("work(50)")
        program.begin(
            "import os; os.environ.pop('CUNEI_RECORD'); "
            "os.execv('/bin/sleep', ['sleep', '60'])"
        )
        _, err = controller.communicate(timeout=DEADLINE_S)
        assert controller.returncode == 0, err

    assert calls(cunei, "leaf") == 50


@pytest.mark.core
def test_other_tools_are_untouched(cunei):
    with armed(cunei) as program:
        program.do("seen = []; hook = lambda *event: seen.append(event[1])")
        program.do("sys.setprofile(hook)")
        done = control(program, cunei, "--for", "100ms", "-o", "trace")
        program.do("work(10)")

        # A profiler may exclude recording: it is never removed for that.
        assert done.returncode in (0, 1)
        assert program.get("sys.getprofile() is hook")
        assert program.get("seen.count('call')") >= 11
        program.do("sys.setprofile(None)")


@pytest.mark.core
def test_a_profiler_that_runs_meanwhile_counts_what_it_counts_alone(cunei):
    begin = "import cProfile, pstats; p = cProfile.Profile(); p.enable()"
    end = (
        "p.disable(); say(*sorted(v[0] for k, v in pstats.Stats(p).stats.items() "
        "if k[2] in ('work', 'leaf')))"
    )
    with armed(cunei) as program:
        program.do(begin)
        done = control(program, cunei, "--for", "100ms", "-o", "trace")
        program.do("work(20)")
        assert done.returncode in (0, 1)
        assert program.do(end) == ["1 20"]


def test_coverage_measures_what_it_measures_alone(cunei):
    pytest.importorskip("coverage", reason="coverage is not installed")
    begin = (
        "import coverage; c = coverage.Coverage(data_file=None, include=['*app.py']); "
        "c.start()"
    )
    end = (
        "c.stop(); say(*(n for f in c.get_data().measured_files() "
        "for n in sorted(c.get_data().lines(f))))"
    )

    def measure(attach):
        with armed(cunei) as program:
            program.do(begin)
            if attach:
                control(program, cunei, "--for", "100ms", "-o", "trace")
            program.do("work(2)")
            return program.do(end)

    assert measure(True) == measure(False) != [""]


needs_gil = pytest.mark.skipif(FREE_THREADED, reason="there is no GIL to hold")


def is_in_call_on(pid, descriptor):
    """Whether its main thread is in a system call with that first argument."""
    fields = Path(f"/proc/{pid}/syscall").read_text().split()
    return len(fields) > 3 and int(fields[1], 16) == descriptor


@contextlib.contextmanager
def holding_the_gil(program, cunei):
    """Meanwhile the program is in C code that holds the GIL."""
    path = cunei.folder / "pipe"
    os.mkfifo(path)
    with open(os.open(path, os.O_RDWR), "wb", buffering=0) as pipe:
        program.do(f"import ctypes, os; pipe = os.open({str(path)!r}, os.O_RDONLY)")
        program.do(
            "wait = ctypes.PyDLL(None).read; one = ctypes.create_string_buffer(1)"
        )
        number = program.get("pipe")
        program.begin("say('in C'); wait(pipe, one, 1); say('out of C')")
        assert program.read() == "in C"
        wait_for(lambda: is_in_call_on(program.pid, number), program.process)
        yield
        pipe.write(b".")
        assert [program.read(), program.read()] == ["out of C", "done"]
    path.unlink()


@pytest.mark.core
@needs_gil
def test_a_program_in_c_code_that_holds_the_gil_is_not_attached_later(cunei):
    with armed(cunei) as program:
        with holding_the_gil(program, cunei):
            done = control(program, cunei, "--timeout", "200ms", "-o", "trace")
        program.do("work(3)")

        assert status(program, cunei)["state"] == "armed"
    assert done.returncode == 1
    assert "has not answered for 0.2 s" in done.stderr
    assert not (cunei.folder / "trace").exists()


@needs_gil
def test_a_program_that_cannot_be_detached_now_is_detached_by_itself(cunei):
    with armed(cunei) as program:
        with attached(program, cunei, "--timeout", "300ms") as controller:
            program.do("work(3)")
            with holding_the_gil(program, cunei):
                controller.send_signal(signal.SIGINT)
                _, err = controller.communicate(timeout=DEADLINE_S)
        wait_until_idle(program)
        program.do("work(70)")

    assert controller.returncode == 1
    assert "has not answered for 0.3 s" in err
    assert calls(cunei, "leaf") == 3


@pytest.mark.core
@needs_gil
def test_a_request_whose_controller_has_gone_is_not_carried_out(cunei):
    folder = cunei.folder / "trace"
    folder.mkdir()
    with armed(cunei) as program:
        with holding_the_gil(program, cunei), Controller(program) as controller:
            request = {"cunei": 1, "do": "start", "session": 1}
            line = json.dumps({**request, "record": f"v=1 dir={folder}"})
            controller.send(line.encode() + b"\n")
            # The thread has read it, and waits for the GIL.
            wait_for(lambda: is_read(controller.socket), program.process)
            controller.close()
        with Controller(program) as other:
            answer = other.ask("status")

    assert "directory" not in answer and "session" not in answer
    assert list(folder.iterdir()) == []


def is_read(end):
    """Whether the other end has read all that was sent."""
    waiting = fcntl.ioctl(end, termios.TIOCOUTQ, bytes(4))
    return int.from_bytes(waiting, sys.byteorder) == 0


@pytest.mark.core
def test_a_program_that_sleeps_in_c_is_attached_at_once(cunei):
    with armed(cunei) as program:
        program.do("sleeper = threading.Thread(target=stop.wait); sleeper.start()")
        program.begin("sleeper.join()")
        done = control(program, cunei, "--for", "50ms", "-o", "trace")
        program.process.kill()

    assert done.returncode == 0, done.stderr


def test_a_stopped_process_is_given_up(cunei):
    with armed(cunei) as program:
        os.kill(program.pid, 19)
        done = control(program, cunei, "--timeout", "100ms", "-o", "trace")
        os.kill(program.pid, 18)

        assert status(program, cunei)["state"] == "armed"
        program.do("work(1)")
    assert done.returncode == 1
    assert "or it is stopped" in done.stderr
    assert not (cunei.folder / "trace").exists()


@pytest.mark.core
def test_a_process_that_is_recorded_can_be_changed_but_not_attached(cunei):
    cunei.write("app.py", SERVE)
    words = ["record", "--control", "-q", "-o", "trace", "app.py"]
    with record(cunei, words) as program:
        done = control(program, cunei, "-o", "other")
        state = status(program, cunei)
        succeed(program, cunei, "--set", "exclude=:leaf")
        program.do("work(10)")
        program.end()

    assert done.returncode == 1 and "is being recorded already" in done.stderr
    assert (state["state"], state["directory"]) == (
        "recording",
        str(cunei.folder / "trace"),
    )
    assert not (cunei.folder / "other").exists()
    assert calls(cunei, "leaf") == 0 and calls(cunei, "work") == 1


def test_a_recorded_process_without_control_says_what_is_missing(cunei):
    cunei.write("app.py", SERVE)
    with record(cunei, ["record", "-q", "-o", "trace", "app.py"]) as program:
        done = control(program, cunei, "--status")

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
