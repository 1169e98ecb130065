# SPDX-License-Identifier: MIT
"""The last part of a recording: what ``keep`` asks for, and snapshots of it.

(PYTEST_DONT_REWRITE)
"""

import contextlib
import os
import sys
import time

import cunei
from cunei import Error, _probe

_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_NS.update(min=60 * 10**9, h=3600 * 10**9)
_DIGITS = "0123456789."
_SIZE = 256 << 20
_SIZES = range(1 << 20, (1 << 36) + 1)


def duration_ns(name: str, value: "float | str") -> int:
    """A time as on the command line, ``"1.5s"``, or a number of seconds."""
    ns = 0.0
    if isinstance(value, str):
        number = value.rstrip("abcdefghijklmnopqrstuvwxyzµ")
        factor = _NS.get(value[len(number) :])
        if factor and number[:1] in _DIGITS and not number.strip(_DIGITS):
            with contextlib.suppress(ValueError):
                ns = float(number) * factor
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        ns = value * 1e9
    else:
        kind = type(value).__name__
        raise TypeError(f"{name} must be seconds or a str such as '10s', not {kind}")
    if not 1 <= ns < 2**63:
        sentence = f"{name} must be a time such as 10 or '10s', not {value!r}"
        raise ValueError(sentence)
    return int(ns + 0.5)


def _word(keep: "dict[str, int]", word: str) -> bool:
    """Whether it is a size, a time or ``memory``, and the first of its kind."""
    if word == "memory":
        name, value = "keep_memory", 1
    elif word[-1:] in "sn" or word[-1:] == "h":
        try:
            name, value = "keep_ns", duration_ns("keep", word)
        except ValueError:
            return False
    else:
        try:
            name, value = "keep", cunei._bytes(word)
        except ValueError:
            return False
        if value not in _SIZES:
            return False
    if name in keep:
        return False
    keep[name] = value
    return True


def parse(keep: str) -> "dict[str, int]":
    """What ``_probe.start`` needs to know of ``keep``."""
    if not isinstance(keep, str):
        kind = type(keep).__name__
        raise TypeError(f"keep must be a str such as '30s' or '256M', not {kind}")
    found: dict[str, int] = {}
    words = keep.split(",")
    if not all(_word(found, word) for word in words) or set(found) == {"keep_memory"}:
        sentence = "keep must be a time, a size from 1M to 64G, or both, such as"
        raise ValueError(f"{sentence} '30s,256M', not {keep!r}")
    found.setdefault("keep", _SIZE)
    return found


def _executable() -> str:
    """The executable of this package.

    Looking for it takes calls of Python functions, which are recorded, so the usual
    place comes first.
    """
    usual = os.path.join(os.path.dirname(sys.executable or "."), "cunei")
    if os.access(usual, os.X_OK):
        return usual
    from cunei.__main__ import find_executable

    found = find_executable()
    if found is None:
        raise Error(
            "cannot find the executable 'cunei' of this package; reinstall cunei"
        )
    return found


def _new_path(directory: str) -> str:
    """A name beside nothing else: one for each process and moment."""
    moment = time.strftime("%Y%m%d-%H%M%S")
    name = f"{os.path.basename(directory)}-snapshot-{os.getpid()}-{moment}"
    path, number = os.path.abspath(name), 0
    while os.path.lexists(path):
        number += 1
        path = os.path.abspath(f"{name}-{number}")
    return path


def snapshot(
    path: "str | os.PathLike[str] | None",
    after: "float | str | None",
    last: "float | str | None",
) -> str:
    recorded = _probe.directory()
    if recorded is None:
        raise Error("nothing is being recorded; record with cunei.start() first")
    directory = os.fsdecode(recorded)
    target = _new_path(directory) if path is None else os.path.abspath(os.fspath(path))
    words = [_executable(), "snapshot", "--quiet", "-o", target]
    if after is not None:
        words += ["--after", f"{duration_ns('after', after)}ns"]
    if last is not None:
        words += ["--last", f"{duration_ns('last', last)}ns"]
    try:
        output = _probe.run_hidden(
            [os.fsencode(word) for word in [*words, directory]], after is None
        )
    except OSError as error:
        raise Error(f"cannot run {words[0]!r}: {error.strerror}") from None
    if output:
        sentence = output.decode(errors="replace").strip()
        raise Error(
            sentence[len("cunei: ") :] if sentence[:7] == "cunei: " else sentence
        )
    return target
