# SPDX-License-Identifier: MIT
"""Record every call of a Python program.

Most people never import this: ``cunei run app.py`` records a whole program.  To record
part of one::

    import cunei

    with cunei.recording("trace"):
        work()

then ``cunei report trace``.  Importing starts nothing and costs nothing: what records
is loaded when recording starts.
"""

# No `from __future__ import annotations`: the program would find __future__ imported.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any, Literal

    __version__: str
del TYPE_CHECKING

__all__ = [
    "Error",
    "__version__",
    "is_recording",
    "recording",
    "start",
    "stop",
]


class Error(Exception):
    """What could not be done, in a sentence."""


# Beyond this a value's text does not fit in an event, below it is none.
_MAX_REPR = range(8, 4097)

_INSTRUMENTERS = ("monitoring", "profile", "trace", "frame", "none")

_MAX_BYTES = 2**63 - 1
_UNITS = {
    unit + byte: 1024**power
    for power, unit in enumerate(["", *"KMGT"])
    for byte in (("", "B", "IB") if unit else ("", "B"))
}
_DIGITS = "0123456789."


def _patterns(
    name: str, texts: "str | Sequence[str]", wanted: bool = True
) -> "list[tuple[bool, str]]":
    """The patterns of one argument as the probe wants them."""
    if isinstance(texts, str):
        texts = (texts,)
    elif isinstance(texts, bytes) or not hasattr(texts, "__iter__"):
        kind = type(texts).__name__
        raise TypeError(f"{name} must be a pattern or a list of them, not {kind}")
    pairs = []
    for text in texts:
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"a pattern of {name} must be a text, not {kind}")
        if not text:
            raise ValueError(f"{name} wants a pattern that is not empty")
        pairs.append((wanted, text))
    return pairs


def _bytes(size: "int | str") -> int:
    """A size as on the command line: a number of bytes, or one with a unit."""
    if isinstance(size, str):
        number = size.rstrip("BIKMGTbikmgt")
        factor = _UNITS.get(size[len(number) :].upper())
        try:
            # float() takes more than the command line does.
            if (
                not factor
                or number[:1] not in _DIGITS
                or number.strip("Ee+-" + _DIGITS)
            ):
                raise ValueError
            count = int(float(number) * factor + 0.5)
        except (OverflowError, ValueError):
            sentence = f"max_size must be a size such as '500M' or '2G', not {size!r}"
            raise ValueError(sentence) from None
    elif hasattr(size, "__index__"):
        count = size.__index__()
    else:
        name = type(size).__name__
        raise TypeError(f"max_size must be an int or a text such as '2G', not {name}")
    if count <= 0:
        raise ValueError(f"max_size must be positive, not {size}")
    return min(count, _MAX_BYTES)


def start(
    directory: "str | os.PathLike[str]",
    *,
    include: "str | Sequence[str]" = (),
    exclude: "str | Sequence[str]" = (),
    children: bool = True,
    max_size: "int | str | None" = None,
    c_calls: bool = False,
    args: "str | Sequence[str]" = (),
    return_: "str | Sequence[str]" = (),
    max_repr: int = 120,
    repr: "Literal['safe', 'full']" = "safe",
    lines: "str | Sequence[str]" = (),
    instrumenter: "str | None" = None,
) -> None:
    """Record every call in this process, in all its threads, into ``directory``.

    The directory is made if it does not exist; each recording gets a folder of its own
    in it, and so does each child that is forked meanwhile, which is recorded, too,
    unless ``children`` is false.

    ``include`` and ``exclude`` are patterns as on the command line: modules,
    ``module:qualname``, files or ``re:`` expressions; where both match, ``exclude``
    decides.  Recording stops by itself when ``max_size`` bytes are written, which may
    be a text such as ``"500M"``.

    With ``c_calls`` calls of C functions are recorded, too.  ``args`` and ``return_``
    are patterns for functions whose arguments, or results, are recorded as text of at
    most ``max_repr`` bytes; ``repr="full"`` calls the ``repr()`` of objects that are
    not of builtin types.

    ``lines`` are patterns for functions whose lines are recorded, each with how often
    it ran and how long that took; these functions are recorded whatever ``include``
    and ``exclude`` say.

    ``instrumenter`` is what tells of the calls: ``"monitoring"``, ``"profile"``,
    ``"trace"``, ``"frame"`` or ``"none"``, which records no calls; without it, the
    best that this Python has.
    """
    import os

    from cunei import _probe

    max_bytes = 0 if max_size is None else _bytes(max_size)
    if max_repr not in _MAX_REPR:
        raise ValueError(f"max_repr must be from 8 to 4096, not {max_repr}")
    if repr not in ("safe", "full"):
        raise ValueError(f"repr must be 'safe' or 'full', not {repr!r}")
    if instrumenter is not None and instrumenter not in _INSTRUMENTERS:
        wanted = ", ".join(f"'{name}'" for name in _INSTRUMENTERS)
        raise ValueError(f"instrumenter must be one of {wanted}, not {instrumenter!r}")
    path = os.fspath(directory)
    if not path:
        raise ValueError("directory must not be empty")
    path = os.path.abspath(path)
    try:
        _probe.start(
            path,
            _patterns("include", include) + _patterns("exclude", exclude, False),
            max_bytes,
            children=children,
            c_calls=c_calls,
            args=_patterns("args", args),
            results=_patterns("return_", return_),
            max_repr=max_repr,
            full_repr=repr == "full",
            lines=_patterns("lines", lines),
            instrumenter=instrumenter,
        )
    except (OSError, RuntimeError) as error:
        raise Error(str(error)) from None


def stop() -> None:
    """End the recording; without one there is nothing to do."""
    import sys

    # An import statement would call functions that do not belong to the program.
    probe = sys.modules.get("cunei._probe")
    if probe is not None:
        probe.stop()


def is_recording() -> bool:
    """Whether this process is being recorded, by ``start`` or by the launcher."""
    import sys

    probe = sys.modules.get("cunei._probe")
    return probe is not None and probe.is_recording()


class recording:
    """Record what happens inside a ``with`` block; arguments as for ``start``."""

    def __init__(
        self,
        directory: "str | os.PathLike[str]",
        *,
        include: "str | Sequence[str]" = (),
        exclude: "str | Sequence[str]" = (),
        children: bool = True,
        max_size: "int | str | None" = None,
        c_calls: bool = False,
        args: "str | Sequence[str]" = (),
        return_: "str | Sequence[str]" = (),
        max_repr: int = 120,
        repr: "Literal['safe', 'full']" = "safe",
        lines: "str | Sequence[str]" = (),
        instrumenter: "str | None" = None,
    ) -> None:
        self._directory = directory
        self._options: dict[str, Any] = {
            "include": include,
            "exclude": exclude,
            "children": children,
            "max_size": max_size,
            "c_calls": c_calls,
            "args": args,
            "return_": return_,
            "max_repr": max_repr,
            "repr": repr,
            "lines": lines,
            "instrumenter": instrumenter,
        }

    def __enter__(self) -> "recording":
        start(self._directory, **self._options)
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        traceback: "TracebackType | None",
    ) -> None:
        stop()


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cunei._version import version

    globals()["__version__"] = version
    return version
