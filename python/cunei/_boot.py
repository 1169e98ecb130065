# SPDX-License-Identifier: MIT
"""What ``cunei.pth`` and ``cunei.start`` call in every Python that starts.

It runs inside somebody else's program before its first line: without CUNEI_RECORD it
does nothing, and whatever goes wrong, the program never learns of it.  CUNEI_DEBUG=1
says what went wrong.
"""

import os

# What became of it: None before boot() did anything, "" where the probe took it up,
# else why it did not.  The launcher asks for it before it starts a program.
outcome: "str | None" = None


def boot() -> None:
    global outcome
    # A virtual environment may read its .pth files twice.
    if outcome is not None or "CUNEI_RECORD" not in os.environ:
        return
    outcome = ""
    try:
        # All, so that a program that asks for it imports nothing while it is recorded.
        import cunei
        from cunei import _probe

        cunei._load()
        _probe.boot()
    except BaseException as error:
        outcome = f"{type(error).__name__}: {error}"
        if os.environ.get("CUNEI_DEBUG") == "1":
            # sys.stderr need not exist this early, nor be what it seems.
            line = f"cunei: not recording: {outcome}\n"
            os.write(2, line.encode(errors="backslashreplace"))
