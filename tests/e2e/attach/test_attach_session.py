# SPDX-License-Identifier: MIT
"""What controllers start, change and end, together and when they vanish."""

import contextlib
import sys
import time

import ctf
import pytest
from attaching import (
    PATIENCE_S,
    SERVE,
    Controller,
    armed,
    attached,
    calls,
    control,
    interrupt,
    is_idle,
    running,
    status,
    succeed,
    wait_until_idle,
)
from proof import FREE_THREADED, wait_for

HAS_BUDGETS = sys.version_info >= (3, 12) and not FREE_THREADED


@pytest.mark.core
def test_a_recording_that_stays_goes_on_until_it_is_detached(cunei):
    with armed(cunei) as program:
        done = succeed(program, cunei, "--stay", "-o", "trace")
        begun = status(program, cunei)
        # Longer than a recording without its controller would last otherwise.
        waited = time.monotonic() + PATIENCE_S + 0.5
        program.begin(f"import time; time.sleep({PATIENCE_S + 0.5})")
        assert program.read() == "done" and time.monotonic() >= waited - 0.1
        program.do("work(25)")
        ended = succeed(program, cunei, "--detach")
        again = control(program, cunei, "--detach")

        assert status(program, cunei)["state"] == "armed"
    assert f"'cunei attach {program.pid} --detach' ends it" in done.stderr
    assert begun == {
        "version": 1,
        "pid": program.pid,
        "state": "attached",
        "directory": str(cunei.folder / "trace"),
        "armed_by": "cunei arm",
        "stay": True,
        "has_controller": False,
        "python": begun["python"],
        "cunei": begun["cunei"],
    }
    assert ", 0 lost, " in ended.stderr
    assert again.returncode == 1 and "is not attached" in again.stderr
    assert calls(cunei, "leaf") == 25


def test_the_status_is_a_line_for_people(cunei):
    with armed(cunei) as program:
        idle = succeed(program, cunei, "--status").stdout
        with attached(program, cunei):
            busy = succeed(program, cunei, "--status").stdout

    assert idle.startswith(f"process {program.pid}: armed; armed by cunei arm; Python ")
    assert busy.startswith(
        f"process {program.pid}: attached, by a controller in the foreground; "
        f"records into {cunei.folder}/trace; armed by cunei arm; Python "
    )


@pytest.mark.core
def test_a_killed_controller_takes_its_recording_with_it(cunei):
    with armed(cunei) as program:
        with attached(program, cunei) as controller:
            program.do("work(11)")
            controller.kill()
            controller.wait()
            killed = time.monotonic()
            state = status(program, cunei)
            wait_until_idle(program)
            took = time.monotonic() - killed
        program.do("work(90)")

    assert state["state"] == "attached" and not state["has_controller"]
    assert took >= PATIENCE_S - 0.5
    assert calls(cunei, "leaf") == 11


@pytest.mark.core
def test_what_is_recorded_can_be_changed(cunei):
    chosen = ["--include", ":work"]
    with armed(cunei) as program, attached(program, cunei, *chosen) as controller:
        program.do("work(4)")
        succeed(program, cunei, "--set", "include=:leaf")
        program.do("work(30)")
        succeed(program, cunei, "--set", "exclude=:leaf", "--set", "exclude=:work")
        program.do("work(500)")
        interrupt(controller)

    assert calls(cunei, "leaf") == 30
    assert calls(cunei, "work") == 2


@pytest.mark.core
@pytest.mark.skipif(HAS_BUDGETS, reason="this Python has budgets")
def test_a_budget_that_cannot_be_set_leaves_the_recording_on(cunei):
    with armed(cunei) as program, attached(program, cunei) as controller:
        program.do("work(100)")
        done = control(program, cunei, "--set", "budget=3%")
        program.do("work(100)")
        interrupt(controller)

    assert done.returncode == 1 and "budget needs" in done.stderr
    assert calls(cunei, "leaf") == 200


@pytest.mark.core
@pytest.mark.skipif(not HAS_BUDGETS, reason="this Python has no budgets")
def test_a_budget_that_is_set_holds_from_then_on(cunei):
    with armed(cunei) as program:
        with attached(program, cunei) as controller:
            program.do("work(100)")
            succeed(program, cunei, "--set", "budget=3%")
            program.do("work(100)")
            state = status(program, cunei)
            interrupt(controller)

        assert status(program, cunei)["state"] == "armed"
    trace = cunei.folder / "trace"
    budgets = [p.description.get("budget", "0") for p in ctf.read(trace).processes]
    assert state["state"] == "attached" and state["has_controller"]
    assert budgets[0] == "0" != budgets[1]
    assert calls(cunei, "work") == 2


@pytest.mark.parametrize(
    "words, said",
    [
        (["--set", "colour=red"], "--set takes include=PATTERN"),
        (["--set", "budget=900%"], "needs a percentage"),
        (["--set", "include=re:("], "is not a valid pattern"),
        (["--set", "budget=3%"], "it is not being recorded"),
        (["--set", "include=:leaf"], "not being recorded"),
        (["--detach"], "is not attached; 'cunei attach"),
        (["--stay", "--for", "1s"], "exclude each other"),
        (["--json"], "--json needs --status"),
        (["--for", "soon"], "--for"),
        (["--for", "0s"], "--for needs a time above 0"),
        (["--timeout", "0s"], "--timeout needs a time above 0"),
        (["-o", ""], "-o needs the name of a directory"),
        (["--include", "re:("], "not a valid pattern"),
    ],
)
def test_a_wrong_request_is_refused_in_a_sentence(cunei, words, said):
    with armed(cunei) as program:
        done = control(program, cunei, *words)

        assert is_idle(program)
    assert done.returncode in (1, 2) and said in done.stderr
    assert done.stdout == ""
    assert list(cunei.folder.iterdir()) == [cunei.folder / "app.py"]


