# SPDX-License-Identifier: MIT
"""A program that switches and chooses what of it is recorded, while it runs."""

import ctf

HEAD = """\
import cunei

def a(): pass
def b(): pass
def generate():
    yield 1
    yield 2

def work():
    a()
    b()

"""

MONITORING = """\
import sys
for tool in {taken!r}:
    sys.monitoring.use_tool_id(int(tool), "other")
"""


def run(cunei, source, taken="", words=()):
    head = MONITORING.format(taken=taken) if taken else ""
    cunei.write("app.py", head + HEAD + source)
    if words:
        done = cunei("record", "-q", "-o", "trace", *words, "app.py")
    else:
        done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return ctf.read(cunei.folder / "trace")
