# SPDX-License-Identifier: MIT
"""Functions go by their qualified names, also where code objects do not know them."""

import ctf
import pytest

MODULE = """\
import contextlib
import functools

def wraps(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

def hides(function):
    def hider(*args):
        return function(*args)
    return hider

class Holder:
    def __init__(self, function):
        self.function = function
    def __call__(self, *args):
        return self.function(*args)

@wraps
def wrapped():
    pass

@hides
def hidden():
    pass

@Holder
def held():
    pass

@functools.lru_cache(maxsize=None)
def cached():
    pass

class Outer:
    anything = Holder
    def method(self):
        return (lambda: sum(i for i in range(2)))()
    @property
    def value(self):
        return 1
    @value.setter
    def value(self, value):
        pass
    @staticmethod
    def static():
        pass
    @classmethod
    def of_class(cls):
        pass
    @wraps
    def decorated(self):
        pass
    @contextlib.contextmanager
    def manager(self):
        yield
    short = lambda self: None
    class Inner:
        def method(self):
            pass
        class Innermost:
            def method(self):
                def local():
                    pass
                local()
Outer.itself = Outer.Inner.itself = Outer

class Child(Outer):
    pass

def make():
    class Local:
        def method(self):
            pass
    return Local

Local = make()

def renamed():
    pass
renamed.__name__ = renamed.__qualname__ = "another"

def run():
    wrapped(), hidden(), held(), cached(), renamed()
    child = Child()
    child.method(), child.static(), child.of_class(), child.decorated(), child.short()
    child.value = child.value
    with child.manager():
        pass
    Outer.Inner().method(), Outer.Inner.Innermost().method(), Local().method()
"""

NAMES = {
    "run",
    "wraps.<locals>.wrapper",
    "wrapped",
    "hides.<locals>.hider",
    "hidden",
    "Holder.__call__",
    "held",
    "cached",
    "renamed",
    "Outer.method",
    "Outer.method.<locals>.<lambda>",
    "Outer.method.<locals>.<lambda>.<locals>.<genexpr>",
    "Outer.value",
    "Outer.static",
    "Outer.of_class",
    "Outer.decorated",
    "Outer.manager",
    "Outer.<lambda>",
    "Outer.Inner.method",
    "Outer.Inner.Innermost.method",
    "Outer.Inner.Innermost.method.<locals>.local",
    "make.<locals>.Local.method",
}


def names(cunei, module):
    (process,) = ctf.read(cunei.folder / "trace").processes
    return {
        function.qualname
        for function in process.functions.values()
        if function.module == module
    }


@pytest.mark.core
def test_the_names_of_what_was_defined_before_the_recording(cunei):
    cunei.write("module.py", MODULE)
    cunei.write(
        "app.py",
        "import cunei, module\ncunei.start('trace')\nmodule.run()\ncunei.stop()\n",
    )

    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert names(cunei, "module") == NAMES


@pytest.mark.core
def test_the_names_of_what_is_defined_in_the_recording(cunei):
    cunei.write("module.py", MODULE + "\nrun()\n")

    done = cunei("record", "-q", "-o", "trace", "module.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert names(cunei, "__main__") == NAMES | {
        "<module>",
        "wraps",
        "hides",
        "Holder",
        "Holder.__init__",
        "Outer",
        "Outer.Inner",
        "Outer.Inner.Innermost",
        "Child",
        "make",
        "make.<locals>.Local",
    }


AGAIN = """\
import types
import cunei

SOURCE = '''
class Box:
    def open(self):
        pass
'''

def make():
    module = types.ModuleType("made")
    exec(SOURCE, module.__dict__)
    return module

def record(call, name):
    cunei.start(name)
    call()
    cunei.stop()

# Until a module's dict is where another one was that is gone.
places = set()
for count in range(1000):
    module = make()
    place = id(module.__dict__)
    if place in places:
        break
    places.add(place)
    record(module.Box().open, "first")
    del module
record(module.Box().open, "second")

class Late:
    def method(self):
        pass

record(Late().method, "third")
"""


@pytest.mark.core
def test_modules_that_were_made_or_grew_between_two_recordings(cunei):
    cunei.write("app.py", AGAIN)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    assert ctf.read(cunei.folder / "second").count("Box.open") == 1
    assert ctf.read(cunei.folder / "third").count("Late.method") == 1
