# SPDX-License-Identifier: MIT
"""%%cunei, %cunei and %cunei_report in a real kernel, and in a terminal's IPython."""

import json
import os
import re

import pytest
from proof import FREE_THREADED, needs_monitoring

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

WORK = """\
def work(n):
    return sum(map(lambda i: i * i, range(n)))
work(20000)
print("printed")
41 + 1"""

FAILS = """\
def fail():
    sum(i * i for i in range(100000))
    raise ValueError("mine")
fail()"""

MANY = """\
%%cunei -o many
names = {}
for i in range(3000):
    exec(f"def f{i}(): return sum(range(2000))", names)
for i in range(3000):
    names[f"f{i}"]()"""

THREADS = """\
import threading
def busy():
    return sum(range(100000))
thread = threading.Thread(target=busy)
thread.start(), thread.join(), [print(i) for i in range(20)]"""

CELLS = {
    "load": "%load_ext cunei",
    "early": "%cunei_report",
    "work": f"%%cunei\n{WORK}",
    "again": "%cunei_report --regions",
    "flame": "%cunei_report --flame",
    "page": "%cunei_report --page",
    "pattern": "%%cunei --include 're:('\n1",
    "option": "%%cunei --wrong\n1",
    "quote": "%%cunei 'a\n1",
    "report option": "%cunei_report --wrong",
    "no trace": "%cunei_report -d nowhere",
    "there": "%%cunei -o there\n1",
    "await": "%%cunei\nimport asyncio\nawait asyncio.sleep(0)",
    "help": "%%cunei --help\n1",
    "line help": "%cunei --help",
    "line": "%cunei --no-flame work(3000)",
    "braces": "%cunei -n 3 --no-flame -o 'a b' f\"{work(3)} it's $HOME\"",
    "assigns": "%cunei --no-flame three = work(3)\nthree",
    "minus": "%cunei --no-flame -- -work(3)",
    "silent line": "%cunei --no-flame work(3);",
    "line fails": "%cunei --no-flame work('x')",
    "line option": "%cunei --wrong work(3)",
    "no statement": "%cunei --no-flame",
    "awaits": "%cunei await work(3)",
    "word": "%%cunei work(3)\n1",
    "empty": "%%cunei",
    "threads": f"%%cunei --no-flame -n 0\n{THREADS}",
    "project": "%%cunei --only-project\nimport json\njson.dumps(work(3))",
    "filter": "%%cunei --no-flame --filter some.filter\nwork(3)",
    "bad filter": "%%cunei --filter bad.filter\nwork(3)",
    "raises": f"%%cunei --no-flame\n{FAILS}",
    "quiet": "%%cunei --no-flame\n1 + 1;",
    "silent": "%%cunei --no-flame\nvalue = 7",
    "many": MANY,
    "plain": "def plain(n): return n",
    "of a plain cell": "%%cunei --no-flame\nplain(3)",
    "budget": "%%cunei --no-flame --budget 1%\nfor i in range(2000000): plain(i)",
    "after": "value, work(3)",
    "moves": "%%cunei\nimport os\nos.chdir(os.path.dirname(os.getcwd()))\nwork(3)",
    "moved": "%cunei_report --regions",
    "back": "os.chdir(_dh[0])",
    "stray": "%%cunei --no-flame\nimport cunei\ncunei.region_end()\nwork(3000)",
    "beside": "import cunei\ncunei.start('beside')",
    "inside": "%%cunei\nwork(10)",
    "end": "cunei.stop()",
    "unload": "%unload_ext cunei",
    "gone": "%cunei_report",
}


