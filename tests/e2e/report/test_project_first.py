# SPDX-License-Identifier: MIT
"""The project's functions come first; what libraries do is one row, or none."""

import json
import re

import pytest
from budgets import needs_budget
from exported import export, page_of, slices_of

PROGRAM = """\
import os
import sys
sys.path.insert(0, os.path.abspath(f"{os.path.dirname(__file__)}/../site-packages"))
import engine

def handle(number):
    try:
        return sum(i * i for i in range(number))
    finally:
        engine.log(number)

engine.serve(handle)
try:
    {}["missing"]
except KeyError:
    pass
"""
ENGINE = """\
def serve(handler):
    for number in range(1, 40):
        dispatch(handler, number * 100)

def dispatch(handler, number):
    return handler(number)

def log(number):
    write(f"{number}")

def write(text):
    try:
        raise ValueError(text)
    except ValueError:
        return text * 20
"""


@pytest.fixture(scope="module")
def trace(shared):
    shared.write("shop/pyproject.toml", "")
    shared.write("shop/site-packages/engine.py", ENGINE)
    shared.write("shop/app/main.py", PROGRAM)
    done = shared("record", "-q", "-o", "trace", "shop/app/main.py")
    assert done.returncode == 0, done.stderr
    return shared


@pytest.fixture(scope="module")
def moved(trace):
    """The same with the library beside the script, so that only the folder tells."""
    trace.write("other/engine.py", ENGINE)
    trace.write(
        "shop/app/direct.py", PROGRAM.replace("../site-packages", "../../other")
    )
    done = trace("record", "-q", "-o", "moved", "shop/app/direct.py")
    assert done.returncode == 0, done.stderr
    return trace


def functions(cunei, *words, name="trace"):
    done = cunei("report", name, "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["functions"]


def test_the_tree_has_one_row_for_what_a_library_does(trace):
    tree = trace("report", "trace", "--tree", "--min-percent", "0").stdout

    assert re.search(r"serve \[2 frames in engine\] ", tree), tree
    assert re.search(r"log \[2 frames in engine\] ", tree), tree
    assert " handle " in tree
    assert "dispatch" not in tree and " write " not in tree


def test_no_fold_shows_every_function(trace):
    tree = trace("report", "trace", "--tree", "--min-percent", "0", "--no-fold").stdout

    assert " dispatch " in tree and " write " in tree
    assert "frames in" not in tree


def test_an_included_library_is_not_folded(trace):
    tree = trace("report", "trace", "--tree", "--include", "engine").stdout

    assert " dispatch " in tree


@pytest.mark.parametrize("name", ["trace", "moved"])
def test_only_project_gives_the_time_of_libraries_to_their_callers(moved, name):
    own = {f["qualname"]: f for f in functions(moved, "--only-project", name=name)}
    whole = {
        f["qualname"]: f for f in functions(moved, name=name) if f["module"] != "engine"
    }

    assert own.keys() == {"<module>", "handle", "handle.<locals>.<genexpr>"}
    logged = own["handle"]["self_ns"] - whole["handle"]["self_ns"]
    assert logged > 0
    assert own["handle"]["calls"] == 39
    total = whole["<module>"]["total_ns"]
    assert sum(f["self_ns"] for f in own.values()) == pytest.approx(total, rel=0.01)


PACKAGE = """\
import sys
sys.path.insert(0, "site-packages")
import shelf
import own.part
"""


def test_the_modules_of_a_library_share_a_row(cunei):
    cunei.write("site-packages/shelf/__init__.py", "from shelf import low, high\n")
    cunei.write("site-packages/shelf/low.py", "def f(): pass\nf()\n")
    cunei.write("site-packages/shelf/high.py", "")
    cunei.write("own/__init__.py", "")
    cunei.write("own/part.py", "")
    cunei.write("main.py", PACKAGE)
    cunei("record", "-q", "-o", "trace", "main.py")

    text = cunei("report", "trace", "--limit", "0").stdout
    chosen = cunei("report", "trace", "--include", "shelf.low").stdout
    data = json.loads(cunei("report", "trace", "--json").stdout)

    (row,) = [line for line in text.splitlines() if " import shelf" in line]
    assert re.search(r" 3 +– +– +– +– +import shelf$", row), row
    for name in "import own ", "import own.part ":
        assert f" {name}" in text
    assert " import shelf.low " in chosen
    assert sum(f["module"].startswith("shelf") for f in data["functions"]) == 4


def test_only_project_hides_libraries_in_the_table_and_the_tree(trace):
    for words in ((), ("--tree", "--min-percent", "0")):
        text = trace("report", "trace", "--only-project", *words).stdout
        assert " handle" in text
        assert "engine.py" not in text and "frames in" not in text


def test_exceptions_of_the_project_come_first(trace):
    text = trace("report", "trace", "--exceptions").stdout

    assert text.index("KeyError") < text.index("ValueError")


def test_replay_shows_only_the_project(trace):
    text = trace("replay", "trace", "--only-project").stdout

    assert text.count(" handle") >= 39
    assert "engine.py" not in text and "ValueError" not in text
    assert "KeyError" in text


def test_replay_has_imports_in_place_of_the_import_system(trace):
    text = trace("replay", "trace").stdout
    whole = trace("replay", "trace", "--no-fold").stdout

    assert " import engine" in text and "_find_and_load" not in text
    assert " import engine" not in whole and "_find_and_load" in whole


def test_comparisons_have_only_the_project(trace):
    done = trace("compare", "trace", "trace", "--json", "--only-project")

    names = {f["qualname"] for f in json.loads(done.stdout)["functions"]}
    assert names == {"<module>", "handle", "handle.<locals>.<genexpr>"}


def folded(cunei, *words, folds=True):
    path = export(cunei, "folded", *words, folds=folds)
    lines = path.read_text().splitlines()
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}


