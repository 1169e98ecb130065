# SPDX-License-Identifier: MIT
"""A FastAPI server with a slow view."""

import socket
from pathlib import Path

import uvicorn
from fastapi import FastAPI

app = FastAPI()


def add_up(order):
    total = 0
    for i in range(100_000):
        total += i * order % 7
    return total


@app.get("/orders/{order}")
async def show(order: int):
    return {"order": order, "total": add_up(order)}


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    Path("port").write_text(str(listener.getsockname()[1]))
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listener])
