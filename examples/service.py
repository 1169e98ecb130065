"""A little service that becomes slower and slower, to be watched with `cunei top`.

It ends after so many seconds, if it is given a number: service.py 10
"""

import contextlib
import json
import random
import sys
import threading
import time


class Sessions:
    """Who is logged in: a list that only grows, and is searched from its begin."""

    def __init__(self):
        self.users = []

    def find(self, name):
        return next((user for user in self.users if same(user, name)), None)

    def enter(self, name):
        if self.find(name) is None:
            self.users.append(name)


def same(one, other):
    return one == other


def parse(text):
    return json.loads(text)


def render(user):
    return json.dumps({"hello": user, "at": time.time()})


def handle(sessions, text):
    request = parse(text)
    sessions.enter(request["user"])
    if request["user"].endswith("13"):
        raise PermissionError(request["user"])
    return render(request["user"])


def serve(sessions, until):
    while time.monotonic() < until:
        user = f"user{random.randrange(100000)}"
        with contextlib.suppress(PermissionError):
            handle(sessions, json.dumps({"user": user}))


def tick(stopped):
    while not stopped.wait(0.5):
        pass


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1e9
    stopped = threading.Event()
    threading.Thread(target=tick, args=(stopped,), name="ticker").start()
    print("serving", flush=True)
    try:
        serve(Sessions(), time.monotonic() + seconds)
    finally:
        stopped.set()


if __name__ == "__main__":
    main()
