# SPDX-License-Identifier: MIT
"""Another user of the machine connects to the launcher's socket."""

import contextlib
import errno
import multiprocessing
import os
import pathlib
import socket
import struct
import subprocess
import time

import pytest
from proof import wait_for

ANOTHER_USER = 65534

needs_second_user = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become a second user"
)

PROGRAM = """
import pathlib, time
deadline = time.monotonic() + 60
while not pathlib.Path("attacked").exists() and time.monotonic() < deadline:
    pass
"""


def socket_names(pid):
    """The names of a process's sockets in the abstract namespace."""
    folder = pathlib.Path(f"/proc/{pid}/fd")
    inodes = {os.readlink(each)[len("socket:[") : -1] for each in folder.iterdir()}
    rows = pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]
    words = [row.split() for row in rows]
    return [each[7][1:] for each in words if len(each) > 7 and each[6] in inodes]


def connect(name):
    """500 connections: silent, cut short, and with a guess where the secret is."""
    connections = []
    for i in range(500):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect("\0" + name)
        message = struct.pack("=qq", i, errno.ENOSPC)
        connection.send(message[: (0, 4, len(message))[i % 3]])
        connections.append(connection)
    return connections


@contextlib.contextmanager
def attacked_by_another_user(name):
    """Its connections stay open meanwhile.

    The interpreter that runs the tests may lie where that user cannot execute it.
    """
    connected, end = multiprocessing.Event(), multiprocessing.Event()

    def attack():
        os.setgroups([])
        os.setgid(ANOTHER_USER)
        os.setuid(ANOTHER_USER)
        connections = connect(name)
        connected.set()
        end.wait(60)
        del connections

    attacker = multiprocessing.get_context("fork").Process(target=attack)
    attacker.start()
    assert connected.wait(60)
    yield
    end.set()
    attacker.join(60)
    assert attacker.exitcode == 0


@pytest.mark.core
@needs_second_user
def test_another_user_neither_delays_the_end_nor_adds_messages(cunei):
    cunei.write("app.py", PROGRAM)
    launcher = cunei.start(
        "record", "-o", "trace", "app.py", stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: list(cunei.folder.glob("trace/*-*-*")), launcher)
    [name] = socket_names(launcher.pid)
    with attacked_by_another_user(name):
        (cunei.folder / "attacked").touch()
        begin = time.monotonic()
        printed = launcher.communicate(timeout=60)[1]
        took_s = time.monotonic() - begin

    assert launcher.returncode == 0
    assert "could not" not in printed
    assert took_s < 10  # half a second of it to wait; it was 100 ms a connection