def test_flame_graphs_have_imports(trace):
    stacks, whole = folded(trace), folded(trace, folds=False)

    assert any(";import engine" in stack for stack in stacks)
    assert not any("importlib" in stack for stack in stacks)
    assert any("importlib" in stack for stack in whole)
    assert sum(stacks.values()) == pytest.approx(sum(whole.values()), rel=0.001)


def test_exports_have_only_the_project(trace):
    stacks, whole = folded(trace, "--only-project"), folded(trace, folds=False)

    assert not any("engine" in stack for stack in stacks)
    assert sum(stacks.values()) == pytest.approx(sum(whole.values()), rel=0.01)


@pytest.mark.parametrize("form", ["chrome", "perfetto"])
def test_timelines_have_imports(trace, form):
    data = export(trace, form, folds=True).read_bytes()
    whole = export(trace, form).read_bytes()

    assert b"import engine" in data and b"_find_and_load_unlocked" not in data
    assert b"import engine" not in whole and b"_find_and_load_unlocked" in whole


def test_speedscope_has_imports(trace):
    data = json.loads(export(trace, "speedscope", folds=True).read_text())

    frames = data["shared"]["frames"]
    used = {
        frames[event["frame"]]["name"]
        for profile in data["profiles"]
        for event in profile["events"]
    }
    assert "import engine" in used
    assert not any("importlib" in name for name in used)


def test_the_page_has_no_functions_of_the_import_system(trace):
    def called(folds):
        page = page_of(export(trace, "html", folds=folds))
        names = [function[0] for function in page["functions"]]
        return {names[index] for t in page["threads"] for *_, index in slices_of(t)}

    assert "_find_and_load_unlocked" in called(False)
    assert "_find_and_load_unlocked" not in called(True)


def test_tables_of_other_tools_have_the_import_system(trace):
    for form in "pstats", "callgrind", "csv":
        data = export(trace, form, folds=True).read_bytes()
        assert b"_find_and_load_unlocked" in data, form


def test_a_project_that_was_not_recorded_is_an_error_in_replay(trace):
    done = trace("replay", "trace", "--include", "nothing.*")

    assert done.returncode == 1
    assert "leave no function of 'trace'" in done.stderr


