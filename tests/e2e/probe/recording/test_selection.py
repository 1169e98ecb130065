# SPDX-License-Identifier: MIT
"""What --include and --exclude select is recorded exactly, and nothing else pays."""

import ctf
import pytest
from proof import FREE_THREADED, TAKEN, needs_monitoring

pytestmark = pytest.mark.core

TAKE = """\
import sys
import cunei

for tool in {taken!r}:
    sys.monitoring.use_tool_id(int(tool), "other")
"""

each_number_of_ids = pytest.mark.parametrize("taken", TAKEN)


def run(cunei, taken, source):
    cunei.write("app.py", TAKE.format(taken=taken) + source)
    done = cunei.run(cunei.python, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return ctf.read(cunei.folder / "trace")


SUSPENDED = """
def generate():
    try:
        for i in range(100):
            yield i
    except KeyError:
        yield "thrown"

def other():
    yield from range(100)

generator, excluded = generate(), other()
next(generator), next(excluded)
cunei.start("trace", include=":generate")
"""


@each_number_of_ids
def test_a_generator_that_was_suspended_is_resumed(cunei, taken):
    trace = run(
        cunei,
        taken,
        SUSPENDED
        + "for _ in range(5): next(generator), next(excluded)\n"
        + "cunei.stop()\n",
    )

    assert trace.count("generate", ctf.RESUME) == 5
    assert trace.count("generate", ctf.YIELD) == 5
    assert trace.count("generate", ctf.ENTER) == 0
    assert list(trace.processes[0].count(*range(4))) == [
        ("__main__", "generate", str(cunei.folder / "app.py"), 7)
    ]
    assert trace.is_balanced()


@each_number_of_ids
def test_a_throw_may_be_the_first_that_is_seen_of_a_generator(cunei, taken):
    trace = run(
        cunei,
        taken,
        SUSPENDED
        + "assert generator.throw(KeyError) == 'thrown'\n"
        + "assert next(generator, 'end') == 'end'\n"
        + "cunei.stop()\n",
    )

    assert trace.count("generate", ctf.RESUME) == 2
    assert trace.count("generate", ctf.YIELD) == 1
    assert trace.count("generate", ctf.LEAVE) == 1
    assert trace.is_balanced()


@each_number_of_ids
def test_another_selection_records_what_the_first_left_out(cunei, taken):
    trace = run(
        cunei,
        taken,
        "def one(): pass\n"
        "def two(): yield; yield\n"
        "def work():\n"
        "    one()\n"
        "    list(two())\n"
        "for options in ({'include': ':one'}, {'include': ':two'}, {},\n"
        "                {'exclude': ':one'}, {'include': ':one'}):\n"
        "    cunei.start('trace', **options)\n"
        "    work()\n"
        "    cunei.stop()\n",
    )

    counts = [
        {
            function.qualname: count
            for function, count in process.count(ctf.ENTER, ctf.RESUME).items()
            if function.qualname in ("one", "two")
        }
        for process in trace.processes
    ]
    assert counts == [
        {"one": 1},
        {"two": 3},
        {"one": 1, "two": 3},
        {"two": 3},
        {"one": 1},
    ]
    assert trace.is_balanced()


@needs_monitoring
@pytest.mark.skipif(FREE_THREADED, reason="without a GIL events are set for all code")
@each_number_of_ids
def test_only_selected_code_has_events_of_ours(cunei, taken):
    run(
        cunei,
        taken,
        """
def included(): pass
def excluded(): pass
monitoring, events = sys.monitoring, sys.monitoring.events

def local(function):
    return [monitoring.get_local_events(tool, function.__code__) for tool in ours]

cunei.start("trace", include=":included")
included(), excluded()
ours = [tool for tool in range(6) if monitoring.get_tool(tool) == "cunei"]
recording = 4
kept = monitoring.get_events(recording)
assert recording in ours
assert any(local(included)) and not any(local(excluded))
assert kept & events.PY_THROW and not kept & (events.RAISE | events.RERAISE)
if sys.version_info < (3, 15):
    assert kept & events.PY_UNWIND and not kept & events.EXCEPTION_HANDLED
else:
    assert not kept & events.PY_UNWIND
    assert any(bits & events.PY_UNWIND for bits in local(included))
assert not kept & (events.PY_RETURN | events.PY_YIELD)
assert bool(kept & events.PY_START) == (len(ours) == 1)

cunei.stop()
for tool in ours:
    assert monitoring.get_tool(tool) is None
    monitoring.use_tool_id(tool, "next")
    assert monitoring.get_events(tool) == 0
assert not any(local(included)) and not any(local(excluded))
""",
    )


@needs_monitoring
@pytest.mark.skipif(FREE_THREADED, reason="without a GIL events are set for all code")
def test_events_of_exceptions_are_on_when_they_are_needed(cunei):
    run(
        cunei,
        "",
        """
def plain(): pass
def guarded():
    try:
        plain()
    except KeyError:
        pass
def fail():
    raise KeyError
def hidden():
    try:
        fail()
    except KeyError:
        pass
def hidden_too(): hidden()

events = sys.monitoring.events
names = ("PY_UNWIND", "EXCEPTION_HANDLED", "RAISE", "RERAISE")

def on(function=None):
    bits = (
        sys.monitoring.get_local_events(4, function.__code__)
        if function
        else sys.monitoring.get_events(4)
    )
    return [name for name in names if bits & getattr(events, name)]

is_local = sys.version_info >= (3, 15)
for call, wanted in ((plain, 1), (guarded, 2), (hidden, 2)):
    name = "fail" if call is hidden else call.__name__
    cunei.start("trace", include=f":{name}")
    hidden_too() if call is not hidden else None
    assert on() == [], on()
    call()
    assert on() == ([] if is_local else list(names[:wanted])), (name, on())
    if is_local:
        assert sorted(on(fail if call is hidden else call)) == sorted(names)
        assert bool(on(hidden)) == (call is hidden) and on(hidden_too) == []
    cunei.stop()
    assert not on(call) and not on(fail)
""",
    )


FRAMES = """\
import sys

def inner(n):
    if n == 0:
        raise ValueError
    middle(n - 1)

def middle(n):
    inner(n)

def outer():
    try:
        inner(5)
    except ValueError:
        pass

for _ in range(3):
    outer()
"""


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ([], {"<module>": 1, "outer": 3, "inner": 18, "middle": 15}),
        (["--include", "__main__:inner"], {"inner": 18}),
        (["--include", ":outer", "--include", ":middle"], {"outer": 3, "middle": 15}),
        (["--exclude", "*:middle"], {"<module>": 1, "outer": 3, "inner": 18}),
        (["--include", "app.py", "--exclude", "re:m.d.le$"], {"inner": 18, "outer": 3}),
        (["--exclude", "__main__", "--include", ":outer"], {"outer": 3}),
        (["--include", "*/app.py"], {"outer": 3, "inner": 18, "middle": 15}),
        (["--include", "nothing"], {}),
    ],
)
def test_exceptions_through_what_is_left_out(cunei, options, wanted):
    cunei.write("app.py", FRAMES)

    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    trace = ctf.read(cunei.folder / "trace")
    (process,) = trace.processes
    got = {function.qualname: n for function, n in process.count(ctf.ENTER).items()}
    got.pop("<module>", None)
    assert got == {name: n for name, n in wanted.items() if name != "<module>"}
    assert trace.is_balanced(), process.replay()


