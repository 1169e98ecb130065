# SPDX-License-Identifier: MIT
"""A Flask server with a slow view."""

from pathlib import Path

from flask import Flask, jsonify
from werkzeug.serving import make_server

app = Flask(__name__)


def add_up(order):
    total = 0
    for i in range(100_000):
        total += i * order % 7
    return total


@app.route("/orders/<int:order>")
def show(order):
    return jsonify(order=order, total=add_up(order))


server = make_server("127.0.0.1", 0, app, threaded=True)
Path("port").write_text(str(server.port))
try:
    server.serve_forever()
except KeyboardInterrupt:
    server.server_close()
