# SPDX-License-Identifier: MIT
"""How values are shown: the text of each type, its length, and whose code runs."""

import re

import ctf
import pytest
from pairs import pairs
from test_arguments import START, results, run, values

pytestmark = pytest.mark.core


VALUES = r"""
class Own:
    def __repr__(self):
        raise SystemExit("the program's code was run")
    __str__ = __hash__ = __eq__ = __len__ = __iter__ = __getattr__ = __repr__

class List(list):
    __repr__ = __iter__ = __len__ = Own.__repr__

class Str(str):
    __repr__ = __str__ = Own.__repr__

class Meta(type):
    __repr__ = __getattribute__ = Own.__repr__

class Odd(metaclass=Meta):
    pass

def show(value):
    return value

def shown(*values):
    for value in values:
        show(value)

deep, loop, own = [[[[[[[1]]]]]]], [], Own()
loop.append(loop)
"""

SHOWN = [
    ("None", "None"),
    ("-5", "-5"),
    ("10**50", "1" + "0" * 50),
    ("1.0", "1.0"),
    ("float('nan')", "nan"),
    ("1+2j", r"\(1\+2j\)"),
    ("...", "Ellipsis"),
    ("b'\\0a'", r"b'\\x00a'"),
    ("(1,)", r"\(1,\)"),
    ("()", r"\(\)"),
    ("[1, 'a', (2.5, {3}), {}]", r"\[1, 'a', \(2.5, \{3\}\), \{\}\]"),
    ("{'a': [None], 2: {'b': b''}}", r"\{'a': \[None\], 2: \{'b': b''\}\}"),
    ("set()", r"set\(\)"),
    ("frozenset({1})", r"frozenset\(\{1\}\)"),
    ("range(3)", r"range\(0, 3\)"),
    ("range(10**9999)", "<range at 0x[0-9a-f]+>"),
    ("Own", "<class '__main__.Own'>"),
    ("show", "<function show at 0x[0-9a-f]+>"),
    ("len", "<built-in function len>"),
    ("deep", r"\[\[\[\[\[\[…\]\]\]\]\]\]"),
    ("loop", r"\[\[\[\[\[\[…\]\]\]\]\]\]"),
    ("Own()", "<__main__.Own at 0x[0-9a-f]+>"),
    ("[Own(), 1]", r"\[<__main__.Own at 0x[0-9a-f]+>, 1\]"),
    ("List([1])", "<__main__.List at 0x[0-9a-f]+>"),
    ("Str('a')", "<__main__.Str at 0x[0-9a-f]+>"),
    ("object.__new__(Odd)", "<__main__.Odd at 0x[0-9a-f]+>"),
    ("Odd", "<__main__.Meta at 0x[0-9a-f]+>"),
    ("own.__repr__", "<method at 0x[0-9a-f]+>"),
    ("cunei", "<module at 0x[0-9a-f]+>"),
    ("__import__('re').compile('a')", "<re.Pattern at 0x[0-9a-f]+>"),
]


def test_values_of_builtin_types_are_shown_and_no_code_is_run(cunei):
    process = run(
        cunei,
        VALUES
        + f"values = [{', '.join(value for value, _ in SHOWN)}]\n"
        + "with cunei.recording('trace', args=':show', return_=':show'):\n"
        + "    for value in values:\n"
        + "        show(value)\n",
    )

    texts = [text for _, text in values(process, "show")]
    for (value, wanted), text in pairs(SHOWN, texts):
        assert re.fullmatch(wanted, text), (value, text)
    assert results(process, "show") == texts


def test_text_is_shown_as_repr_does(cunei):
    text = "'\"\\\n\x1b\x9b\u2028é\N{SNOWMAN}\udcff"
    process = run(
        cunei,
        f"""
def show(value): pass

with cunei.recording("trace", args=":show"):
    show({text!r})
""",
    )

    assert values(process, "show") == [("value", repr(text))]