def test_main_is_entered_once(cunei):
    cunei.write("app.py", "import json\n")

    cunei("record", "-q", "-o", "trace", "--include", "__main__", "app.py")

    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("<module>") == trace.count("<module>", ctf.LEAVE) == 1
    assert len(trace.processes[0].functions) == 1


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("A.m", "; for a function or method write ':A.m'"),
        ("app:B.m", ""),
        ("./other.py", ""),
        ("other.py", ""),
        ("re:^x", ""),
    ],
)
def test_a_selection_that_matches_nothing_is_reported(cunei, pattern, hint):
    cunei.write("app.py", "class A:\n    def m(self): pass\nA().m()\n")

    for words in (["record", "-o", "trace"], ["run"]):
        result = cunei(*words, "--include", pattern, "app.py")

        assert (
            f"cunei: no function matched --include '{pattern}'; a pattern is a module, "
            f"module:qualname, a file or re:…{hint}\n"
        ) in result.stderr


def test_a_module_that_was_mistyped_is_guessed(cunei):
    """From what lies beside the script, and what its Python has."""
    cunei.write("src/app.py", "import json, helper\njson.dumps(helper.f())\n")
    cunei.write("src/helper.py", "def f(): return 1\n")
    cunei.write("f", "# first\n\n+ hlper\n")
    hint = "did you mean the module '%s', or the function ':%s'?\n"

    for words, place, near in (
        (["--include", "jsno"], "no function matched --include 'jsno'; ", "json"),
        (["--include", "helpr"], "no function matched --include 'helpr'; ", "helper"),
        (["--filter", "f"], "f:3: no function matched 'hlper'; ", "helper"),
    ):
        printed = cunei("record", "--force", "-otrace", *words, "src/app.py").stderr

        word = place.split("'")[1]
        assert f"cunei: {place}{hint % (near, word)}" in printed
    # This module exists, but none of its functions was called.
    done = cunei("record", "--force", "-otrace", "--include", "csv", "src/app.py")
    assert "did you mean" not in done.stderr


