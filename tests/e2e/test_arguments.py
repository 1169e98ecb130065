# SPDX-License-Identifier: MIT
"""What chosen functions are called with and return is recorded, and nothing breaks."""

import re

import ctf
import pytest
from pairs import pairs

pytestmark = pytest.mark.core

START = "import cunei\n"


def run(cunei, source, **options):
    cunei.write("app.py", START + source)
    done = cunei.run(cunei.python, "app.py", **options)
    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.is_balanced(), process.replay()
    assert process.description["lost"] == "0"
    return process


def values(process, qualname, phase=ctf.ENTER):
    """(name, text) of each argument, or each result, of a function, in order."""
    return [
        (event.value.name, event.value.text)
        for event in process.events()
        if event.kind == ctf.ARGUMENT
        and event.phase == phase
        and process.functions[event.value.function].qualname == qualname
    ]


def results(process, qualname):
    return [text for _, text in values(process, qualname, ctf.LEAVE)]


def test_every_kind_of_parameter_has_its_name_and_value(cunei):
    process = run(
        cunei,
        """
def f(a, b=2, /, c=3, *rest, key, other="x", **more):
    return lambda: (a, key)  # in cells

with cunei.recording("trace", args=":f"):
    f(1, key=None)
    f(1, 2, 3, 4, 5, key=True, z=1)
""",
    )

    assert values(process, "f") == [
        ("a", "1"),
        ("b", "2"),
        ("c", "3"),
        ("key", "None"),
        ("other", "'x'"),
        ("rest", "()"),
        ("more", "{}"),
        ("a", "1"),
        ("b", "2"),
        ("c", "3"),
        ("key", "True"),
        ("other", "'x'"),
        ("rest", "(4, 5)"),
        ("more", "{'z': 1}"),
    ]
    assert results(process, "f") == []


def test_they_stand_right_behind_the_entry_and_before_the_leave(cunei):
    process = run(
        cunei,
        """
def f(a, b): return g(a)
def g(a): return a

with cunei.recording("trace", args=":f", return_=[":f", ":g"]):
    f(1, 2)
""",
    )

    events = [
        (process.functions[event.function].qualname, event.phase)
        if event.kind == ctf.CALL
        else (event.value.name, event.value.text, event.value.index)
        for event in process.events()
        if event.kind in (ctf.CALL, ctf.ARGUMENT)
    ]
    begin = events.index(("f", ctf.ENTER))
    assert events[begin : begin + 8] == [
        ("f", ctf.ENTER),
        ("a", "1", 0),
        ("b", "2", 1),
        ("g", ctf.ENTER),
        ("", "1", 0),
        ("g", ctf.LEAVE),
        ("", "1", 0),
        ("f", ctf.LEAVE),
    ]


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


def test_what_is_too_long_is_cut_and_costs_no_more(cunei):
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


def test_generators_and_coroutines(cunei):
    process = run(
        cunei,
        """
import asyncio

def generate(n):
    for i in range(n):
        yield i
    return "last"

async def wait(n):
    await asyncio.sleep(0)
    return n + 1

async def produce(n):
    yield n
    yield n + 1

async def main():
    await wait(5)
    [i async for i in produce(7)]

with cunei.recording("trace", args="__main__", return_="__main__"):
    generator = generate(2)
    list(generator)
    next(generate(9))
    asyncio.run(main())
""",
    )

    assert values(process, "generate") == [("n", "2"), ("n", "9")]
    assert results(process, "generate") == ["'last'"]
    assert values(process, "wait") == [("n", "5")]
    assert results(process, "wait") == ["6"]
    assert values(process, "produce") == [("n", "7")]


def test_what_ends_by_an_exception_has_no_result(cunei):
    process = run(
        cunei,
        """
def fail(x):
    if x:
        raise KeyError
    return "fine"

with cunei.recording("trace", args=":fail", return_=":fail"):
    for x in (1, 0):
        try:
            fail(x)
        except KeyError:
            pass
""",
    )

    assert values(process, "fail") == [("x", "1"), ("x", "0")]
    assert results(process, "fail") == ["'fine'"]


