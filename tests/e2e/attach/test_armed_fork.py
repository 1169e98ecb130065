# SPDX-License-Identifier: MIT
"""Programs that take requests, and fork."""

import pytest
from attaching import (
    SERVE,
    armed,
    attached,
    calls,
    environment,
    interrupt,
    report,
    running,
    status,
)
from proof import DEADLINE_S, wait_for

STRICT = {"PYTHONWARNINGS": "error"}


@pytest.mark.core
def test_a_fork_warns_of_nothing_and_its_child_is_armed_as_well(cunei):
    with armed(cunei, **STRICT) as program:
        program.do("import os, signal, time")
        (child,) = program.do("pid = os.fork(); pid or signal.pause(); say(pid)")
        parent = status(program, cunei)
        program.pid = int(child)
        wait_for(lambda: cunei_is_armed(program, cunei))
        armed_child = status(program, cunei)
        program.do("os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)")
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert parent["state"] == armed_child["state"] == "armed"
    assert armed_child["pid"] == int(child)


def cunei_is_armed(program, cunei):
    done = cunei("attach", program.pid, "--status", env=program.environment)
    return done.returncode == 0


@pytest.mark.core
def test_children_that_are_forked_meanwhile_are_recorded_and_stopped(cunei):
    with armed(cunei, **STRICT) as program:
        program.do("import os, time, signal")
        program.do("ask, told = os.pipe(); asked, tell = os.pipe()")
        with attached(program, cunei) as controller:
            # It calls leaf 10 times while attached, and then until it is told to end.
            program.begin(
                "pid = os.fork(); pid or (work(10), os.write(told, b'.'), "
                "os.read(asked, 1), work(70), os._exit(0)); os.read(ask, 1)"
            )
            assert program.read() == "done"
            program.do("work(3)")
            # Its controller has connected again, to both of them.
            wait_for(lambda: status(program, cunei)["has_controller"], program.process)
            interrupt(controller)
        program.do("work(200); os.write(tell, b'.'); os.waitpid(pid, 0)")
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert calls(cunei, "leaf") == 13
    assert len(report(cunei)["processes"]) == 2


FORKS = """
import os, sys
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
"""


OFTEN = """
import os, warnings
warnings.simplefilter("always")
for i in range(20):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
"""


@pytest.mark.core
def test_forks_of_the_main_thread_warn_of_no_threads(cunei):
    """CPython 3.13 counts them after the hooks of the fork."""
    done = cunei("arm", cunei.write("often.py", OFTEN))

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.core
def test_a_program_that_does_nothing_but_fork_is_attached_again_and_again(cunei):
    """Each fork closes the connection, also while a request waits for its answer."""
    script, end = cunei.write("forks.py", FORKS), cunei.folder / "end"
    with running([cunei.executable, "arm", script, end], environment(cunei)) as process:
        assert process.stdout.readline() == "ready\n"
        done = [
            cunei("attach", process.pid, "--for", "100ms", "-o", f"trace{i}")
            for i in range(5)
        ]
        seen = cunei("attach", process.pid, "--status")
        end.touch()
        _, err = process.communicate(timeout=DEADLINE_S)

    assert [each.returncode for each in done] == [0] * 5
    assert all(" events, " in each.stderr for each in done)
    assert seen.stdout.startswith(f"process {process.pid}: armed")
    assert (process.returncode, err) == (0, "")


@pytest.mark.core
def test_a_recording_goes_on_over_many_forks(cunei):
    source = SERVE.replace(
        "stop = ",
        """
def fork_often(n):
    import os
    for i in range(n):
        pid = os.fork()
        if not pid:
            leaf(i)
            os._exit(0)
        os.waitpid(pid, 0)

stop = """,
    )
    with armed(cunei, source, **STRICT) as program:
        with attached(program, cunei) as controller:
            program.do("fork_often(60); work(5)")
            wait_for(lambda: status(program, cunei)["has_controller"], program.process)
            interrupt(controller)
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert calls(cunei, "leaf") == 65


@pytest.mark.core
def test_forks_in_several_threads_leave_the_program_armed(cunei):
    source = SERVE.replace(
        "stop = ",
        """
def fork_often(n):
    import os, warnings
    warnings.simplefilter("ignore")  # of threads that are the program's own
    for i in range(n):
        pid = os.fork()
        if not pid:
            os._exit(7)
        assert os.waitpid(pid, 0)[1] >> 8 == 7

def fork_in_threads():
    threads = [threading.Thread(target=fork_often, args=(20,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

stop = """,
    )
    with armed(cunei, source) as program:
        program.do("fork_in_threads()")
        state = status(program, cunei)
        with attached(program, cunei) as controller:
            program.do("work(5)")
            interrupt(controller)
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert state["state"] == "armed"
    assert calls(cunei, "leaf") == 5


@pytest.mark.core
def test_processes_of_multiprocessing_are_recorded(cunei):
    source = SERVE.replace(
        "stop = ",
        """
def share(n):
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(3) as pool:
        # Two tasks each at least, as often as it takes for all of them.
        say(sum(pool.map(leaf, range(n), chunksize=1)))
        pool.close()
        pool.join()

stop = """,
    )
    with armed(cunei, source) as program:
        with attached(program, cunei) as controller:
            assert program.do("share(100)") == [str(sum(range(100)) + 100)]
            interrupt(controller)
        code, _, err = program.end()

    assert code == 0
    assert calls(cunei, "leaf") == 100


def test_a_child_that_python_does_not_know_of_leaves_its_parent_alone(cunei):
    """It was forked by C code, without the hooks of os.register_at_fork."""
    fork = (
        "import ctypes, os, sys; pid = ctypes.PyDLL(None).fork(); "
        "pid or sys.exit(3); say(os.waitpid(pid, 0)[1] >> 8)"
    )
    with armed(cunei) as program:
        assert program.do(fork) == ["3"]
        state = status(program, cunei)
        with attached(program, cunei) as controller:
            program.do("work(5)")
            interrupt(controller)

    assert state["state"] == "armed"
    assert calls(cunei, "leaf") == 5
