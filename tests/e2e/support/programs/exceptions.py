# SPDX-License-Identifier: MIT
"""Exceptions in all the ways they come and go, one function for each.

What becomes of those that are raised here and in passed_on.py stands in
test_exceptions.py, as a table.
"""

# ruff: noqa: SIM105 - try and except are what this is about

import contextlib
import ctypes
import gc
import struct
import sys
import threading
import zlib

import passed_on


def case_frames():
    def outer():
        middle()

    def middle():
        inner()

    def inner():
        raise ValueError

    for _ in range(10):
        try:
            outer()
        except ValueError:
            pass


def case_functions_of_c():
    for text in ("x", "y", "1"):
        try:
            int(text)
        except ValueError:
            pass
    with contextlib.suppress(zlib.error):
        zlib.decompress(b"")
    with contextlib.suppress(struct.error):
        struct.unpack("i", b"")


def case_through_a_function_of_c():
    def key(number):
        raise ValueError

    try:
        sorted([1, 2], key=key)
    except ValueError:
        pass


def case_swallowed_in_c():
    class Missing:
        def __getattr__(self, name):
            raise AttributeError(name)

    for _ in range(3):
        assert not hasattr(Missing(), "x")
    assert next(iter([]), "default") == "default"

    @ctypes.CFUNCTYPE(None)
    def callback():
        raise KeyError

    callback()


def case_destructor():
    class Noisy:
        def __del__(self):
            raise RuntimeError

    def end():
        noisy = Noisy()
        raise ValueError(bool(noisy))

    Noisy()
    try:
        end()
    except ValueError:
        pass
    gc.collect()


def case_again():
    def bare():
        try:
            raise KeyError
        except KeyError:
            raise

    def named():
        try:
            raise IndexError
        except IndexError as error:
            raise error

    def finally_():
        try:
            raise OSError
        finally:
            len("")

    def other_type():
        try:
            raise TypeError
        except ValueError:
            pass

    for function in (bare, named, finally_, other_type):
        try:
            function()
        except Exception:
            pass


def case_kept():
    def make():
        raise LookupError

    def raise_again(error):
        raise error

    kept = None
    try:
        make()
    except LookupError as error:
        kept = error
    for _ in range(20):
        with contextlib.suppress(ValueError):
            raise ValueError
    for _ in range(3):
        try:
            raise_again(kept)
        except LookupError:
            pass


def case_anew():
    kept = KeyError()
    for _ in range(3):
        try:
            raise kept.with_traceback(None)
        except KeyError:
            pass


def case_traceback_of_another():
    class First(Exception):
        pass

    class Second(Exception):
        pass

    def inner():
        raise First

    try:
        try:
            inner()
        except First as error:
            raise Second().with_traceback(error.__traceback__) from None
    except Second:
        pass


def case_in_a_handler():
    def handler():
        try:
            raise KeyError
        except KeyError:
            raise ValueError from None

    try:
        handler()
    except ValueError:
        pass


def case_with():
    @contextlib.contextmanager
    def swallow():
        try:
            yield
        except KeyError:
            pass

    @contextlib.contextmanager
    def pass_on():
        yield

    with swallow():
        raise KeyError
    try:
        with pass_on():
            raise IndexError
    except IndexError:
        pass


def case_generators():
    def plain():
        yield 1
        return 2

    def guarded():
        try:
            yield 1
        finally:
            len("")

    def delegate():
        yield from plain()

    def stop():
        yield 1
        raise StopIteration

    list(plain())
    list(delegate())
    assert next(plain(), None) == 1
    for make in (plain, guarded, delegate):  # closed and let go: nothing is raised
        generator = make()
        next(generator)
        generator.close()
        generator = make()
        next(generator)
        del generator
    gc.collect()
    try:
        list(stop())
    except RuntimeError:
        pass


def case_thrown_into_a_generator():
    def generate():
        try:
            yield 1
        except KeyError:
            yield 2

    generator = generate()
    next(generator)
    assert generator.throw(KeyError) == 2
    try:
        generator.throw(ValueError)
    except ValueError:
        pass


class Count:
    def __init__(self, end):
        self.number, self.end = 0, end

    def __iter__(self):
        return self

    def __next__(self):
        self.number += 1
        if self.number > self.end:
            raise StopIteration
        return self.number


def case_iterators():
    for _ in Count(2):
        pass
    for _ in Count(1):
        for _ in Count(3):
            pass
    try:
        next(iter([]))
    except StopIteration:
        pass


def case_iterators_in_c():
    assert list(Count(2)) == [1, 2]
    first, second = Count(2)


def case_groups():
    def partly():
        try:
            raise ExceptionGroup("both", [ValueError(), TypeError()])
        except* ValueError:
            pass

    def wholly():
        try:
            raise ExceptionGroup("one", [KeyError()])
        except* KeyError:
            pass

    def replaced():
        try:
            raise ExceptionGroup("two", [KeyError(), TypeError()])
        except* KeyError:
            raise OSError from None

    def narrowed():
        try:
            raise ExceptionGroup("three", [KeyError()])
        except* KeyError:
            raise NameError from None

    def plain():
        try:
            raise IndexError
        except* IndexError:
            pass

    wholly()
    plain()
    for function in (partly, replaced, narrowed):
        try:
            function()
        except (ExceptionGroup, NameError):
            pass


def case_rests_of_groups():
    def fail(number):
        raise ValueError(number)

    def guarded():
        with contextlib.suppress(ValueError):
            fail(1)

    def rest():
        try:
            raise ExceptionGroup("both", [ValueError(), KeyError()])
        except* ValueError:
            guarded()

    def within():
        for _ in range(50):
            try:
                try:
                    raise ExceptionGroup("both", [ValueError(), KeyError()])
                except* ValueError:
                    guarded()
            except ExceptionGroup:
                pass

    def outer():
        try:
            raise ExceptionGroup("outer", [ValueError()])
        except ExceptionGroup:
            try:
                raise ExceptionGroup("inner", [ValueError()])
            except ExceptionGroup:
                pass
            raise

    for _ in range(50):  # addresses are used again
        for function in (rest, outer):
            try:
                function()
            except ExceptionGroup:
                pass
            guarded()
    within()


def case_recursion():
    def deeper():
        deeper()

    try:
        deeper()
    except RecursionError:
        pass


def case_memory():
    try:
        bytearray(1 << 60)
    except MemoryError:
        pass


if __name__ == "__main__":
    sys.unraisablehook = threading.excepthook = lambda _: None
    for name, case in [*globals().items(), *vars(passed_on).items()]:
        if name.startswith("case_"):
            case()
