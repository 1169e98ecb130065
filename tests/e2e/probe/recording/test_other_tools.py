# SPDX-License-Identifier: MIT
"""Debuggers, coverage, profilers and test runners beside cunei, in either order.

Each does what it does without us, and we record what we record without it.
"""

import json
import re
from collections import Counter

import ctf
import dap
import pytest
from proof import needs_monitoring

WORK = """\
def leaf(n):
    return abs(n)

def work():
    for i in range(100):
        leaf(i)
    try:
        raise KeyError
    except KeyError:
        pass
    return sum(leaf(i) for i in range(50))
"""

# What we do besides, from nothing to everything.
OPTIONS = [
    {},
    {"include": ["app.py", "builtins"]},
    {"c_calls": True},
    {"c_calls": True, "args": ":leaf", "return_": ":leaf"},
]

# A tool is `make()`, which gives three functions: start, stop, and what it found.  It
# runs alone, and then with us in every order of switching on and off.
BOTH = """
import itertools, json, sys
import cunei

def switch(first, *functions):
    for function in functions if first == "us" else reversed(functions):
        function()

def measure(make):
    start, stop, result = make()
    start()
    work()
    stop()
    found = [result()]
    sides = ["us", "them"]
    for on, off, options in itertools.product(sides, sides, OPTIONS):
        start, stop, result = make()
        switch(on, lambda: cunei.start(f"trace/{len(found)}", **options), start)
        work()
        switch(off, cunei.stop, stop)
        found.append(result())
    json.dump(found, sys.stdout)
"""


def check(directory, options):
    """Our own results: they are those of a program without another tool."""
    (process,) = ctf.read(directory).processes
    counts = Counter()
    for function, count in process.count(ctf.ENTER).items():
        counts[function.module, function.qualname] += count
    assert counts["__main__", "leaf"] == 150
    assert counts["builtins", "abs"] == (150 if options.get("c_calls") else 0)
    values = [event for event in process.events() if event.kind == ctf.ARGUMENT]
    assert len(values) == (300 if options.get("args") else 0)
    assert process.is_balanced(), process.replay()


