# SPDX-License-Identifier: MIT
"""Programs that connect to a controller which waits for them."""

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest
from attaching import (
    SERVE,
    Program,
    calls,
    environment,
    interrupt,
    running,
    status,
)
from proof import DEADLINE_S, wait_for

needs_second_user = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"),
    reason="only root can act as a second user, by setpriv",
)
SECOND_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@contextlib.contextmanager
def waiting(cunei, port, *words):
    """`cunei attach --port`, which listens already."""
    command = [cunei.executable, "attach", "--port", port, "-o", "trace", *words]
    with running(command, environment(cunei), cwd=cunei.folder) as process:
        assert "waiting for a program" in process.stderr.readline()
        yield process


@contextlib.contextmanager
def started(cunei, port, source=SERVE, **more):
    script = cunei.write("app.py", source)
    variables = environment(cunei, CUNEI_PORT=str(port), **more)
    with running([cunei.python, script], variables, cwd=cunei.folder) as process:
        yield Program(process, variables)


@pytest.fixture
def port():
    path = f"/tmp/cunei-test-{os.getpid()}.socket"
    yield path
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def await_recording(controller):
    assert "; Ctrl-C detaches" in controller.stderr.readline()


@pytest.mark.core
def test_a_suspended_program_is_recorded_from_its_first_line(cunei, port):
    place = f"{port},suspend"
    with waiting(cunei, port) as controller, started(cunei, place) as program:
        await_recording(controller)
        program.do("work(12)")
        interrupt(controller)
        program.do("work(80)")
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert calls(cunei, "leaf") == 12
    assert calls(cunei, "<module>") >= 1
    assert not os.path.exists(port)


@pytest.mark.core
def test_a_program_that_is_not_suspended_runs_before_its_controller(cunei, port):
    with started(cunei, port) as program:
        program.do("work(7)")
        with waiting(cunei, port) as controller:
            await_recording(controller)
            program.do("work(12)")
            interrupt(controller)
        code, _, err = program.end()

    assert (code, err) == (0, "")
    assert calls(cunei, "leaf") == 12


@pytest.mark.core
def test_a_suspended_program_waits_for_its_controller(cunei, port):
    with started(cunei, f"{port},suspend") as program:
        # It is armed, and so far in its start.
        wait_for(lambda: has_our_threads(program.pid), program.process)
        with waiting(cunei, port) as controller:
            await_recording(controller)
            program.do("work(12)")
            interrupt(controller)

    assert calls(cunei, "leaf") == 12


def has_our_threads(pid):
    names = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            names.append(Path(f"/proc/{pid}/task/{task}/comm").read_text())
    return names.count("cunei\n") == 2


@pytest.mark.core
def test_a_suspended_program_can_be_interrupted(cunei, port):
    with started(cunei, f"{port},suspend") as program:
        wait_for(lambda: has_our_threads(program.pid), program.process)
        program.process.send_signal(signal.SIGINT)
        out, err = program.process.communicate(timeout=DEADLINE_S)

    assert (program.process.returncode, out, err) == (-signal.SIGINT, "", "")


@pytest.mark.core
def test_a_controller_that_leaves_releases_the_program(cunei, port):
    place = f"{port},suspend"
    with waiting(cunei, port) as controller, started(cunei, place) as program:
        await_recording(controller)
        controller.kill()
        program.do("work(1)")


@pytest.mark.parametrize("value", ["relative/path", "relative,suspend", ",suspend"])
def test_a_path_that_is_not_absolute_is_reported_on_request(cunei, value):
    cunei.write("app.py", "print('runs')\n")
    variables = environment(cunei, CUNEI_PORT=value)
    quiet = cunei.run(cunei.python, "app.py", env=variables)
    loud = cunei.run(cunei.python, "app.py", env={**variables, "CUNEI_DEBUG": "1"})

    assert (quiet.stdout, quiet.stderr) == ("runs\n", "")
    assert loud.stdout == "runs\n"
    assert "CUNEI_PORT must be the absolute path of a socket, not" in loud.stderr
    assert len(loud.stderr.splitlines()) == 1