def test_local_variables_are_the_programs_alone(cunei):
    """Looking at them must not freeze them, keep them alive or change their order."""
    source = """
import gc, sys, weakref

class Own:
    pass

def f(a, b, *c, d=1):
    before = dict(locals())
    a = 10
    del b
    x = sys._getframe().f_locals
    after = sorted(x)
    return before["a"], x["a"], after, [sys.getrefcount(c) for _ in "ab"]

def g(own):
    ref = weakref.ref(own)
    del own
    gc.collect()
    return ref

def h(a, self=None):
    class Inner:
        value = a
        def get(self):
            return a
    def change():
        nonlocal a
        a += 1
    change()
    return Inner().get(), a

print(f(1, 2, 3), g(Own())() is None, h(5))
"""
    cunei.write("app.py", source)
    plain = cunei.run(cunei.python, "app.py")
    options = ["--args", "__main__", "--return", "__main__"]
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == plain.stdout
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert ("a", "5") in values(process, "h")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--args", ":outer"], {("outer", 0): 3}),
        (["--args", "__main__", "--exclude", ":inner"], {("outer", 0): 3}),
        (["--args", ":inner", "--args", ":outer"], {("outer", 0): 3, ("inner", 0): 3}),
        (
            ["--return", "app.py"],
            {("outer", 1): 3, ("inner", 1): 3, ("<module>", 1): 1},
        ),
        (
            ["--args", "re:out", "--return", ":inner"],
            {("outer", 0): 3, ("inner", 1): 3},
        ),
        (["--args", ":inner", "--include", ":outer"], {}),
        (["--args", "nothing"], {}),
    ],
)
def test_patterns_choose_functions_that_are_recorded(cunei, options, wanted):
    cunei.write(
        "app.py",
        "def inner(x): pass\ndef outer(x): inner(x)\nfor _ in range(3): outer(_)\n",
    )
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert (done.returncode, done.stderr) == (0, "")

    (process,) = ctf.read(cunei.folder / "trace").processes
    got = {}
    for event in process.events():
        if event.kind == ctf.ARGUMENT:
            name = process.functions[event.value.function].qualname
            got[name, event.phase] = got.get((name, event.phase), 0) + 1
    assert got == wanted


def test_many_values_over_many_packets(cunei):
    process = run(
        cunei,
        """
def f(a, b):
    return a if a <= 0 else f(a - 1, b)

with cunei.recording("trace", args=":f", return_=":f", max_repr=4096):
    for n in range(30):
        f(30, "x" * n * 100)
""",
    )

    shown = values(process, "f")
    assert len(shown) == 2 * 30 * 31
    assert [text for name, text in shown if name == "a"] == [
        str(a) for _ in range(30) for a in range(30, -1, -1)
    ]
    assert results(process, "f") == ["0"] * 30 * 31
    assert len(process.packets) > 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-repr", "0", "app.py"], "--max-repr wants a number from 8 to 4096"),
        (["--max-repr", "5000", "app.py"], "--max-repr wants a number from 8 to 4096"),
        (["--max-repr", "x"], "--max-repr wants a number, not 'x'"),
        (["--repr", "ful"], "--repr cannot be 'ful'; did you mean 'full'?"),
        (["--repr", "xyz"], "--repr cannot be 'xyz'; choose one of: safe, full"),
        (["--args", "re:("], "--args 're:(' is no pattern: "),
        (["--return"], "--return wants a value: --return PATTERN"),
        (["--c-calls=1"], "--c-calls takes no value"),
    ],
)
def test_options_that_make_no_sense(cunei, words, message):
    for command in ("record", "run"):
        done = cunei(command, *words)

        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("max_repr=7", "ValueError", "max_repr must be from 8 to 4096, not 7"),
        ("repr='all'", "ValueError", "repr must be 'safe' or 'full', not 'all'"),
        ("args='re:('", "cunei.Error", "the pattern 're:(' makes no sense: "),
        ("return_=['re:[']", "cunei.Error", "the pattern 're:[' makes no sense: "),
    ],
)
def test_arguments_of_start_that_make_no_sense(cunei, options, error, message):
    cunei.write(
        "app.py",
        START
        + f"""
try:
    cunei.start("trace", {options})
except {error} as error:
    print(error)
assert not cunei.is_recording()
""",
    )
    done = cunei.run(cunei.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(message)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        (":lod", "; did you mean ':load'?"),
        ("__main__:laod", "; did you mean '__main__:load'?"),
        (":nothing.like.this", ""),
        ("load", ", which is a module; for a function or method write ':load'"),
        ("re:^x", ""),
        (":len", ""),
        ("other.py", ""),
    ],
)
def test_a_pattern_that_matches_nothing_is_told_of(cunei, pattern, hint):
    cunei.write("app.py", "def load(x): return len(x)\nload('')\n")
    for option in ("--args", "--return"):
        for words in (["record", "-o", "trace", "--force"], ["run"]):
            done = cunei(
                *words, "--c-calls", option, pattern, option, ":load", "app.py"
            )

            told = [line for line in done.stderr.splitlines() if "matches" in line]
            what = f"no function that was recorded matches {option} '{pattern}'"
            assert told == [f"cunei: {what}{hint}"]


def test_a_quiet_recording_tells_nothing_of_that(cunei):
    done = cunei("record", "-q", "-o", "trace", "--args", ":nothing", "-c", "pass")

    assert done.stderr == ""
