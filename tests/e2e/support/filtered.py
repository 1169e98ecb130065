# SPDX-License-Identifier: MIT
"""What a recording with patterns has recorded."""

import ctf


def recorded(cunei, *words, program=("app.py",), printed=""):
    done = cunei("record", "-q", "--force", "-o", "trace", *words, *program)
    assert (done.returncode, done.stderr) == (0, printed)
    return {
        f"{function.module}:{function.qualname}"
        for process in ctf.read(cunei.folder / "trace").processes
        for function in process.count(ctf.ENTER, ctf.RESUME)
    }
