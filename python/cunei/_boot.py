# SPDX-License-Identifier: MIT
"""``cunei.pth`` and ``cunei.start`` call this in every Python that starts.

It runs before the program's first line.  It does nothing unless CUNEI_RECORD says how
to record, or CUNEI_PORT where a controller waits ("cunei attach --port").  Errors never
reach the program; CUNEI_DEBUG=1 prints them.
"""

import os

# None before boot() ran, "" after the probe has started, otherwise the error.  The
# launcher reads it before it starts a program.
outcome: "str | None" = None


def boot() -> None:
    global outcome
    # A virtual environment may read its .pth files twice.
    if outcome is not None or not {"CUNEI_RECORD", "CUNEI_PORT"} & os.environ.keys():
        return
    outcome = ""
    try:
        # Import all of it, so that no import by the program is recorded later.
        import cunei
        from cunei import _probe

        cunei._load()
        _probe.boot()
    except KeyboardInterrupt:
        # Nothing of the program has run: it may be waiting for its controller.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:
        outcome = f"{type(error).__name__}: {error}"
        if os.environ.get("CUNEI_DEBUG") == "1":
            # sys.stderr may not exist yet, or may be replaced.
            line = f"cunei: not recording: {outcome}\n"
            os.write(2, line.encode(errors="backslashreplace"))