def measure(cunei, source, **environment):
    """What the other tool finds: it must always be the same."""
    source = f"OPTIONS = {OPTIONS}\n" + BOTH + source + "measure(make)\n"
    cunei.write("app.py", WORK + source)
    cunei.folder.joinpath("trace").mkdir()
    done = cunei.run(cunei.python, "app.py", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    alone, *beside = json.loads(done.stdout)
    assert len(beside) == 4 * len(OPTIONS)
    for number, found in enumerate(beside):
        assert found == alone, number
        check(cunei.folder / "trace" / str(1 + number), OPTIONS[number % len(OPTIONS)])
    return alone


COVERAGE = """
import coverage

def make():
    tool = coverage.Coverage(data_file=None, include=["*/app.py"])
    def result():
        data = tool.get_data()
        (file,) = data.measured_files()
        return sorted(line for line in data.lines(file) if line < 12)
    return tool.start, tool.stop, result
"""


@pytest.mark.core
@pytest.mark.parametrize(
    "core", ["ctrace", pytest.param("sysmon", marks=needs_monitoring)]
)
def test_coverage(cunei, core):
    pytest.importorskip("coverage")
    if core == "ctrace":
        pytest.importorskip("coverage.tracer", reason="no wheel with it for this one")

    lines = measure(cunei, COVERAGE, COVERAGE_CORE=core)
    assert lines == [2, 5, 6, 7, 8, 9, 10, 11]


PROFILE = """
import cProfile

def make():
    tool = cProfile.Profile()
    def result():
        counts = {}
        for entry in tool.getstats():
            name = getattr(entry.code, "co_name", entry.code)
            if name in ("work", "leaf", "<built-in method builtins.abs>"):
                counts[name] = entry.callcount
        return counts
    return tool.enable, tool.disable, result
"""


@pytest.mark.core
def test_cprofile(cunei):
    counts = measure(cunei, PROFILE)
    assert counts == {"work": 1, "leaf": 150, "<built-in method builtins.abs>": 150}


LINES = """
import line_profiler

def make():
    tool = line_profiler.LineProfiler(work, leaf)
    def result():
        timings = tool.get_stats().timings
        return {key[2]: [line[:2] for line in rows] for key, rows in timings.items()}
    return tool.enable_by_count, tool.disable_by_count, result
"""


@pytest.mark.parametrize(
    "core", [pytest.param("sysmon", marks=needs_monitoring), "legacy"]
)
def test_line_profiler(cunei, core):
    pytest.importorskip("line_profiler")

    hits = measure(cunei, LINES, LINE_PROFILER_CORE=core)
    assert hits["leaf"] == [[2, 150]]


TRACE = """
def make():
    seen = []
    def hook(frame, event, argument):
        seen.append(frame.f_code.co_name)
        return hook
    def result():
        return [sum(name == wanted for name in seen) for wanted in ("leaf", "work")]
    return lambda: sys.INSTALL(hook), lambda: sys.INSTALL(None), result
"""


@pytest.mark.parametrize("install", ["settrace", "setprofile"])
def test_tracing_of_old(cunei, install):
    leaf, work = measure(cunei, TRACE.replace("INSTALL", install))
    assert leaf >= 300 and work >= 2


DEBUGGED = WORK + "work()\nprint('end')\n"
COMMANDS = """\
break leaf, n == 3
continue
p n
where
step
next
return
next
clear 1
tbreak app.py:11
continue
p [n for n in dir() if not n.startswith('_')]
continue
quit
"""


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


@pytest.mark.core
@pytest.mark.parametrize("selection", [[], ["--include", "app.py"], ["--c-calls"]])
def test_pdb_of_a_recorded_program(cunei, selection):
    cunei.write("app.py", DEBUGGED)
    cunei.write("commands", COMMANDS)
    printed = []
    for words in (
        [cunei.python],
        [cunei.executable, "record", "-q", "-o", "trace", *selection, cunei.python],
    ):
        with open(cunei.folder / "commands") as commands:
            done = cunei.run(*words, "-m", "pdb", "app.py", stdin=commands)
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(without_addresses(done.stdout))

    assert printed[0] == printed[1]
    assert all(part in printed[0] for part in ("Breakpoint 1 at", "(Pdb) 3", "end"))
    # pdb runs the program anew at its end, until it gets the command to quit.
    trace = ctf.read(cunei.folder / "trace")
    assert trace.count("leaf") >= 150
    assert trace.lost() == 0


def test_a_program_that_records_itself_in_pdb(cunei):
    cunei.write(
        "app.py",
        WORK
        + "import cunei\n"
        + "with cunei.recording('trace', c_calls=True):\n"
        + "    work()\n"
        + "print('end')\n",
    )
    cunei.write("commands", COMMANDS)
    with open(cunei.folder / "commands") as commands:
        done = cunei.run(cunei.python, "-m", "pdb", "app.py", stdin=commands)

    assert (done.returncode, done.stderr) == (0, "")
    assert "(Pdb) 3" in done.stdout and "end" in done.stdout
    process = ctf.read(cunei.folder / "trace").processes[0]
    counts = {f.qualname: n for f, n in process.count(ctf.ENTER).items()}
    assert counts["leaf"] == 150
    # The debugger's own calls come and go with what it does to the frame it is in.
    assert counts["abs"] == 150


def test_breakpoint_in_a_recorded_program(cunei):
    cunei.write("app.py", WORK + "breakpoint()\nwork()\nprint('end')\n")
    cunei.write("commands", "break leaf, n == 3\ncontinue\np n\nclear 1\ncontinue\n")
    with open(cunei.folder / "commands") as commands:
        done = cunei("record", "-q", "-o", "trace", "app.py", stdin=commands)

    assert (done.returncode, done.stderr) == (0, "")
    assert "(Pdb) 3" in done.stdout and done.stdout.endswith("end\n")
    assert ctf.read(cunei.folder / "trace").count("leaf") == 150


@pytest.mark.parametrize("first", ["us", "them"])
def test_debugpy(cunei, first):
    pytest.importorskip("debugpy")
    source = WORK + "work()\n"
    words = [cunei.python]
    if first == "us":
        words = [cunei.executable, "record", "-q", "--c-calls", "-o", "trace", "--"]
        words.append(cunei.python)
    else:
        source += "import cunei\ncunei.start('trace', c_calls=True)\n"
        source = source.replace("work()\nimport", "import") + "work()\ncunei.stop()\n"
    cunei.write("app.py", source)

    with dap.Session(cunei, words, "app.py") as session:
        session.set_breakpoint(2, "n in (3, 7)")
        session.begin()
        stops = []
        while frames := session.wait_for_stop():
            stops.append([frame["name"] for frame in frames][:2])
            session.go_on()
    assert (session.returncode, session.stderr) == (0, "")

    assert stops == [["leaf", "work"]] * 2 + [["leaf", "<genexpr>"]] * 2
    counts = Counter()
    for process in ctf.read(cunei.folder / "trace").processes:
        for function, count in process.count(ctf.ENTER).items():
            counts[function.module, function.qualname] += count
    assert counts["__main__", "leaf"] == 150


# Three processes that import pytest take long on a machine that is busy.
SLOW_S = 300

TESTS = """\
import pytest

def helper(n):
    return n + 1

@pytest.mark.parametrize("n", range(20))
def test_good(n):
    assert helper(n) == n + 1

def test_bad():
    assert helper(1) == 1

@pytest.mark.skip
def test_skipped():
    helper(1)
"""


@pytest.fixture(
    scope="module", params=[[], ["-n", "2"]], ids=["pytest", "pytest-xdist"]
)
def pytest_command(request, shared):
    """How these tests are run, and what comes of them without us."""
    if request.param:
        pytest.importorskip("xdist")
    shared.write("test_it.py", TESTS)
    command = ["-m", "pytest", "-p", "no:cacheprovider", *request.param, "test_it.py"]
    return command, shared.run(shared.python, *command, timeout=SLOW_S)


def outcomes(stdout):
    return re.findall(r"\d+ (?:passed|failed|skipped)", stdout)


@pytest.mark.parametrize("selection", [[], ["--c-calls", "--include", "test_it"]])
def test_pytest(cunei, pytest_command, selection):
    command, plain = pytest_command
    cunei.write("test_it.py", TESTS)
    words = ["record", "-q", "-o", "trace", *selection, "--", cunei.python]
    done = cunei(*words, *command, timeout=SLOW_S)

    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr) == (1, "")
    assert outcomes(done.stdout) == outcomes(plain.stdout)
    assert sorted(outcomes(done.stdout)) == ["1 failed", "1 skipped", "20 passed"]
    report = json.loads(cunei("report", "--json", "trace").stdout)
    calls = {f["qualname"]: f["calls"] for f in report["functions"]}
    assert (calls["helper"], calls["test_good"], calls["test_bad"]) == (21, 20, 1)
    assert (report["lost"], report["orphans"]) == (0, 0)
