# SPDX-License-Identifier: MIT
"""What chosen functions are called with and return is recorded, and nothing breaks."""

import ctf
import pytest

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


def test_generators_and_coroutines(cunei):
    process = run(
        cunei,
        """
import asyncio, types

def generate(n):
    for i in range(n):
        yield i
    return "last"

@types.coroutine
def turn():
    yield

async def wait(n):
    await turn()
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


def test_a_call_that_ends_with_an_exception_has_no_result(cunei):
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
        (["--max-repr", "0", "app.py"], "--max-repr needs a number from 8 to 4096"),
        (["--max-repr", "5000", "app.py"], "--max-repr needs a number from 8 to 4096"),
        (["--max-repr", "x"], "--max-repr needs a number, not 'x'"),
        (["--repr", "ful"], "--repr cannot be 'ful'; did you mean 'full'?"),
        (["--repr", "xyz"], "--repr cannot be 'xyz'; choose one of: safe, full"),
        (["--args", "re:("], "--args 're:(' is not a valid pattern: "),
        (["--return"], "--return needs a value: --return PATTERN"),
        (["--c-calls=1"], "--c-calls does not take a value"),
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
        ("args='re:('", "ValueError", "args 're:(' is not a valid pattern: "),
        ("return_=['re:[']", "ValueError", "return_ 're:[' is not a valid pattern: "),
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


MODULE = (
    ", which is read as a module; a pattern of functions or methods begins with ':'"
)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        (":lod", "; did you mean ':load'?"),
        ("__main__:laod", "; did you mean '__main__:load'?"),
        ("app:laod", "; did you mean ':load'?"),
        ("__mian__", "; did you mean '__main__'?"),
        ("lod", ", which is read as a module; for a function or method write ':load'"),
        ("./ap.py", "; did you mean 'app.py'?"),
        (":nothing.like.this", ""),
        ("olda", MODULE),
        ("nomodule", MODULE),
        ("load", ", which is read as a module; for a function or method write ':load'"),
        ("re:^x", ""),
        ("other.py", ""),
    ],
)
def test_a_pattern_that_matches_nothing_is_reported(cunei, pattern, hint):
    cunei.write("app.py", "def load(x): return len(x)\nload('')\n")
    for option in ("--args", "--return"):
        for words in (["record", "-o", "trace", "--force"], ["run"]):
            done = cunei(
                *words, "--c-calls", option, pattern, option, ":load", "app.py"
            )

            lines = [line for line in done.stderr.splitlines() if "matches" in line]
            what = f"no recorded function matches {option} '{pattern}'"
            assert lines == [f"cunei: {what}{hint}"]


def test_c_functions_have_no_values(cunei):
    cunei.write("app.py", "len('')\n")

    done = cunei("record", "-o", "trace", "--c-calls", "--args", ":len", "app.py")

    what = "--args ':len' matches C functions, which have no values"
    assert what in done.stderr


def test_a_quiet_recording_shows_nothing_of_that(cunei):
    done = cunei("record", "-q", "-o", "trace", "--args", ":nothing", "-c", "pass")

    assert done.stderr == ""
