# SPDX-License-Identifier: MIT
"""Exceptions that are odd, many or unselected, or fly while a recording begins."""

import sys

import ctf
import pytest
from test_exceptions import Facts, facts, record

HOSTILE = """\
import gc, sys, weakref

class Meta(type):
    @property
    def __name__(self):
        print("asked for the name")

    def __getattribute__(self, name):
        print("asked for", name)
        return super().__getattribute__(name)

class Hostile(Exception, metaclass=Meta):
    __traceback__ = property(lambda self: print("asked for the traceback"))

    def __getattribute__(self, name):
        print("asked for", name)
        return super().__getattribute__(name)

    def __eq__(self, other):
        print("compared")
        return True

    def __hash__(self):
        print("hashed")
        return 1

    def __repr__(self):
        print("shown")
        return "hostile"

    def __del__(self):
        print("gone")

class Numbered(Exception):
    __module__ = 5

Long = type("L" * 300, (Exception,), {})
Wide = type("ü" * 150, (Exception,), {})
Odd = type("Odd", (Exception,), {"__module__": "\\udcff"})

def fail(kind):
    raise kind

for kind in (Hostile, Numbered, Long, Wide, Odd):
    try:
        fail(kind)
    except kind:
        print("taken")

class Weak(Exception):
    pass

def keep_none():
    try:
        raise Weak
    except Weak as error:
        print(sys.getrefcount(error))
        return weakref.ref(error)

gc.disable()
print(keep_none()())
"""


@pytest.mark.core
def test_exceptions_are_looked_at_and_not_touched(cunei):
    """No code of theirs runs, nothing keeps them, and their names are cut to fit."""
    got = facts(cunei, HOSTILE)

    names = [kind for kind, name in got.raised if name == "fail"]
    assert names[0] == "__main__.Hostile"
    assert names[1] == "Numbered"
    assert names[2] == "__main__." + "L" * 191
    assert names[3] == "__main__." + "ü" * 95
    assert names[4] == "\udcff.Odd"
    assert set(got.raised.values()) == {1}
    assert {n for k in got.raised for n in got.handlers(k).values()} == {1}


SELECTED = """\
def hidden_fail():
    raise KeyError

def middle():
    hidden_fail()

def shown():
    middle()

def hidden_handler(function):
    try:
        function()
    except LookupError:
        pass

def fail():
    raise IndexError

def hidden_guard():
    try:
        fail()
    finally:
        len("")

def run():
    for _ in range(5):
        try:
            shown()
        except KeyError:
            pass
    hidden_handler(fail)
    try:
        hidden_guard()
    except IndexError:
        pass

run()
"""


@pytest.mark.core
def test_code_that_is_not_recorded(cunei):
    """What it raises is reported where it meets other code; what it catches is not."""
    got = facts(cunei, SELECTED, "--exclude", ":hidden_*")

    assert got.rows() == {
        ("KeyError", "middle"): (5, {"run": 5}, 2),
        ("IndexError", "fail"): (2, {None: 1, "run": 1}, 1),
    }
    assert got.lines["KeyError", "middle"] == {5: 5}


# Exceptions of code that is left out have the addresses of others that were recorded.
ANOTHER = """\
def fail():
    raise ValueError

def hidden_handler():
    try:
        fail()
    except ValueError:
        pass

def hidden_fail():
    raise ValueError

def hidden_loop():
    for _ in range(20):
        try:
            hidden_fail()
        except ValueError:
            pass

def take():
    try:
        hidden_fail()
    except ValueError:
        pass

class hidden_Exit:
    def __enter__(self):
        pass
    def __exit__(self, *arguments):
        return True

def let_go():
    with hidden_Exit():
        fail()

for _ in range(50):
    hidden_handler()
    hidden_loop()
    take()
    let_go()
"""


@pytest.mark.core
def test_code_that_is_not_recorded_raises_others(cunei):
    got = facts(cunei, ANOTHER, "--exclude", ":hidden_*")

    wanted = {("ValueError", "fail"): (100, {None: 50, "let_go": 50}, 1)}
    if sys.version_info >= (3, 12):  # before, it must end a function that is recorded
        wanted["ValueError", "take"] = (50, {"take": 50}, 0)
    assert got.rows() == wanted


def test_exceptions_are_reported_once_something_is_selected(cunei):
    got = facts(cunei, SELECTED, "--include", ":fail")

    assert got.rows() == {("IndexError", "fail"): (2, {None: 2}, 1)}


THREADS = """\
import sys, threading

sys.setswitchinterval(1e-6)

def fail(n):
    if n:
        fail(n - 1)
    raise ValueError

def work():
    for i in range(500):
        try:
            fail(i % 5)
        except ValueError:
            pass

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.core
def test_exceptions_in_threads_that_take_turns(cunei):
    got = facts(cunei, THREADS)

    key = ("ValueError", "fail")
    assert got.rows() == {key: (2000, {"work": 2000}, 5)}


NESTED = """\
class Deep:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        if self.n:
            try:
                fail(self.n - 1)
            except ValueError:
                pass

def fail(n):
    deep = Deep(n)
    raise ValueError(deep.n)

for _ in range(10):
    try:
        fail(12)
    except ValueError:
        pass
"""


def test_more_fly_at_once_than_are_kept_in_mind(cunei):
    """A destructor raises while an exception flies, and so on, twelve deep."""
    got = facts(cunei, NESTED)

    key = ("ValueError", "fail")
    assert got.raised[key] == 130
    assert got.handlers(key) == {"<module>": 10, "Deep.__del__": 120}


AT_THE_EDGES = """\
import cunei

def fail():
    raise ValueError

def start_in_a_handler():
    try:
        fail()
    except ValueError:
        cunei.start("trace")
        raise

def run():
    try:
        start_in_a_handler()
    except ValueError:
        pass
    try:
        fail()
    except ValueError:
        cunei.stop()
    fail()

try:
    run()
except ValueError:
    pass
"""


def test_recordings_that_begin_and_end_in_a_handler(cunei):
    cunei.write("app.py", AT_THE_EDGES)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    rows = Facts(process, "app.py").rows()
    # The first was raised before, and reported where it is first seen; before 3.12 that
    # cannot be in a frame that was open by then.
    wanted = {("ValueError", "fail"): (1, {"run": 1}, 1)}
    if sys.version_info >= (3, 12):
        wanted["ValueError", "start_in_a_handler"] = (1, {"run": 1}, 1)
    assert rows == wanted


@pytest.mark.core
def test_nothing_is_written_where_none_flies(cunei):
    process = record(cunei, "def f():\n    pass\nfor _ in range(100):\n    f()\n")

    assert not [event for event in process.events() if event.kind == ctf.EXCEPTION]
