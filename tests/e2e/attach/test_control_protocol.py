# SPDX-License-Identifier: MIT
"""Controllers that are hostile, broken, or another user's."""

import os
import shutil
import socket
import subprocess
import threading

import pytest
from attaching import (
    Controller,
    Program,
    armed,
    control,
    environment,
    running,
    socket_of,
    status,
    succeed,
)
from proof import wait_for

LINE_MAX = 200_000
CLOSED = (BrokenPipeError, ConnectionResetError)

needs_second_user = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"),
    reason="only root can act as a second user, by setpriv",
)
SECOND_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def check_well(program, cunei):
    """It still works, and takes requests."""
    program.do("work(1)")
    assert status(program, cunei)["state"] == "armed"


@pytest.mark.parametrize(
    "line, column",
    [
        (b"hello", 1),
        (b"", 1),
        (b"[]", 1),
        (b'{"cunei":1,"do":"explode"}', 17),
        (b'{"cunei":1,"do":"status"', 25),
        (b'{"cunei":1,"session":99999999999999999999999}', 22),
        (b'{"cunei":1,"session":-1}', 22),
        (b'{"cunei":1,"do":"status"} x', 27),
        (b'{"cunei":1,"do":"sta\x00tus"}', 21),
        (b"\xff\xfe\x00\x01", 1),
        (b"[" * 5000, 1),
    ],
)
def test_what_is_no_request_is_answered_with_where_it_is_wrong(cunei, line, column):
    with armed(cunei) as program:
        with Controller(program) as controller:
            controller.send(line + b"\n")
            answer = controller.answer()
            assert controller.ask("status")["pid"] == program.pid
        check_well(program, cunei)

    said = f"it does not understand the request: column {column}: "
    assert answer["error"].startswith(said), answer
    assert "version" in answer and "pid" not in answer


def test_another_version_is_refused_and_says_which_it_has(cunei):
    with armed(cunei) as program, Controller(program) as controller:
        controller.send(b'{"cunei":2,"do":"status"}\n')
        answer = controller.answer()

    assert (
        "speaks another version; use the same version on both sides"
        in (answer["error"])
    )
    assert answer["version"]


def test_a_start_that_says_nothing_of_use_starts_nothing(cunei):
    requests = [
        {},
        {"record": ""},
        {"record": "v=1"},
        {"record": "v=1 arm=1"},
        {"record": "v=999 dir=/tmp"},
        {"record": "v=1 dir=/tmp keep=banana"},
        {"record": "x" * 100_000},
    ]
    with armed(cunei) as program:
        with Controller(program) as controller:
            for request in requests:
                answer = controller.ask("start", session=3, **request)
                assert answer["error"], request
                assert "directory" not in answer
        check_well(program, cunei)


def test_requests_in_one_piece_are_answered_one_after_the_other(cunei):
    line = b'{"cunei":1,"do":"status"}\n'
    with armed(cunei) as program, Controller(program) as controller:
        controller.send(line * 500)
        answers = [controller.answer() for _ in range(500)]

    assert all(answer["pid"] == program.pid for answer in answers)


def test_a_request_that_comes_byte_by_byte_is_understood(cunei):
    with armed(cunei) as program, Controller(program) as controller:
        for byte in b'{"cunei":1, "do":"status"}\n':
            controller.send(bytes([byte]))
        answer = controller.answer()

    assert answer["pid"] == program.pid


def test_half_a_line_starts_nothing(cunei):
    with armed(cunei) as program:
        folder = cunei.folder / "trace"
        folder.mkdir()
        with Controller(program) as controller:
            controller.send(
                b'{"cunei":1,"do":"start","session":1,"record":"v=1 dir=%s"}'
                % str(folder).encode()
            )
        check_well(program, cunei)
    assert list(folder.iterdir()) == []


def test_a_line_without_an_end_is_cut_off(cunei):
    with armed(cunei) as program:
        with Controller(program) as controller:
            with pytest.raises(CLOSED):
                while True:
                    controller.send(b"x" * LINE_MAX)
            while controller.answer() is not None:
                pass
        check_well(program, cunei)


def test_a_flood_leaves_the_others_their_turn(cunei):
    stop = threading.Event()

    def flood(controller):
        line = b'{"cunei":1,"do":"status"}\n' * 100
        try:
            while not stop.is_set():
                controller.send(line)
                for _ in range(100):
                    controller.answer()
        except (OSError, ValueError):
            pass

    with armed(cunei) as program:
        controllers = [Controller(program) for _ in range(3)]
        threads = [
            threading.Thread(target=flood, args=(controller,))
            for controller in controllers
        ]
        for thread in threads:
            thread.start()
        succeed(program, cunei, "--for", "50ms", "-o", "trace")
        check_well(program, cunei)
        stop.set()
        for thread in threads:
            thread.join()
        for controller in controllers:
            controller.close()


def test_a_controller_that_never_reads_is_given_up(cunei):
    line = b'{"cunei":1,"do":"status"}\n' * 1000
    with armed(cunei) as program:
        with Controller(program) as controller, pytest.raises(CLOSED):
            while True:
                controller.send(line)
        check_well(program, cunei)
        used = resident(program.pid)
    # Its answers do not pile up.
    assert used < 100 << 20


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_more_than_eight_connections_are_told_so(cunei):
    with armed(cunei) as program:
        controllers = [Controller(program) for _ in range(8)]
        for controller in controllers:
            assert controller.ask("status")["pid"] == program.pid
        done = control(program, cunei, "--status")
        for controller in controllers:
            controller.close()
        wait_for(
            lambda: control(program, cunei, "--status").returncode == 0,
            program.process,
        )

    assert done.returncode == 1
    assert "8 controllers are connected already" in done.stderr


