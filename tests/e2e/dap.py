# SPDX-License-Identifier: MIT
"""A client of the debug adapter protocol, as small as a test of debugpy needs."""

import itertools
import json
import os
import signal
import socket
import subprocess
import time

DEADLINE_S = 60


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Session:
    """A program under `python -m debugpy`, and the connection to its adapter."""

    def __init__(self, cunei, words, program):
        self.port = free_port()
        self.program = str(cunei.folder / program)
        self.numbers = itertools.count(1)
        self.events = []
        self.thread = None
        debugpy = ["-m", "debugpy", "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(
            [*words, *debugpy, "--wait-for-client", self.program],
            cwd=cunei.folder,
            env={**cunei.environment, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)

    def __enter__(self):
        try:
            self.connect()
            self.request("initialize", adapterID="test", pathFormat="path")
            self.send("attach", {"justMyCode": False})
            self.wait_for("initialized")
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, kind, *error):
        if kind:
            self.kill()
        # The adapter lives as long as it has a client, and holds on to the pipes.
        self.stream.close()
        self.socket.close()
        self.stdout, self.stderr = self.process.communicate(timeout=DEADLINE_S)
        self.returncode = self.process.returncode

    def connect(self):
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port))
            except ConnectionRefusedError:
                assert self.process.poll() is None, "it ended before it listened"
                assert time.monotonic() < deadline
            else:
                self.socket.settimeout(DEADLINE_S)
                self.stream = self.socket.makefile("rb")
                return

    def send(self, command, arguments):
        number = next(self.numbers)
        message = {"seq": number, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments}).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return number

    def receive(self):
        """The next message, or None at the end."""
        size = None
        while line := self.stream.readline():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            elif line == b"\r\n":
                return json.loads(self.stream.read(size))
        return None

    def request(self, command, **arguments):
        number = self.send(command, arguments)
        while message := self.receive():
            if message["type"] == "event":
                self.events.append(message)
            elif message.get("request_seq") == number:
                assert message["success"], message
                return message.get("body") or {}
        raise AssertionError(f"no answer to {command}")

    def wait_for(self, *names):
        """The next event of these, or None at the end."""
        while True:
            for message in self.events:
                if message["event"] in names:
                    self.events.remove(message)
                    return message
            message = self.receive()
            if message is None:
                return None
            if message["type"] == "event":
                self.events.append(message)

    def set_breakpoint(self, line, condition):
        found = self.request(
            "setBreakpoints",
            source={"path": self.program},
            breakpoints=[{"line": line, "condition": condition}],
        )
        assert found["breakpoints"][0]["verified"], found

    def begin(self):
        self.request("configurationDone")

    def wait_for_stop(self):
        """The frames of the thread that stopped; None: the program has ended."""
        event = self.wait_for("stopped", "terminated")
        if event is None or event["event"] == "terminated":
            return None
        self.thread = event["body"]["threadId"]
        return self.request("stackTrace", threadId=self.thread)["stackFrames"]

    def go_on(self):
        self.request("continue", threadId=self.thread)