class Notebook:
    def __init__(self, folder):
        (folder / "there").mkdir()
        (folder / "there" / "file").write_text("")
        (folder / "some.filter").write_text("- re:<lambda>$\n")
        (folder / "bad.filter").write_text("+ work\n?\n")
        cells = [nbformat.v4.new_code_cell(text) for text in CELLS.values()]
        made = nbformat.v4.new_notebook(cells=cells)
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        client = nbclient.NotebookClient(
            made,
            timeout=60,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
        self.folder = folder
        self.cells = dict(zip(CELLS, made.cells))

    def shown(self, name, kind):
        """What a cell shows of that kind, in order."""
        found = [each.get("data", {}) for each in self.cells[name].outputs]
        return [data[kind] for data in found if kind in data]

    def printed(self, name):
        return "".join(each.get("text", "") for each in self.cells[name].outputs)

    def raised(self, name):
        return [each.ename for each in self.cells[name].outputs if "ename" in each]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    for name in list(os.environ):
        if name.startswith(("CUNEI_", "PYTEST_", "COVERAGE")):
            patch.delenv(name)
    # The user's own configuration must not matter here.
    patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
    patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    yield Notebook(tmp_path_factory.mktemp("notebook"))
    patch.undo()


def test_a_cell_is_recorded_and_shown(notebook):
    table, picture = notebook.shown("work", "text/html")
    text = notebook.shown("work", "text/plain")

    assert "<table>" in table and "&lt;lambda&gt;" in table and "<lambda>" not in table
    assert ">20 000</td>" in table and "In[3]:2" in table
    assert picture.startswith("<svg") and ">work</text>" in picture
    assert re.search(r"<title>work [^<]*%, 1 call<", picture)
    assert "function" in text[0] and "work" in text[0]


def test_a_cell_does_what_it_does_without(notebook):
    assert notebook.printed("work") == "printed\n"
    assert notebook.shown("work", "text/plain")[-1] == "42"
    assert len(notebook.shown("quiet", "text/html")) == 1
    assert not notebook.shown("quiet", "text/plain")[1:]
    assert ", 1 call · " in notebook.shown("quiet", "text/plain")[0]
    assert notebook.shown("after", "text/plain") == ["(7, 5)"]


def test_a_statement_is_recorded_and_shown(notebook):
    table, value = notebook.shown("line", "text/plain")

    assert "work" in table and "<lambda>" in table and "3 000" in table
    assert value == str(sum(i * i for i in range(3000)))
    _, text = notebook.shown("braces", "text/plain")
    assert text == '"5 it\'s $HOME"'
    assert (notebook.folder / "a b").is_dir()


def test_a_statement_is_any_statement(notebook):
    assert notebook.shown("assigns", "text/plain")[1:] == ["5"]
    assert notebook.shown("minus", "text/plain")[1:] == ["-5"]
    assert len(notebook.shown("silent line", "text/plain")) == 1
    assert notebook.raised("line fails") == ["TypeError"]


def test_the_trace_is_kept(notebook, cunei):
    (folder,) = notebook.folder.glob("cunei-notebook-*")
    result = cunei("report", "--json", "--regions", folder / "1")

    report = json.loads(result.stdout)
    assert [region["name"] for region in report["regions"]] == ["cell 1"]
    calls = {f["qualname"]: f["calls"] for f in report["functions"]}
    assert calls["work"] == 1 and calls["work.<locals>.<lambda>"] == 20000
    # The value of a cell is no call of its own; the kernel was open already.
    modules = [f["calls"] for f in report["functions"] if f["qualname"] == "<module>"]
    assert sorted(modules)[-1] == sum(modules) == 1
    modules = {f["module"].partition(".")[0] for f in report["functions"]}
    assert not modules & {"IPython", "ipykernel", "zmq", "cunei"}


def test_the_table_has_what_the_cell_did_and_not_what_the_kernel_did(notebook):
    (table,) = notebook.shown("threads", "text/html")

    assert ">busy</td>" in table and ">Thread.start</td>" in table
    for name in ("_handle_fromlist", "_run_once", "Handle._run", "select"):
        assert f"{name}</td>" not in table


def test_functions_of_other_cells_are_named_by_them(notebook):
    (table,) = notebook.shown("of a plain cell", "text/html")
    number = list(CELLS).index("plain") + 1

    assert re.search(rf">plain</td><td [^>]*>In\[{number}\]:1</td>", table)


@needs_monitoring
@pytest.mark.skipif(FREE_THREADED, reason="a budget needs a GIL")
def test_numbers_that_a_budget_estimates_are_marked(notebook):
    (table,) = notebook.shown("budget", "text/html")

    (row,) = [row for row in table.split("<tr>") if ">plain</td>" in row]
    own, _, total, calls = re.findall(r"right[^>]*>([^<]*)</td>", row)
    assert own[0] == total[0] == calls[0] == "~"
    assert int(calls[1:].replace(" ", "")) > 200_000
    assert re.match(r"<div>[^<]* ~[0-9 ]+ calls", table)


def test_cells_are_the_project_s(notebook):
    table = notebook.shown("project", "text/html")[0]

    assert ">work</td>" in table and "dumps" not in table


def test_a_filter_file(notebook):
    (table,) = notebook.shown("filter", "text/html")

    assert ">work</td>" in table and "&lt;lambda&gt;" not in table


def test_the_last_recording_is_shown_in_other_ways(notebook):
    (text,) = notebook.shown("again", "text/html")
    (picture,) = notebook.shown("flame", "text/html")
    (page,) = notebook.shown("page", "text/html")

    assert "<pre" in text and "cell 1" in text
    assert picture == notebook.shown("work", "text/html")[1]
    assert page.startswith("<iframe") and "srcdoc=" in page
    assert '"' not in page.partition('srcdoc="')[2].partition('"')[0]


def test_an_exception_of_a_cell_is_raised_and_shown(notebook):
    (table,) = notebook.shown("raises", "text/html")

    assert "fail" in table
    assert notebook.raised("raises") == ["ValueError"]


def test_lines_are_those_of_the_whole_cell(notebook):
    (error,) = [each for each in notebook.cells["raises"].outputs if "ename" in each]
    traceback = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))

    assert re.search(r"line 4, in fail\(\)", traceback), traceback
    assert "_ipython.py" not in traceback