def test_controllers_that_vanish_leave_nothing(cunei):
    with armed(cunei) as program:
        for i in range(50):
            with Controller(program) as controller:
                controller.send(b'{"cunei":1,"do":"status"}\n'[: i % 27])
        check_well(program, cunei)
        table = os.listdir(f"/proc/{program.pid}/task/{io_thread(program)}/fd")

    # /dev/null three times, what wakes it, the folder, the socket, one connection.
    assert len(table) <= 7


def io_thread(program):
    """The thread that has descriptors of its own."""
    folder = f"/proc/{program.pid}/task"
    for task in os.listdir(folder):
        for fd in os.listdir(f"{folder}/{task}/fd"):
            if "signalfd" in os.readlink(f"{folder}/{task}/fd/{fd}"):
                return task
    pytest.fail("there is no such thread")


def test_only_the_user_can_reach_the_socket(cunei):
    with armed(cunei) as program:
        path = socket_of(program)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


@needs_second_user
def test_another_user_is_refused_by_the_process(cunei):
    """Even where the folder and the socket let them pass."""
    with armed(cunei) as program:
        path = socket_of(program)
        short = f"/tmp/cunei-{program.pid}.socket"
        os.link(path, short)
        try:
            os.chmod(short, 0o777)
            done = subprocess.run(
                [
                    *SECOND_USER,
                    "/usr/bin/python3",
                    "-c",
                    "import socket, sys; s = socket.socket(socket.AF_UNIX); "
                    "s.connect(sys.argv[1]); "
                    's.sendall(b\'{"cunei":1,"do":"status"}\\n\'); '
                    "print(s.recv(99))",
                    short,
                ],
                capture_output=True,
                text=True,
                timeout=30,
            )
        finally:
            os.unlink(short)
        check_well(program, cunei)

    assert "pid" not in done.stdout
    assert done.stdout == "b''\n" or "Broken" in done.stderr or "reset" in done.stderr


@needs_second_user
def test_another_user_cannot_attach(cunei):
    os.chmod(cunei.folder, 0o777)
    with armed(cunei) as program:
        done = cunei.run(
            *SECOND_USER,
            cunei.executable,
            "attach",
            program.pid,
            "--status",
            cwd="/tmp",
        )
        check_well(program, cunei)

    if "Permission denied" in done.stderr and "setpriv" in done.stderr:
        pytest.skip("the other user cannot run the cunei that is tested")
    assert done.returncode == 1
    assert done.stderr.startswith("cunei: ") and done.stderr.count("\n") == 1


def test_a_socket_of_another_process_is_not_taken_for_it(cunei):
    """Something of the same user listens at the place of its socket."""
    with armed(cunei) as program:
        path = socket_of(program)
        path.unlink()
        folder = os.open(path.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{folder}/{path.name}")
            server.listen()
            done = control(program, cunei, "--status")
            server.setblocking(False)
            connection, _ = server.accept()
            with connection:
                # Nothing was said to it.
                assert connection.recv(100) == b""
        os.close(folder)

    assert done.returncode == 1 and "not attached" in done.stderr


def test_a_link_at_the_place_of_the_socket_is_not_followed(cunei):
    with armed(cunei) as program:
        path = socket_of(program)
        real = path.with_name("other")
        path.rename(real)
        path.symlink_to(real)
        linked = control(program, cunei, "--status")
        path.unlink()
        os.mkfifo(path)
        fifo = control(program, cunei, "--status")
        path.unlink()
        real.rename(path)
        check_well(program, cunei)

    assert linked.returncode == fifo.returncode == 1


@pytest.mark.parametrize(
    "answer, said",
    [
        ("b'hello\\n'", "has another version of cunei"),
        ("""b'{"cunei":2}\\n'""", "has another version of cunei"),
        ("b''", "has not answered for 0.3 s"),  # it is asked again
        ("b'x' * 300_000", "has another version of cunei"),
        (r"""b'{"cunei":1,"error":"\u001b[31mno\u001b[0m"}\n'""", "no"),
        ("None", "has not answered for 0.3 s"),
    ],
)
def test_a_hostile_process_harms_no_controller(cunei, answer, said):
    """It listens at its place as an armed one would, and answers what it likes."""
    source = """
import os, socket, sys
folder = os.path.join(os.environ["XDG_RUNTIME_DIR"], "cunei")
os.makedirs(folder, mode=0o700, exist_ok=True)
os.chdir(folder)
server = socket.socket(socket.AF_UNIX)
namespace = os.stat("/proc/self/ns/pid").st_ino
server.bind(f"{os.getpid()}-{namespace}.control")
server.listen()
print("ready", flush=True)
connection, _ = server.accept()
answer = eval(sys.stdin.readline())
if answer is not None:
    connection.recv(1000)
    try:
        connection.sendall(answer)
    except OSError:
        pass
    connection.close()
sys.stdin.readline()
"""
    script = cunei.write("hostile.py", source)
    variables = environment(cunei)
    with running([cunei.python, script], variables) as process:
        program = Program(process, variables)
        assert program.read() == "ready"
        program.begin(answer)
        done = control(program, cunei, "--status", "--timeout", "300ms")

    assert done.returncode == 1 and said in done.stderr
    assert "\x1b" not in done.stderr
