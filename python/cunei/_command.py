# SPDX-License-Identifier: MIT
"""Run the executable ``cunei`` from Python, and format numbers as it does.

Another process reads the trace, so that reading is neither recorded nor slowed down.
(PYTEST_DONT_REWRITE)
"""

import json
import os
import subprocess

from cunei import Error
from cunei.__main__ import find_executable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
del TYPE_CHECKING

# These environment variables would record the reader, or page its output.
_NOT_PASSED = ("CUNEI_RECORD", "PAGER", "COLUMNS")


def ask(*words: str, width: int = 0, most: "int | None" = None) -> str:
    """The output of ``cunei WORDS``; ``cunei.Error`` with its message if it fails.

    OverflowError if the output has more than ``most`` bytes.
    """
    executable = find_executable()
    if executable is None:
        raise Error(
            "cannot find the executable 'cunei' of this package; reinstall cunei"
        )
    environment = {
        name: value for name, value in os.environ.items() if name not in _NOT_PASSED
    }
    environment["NO_COLOR"] = "1"
    if width > 0:
        environment["COLUMNS"] = str(width)
    try:
        child = subprocess.Popen(
            [executable, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
    except OSError as error:
        raise Error(f"cannot run {executable!r}: {error.strerror}") from None
    with child:
        if most is None:
            output, problem = child.communicate()
        else:
            assert child.stdout is not None and child.stderr is not None
            # An error message fits into the pipe's buffer.
            output = child.stdout.read(most + 1)
            if len(output) > most:
                child.kill()
                raise OverflowError
            problem = child.stderr.read()
    # For a damaged trace there is output besides an error message.
    if child.returncode != 0 and not output:
        sentence = problem.decode(errors="replace").strip()
        prefix = "cunei: "
        if sentence.startswith(prefix):
            sentence = sentence[len(prefix) :]
        raise Error(sentence or f"{executable!r} ended with {child.returncode}")
    return output.decode(errors="replace")


def report(directory: str, *words: str) -> "dict[str, Any]":
    """The JSON report of a trace."""
    facts: dict[str, Any] = json.loads(ask("report", "--json", *words, directory))
    return facts


def duration(ns: float) -> str:
    """Three digits and a unit, as in the tables of ``cunei report``."""
    number = float(ns)
    if number < 999.5:
        return f"{number:.0f} ns"
    for unit in ("µs", "ms", "s"):
        number /= 1000
        if number < 999.5 or unit == "s":
            break
    digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
    return f"{number:.{digits}f} {unit}"


def count(number: int) -> str:
    """In groups of three digits, as in the tables of ``cunei report``."""
    return f"{number:,}".replace(",", " ")


def several(number: int, what: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{count(number)} {what}{'' if number == 1 else 's'}"


def short_name(qualname: str) -> str:
    """``outer…inner`` for a function that is local to another; safe to print."""
    name = qualname.replace(".<locals>.", "…")
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in name)