def test_an_empty_variable_does_nothing(cunei):
    cunei.write("app.py", "import threading; print(threading.active_count())\n")
    done = cunei.run(
        cunei.python,
        "app.py",
        env=environment(cunei, CUNEI_PORT="", CUNEI_DEBUG="1"),
    )

    assert (done.stdout, done.stderr) == ("1\n", "")


def test_the_port_is_open_to_other_users_for_root_alone(cunei, port):
    """A sidecar of root waits for the program of another user."""
    with waiting(cunei, port):
        mode = os.stat(port).st_mode & 0o777

    assert mode == (0o666 if os.geteuid() == 0 else 0o600)


def test_the_socket_of_another_controller_is_not_replaced(cunei, port):
    with waiting(cunei, port):
        done = cunei("attach", "--port", port, env=environment(cunei))

    assert done.returncode == 1
    assert f"'{port}' exists already; choose another path" in done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["--port", "/" + "x" * 200], "has at most 107 bytes"),
        (["--port", "/nowhere/at/all"], "cannot listen at '/nowhere/at/all'"),
        (["--port", "/tmp/x", "4711"], "--port takes the place of a pid"),
        ([], "missing pid"),
        (["0"], "'0' is not a pid"),
        (["me"], "'me' is not a pid"),
        (["99999999999"], "is not a pid"),
        (["1", "2"], "takes one process"),
        (["999999999"], "999999999"),
    ],
)
def test_a_wrong_target_is_refused_in_a_sentence(cunei, words, said):
    done = cunei("attach", *words)

    assert done.returncode in (1, 2) and said in done.stderr
    assert list(cunei.folder.iterdir()) == []


@pytest.mark.core
def test_the_port_of_an_interrupted_controller_can_be_used_again(cunei, port):
    for _ in range(2):
        with waiting(cunei, port) as controller:
            controller.send_signal(signal.SIGINT)
            controller.communicate(timeout=DEADLINE_S)

    assert not (cunei.folder / "trace").exists()


@needs_second_user
def test_a_program_does_not_obey_the_controller_of_another_user(cunei, port):
    """Its own user, and root, may record it; not who put a socket at its port."""
    server = """
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
server.listen()
print("ready", flush=True)
connection, _ = server.accept()
try:
    connection.sendall(b'{"cunei":1,"do":"status"}\\n')
    print(connection.recv(100), flush=True)
except OSError as error:
    print("refused", flush=True)
"""
    command = [*SECOND_USER, "/usr/bin/python3", "-c", server, port]
    with running(command, {}, cwd="/tmp") as process:
        hostile = Program(process, {})
        assert hostile.read() == "ready"
        with started(cunei, port) as program:
            said = hostile.read()
            program.do("work(1)")

    assert said in ("b''", "refused")


@pytest.mark.core
def test_a_program_of_a_port_can_be_attached_by_its_pid_as_well(cunei, port):
    with started(cunei, port) as program:
        program.do("work(1)")
        state = status(program, cunei)

    assert state["armed_by"] == "CUNEI_PORT"


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"),
    reason="only root makes a pid namespace, by unshare",
)
def test_a_program_of_a_container_beside_this_one_is_named_as_such(cunei, port):
    apart = ["unshare", "--pid", "--fork", "--kill-child"]
    variables = environment(cunei)
    command = [*apart, cunei.executable, "attach", "--port", port]
    script = cunei.write("app.py", SERVE)
    with running(command, variables, cwd=cunei.folder) as controller:
        assert "waiting for a program" in controller.stderr.readline()
        program = [*apart, cunei.python, script]
        with running(program, {**variables, "CUNEI_PORT": port}):
            _, err = controller.communicate(timeout=DEADLINE_S)

    assert controller.returncode == 1
    assert "it is in another pid namespace; use one for both" in err


def test_a_port_is_an_absolute_path(cunei):
    done = cunei("attach", "--port", "app.sock", timeout=DEADLINE_S)

    assert done.returncode == 2
    assert "--port needs an absolute path" in done.stderr
    assert "app.sock" in done.stderr and len(done.stderr.splitlines()) == 1
