# SPDX-License-Identifier: MIT
"""Record every call of a Python program.

``cunei run app.py`` records a whole program, without an import.  To record part of a
program::

    import cunei

    with cunei.recording("trace"):
        work()

then ``cunei report trace``.  Importing this module starts nothing: the extension module
is loaded when recording starts.  (PYTEST_DONT_REWRITE: a recorded program imports this
module before pytest, which would warn that it cannot rewrite its assertions.)
"""

# No `from __future__ import annotations`: the program would find __future__ imported.
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any, Callable, Literal, Protocol, TypeVar, overload

    from cunei._probe import (
        counter,
        disable,
        enable,
        mark,
        metadata,
        parameter,
        region,
        region_begin,
        region_end,
        tokens,
    )
    from cunei._streamer import TokenStreamer
    from cunei._switch import include, instrument

    Function = TypeVar("Function", bound=Callable[..., Any])

    class _Exclude(Protocol):
        @overload
        def __call__(self, *patterns: str) -> None: ...
        @overload
        def __call__(self, function: Function, /) -> Function: ...
        @overload
        def __call__(self, *things: Any) -> Any: ...

    exclude: _Exclude
    __version__: str

__all__ = [
    "Error",
    "TokenStreamer",
    "__version__",
    "arm",
    "counter",
    "disable",
    "disarm",
    "enable",
    "exclude",
    "include",
    "instrument",
    "is_recording",
    "mark",
    "metadata",
    "parameter",
    "record",
    "recording",
    "region",
    "region_begin",
    "region_end",
    "snapshot",
    "start",
    "stop",
    "tokens",
]

# The functions that a program calls.  Most are written in C; all of them are loaded
# when the program asks for the first one.
_OF_PROBE = (
    "counter",
    "disable",
    "enable",
    "is_recording",
    "mark",
    "metadata",
    "parameter",
    "region",
    "region_begin",
    "region_end",
    "tokens",
)
_OF_SWITCH = ("exclude", "include", "instrument")


class Error(Exception):
    """A recording or report failed; the message says why."""


# A longer text does not fit in an event, a shorter one shows nothing.
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
    """The patterns of one argument, in the form that the probe needs."""
    from cunei import _switch

    if isinstance(texts, str):
        texts = (texts,)
    elif isinstance(texts, bytes) or not hasattr(texts, "__iter__"):
        kind = type(texts).__name__
        raise TypeError(f"{name} must be a pattern or a list of patterns, not {kind}")
    pairs = []
    for text in texts:
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"a pattern in {name} must be a str, not {kind}")
        if not text:
            raise ValueError(f"{name} must not contain an empty pattern")
        _switch._check_text(text)
        pairs.append((wanted, text))
    return pairs


def _paths(
    paths: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]",
) -> "list[str]":
    """The files of the argument ``filter``."""
    import os

    if isinstance(paths, str) or hasattr(paths, "__fspath__"):
        return [os.fspath(paths)]
    if isinstance(paths, bytes) or not hasattr(paths, "__iter__"):
        kind = type(paths).__name__
        raise TypeError(f"filter must be a path or a list of paths, not {kind}")
    return [os.fspath(path) for path in paths]


def _project() -> "list[tuple[bool, str]]":
    """The patterns of ``only_project``, as the launcher makes them."""
    import os

    markers = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None)
    spec = getattr(main, "__spec__", None)
    # For a module or a command it is the project of the current directory.  `python
    # DIRECTORY` has a __spec__ as well.
    is_module = spec is not None and spec.name != "__main__"
    own = os.path.dirname(os.path.realpath(script)) if script else ""
    if is_module or os.path.basename(os.path.dirname(script or "")) == "bin":
        own = ""
    start = root = own or os.path.realpath(os.getcwd())
    while not any(os.path.exists(os.path.join(root, name)) for name in markers):
        if root == os.path.dirname(root):
            root = start
            break
        root = os.path.dirname(root)
    folders = [root]
    # The cells of a notebook are files in a directory of the kernel.
    kernel = sys.modules.get("ipykernel.compiler")
    if kernel is not None:
        folders.append(os.path.realpath(kernel.get_tmp_directory()))
    return [(True, "in-project:" + folder) for folder in folders]


def _asked_before(
    pairs: "list[tuple[bool, str]]", selects: bool
) -> "list[tuple[bool, str]]":
    """The patterns, followed by those given to ``include`` and ``exclude`` before."""
    from cunei import _switch

    for text, wanted in list(_switch._asked.items()):
        # Where everything is recorded, an include has no effect.
        if pairs or selects or not wanted:
            pairs.append((wanted, text))
    return pairs


