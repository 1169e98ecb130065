# SPDX-License-Identifier: MIT
"""What a program changes about a recording that is on; ``cunei`` has all of it."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    from cunei._probe import Switched

    Anything = TypeVar("Anything")
    Function = TypeVar("Function", bound=Callable[..., Any])
del TYPE_CHECKING

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200  # of co_flags

# What functools.wraps gives to a wrapper; that need not be loaded.
_NAMES = (
    "__module__",
    "__name__",
    "__qualname__",
    "__doc__",
    "__type_params__",
    "__annotate__",
)

# The patterns so far, and whether they include; recordings that begin later heed them,
# too.  Of one pattern the last word counts.
_asked: "dict[str, bool]" = {}


def _wrap(function: "Function", switch: "Callable[[], Switched]") -> "Function":
    """The function with the switch around it, and all its names."""
    # In place of a class there would be a function.
    if not callable(function) or isinstance(function, type):
        kind = type(function).__name__
        raise TypeError(f"a function can be decorated, not {kind}")
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
                    # What comes in is its own, as `yield from` has it.
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
    # From 3.14 on annotations are worked out where somebody asks for them.
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
    """A pattern's side that matches this name alone."""
    return "".join(f"[{c}]" if c in "*?[" else "?" if c in "\\/:" else c for c in name)


def _check_text(text: str) -> None:
    """Whether it can be a pattern at all: names are UTF-8 without a NUL."""
    if "\0" in text:
        raise ValueError(f"a pattern cannot hold a NUL, as {text!a} does")
    try:
        text.encode()
    except UnicodeEncodeError:
        sentence = f"a pattern cannot hold half a surrogate pair, as {text!a} does"
        raise ValueError(sentence) from None


def _innermost(thing: "Any") -> "Any":
    """The function itself, which a region means, too."""
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
    """The pattern that means it, and its code object, if it has just one."""
    thing = _innermost(thing)
    code = getattr(thing, "__code__", None)
    if code is not None:
        name = getattr(code, "co_qualname", None) or thing.__qualname__
        module = _glob(thing.__module__ or "")
        # `re:` would begin an expression.
        return f"{'[r]e' if module == 're' else module}:{_glob(name)}", code
    if isinstance(thing, type):
        return f"{_glob(thing.__module__)}:{_glob(thing.__qualname__)}.*", None
    if isinstance(thing, type(sys)):
        return f"{_glob(thing.__name__)}:", None
    kind = type(thing).__name__
    raise TypeError(f"a function, class, module or pattern can be chosen, not {kind}")


def _hand_on(probe: "Any") -> None:
    """Let processes that are started from now on begin with the patterns of this one.

    Those that the environment asks to be recorded with it, and no others.
    """
    import os

    text = os.environ.get("CUNEI_RECORD")
    told = None if text is None else probe.handed_on(os.fsencode(text))
    if told is not None:
        os.environ["CUNEI_RECORD"] = os.fsdecode(told)


def _choose(wanted: bool, texts: "list[str]", code: "Any" = None) -> None:
    probe = sys.modules.get("cunei._probe")
    # A function that is decorated here is so in other processes, too.
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
        raise TypeError(f"{name} wants a pattern, a function, a class or a module")
    texts = []
    for thing in things:
        text = thing if isinstance(thing, str) else _pattern(thing)[0]
        if not text:
            raise ValueError("a pattern must not be empty")
        _check_text(text)
        texts.append(text)
    if any(isinstance(thing, str) for thing in things):
        from cunei import _probe  # noqa: F401  it tells what is no pattern
    _choose(wanted, texts)


def include(*things: "Any") -> None:
    """Record what these patterns match, too, from now on.

    Functions, classes and modules can stand in their place.  They decide before all
    patterns that were given so far; where there are none, everything is recorded
    already.
    """
    _choose_all(True, things)


def exclude(*things: "Any") -> "Any":
    """Record no more what these patterns match.

    Given one function or class, that is returned: ``@cunei.exclude`` decorates it.
    """
    if len(things) == 1 and not isinstance(things[0], str):
        text, code = _pattern(things[0])
        _choose(False, [text], code)
        return things[0]
    _choose_all(False, things)
    return None


def instrument(thing: "Anything") -> "Anything":
    """Record a function, all of a class, or all of a module, whatever was excluded.

    It is returned as it is: ``@cunei.instrument`` decorates a function or class.
    """
    if isinstance(thing, str):
        raise TypeError("instrument wants a function, class or module, not a text")
    text, code = _pattern(thing)
    _choose(True, [text], code)
    return thing
