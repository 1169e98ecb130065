# SPDX-License-Identifier: MIT
"""Functions that a program chooses for its recording while it runs."""

import json

import ctf
import pytest
from proof import TAKEN
from switching import run

pytestmark = pytest.mark.core


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("c_calls", [False, True])
def test_patterns_are_added_while_it_records(cunei, taken, c_calls):
    trace = run(
        cunei,
        f"""\
counts = []
with cunei.record("trace", c_calls={c_calls}):
    work()
    cunei.exclude(":a", "re::gen")
    work()
    list(generate())
    cunei.include(":a")
    work()
    cunei.exclude(work, b)
    work()
    cunei.instrument(b)
    work()
""",
        taken,
    )

    assert (trace.count("work"), trace.count("a"), trace.count("b")) == (3, 4, 4)
    assert trace.count("generate") == 0
    assert trace.is_balanced()
    names = [f.qualname for f in trace.processes[0].functions.values()]
    assert len(names) == len(set(names)) or c_calls, "one definition each"


@pytest.mark.parametrize("taken", TAKEN)
def test_patterns_that_are_the_first_in_a_pause(cunei, taken):
    """Functions that are open when the program says something in it as well."""
    trace = run(
        cunei,
        """\
def say():
    cunei.mark("in the pause, or behind it")
    yield

with cunei.record("trace"):
    cunei.disable()
    cunei.exclude(b)
    list(say())
    cunei.enable()
    list(say())
    work()
""",
        taken,
    )

    assert [trace.count("say", phase) for phase in range(4)] == [1, 1, 1, 1]
    assert (trace.count("work"), trace.count("a"), trace.count("b")) == (1, 1, 0)
    assert trace.is_balanced()


def test_what_is_asked_for_before_holds_for_every_recording(cunei):
    trace = run(
        cunei,
        """\
@cunei.exclude
def hidden(): pass

@cunei.exclude
class Hidden:
    def method(self): pass
    class Inner:
        def method(self): pass

@cunei.instrument
class Shown:
    @property
    def value(self): return 1
    @staticmethod
    def static(): pass

cunei.include("nothing")
for options in ({}, {"exclude": "__main__"}):
    with cunei.record("trace", **options):
        hidden(), Hidden().method(), Hidden.Inner().method()
        Shown().value, Shown.static()
        work()
""",
    )

    first, second = (
        {f.qualname: n for f, n in process.count(ctf.ENTER).items()}
        for process in trace.processes
    )
    shown = {"Shown.value": 1, "Shown.static": 1}
    assert first == {"work": 1, "a": 1, "b": 1, **shown}
    assert second == shown


def test_modules_and_functions_are_named_exactly(cunei):
    cunei.write("helper.py", "def one(): pass\ndef two(): one()\n")
    trace = run(
        cunei,
        """\
import functools, helper, re

with cunei.record("trace", exclude="re:."):
    cunei.instrument(helper)
    helper.two()
    cunei.exclude(helper.one)
    helper.two()
    cunei.instrument(functools.partial(work))
    cunei.instrument(re.escape)
    work()
    re.escape("x")
    def repeat(function):
        @functools.wraps(function)
        def repeated(*args):
            return function(*args)
        return repeated
    @cunei.instrument
    @repeat
    @functools.lru_cache(None)
    def cached(number):
        return number
    cached(1), cached(1), cached(2)
""",
    )

    counts = {f.qualname: n for f, n in trace.processes[0].count(ctf.ENTER).items()}
    assert counts == {"one": 1, "two": 2, "work": 1, "escape": 1, "cached": 2}


def test_meaningless_arguments_raise_and_change_nothing(cunei):
    trace = run(
        cunei,
        """\
def fails(kind, words, call, *args):
    try:
        call(*args)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)

with cunei.record("trace"):
    fails(ValueError, "'re:(' is not a valid pattern: Unmatched (",
          cunei.exclude, "re:(")
    fails(ValueError, "include 're:(' is not a valid pattern",
          cunei.include, "a", "re:(")
    fails(ValueError, "a '[' has no ']'; write", cunei.exclude, "work[")
    fails(ValueError, "must not be empty", cunei.include, "")
    fails(ValueError, "cannot contain a NUL", cunei.exclude, "work\\0")
    fails(ValueError, "a lone surrogate: ", cunei.exclude, "\\ud800")
    fails(TypeError, "a function can be decorated, not type", cunei.disable, int)
    fails(TypeError, "expected a function, class, module or pattern, not int",
          cunei.exclude, 3)
    fails(TypeError, "not a str", cunei.instrument, "x")
    for choose in (cunei.include, cunei.exclude):
        fails(TypeError, "needs a pattern, a function, a class or a module", choose)
        fails(ValueError, "no expression follows the ':'", choose, "re-name:")
    work()
fails(ValueError, "is not a valid pattern", cunei.exclude, "re:(")
with cunei.record("trace"):
    work()
""",
    )

    assert trace.count("work") == 2


def test_a_program_may_choose_as_often_as_it_likes(cunei):
    trace = run(
        cunei,
        """\
with cunei.record("trace"):
    for _ in range(200):
        cunei.exclude("__main__:work")
        work()
        cunei.include("__main__:work")
        work()
        cunei.include("__main__:work")
with cunei.record("trace", include="nothing"):
    work()
""",
    )

    assert trace.count("work") == 201
    report = json.loads(cunei("report", "--json", "trace").stdout)
    first, second = [process["patterns"] for process in report["processes"]]
    assert len(first) <= 401
    assert second == ["+nothing", "+__main__:work"]
