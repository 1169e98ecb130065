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


def _patterns(
    include: "str | Sequence[str]", exclude: "str | Sequence[str]" = ()
) -> "list[tuple[bool, str]]":
    """Both lists as the probe wants them: in order, included ones first."""
    pairs: list[tuple[bool, str]] = []
    for wanted, texts in ((True, include), (False, exclude)):
        if isinstance(texts, str):
            texts = (texts,)
        pairs += ((wanted, text) for text in texts)
    return pairs


def start(
    directory: "str | os.PathLike[str]",
    *,
    include: "str | Sequence[str]" = (),
    exclude: "str | Sequence[str]" = (),
    max_size: "int | None" = None,
    c_calls: bool = False,
    args: "str | Sequence[str]" = (),
    return_: "str | Sequence[str]" = (),
    max_repr: int = 120,
    repr: "Literal['safe', 'full']" = "safe",
) -> None:
    """Record every call in this process, in all its threads, into ``directory``.

    The directory is made if it does not exist; each recording gets a folder of its own
    in it, and so does each child that is forked meanwhile, which is recorded, too.

    ``include`` and ``exclude`` are patterns as on the command line: modules,
    ``module:qualname``, files or ``re:`` expressions; where both match, ``exclude``
    decides.  Recording stops by itself when ``max_size`` bytes are written.

    With ``c_calls`` calls of C functions are recorded, too.  ``args`` and ``return_``
    are patterns for functions whose arguments, or results, are recorded as text of at
    most ``max_repr`` bytes; ``repr="full"`` calls the ``repr()`` of objects that are
    not of builtin types.
    """
    import os

    from cunei import _probe

    if max_size is not None and max_size <= 0:
        raise ValueError(f"max_size must be positive, not {max_size}")
    if max_repr not in _MAX_REPR:
        raise ValueError(f"max_repr must be from 8 to 4096, not {max_repr}")
    if repr not in ("safe", "full"):
        raise ValueError(f"repr must be 'safe' or 'full', not {repr!r}")
    path = os.path.abspath(os.fspath(directory))
    try:
        _probe.start(
            path,
            _patterns(include, exclude),
            max_size or 0,
            c_calls=c_calls,
            args=_patterns(args),
            results=_patterns(return_),
            max_repr=max_repr,
            full_repr=repr == "full",
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
        max_size: "int | None" = None,
        c_calls: bool = False,
        args: "str | Sequence[str]" = (),
        return_: "str | Sequence[str]" = (),
        max_repr: int = 120,
        repr: "Literal['safe', 'full']" = "safe",
    ) -> None:
        self._directory = directory
        self._options: dict[str, Any] = {
            "include": include,
            "exclude": exclude,
            "max_size": max_size,
            "c_calls": c_calls,
            "args": args,
            "return_": return_,
            "max_repr": max_repr,
            "repr": repr,
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
