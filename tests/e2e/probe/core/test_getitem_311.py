# SPDX-License-Identifier: MIT
"""Subscripts of a class's own, each of them counted.

CPython 3.11.0 to 3.11.3 run a `__getitem__` past every evaluator of frames once the
place that calls it is specialized, which happens before a recording as well as in it.
"""

import ctf
import pytest

pytestmark = pytest.mark.core

CLASSES = """\
import gc
import sys
import threading

import cunei

class Early:
    def __getitem__(self, index):
        return index

class Heir(Early):
    pass

class Frozen:
    def __getitem__(self, index):
        return index

def lent(self, index):
    return index

def subscribe(items, count=1000):
    for index in range(count):
        assert items[index] == index
"""

WITHIN = (
    CLASSES
    + """
def subscribe_twice(items, halfway, begun):
    for index in range(2000):
        if index == 1000:
            halfway.wait()
            begun.wait()
        assert items[index] == index

def start(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread

halfway, begun = threading.Barrier(3), threading.Event()
threads = [start(subscribe_twice, items(), halfway, begun) for items in (Early, Heir)]
for items in (Early, Heir, Frozen):
    subscribe(items())
for index in range(1000):
    lent(None, index)
gc.freeze()
halfway.wait()
for name in ("first", "second"):
    with cunei.recording(name):
        begun.set()
        class Late:
            def __getitem__(self, index):
                return index
        class Borrows:
            __getitem__ = lent
        classes = Early, Heir, Frozen, Late, Borrows
        for items in classes:
            subscribe(items())
        threads += [start(subscribe, items()) for items in classes]
        for thread in threads:
            thread.join()
    subscribe(Early())
"""
)


def test_places_that_were_specialized_before_the_recording(cunei):
    done = cunei.run(cunei.python, cunei.write("within.py", WITHIN))
    assert done.returncode == 0, done.stderr

    for name, interrupted in (("first", 2000), ("second", 0)):
        trace = ctf.read(cunei.folder / name)
        assert trace.count("Early.__getitem__") == 4000 + interrupted
        assert trace.count("Frozen.__getitem__") == 2000
        assert trace.count("Late.__getitem__") == 2000
        assert trace.count("lent") == 2000
        assert trace.is_balanced()


THROUGHOUT = (
    CLASSES
    + """
for items in (Early, Heir):
    subscribe(items())

# One place, and a class each time that it has never seen.
for _ in range(200):
    class Passing:
        def __getitem__(self, index):
            return index
    subscribe(Passing(), 100)
"""
)


def test_places_that_are_specialized_in_the_recording(cunei):
    program = cunei.write("throughout.py", THROUGHOUT)
    done = cunei("record", "-o", "trace", program)
    assert done.returncode == 0, done.stderr

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("Early.__getitem__") == 2000
    assert trace.count("Passing.__getitem__") == 20000
    assert trace.is_balanced()


HOOKED = """\
import sys
import cunei

files = set()

def hook(frame, event, argument):
    files.add(frame.f_code.co_filename)
    return hook

sys.{install}(hook)
cunei.start("trace")
sys.{install}(None)
cunei.stop()
print("<cunei>" in files)
"""


@pytest.mark.parametrize("install", ["settrace", "setprofile"])
def test_no_hook_is_notified_of_what_a_recording_does_to_see_them(cunei, install):
    program = cunei.write("hooked.py", HOOKED.format(install=install))
    done = cunei.run(cunei.python, program)

    assert (done.stdout, done.stderr) == ("False\n", "")