def test_a_pattern_of_the_project_s_defaults_is_reported_with_its_place(cunei):
    cunei.write("app.py", "def f(): pass\nf()\n")
    path = cunei.write("pyproject.toml", '[tool.cunei]\ninclude = ["nomod"]\n')

    printed = cunei("record", "-otrace", "app.py").stderr

    assert f"cunei: {path}:2: no function matched 'nomod'; a pattern is" in printed


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", ["--exclude", "*"], "no function was recorded: the filter -* left out all "
         "that were called"),
        ("", ["--exclude", "!jsno"], "no function was recorded: the filter -!jsno left "
         "out all that were called"),
        ("", ["--only-project", "--exclude", "app.py"], "work -app.py left out"),
        ("", ["--include", "__main__", "--exclude", ":*"], "no function was recorded: "
         "the filter +__main__ -:* left out all that were called"),
        ('{"include_timers": ["no_such"]}', [], "f: no function matched "
         "'re-name:(no_such)'\n"),
        ('{"include_timers": ["no_such"], "include_files": ["x"]}', [], "no function "
         "was recorded: the filter -!re-name:(no_such) -!re-file:(x) left out all"),
        ("# all\n- *\n", [], "f:2: no function was recorded: the filter -* left out"),
        ("- !__man__\n", [], "f:1: no function matched '__man__'; a pattern is a"),
    ],
)  # fmt: skip
def test_a_filter_that_leaves_out_everything_is_reported(cunei, text, words, message):
    cunei.write("app.py", "def f(): pass\nf()\n")
    cunei.write("f", text)

    for command in (["record", "-o", "trace"], ["run"]):
        filtered = ["--filter", "f"] if text else []
        printed = cunei(*command, *filtered, *words, "app.py").stderr

        assert message in printed


def test_a_selection_that_matches_something_is_not(cunei):
    cunei.write("app.py", "class A:\n    def m(self): pass\nA().m()\n")

    for pattern in (":A.m", "./app.py", "__main__"):
        result = cunei("record", "--force", "-otrace", "--include", pattern, "app.py")

        assert "matched" not in result.stderr


def test_c_functions_are_in_no_project(cunei):
    cunei.write("app.py", "len(())\n")

    printed = cunei("record", "-otrace", "--c-calls", "--only-project", "app.py").stderr

    message = "cunei: C functions belong to no project; select them by their own "
    assert message in printed


def test_c_functions_that_a_selection_leaves_out_are_reported(cunei):
    cunei.write("app.py", "len(())\n")
    message = (
        "cunei: no C function matched the patterns; select them by their own "
        "module, for example --include builtins\n"
    )

    for words, expected in (
        (["--c-calls", "--include", "__main__"], True),
        (["--c-calls", "--include", "__main__", "--include", "builtins"], False),
        (["--c-calls", "--exclude", "builtins"], False),
        (["--c-calls", "--include", "missing"], False),
        (["--include", "__main__"], False),
    ):
        result = cunei("record", "--force", "-o", "trace", *words, "app.py")

        assert (message in result.stderr) == expected, words