def test_a_cell_may_change_the_directory(notebook):
    table, picture = notebook.shown("moves", "text/html")
    (text,) = notebook.shown("moved", "text/html")

    assert ">work</td>" in table and picture.startswith("<svg")
    assert f" · {notebook.folder.name}/cunei-notebook-" in table
    assert "<pre" in text and "cell" in text


def test_a_stray_end_does_not_end_the_cell(notebook):
    (table,) = notebook.shown("stray", "text/html")

    assert ">work</td>" in table and ">3 000</td>" in table


def test_a_picture_has_bounds(notebook):
    picture = notebook.shown("many", "text/html")[1]

    assert len(picture) < 300_000
    assert 1 < picture.count("<rect") <= 500
    right = [
        float(x) + float(width)
        for x, width in re.findall(r'x="([\d.]+)" y="\d+" width="([\d.]+)"', picture)
    ]
    assert max(right) <= 1001


def test_in_a_recording_that_runs_a_cell_is_a_region(notebook, cunei):
    assert "region 'cell" in notebook.printed("inside")
    result = cunei("report", "--json", notebook.folder / "beside")
    (region,) = json.loads(result.stdout)["regions"]
    assert region["name"].startswith("cell ") and region["count"] == 1


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("early", "nothing was recorded yet"),
        ("pattern", "include 're:(' is not a valid pattern"),
        ("option", "unrecognized arguments: --wrong; %cunei --help"),
        ("quote", "cannot read the options"),
        ("report option", "report has no option '--wrong'"),
        ("no trace", "nowhere"),
        ("bad filter", "bad.filter:2:1: expected '+ PATTERN'"),
        ("there", "'there' is not empty"),
        ("line option", "unrecognized arguments: --wrong; %cunei --help"),
        ("no statement", "%cunei: needs a statement"),
        ("awaits", "cannot record a top-level await"),
        ("word", "unrecognized arguments: work(3); %cunei --help"),
        ("empty", "the cell body is empty"),
        ("await", "cannot record a top-level await"),
    ],
)
def test_impossible_options_are_reported_in_a_sentence(notebook, name, sentence):
    printed = notebook.printed(name)

    assert printed.startswith("UsageError: ") and sentence in printed
    assert printed.count("\n") == 1
    assert not notebook.raised(name)


def test_help(notebook):
    assert "--no-flame" in notebook.printed("help")
    assert "--no-flame" in notebook.printed("line help")
    assert "statement" in notebook.printed("line help")


def test_it_can_be_unloaded(notebook):
    assert "not found" in notebook.printed("gone")


def test_a_terminal_shows_text(cunei):
    magic = f'get_ipython().run_cell_magic("cunei", "--no-flame", {WORK!r})'
    cunei.write("cells.ipy", f"%load_ext cunei\n{magic}\n")
    result = cunei.run(cunei.python, "-m", "IPython", "--colors=NoColor", "cells.ipy")

    assert result.returncode == 0, result.stderr
    assert re.search(r"^ +self +% +total +calls +function$", result.stdout, re.M)
    assert "<table>" not in result.stdout and "work" in result.stdout
