# SPDX-License-Identifier: MIT
"""A headless Chromium, controlled with its DevTools protocol over two pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

TIMEOUT_S = 60
EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "chromium is not installed"


class Browser:
    """One window; `requests` is what it asked for, `errors` what went wrong."""

    def __init__(self, folder, width=1400, height=900):
        self.requests, self.errors = [], []
        self.count, self.buffer, self.session = 0, b"", None
        commands_read, self.commands = os.pipe()
        self.replies, replies_write = os.pipe()

        def arrange():
            # Chromium reads commands from 3 and writes replies to 4.
            safe = [os.dup(commands_read), os.dup(replies_write)]
            for number, descriptor in zip((3, 4), safe):
                os.dup2(descriptor, number)

        self.process = subprocess.Popen(
            [
                EXECUTABLE,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-unsafe-swiftshader",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                f"--window-size={width},{height}",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=arrange,
        )
        os.close(commands_read)
        os.close(replies_write)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.replies)

    def resize(self, width, height):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def send(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        wanted = self.count
        reply = self.receive(lambda received: received.get("id") == wanted)
        assert "error" not in reply, (method, reply["error"])
        return reply["result"]

    def receive(self, is_wanted):
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            text, found, rest = self.buffer.partition(b"\0")
            if found:
                self.buffer = rest
                received = json.loads(text)
                self.note(received)
                if is_wanted(received):
                    return received
                continue
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.replies], [], [], max(left, 0))
            assert ready, "the browser does not answer"
            more = os.read(self.replies, 1 << 16)
            assert more, "the browser has ended"
            self.buffer += more

    def note(self, received):
        method, parameters = received.get("method"), received.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])

    def open(self, path):
        self.send("Page.navigate", url=path if "://" in str(path) else path.as_uri())
        self.receive(lambda received: received.get("method") == "Page.loadEventFired")

    def run(self, script):
        """The value of an expression, or of what it promises."""
        done = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait(self, condition):
        """Wait until an expression is true, and return what it is."""
        return self.run(
            "new Promise((done) => { const look = () => {"
            f" const found = {condition};"
            " if (found) done(found); else setTimeout(look, 20); }; look(); })"
        )

    def settle(self):
        """Wait until what was asked for is drawn, and moves no more."""
        self.run(
            "new Promise((done) => { let last = null; const look = () => {"
            " const now = JSON.stringify([flame.from, flame.until]);"
            " if (now === last && !isWaiting) done(); else { last = now;"
            " requestAnimationFrame(() => requestAnimationFrame(look)); } }; look(); })"
        )

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.mouse(kind, x, y, **button)
        self.settle()

    def picture(self, path):
        shot = self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))