def _bytes(size: "int | str") -> int:
    """A size as on the command line: a number of bytes, or one with a unit."""
    if isinstance(size, str):
        number = size.rstrip("BIKMGTbikmgt")
        factor = _UNITS.get(size[len(number) :].upper())
        try:
            # float() accepts more than the command line does.
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
    elif hasattr(size, "__index__") and not isinstance(size, bool):
        count = size.__index__()
    else:
        name = type(size).__name__
        raise TypeError(f"max_size must be an int or a str such as '2G', not {name}")
    if count <= 0:
        raise ValueError(f"max_size must be positive, not {size}")
    return min(count, _MAX_BYTES)


def _millionths(budget: "float | str") -> int:
    """A budget in percent: a number, or a str such as "5%"."""
    text = budget[:-1] if isinstance(budget, str) and budget[-1:] == "%" else budget
    try:
        percent = 0.0 if isinstance(budget, bool) else float(text)
    except (TypeError, ValueError):
        percent = 0.0
    if not 0.1 <= percent <= 100:
        sentence = "budget must be a percentage from 0.1 to 100, such as 5 or '5%',"
        raise ValueError(f"{sentence} not {budget!r}")
    return round(percent * 10_000)


def start(
    directory: "str | os.PathLike[str]",
    *,
    include: "str | Sequence[str]" = (),
    exclude: "str | Sequence[str]" = (),
    filter: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]" = (),
    only_project: bool = False,
    children: bool = True,
    max_size: "int | str | None" = None,
    c_calls: bool = False,
    args: "str | Sequence[str]" = (),
    return_: "str | Sequence[str]" = (),
    max_repr: int = 120,
    repr: "Literal['safe', 'full']" = "safe",
    lines: "str | Sequence[str]" = (),
    instrumenter: "str | None" = None,
    budget: "float | str | None" = None,
    keep: "str | None" = None,
) -> None:
    """Record every call in this process, in all its threads, to ``directory``.

    The directory is created if it does not exist.  Each recording gets its own folder
    in it.  Child processes that are forked meanwhile are recorded to folders of their
    own, unless ``children`` is false.

    ``include`` and ``exclude`` are patterns as on the command line: modules,
    ``module:qualname``, files or ``re:`` expressions; where both match, ``exclude``
    decides.  ``filter`` is a file of such patterns, as for ``--filter``, or a list of
    files; its patterns are applied before the others.  ``only_project`` records the
    functions of the project of the main script, or of the current directory, and what
    ``include`` adds.  Recording stops when the trace has ``max_size`` bytes: a number,
    or a str such as ``"500M"``.

    ``c_calls`` also records calls of C functions.  ``args`` and ``return_`` are
    patterns: the arguments, or the return values, of matching functions are recorded
    as text of at most ``max_repr`` bytes.  ``repr="full"`` calls the ``repr()`` of
    objects that are not of builtin types.

    ``lines`` are patterns: for each line of matching functions that are recorded, how
    often it ran and how long it took.

    ``instrumenter`` is the CPython hook to use: ``"monitoring"``, ``"profile"``,
    ``"trace"``, ``"frame"`` or ``"none"``, which records no calls.  The default is
    ``"monitoring"``, or ``"frame"`` before Python 3.12.

    ``budget`` limits the cost of recording, in percent of the run time, for example
    ``5`` or ``"5%"``: very frequent tiny functions are recorded in short samples only,
    and their calls and times are estimated from these.

    ``keep`` keeps only the last part of the recording, in a ring of constant size per
    process: a time such as ``"30s"``, in 256 MiB, a size such as ``"64M"``, or both:
    ``"30s,1G"``.  ``"30s,memory"`` puts the ring in memory.  See ``snapshot``.
    """
    import os

    from cunei import _probe

    _load()
    max_bytes = 0 if max_size is None else _bytes(max_size)
    kept = {}
    if keep is not None:
        from cunei import _keep

        kept = _keep.parse(keep)
        if max_size is not None:
            raise ValueError("keep cannot be used with max_size; use only one of them")
    flags = (
        ("only_project", only_project),
        ("children", children),
        ("c_calls", c_calls),
    )
    for name, flag in flags:
        if flag not in (True, False):
            raise TypeError(f"{name} must be True or False, not {flag!r}")
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
            _asked_before(
                _patterns("include", include) + _patterns("exclude", exclude, False),
                bool(filter or only_project),
            ),
            max_bytes,
            children=children,
            c_calls=c_calls,
            args=_patterns("args", args),
            results=_patterns("return_", return_),
            max_repr=max_repr,
            full_repr=repr == "full",
            lines=_patterns("lines", lines),
            instrumenter=instrumenter,
            budget=0 if budget is None else _millionths(budget),
            filters=_paths(filter),
            project=_project() if only_project else [],
            **kept,  # type: ignore[arg-type]
        )
    except (OSError, RuntimeError) as error:
        raise Error(str(error)) from None


def stop() -> None:
    """End the recording; does nothing where there is none."""
    # An import statement would record calls that do not belong to the program.
    probe = sys.modules.get("cunei._probe")
    if probe is not None:
        probe.stop()


