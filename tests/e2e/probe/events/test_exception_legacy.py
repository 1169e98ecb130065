# SPDX-License-Identifier: MIT
"""Before 3.12: exceptions that end frames, as the frames show them."""

import sys

import pytest
from test_exceptions import facts

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(
        sys.version_info >= (3, 12), reason="test_exceptions.py has more from 3.12 on"
    ),
]

# Each with its report: how many were raised, what caught them (None: a C function,
# or nothing), how many frames the furthest has ended.
CASES = {
    "frames": (
        """
def outer():
    middle()

def middle():
    inner()

def inner():
    raise ValueError

def run():
    for _ in range(10):
        try:
            outer()
        except ValueError:
            pass
""",
        {("ValueError", "inner"): (10, {"run": 10}, 3)},
    ),
    "of a function of C, not an object yet": (
        """
def inner(text):
    return int(text)

def outer(text):
    return inner(text)

def run():
    for text in "xy1":
        try:
            outer(text)
        except ValueError:
            pass
""",
        {("ValueError", "inner"): (2, {"run": 2}, 2)},
    ),
    "through a function of C": (
        """
def key(number):
    raise ValueError

def run():
    try:
        sorted([1, 2], key=key)
    except ValueError:
        pass
""",
        {("ValueError", "key"): (1, {"run": 1}, 1)},
    ),
    "swallowed in C": (
        """
class Missing:
    def __getattr__(self, name):
        raise AttributeError(name)

def run():
    for _ in range(3):
        assert not hasattr(Missing(), "x")
""",
        {("AttributeError", "Missing.__getattr__"): (3, {None: 3}, 1)},
    ),
    "a destructor while one flies": (
        """
import sys
sys.unraisablehook = lambda _: None

class Noisy:
    def __del__(self):
        raise RuntimeError

def end():
    noisy = Noisy()
    raise ValueError(bool(noisy))

def run():
    try:
        end()
    except ValueError:
        pass
""",
        {
            ("RuntimeError", "Noisy.__del__"): (1, {None: 1}, 1),
            ("ValueError", "end"): (1, {"run": 1}, 1),
        },
    ),
    "raised again by their handler": (
        """
def fail(kind):
    raise kind

def bare():
    try:
        fail(KeyError)
    except KeyError:
        raise

def named():
    try:
        fail(IndexError)
    except IndexError as error:
        len(str(error))
        raise error

def finally_():
    try:
        fail(OSError)
    finally:
        clean()

def clean():
    pass

def other_type():
    try:
        fail(TypeError)
    except ValueError:
        pass

def run():
    for function in (bare, named, finally_, other_type):
        try:
            function()
        except Exception:
            pass
""",
        {
            (kind, "fail"): (1, {"run": 1}, 2)
            for kind in ("KeyError", "IndexError", "OSError", "TypeError")
        },
    ),
    "kept and raised again": (
        """
def make():
    raise LookupError

def raise_again(error):
    raise error

def raise_anew(error):
    raise error.with_traceback(None)

def run():
    try:
        make()
    except LookupError as error:
        kept = error
    for function in (raise_again, raise_again, raise_anew):
        try:
            function(kept)
        except LookupError:
            pass
""",
        {
            ("LookupError", "make"): (1, {"run": 1}, 3),
            ("LookupError", "raise_anew"): (1, {"run": 1}, 1),
        },
    ),
    "another in its place": (
        """
def first():
    raise KeyError

def second():
    try:
        first()
    except KeyError as error:
        raise ValueError().with_traceback(error.__traceback__)

def run():
    try:
        second()
    except ValueError:
        pass
""",
        {
            ("KeyError", "first"): (1, {"second": 1}, 1),
            ("ValueError", "second"): (1, {"run": 1}, 1),
        },
    ),
    "iterators and generators": (
        """
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

def plain():
    yield 1

def stop():
    yield 1
    raise StopIteration

def caught():
    try:
        yield 1
    except KeyError:
        yield 2

def run():
    for _ in Count(2):
        pass
    list(Count(2))
    list(plain())
    generator = plain()
    next(generator)
    generator.close()
    try:
        list(stop())
    except RuntimeError:
        pass
    generator = caught()
    next(generator)
    assert generator.throw(KeyError) == 2
    try:
        generator.throw(ValueError)
    except ValueError:
        pass
""",
        {
            ("StopIteration", "Count.__next__"): (2, {"run": 1, None: 1}, 1),
            ("StopIteration", "stop"): (1, {"stop": 1}, 0),
            ("ValueError", "caught"): (1, {"run": 1}, 1),
        },
    ),
    "a future's": (
        """
import concurrent.futures

def work():
    raise ValueError

def ask(future):
    try:
        future.result()
    except ValueError:
        pass

def run():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        for _ in range(3):
            ask(future)
""",
        {("ValueError", "work"): (1, {"ask": 1}, None)},
    ),
    "a task's": (
        """
import asyncio

async def fail():
    raise ValueError

async def wait():
    await asyncio.get_running_loop().create_future()

async def main():
    task = asyncio.get_running_loop().create_task(fail())
    try:
        await task
    except ValueError:
        pass
    task = asyncio.get_running_loop().create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass

def run():
    asyncio.run(main())
""",
        {
            ("ValueError", "fail"): (1, {None: 1}, 1),
            ("asyncio.exceptions.CancelledError", "wait"): (1, {None: 1}, 1),
        },
    ),
    "recursion": (
        """
def deeper():
    deeper()

def run():
    try:
        deeper()
    except RecursionError:
        pass
""",
        {("RecursionError", "deeper"): (1, {"run": 1}, None)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_frames_show_of_exceptions(cunei, case):
    source, wanted = CASES[case]
    got = facts(cunei, source + "\nrun()\n").rows()

    # None: how far is for Python's own modules to say.
    for key, (raised, handlers, furthest) in wanted.items():
        if furthest is None and key in got:
            got[key] = (*got[key][:2], None)
        assert got.get(key) == (raised, handlers, furthest)
    assert got == wanted


def test_an_exception_caught_in_its_own_frame_is_not_reported(cunei):
    got = facts(cunei, "try:\n    raise ValueError\nexcept ValueError:\n    pass\n")

    assert got.rows() == {}
    folder = next(path for path in cunei.folder.iterdir() if path.is_dir())
    assert "\nunrecorded " in cunei("report", folder, "--exceptions").stdout
    assert "\nunrecorded " not in cunei("report", folder).stdout
