# SPDX-License-Identifier: MIT
"""An application for gunicorn, with a slow function."""

from pathlib import Path


def add_up(order):
    total = 0
    for i in range(100_000):
        total += i * order % 7
    return total


def app(environ, start_response):
    body = str(add_up(len(environ["PATH_INFO"]))).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def when_ready(server):
    Path("port").write_text(str(server.LISTENERS[0].getsockname()[1]))
