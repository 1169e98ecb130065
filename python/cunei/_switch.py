# SPDX-License-Identifier: MIT
"""Functions that change the current recording; ``cunei`` exports them."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    from cunei._probe import Switched

    Anything = TypeVar("Anything")
    Function = TypeVar("Function", bound=Callable[..., Any])
del TYPE_CHECKING

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200  # of co_flags

# The attributes that functools.wraps copies, without importing functools.
_NAMES = (
    "__module__",
    "__name__",
    "__qualname__",
    "__doc__",
    "__type_params__",
    "__annotate__",
)

# The patterns so far, and whether they include; later recordings use them as well.  For
# a pattern that was given twice, the last call decides.
_asked: "dict[str, bool]" = {}


def _wrap(function: "Function", switch: "Callable[[], Switched]") -> "Function":
    """The function inside ``with switch()``, with its names."""
    # A class would be replaced by a function.
    if not callable(function) or isinstance(function, type):
        kind = type(function).__name__
        raise TypeError(f"only a function can be decorated, not {kind}")
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    wrapper: Any
    if flags & _ASYNC_GENERATOR:

        async def streaming(*args: "Any", **names: "Any") -> "Any":
            with switch():
                stream = function(*args, **names)
                step = stream.__anext__()
                while True:
                    try:
                        item = await step
                    except StopAsyncIteration:
                        return
                    # Pass values and exceptions on, as `yield from` does.
                    try:
                        sent = yield item
                    except GeneratorExit:
                        await stream.aclose()
                        raise
                    except BaseException as error:
                        step = stream.athrow(error)
                    else:
                        step = stream.asend(sent)

        wrapper = streaming
    elif flags & _COROUTINE:

        async def waiting(*args: "Any", **names: "Any") -> "Any":
            with switch():
                return await function(*args, **names)

        wrapper = waiting
    elif flags & _GENERATOR:

        def going(*args: "Any", **names: "Any") -> "Any":
            with switch():
                return (yield from function(*args, **names))

        wrapper = going
    else:

        def running(*args: "Any", **names: "Any") -> "Any":
            with switch():
                return function(*args, **names)

        wrapper = running
    names = [*_NAMES]
    # From 3.14 on, annotations are evaluated lazily.
    if getattr(function, "__annotate__", None) is None:
        names.append("__annotations__")
    for name in names:
        if hasattr(function, name):
            setattr(wrapper, name, getattr(function, name))
    wrapper.__dict__.update(getattr(function, "__dict__", {}))
    wrapper.__wrapped__ = function
    result: Function = wrapper
    return result


def _glob(name: str) -> str:
    """The part of a pattern that matches this name only."""
    return "".join(f"[{c}]" if c in "*?[" else "?" if c in "\\/:" else c for c in name)


def _check_text(text: str) -> None:
    """Raise ValueError for a text that no name can match: names are UTF-8, no NUL."""
    if "\0" in text:
        raise ValueError(f"a pattern cannot contain a NUL character: {text!a}")
    try:
        text.encode()
    except UnicodeEncodeError:
        sentence = f"a pattern cannot contain a lone surrogate: {text!a}"
        raise ValueError(sentence) from None


def _innermost(thing: "Any") -> "Any":
    """The function inside decorators, methods and regions."""
    for _ in range(32):
        if isinstance(thing, (type, type(sys))):
            break
        names: tuple[str, ...] = ("__wrapped__",)
        if not hasattr(thing, "__code__"):
            names = ("__func__", "fget", "func", "__wrapped__")
        inner = [getattr(thing, name) for name in names if hasattr(thing, name)]
        if not inner:
            break
        thing = inner[0]
    return thing


def _pattern(thing: "Any") -> "tuple[str, Any]":
    """The pattern that matches it, and its code object if it has exactly one."""
    thing = _innermost(thing)
    code = getattr(thing, "__code__", None)
    if code is not None:
        name = getattr(code, "co_qualname", None) or thing.__qualname__
        module = _glob(thing.__module__ or "")
        # `re:` would start a regular expression.
        return f"{'[r]e' if module == 're' else module}:{_glob(name)}", code
    if isinstance(thing, type):
        return f"{_glob(thing.__module__)}:{_glob(thing.__qualname__)}.*", None
    if isinstance(thing, type(sys)):
        return f"{_glob(thing.__name__)}:", None
    kind = type(thing).__name__
    raise TypeError(f"expected a function, class, module or pattern, not {kind}")


def _hand_on(probe: "Any") -> None:
    """Pass the patterns to processes that are started from now on.

    This changes CUNEI_RECORD, and so affects only processes of the same recording.
    """
    import os

    text = os.environ.get("CUNEI_RECORD")
    changed = None if text is None else probe.handed_on(os.fsencode(text))
    if changed is not None:
        os.environ["CUNEI_RECORD"] = os.fsdecode(changed)


def _choose(wanted: bool, texts: "list[str]", code: "Any" = None) -> None:
    probe = sys.modules.get("cunei._probe")
    # Other processes decorate the function themselves.
    if (
        probe is not None
        and probe.select(wanted, texts, code)  # or ValueError
        and code is None
    ):
        _hand_on(probe)
    for text in texts:
        _asked.pop(text, None)
        _asked[text] = wanted


def _choose_all(wanted: bool, things: "tuple[Any, ...]") -> None:
    if not things:
        name = "include" if wanted else "exclude"
        raise TypeError(f"{name} needs a pattern, a function, a class or a module")
    texts = []
    for thing in things:
        text = thing if isinstance(thing, str) else _pattern(thing)[0]
        if not text:
            raise ValueError("a pattern must not be empty")
        _check_text(text)
        texts.append(text)
    if any(isinstance(thing, str) for thing in things):
        from cunei import _probe  # noqa: F401  checks the patterns
    _choose(wanted, texts)


def include(*things: "Any") -> None:
    """From now on also record what these patterns match.

    A pattern may be replaced by a function, class or module.  The new patterns take
    precedence over all earlier ones; without earlier ones, everything is recorded
    already.
    """
    _choose_all(True, things)


def exclude(*things: "Any") -> "Any":
    """From now on do not record what these patterns match.

    A single function or class is returned, so that ``@cunei.exclude`` decorates it.
    """
    if len(things) == 1 and not isinstance(things[0], str):
        text, code = _pattern(things[0])
        _choose(False, [text], code)
        return things[0]
    _choose_all(False, things)
    return None


def instrument(thing: "Anything") -> "Anything":
    """Record a function, class or module even if a pattern excludes it.

    It is returned unchanged: ``@cunei.instrument`` decorates a function or class.
    """
    if isinstance(thing, str):
        raise TypeError("instrument needs a function, class or module, not a str")
    text, code = _pattern(thing)
    _choose(True, [text], code)
    return thing
