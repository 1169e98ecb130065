# SPDX-License-Identifier: MIT
"""A client of the debug adapter protocol, as small as a test of debugpy needs."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading

DEADLINE_S = 60
SESSION_S = 180  # then it is killed, which ends all waiting


class Session:
    """An adapter that is talked to over its pipes, and a program that connects to it.

    The adapter comes first, and waits for the program however long that takes: one that
    the program starts itself gives up where the machine is busy.
    """

    def __init__(self, cunei, words, program):
        self.program = str(cunei.folder / program)
        self.numbers = itertools.count(1)
        self.events = []
        self.thread = None
        self.words = words
        self.process = None
        self.options = {
            "cwd": cunei.folder,
            "env": {**cunei.environment, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
            "start_new_session": True,
        }
        self.adapter = subprocess.Popen(
            [cunei.python, "-m", "debugpy.adapter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **self.options,
        )
        self.watch = threading.Timer(SESSION_S, self.kill)
        self.watch.start()

    def start(self, host, port):
        debugpy = ["-m", "debugpy", "--connect", f"{host}:{port}"]
        self.process = subprocess.Popen(
            [*self.words, *debugpy, "--wait-for-client", self.program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **self.options,
        )

    def kill(self):
        for process in filter(None, (self.adapter, self.process)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def __enter__(self):
        try:
            self.request("initialize", adapterID="test", pathFormat="path")
            listen = {"host": "127.0.0.1", "port": 0}
            self.send("attach", {"justMyCode": False, "listen": listen})
            self.start(**self.wait_for("debugpyWaitingForServer")["body"])
            assert self.wait_for("initialized"), "the adapter has ended"
        except BaseException:
            self.watch.cancel()
            self.kill()
            raise
        return self

    def __exit__(self, kind, *error):
        if kind:
            self.kill()
        self.stdout, self.stderr = self.process.communicate(timeout=DEADLINE_S)
        self.returncode = self.process.returncode
        self.watch.cancel()
        with self.adapter:
            self.adapter.stdin.close()
            self.adapter.wait(timeout=DEADLINE_S)

    def send(self, command, arguments):
        number = next(self.numbers)
        message = {"seq": number, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments}).encode()
        self.adapter.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.adapter.stdin.flush()
        return number

    def receive(self):
        """The next message, or None at the end."""
        size = None
        while line := self.adapter.stdout.readline():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            elif line == b"\r\n":
                return json.loads(self.adapter.stdout.read(size))
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