COMPILED = """\
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
import engine
engine.console_entry()
"""
CONSOLE_ENTRY = """\
def console_entry():
    return sum(map(abs, range(8_000_000)))
"""


@pytest.mark.parametrize("c_calls", [False, True])
def test_a_program_that_is_compiled_code_says_so(cunei, c_calls):
    cunei.write("main.py", COMPILED)
    cunei.write("site-packages/engine.py", CONSOLE_ENTRY)
    options = ["--c-calls"] if c_calls else []
    cunei("record", "-q", "-o", "trace", *options, "main.py")

    text = cunei("report", "trace").stdout

    sentence = r"s in console_entry: mostly compiled code, try --c-calls\n"
    assert bool(re.search(sentence, text)) is not c_calls, text


WORKERS = """\
import os
def work():
    return sum(range(1000))
for _ in range(2):
    if os.fork() == 0:
        work()
        os._exit(0)
for _ in range(2):
    os.wait()
"""


def test_workers_that_were_forked_have_names_that_differ(cunei):
    cunei.write("server.py", WORKERS)
    cunei("record", "-q", "-o", "trace", "server.py")

    rows = cunei("report", "trace", "--processes").stdout

    assert "server.py · fork 1\n" in rows and "server.py · fork 2\n" in rows, rows
    chosen = json.loads(cunei("report", "trace", "--json", "-p", "fork 2").stdout)
    assert [p["name"] for p in chosen["processes"]] == ["fork 2"]


BURIED = """\
import engine

def handle(rows):
    return [engine.pick(rows, i) for i in range(len(rows))]

engine.busy()
handle(list(range(2000)))
"""
BUSY = """\
import json.tool

def pick(rows, i):
    return sum(rows[:i]) + sum(rows[i:])

def busy():
    return sum(i * i for i in range(300_000))
"""


def test_what_is_behind_libraries_is_named_above_the_table(cunei):
    cunei.write("shop/pyproject.toml", "")
    cunei.write("shop/site-packages/engine.py", BUSY)
    cunei.write("shop/main.py", BURIED)
    path = str(cunei.folder / "shop/site-packages")

    done = cunei(
        "run", "-o", "report", "shop/main.py", env={"PYTHONPATH": path, "COLUMNS": "80"}
    )

    assert done.returncode == 0, done.stderr
    report = (cunei.folder / "report").read_text()
    lines = report.splitlines()
    line = next(i for i, text in enumerate(lines) if text.startswith("your code"))
    assert line < 5, report
    assert "handle " in lines[line] + lines[line + 1], report
    assert "engine" not in lines[line] + lines[line + 1], report


def test_where_the_table_begins_with_it_there_is_no_such_line(cunei):
    cunei.write("main.py", "print(sum(i * i for i in range(100_000)))\n")

    done = cunei("run", "-o", "report", "main.py")

    assert done.returncode == 0, done.stderr
    assert "your code" not in (cunei.folder / "report").read_text()


MANY = "".join(
    f"def busy_{i}():\n    n = 0\n    for i in range(1_500_000):\n        n += i\n"
    for i in range(6)
)
SAMPLED = """\
import engine

def tiny(n):
    return n

def handle():
    for i in range(100_000):
        tiny(i)

for i in range(6):
    getattr(engine, f"busy_{i}")()
handle()
"""


@pytest.mark.parametrize(
    "budget", [(), pytest.param(("--budget", "1%"), marks=needs_budget)]
)
def test_under_a_budget_there_is_no_such_line(cunei, budget):
    """Of sampled functions the call tree has only the samples."""
    cunei.write("shop/pyproject.toml", "")
    cunei.write("shop/site-packages/engine.py", MANY)
    cunei.write("shop/main.py", SAMPLED)
    path = {"PYTHONPATH": str(cunei.folder / "shop/site-packages")}

    words = ("record", "-q", "-o", "trace", *budget, "shop/main.py")
    done = cunei(*words, env=path)

    assert done.returncode == 0, done.stderr
    report = cunei("report", "trace").stdout
    assert ("~" in report) == bool(budget), report
    assert ("your code" in report) != bool(budget), report