def snapshot(
    path: "str | os.PathLike[str] | None" = None,
    *,
    after: "float | str | None" = None,
    last: "float | str | None" = None,
) -> str:
    """Copy what was recorded up to now to the directory ``path``, and return its path.

    It is a trace of its own, of all processes of the recording, which continues.  The
    command ``cunei snapshot`` makes it, in a process that this program's ``wait`` does
    not see.  Without ``path`` it is a new directory in the current one.

    ``last`` copies only the last seconds: a number, or a str such as ``"10s"``.
    ``after`` makes the snapshot after this time, and returns at once; without it the
    snapshot is complete when this function returns.
    """
    from cunei import _keep

    return _keep.snapshot(path, after, last)


def arm() -> None:
    """Let ``cunei attach`` record this process, and those that it forks.

    Two threads that are not Python's sleep until a controller of the same user, or of
    root, connects to the socket of this process.  They cost nothing until then.
    """
    _load()
    try:
        sys.modules["cunei._probe"].arm("cunei.arm()")
    except (OSError, RuntimeError) as error:
        raise Error(str(error)) from None


def disarm() -> None:
    """Take no more requests; a recording that ``cunei attach`` has started ends."""
    probe = sys.modules.get("cunei._probe")
    if probe is not None:
        probe.disarm()


def is_recording() -> bool:
    """Whether this process is being recorded, by ``start`` or by the launcher."""
    probe = sys.modules.get("cunei._probe")
    return probe is not None and probe.is_recording()


def _is_taken() -> bool:
    """Whether there is a recording, even one that has run out of space."""
    probe = sys.modules.get("cunei._probe")
    return probe is not None and probe.is_taken()


class recording:
    """Record what happens inside a ``with`` block; arguments as for ``start``.

    If this process is already being recorded, by the launcher or by an outer block,
    that recording continues, and this block is a region in it.
    """

    def __init__(
        self,
        directory: "str | os.PathLike[str]",
        *,
        include: "str | Sequence[str]" = (),
        exclude: "str | Sequence[str]" = (),
        filter: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]" = (),
        only_project: bool = False,
        children: bool = True,
        max_size: "int | str | None" = None,
        c_calls: bool = False,
        args: "str | Sequence[str]" = (),
        return_: "str | Sequence[str]" = (),
        max_repr: int = 120,
        repr: "Literal['safe', 'full']" = "safe",
        lines: "str | Sequence[str]" = (),
        instrumenter: "str | None" = None,
        budget: "float | str | None" = None,
        keep: "str | None" = None,
    ) -> None:
        self._directory = directory
        # For each open block: its region in the outer recording, or None.
        self._regions: list[Any] = []
        self._options: dict[str, Any] = {
            "include": include,
            "exclude": exclude,
            "filter": filter,
            "only_project": only_project,
            "children": children,
            "max_size": max_size,
            "c_calls": c_calls,
            "args": args,
            "return_": return_,
            "max_repr": max_repr,
            "repr": repr,
            "lines": lines,
            "instrumenter": instrumenter,
            "budget": budget,
            "keep": keep,
        }

    def __enter__(self) -> "recording":
        if not _is_taken():
            try:
                start(self._directory, **self._options)
            except Error:
                if not _is_taken():  # by another thread meanwhile
                    raise
            else:
                self._regions.append(None)
                return self
        import os

        name = f"record {os.fspath(self._directory)}"
        region = sys.modules["cunei._probe"].region(name)
        self._regions.append(region)
        region.__enter__()
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        traceback: "TracebackType | None",
    ) -> None:
        region = self._regions.pop()
        if region is None:
            stop()
        else:
            region.__exit__(kind, error, traceback)


record = recording


def load_ipython_extension(shell: "Any") -> None:
    """``%load_ext cunei``: add ``%%cunei`` and ``%cunei_report`` to IPython."""
    from cunei import _ipython

    _ipython.load(shell)


def unload_ipython_extension(shell: "Any") -> None:
    from cunei import _ipython

    _ipython.unload(shell)


def _load() -> None:
    """Load the names that are loaded on first use."""
    names = globals()
    if "__getattr__" not in names:
        return
    from cunei import _probe, _switch

    for name in _OF_PROBE:
        names[name] = getattr(_probe, name)
    for name in _OF_SWITCH:
        names[name] = getattr(_switch, name)
    from cunei import _streamer

    names["TokenStreamer"] = _streamer.TokenStreamer
    names["__version__"] = _probe.__version__
    # Before 3.14, a module with a __getattr__ has attributes that are 30 ns slower.
    names.pop("__getattr__", None)


# With a __getattr__, type checkers accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> "Any":
        if name == "__version__":
            from cunei._version import version

            globals()[name] = version
            return version
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        _load()
        return globals()[name]


def __dir__() -> "list[str]":
    return sorted(__all__)


del TYPE_CHECKING