@pytest.mark.core
def test_a_second_controller_is_refused_and_the_first_one_goes_on(cunei):
    with armed(cunei) as program, attached(program, cunei) as controller:
        done = control(program, cunei, "-o", "other", "--for", "1s")
        program.do("work(8)")
        interrupt(controller)

    assert done.returncode == 1
    assert "it is attached already, and records into" in done.stderr
    assert f"'cunei attach {program.pid} --detach' ends that" in done.stderr
    assert not (cunei.folder / "other").exists()
    assert calls(cunei, "leaf") == 8


def test_of_controllers_that_come_together_one_is_first(cunei):
    with armed(cunei) as program:
        words = [cunei.executable, "attach", program.pid, "--for", "1s", "-o"]
        with contextlib.ExitStack() as stack:
            controllers = [
                stack.enter_context(
                    running(
                        [*words, f"trace{i}"], program.environment, cwd=cunei.folder
                    )
                )
                for i in range(4)
            ]
            said = [each.communicate(timeout=60)[1] for each in controllers]

        assert is_idle(program)
    # A busy machine may start one when another has ended.
    first = [each for each in controllers if each.returncode == 0]
    assert first
    for controller, err in zip(controllers, said):
        assert controller in first or "it is attached already" in err
    assert len(list(cunei.folder.glob("trace*"))) == len(first)


@pytest.mark.core
def test_another_controller_may_detach(cunei):
    with armed(cunei) as program:
        with attached(program, cunei) as controller:
            program.do("work(8)")
            succeed(program, cunei, "--detach")
            _, err = controller.communicate(timeout=30)
        program.do("work(8)")

    assert controller.returncode == 0
    assert f"the recording of process {program.pid} has ended" in err
    assert calls(cunei, "leaf") == 8


@pytest.mark.core
def test_the_program_may_end_the_recording(cunei):
    with armed(cunei) as program:
        with attached(program, cunei) as controller:
            program.do("work(8)")
            program.do("import cunei; cunei.stop()")
            program.do("work(8)")
            _, err = controller.communicate(timeout=30)

        assert status(program, cunei)["state"] == "armed"
    assert controller.returncode == 0, err
    assert f"the recording of process {program.pid} has ended" in err
    assert calls(cunei, "leaf") == 8


@pytest.mark.core
def test_disarming_ends_the_recording(cunei):
    with armed(cunei) as program:
        with attached(program, cunei) as controller:
            program.do("work(8)")
            program.do("import cunei; cunei.disarm()")
            program.do("work(8)")
            _, err = controller.communicate(timeout=30)
        assert controller.returncode == 0, err
        assert control(program, cunei, "--status").returncode == 1
        # And it can be armed again.
        program.do("cunei.arm()")
        assert status(program, cunei)["armed_by"] == "cunei.arm()"

    assert calls(cunei, "leaf") == 8


@pytest.mark.core
def test_arming_twice_and_disarming_twice_changes_nothing(cunei):
    cunei.write("app.py", SERVE)
    with armed(cunei) as program:
        program.do("import cunei; cunei.arm(); cunei.arm()")
        assert status(program, cunei)["armed_by"] == "cunei arm"
        program.do("cunei.disarm(); cunei.disarm()")
        code, _, err = program.end()

    assert (code, err) == (0, "")


def test_one_controller_cannot_disarm_what_another_has_attached(cunei):
    with armed(cunei) as program, attached(program, cunei) as controller:
        with Controller(program) as other:
            answer = other.ask("disarm")
        program.do("work(8)")
        interrupt(controller)

    assert "it is attached" in answer["error"]
    assert calls(cunei, "leaf") == 8


def test_a_recording_that_cannot_be_written_is_refused(cunei):
    with armed(cunei) as program:
        with Controller(program) as controller:
            answer = controller.ask("start", session=5, record="v=1 dir=/proc/gone")

        assert is_idle(program)
        program.do("work(1)")
    assert "cannot record into" in answer["error"] and "gone" in answer["error"]


@pytest.mark.core
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_a_busy_program_that_was_attached_often_is_as_it_was(cunei, times):
    folder = cunei.folder / "cycles"
    folder.mkdir()
    with armed(cunei) as program:
        program.do(
            "threads = [threading.Thread(target=busy, args=([0], 0)) for i in range(3)]"
        )
        program.do("[thread.start() for thread in threads]")
        with Controller(program) as controller:
            for i in range(times):
                answer = controller.start(folder / str(i), session=i + 1)
                assert "error" not in answer, answer
                if i == times - 1:
                    program.do("work(2000)")
                answer = controller.ask("stop", session=i + 1)
                assert "error" not in answer, answer
        wait_for(lambda: is_idle(program), program.process)
        program.do("stop.set()")
        code, _, err = program.end()

    trace = ctf.read(folder / str(times - 1))
    assert (code, err) == (0, "")
    assert trace.is_balanced() and trace.lost() == 0
    assert trace.count("work") == 1 and trace.count("leaf") >= 2000


def test_sockets_of_children_that_ended_abruptly_are_removed(cunei):
    end = "pid = os.fork(); pid or os._exit(0); os.waitpid(pid, 0)"

    with armed(cunei) as program:
        for _ in range(5):
            program.do(end)
        folder = cunei.folder.parent / "runtime" / "cunei"
        # Its own, and that of the last child, which no fork has followed.
        assert 1 <= len(list(folder.glob("*.control"))) <= 2