def test_a_long_value_is_cut_and_costs_no_more(cunei):
    process = run(
        cunei,
        """
import time

def show(value):
    return 1

big = [10**400, 1 << 80_000_000, "x" * 50_000_000, "é" * 300, b"y" * 50_000_000,
       [1] * 5_000_000, dict.fromkeys(range(1_000_000)), set(range(1_000_000)),
       ("z" * 1_000_000,) * 3]
begin = time.perf_counter()
with cunei.recording("trace", args=":show", max_repr=40):
    for value in big * 20:
        show(value)
assert time.perf_counter() - begin < 2
""",
    )

    shown = [text for _, text in values(process, "show")]
    assert shown[:9] == shown[9:18]
    assert shown[:2] == ["<int of 1329 bits>", "<int of 80000001 bits>"]
    assert shown[2] == "'" + "x" * 36 + "…"
    assert shown[3] == "'" + "é" * 18 + "…"
    assert shown[4].startswith("b'yyy")
    assert shown[5].startswith("[1, 1, ")
    assert shown[6].startswith("{0: None, 1: None, ")
    assert shown[7].startswith("{0, 1, 2, ")
    assert shown[8].startswith("('zzz")
    assert all(text.endswith("…") for text in shown[2:9])
    assert all(len(text.encode()) in (38, 39, 40) for text in shown[2:9])


@pytest.mark.parametrize("limit", [8, 4096])
def test_the_limit_is_the_last_byte(cunei, limit):
    process = run(
        cunei,
        f"""
def show(value): pass

with cunei.recording("trace", args=":show", max_repr={limit}):
    show("x" * {limit - 2})
    show("x" * {limit - 1})
""",
    )

    whole, cut = [text for _, text in values(process, "show")]
    assert whole == "'" + "x" * (limit - 2) + "'"
    assert cut == "'" + "x" * (limit - 4) + "…"


FULL = """
import sys

class Own:
    def __init__(self, number):
        self.number = number

    def __repr__(self):
        helper()
        return f"Own(\\n    {self.number})\\x1b[31m\\x9b"

def helper():
    pass

class Bad:
    def __repr__(self):
        raise SystemExit

class Odd:
    def __repr__(self):
        return None

class Deep:
    def __repr__(self):
        return repr(self)

def show(value):
    return value

def main():
    for value in (Own(1), [Own(2), "a"], Bad(), Odd(), Deep(), "x" * 10_000_000):
        show(value)
    try:
        raise KeyError("kept")
    except KeyError as error:
        show(Bad())
        assert sys.exc_info()[1] is error
"""


def test_full_repr_runs_the_programs_code_and_nothing_comes_of_it(cunei):
    process = run(
        cunei,
        FULL
        + "with cunei.recording('trace', args=':show', return_=':show', repr='full'):\n"
        + "    main()\n",
    )

    shown = [text for _, text in values(process, "show")]
    failed = r"<__main__.{} at 0x[0-9a-f]+, its repr\(\) failed>"
    wanted = [
        r"Own\( 1\) \[31m ",
        r"\[Own\( 2\) \[31m , 'a'\]",
        failed.format("Bad"),
        failed.format("Odd"),
        failed.format("Deep"),
        "'x+…",
        failed.format("Bad"),
    ]
    for text, pattern in pairs(shown, wanted):
        assert re.fullmatch(pattern, text), text
    assert results(process, "show") == shown
    assert not [f for f in process.functions.values() if f.qualname == "helper"]


def test_an_interrupt_that_comes_while_a_repr_runs_reaches_the_program(cunei):
    process = run(
        cunei,
        """\
import cunei, signal

class Slow:
    def __repr__(self):
        signal.raise_signal(signal.SIGINT)
        return "slow"

def show(value):
    pass

interrupted = False
with cunei.recording("trace", args=":show", repr="full"):
    try:
        show(Slow())
        for _ in range(1000):
            show(1)
    except KeyboardInterrupt:
        interrupted = True
assert interrupted
""",
    )

    assert "its repr() failed" in values(process, "show")[0][1]


def test_a_repr_that_ends_the_recording(cunei):
    cunei.write(
        "app.py",
        START
        + """
class Own:
    def __repr__(self):
        cunei.stop()
        cunei.start("trace", args=":never")
        return "own"

def show(first, second):
    return first

cunei.start("trace", args=":show", return_=":show", repr="full")
show(Own(), 2)
cunei.stop()
cunei.start("trace", return_=":show", repr="full")
show(Own(), 2)
cunei.stop()
""",
    )
    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    trace = ctf.read(cunei.folder / "trace")
    assert len(trace.processes) == 4
    for process in trace.processes:
        for event in process.events():
            if event.kind == ctf.ARGUMENT:
                assert event.value.function in process.functions
