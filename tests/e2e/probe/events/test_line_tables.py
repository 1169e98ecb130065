# SPDX-License-Identifier: MIT
"""Lines as they are shown: beside their source, in reports, in dumps."""

import json
import os
import re
import zipapp

import pytest
from test_lines import lines_of, record, report_of

pytestmark = pytest.mark.core


SHOWN = """\
def add(n):
    total = 0
    for i in range(n):
        total += i
    if n < 0:
        return None

    return total


print(add(4))
"""


def table(text):
    """The rows below the head of the first table: {line: (hits, source)}."""
    rows = text.split("source\n", 1)[1].split("\n\nnext", 1)[0].split("\n")
    found = {}
    for row in rows:
        match = re.fullmatch(r" *(\d+)(?: +(\d+)(?: +[\d.]+ \w+){2} +[\d.]+)?(.*)", row)
        assert match, row
        found[int(match[1])] = (int(match[2] or 0), match[3].strip())
    return found


def test_the_source_stands_beside_its_numbers(cunei):
    record(cunei, SHOWN, "--lines", ":add")
    done = cunei("report", "trace", "--lines", "add", env={"COLUMNS": "80"})

    assert table(done.stdout) == {
        1: (0, "def add(n):"),
        2: (1, "total = 0"),
        3: (5, "for i in range(n):"),
        4: (4, "total += i"),
        5: (1, "if n < 0:"),
        6: (0, "return None"),
        7: (0, ""),
        8: (1, "return total"),
    }
    assert max(len(line) for line in done.stdout.split("\n")) <= 80
    assert "source   " not in done.stdout, "nothing is wrong with it"


def test_run_shows_the_lines_at_once(cunei):
    cunei.write("app.py", SHOWN)
    done = cunei("run", "--lines", ":add", "app.py")

    assert done.stdout == "6\n"
    assert table(done.stderr)[4] == (4, "total += i")


def test_source_that_has_changed_is_reported(cunei):
    record(cunei, SHOWN, "--lines", ":add")
    cunei.write("app.py", "# new\n" + SHOWN)
    done = cunei("report", "trace", "--lines", "add")

    assert "app.py has changed since the recording" in done.stdout
    assert {line["source"] for line in report_of(cunei)["lines"]} == {"changed"}


@pytest.mark.parametrize("compressed", [False, True])
def test_source_inside_a_zip_archive_is_shown(cunei, compressed):
    cunei.write("source/__main__.py", "from package.tools import add\nadd(4)\n")
    cunei.write("source/package/tools.py", SHOWN)
    archive = cunei.folder / "app.pyz"
    zipapp.create_archive(
        cunei.folder / "source", archive, cunei.python, compressed=compressed
    )
    done = cunei("record", "-q", "-o", "trace", "--lines", ":add", "app.pyz")
    assert done.returncode == 0

    done = cunei("report", "trace", "--lines", "add")

    assert re.search(r"^ *4 +8 .*  total \+= i$", done.stdout, re.MULTILINE)
    assert {line["source"] for line in report_of(cunei)["lines"]} == {"same"}

    archive.write_bytes(b"#!/new\n" + archive.read_bytes())
    assert "tools.py has changed since" in cunei("report", "trace", "-l", "add").stdout

    archive.write_bytes(archive.read_bytes()[:-9])
    assert "tools.py was not found" in cunei("report", "trace", "-l", "add").stdout


def test_a_source_that_became_a_pipe_is_not_waited_for(cunei):
    record(cunei, SHOWN, "--lines", ":add")
    (cunei.folder / "app.py").unlink()
    os.mkfifo(cunei.folder / "app.py")

    done = cunei("report", "trace", "--lines", "add")

    assert "app.py was not found" in done.stdout


def test_source_that_was_only_touched_has_not_changed(cunei):
    record(cunei, SHOWN, "--lines", ":add")
    os.utime(cunei.folder / "app.py", (1, 1))
    cunei.write("app.py.new", SHOWN)
    (cunei.folder / "app.py.new").replace(cunei.folder / "app.py")

    assert {line["source"] for line in report_of(cunei)["lines"]} == {"same"}
    assert "source   " not in cunei("report", "trace", "--lines", "add").stdout


def test_source_of_the_same_size_and_time_may_have_changed(cunei):
    record(cunei, SHOWN, "--lines", ":add")
    times = os.stat(cunei.folder / "app.py")
    cunei.write("app.py", SHOWN.replace("total", "sum_s"))
    os.utime(cunei.folder / "app.py", ns=(times.st_atime_ns, times.st_mtime_ns))

    assert {line["source"] for line in report_of(cunei)["lines"]} == {"changed"}


def test_a_generator_that_never_began_was_in_no_line(cunei):
    source = """
def numbers():
    yield 1

numbers().close()
list(numbers())
"""
    report = record(cunei, source, "--lines", ":numbers")

    assert {line["line"]: line["hits"] for line in report["lines"]} == {3: 1}


def test_c_functions_have_no_lines_and_nothing_else_is_suggested(cunei):
    source = "def line(): pass\nline()\nlen('')\n"
    record(cunei, source, "--c-calls", "--lines", "builtins:len")

    for option, what in (("--lines", "lines"), ("--args", "values")):
        for words in (["--c-calls"], []):
            done = cunei("record", *words, option, "builtins:len", "-c", source)
            assert done.stderr.splitlines()[-1] == (
                f"cunei: {option} 'builtins:len' matches C functions, which have no "
                f"{what} to record"
            )
    for name in ("len", "builtins:len"):
        done = cunei("report", "trace", "--lines", name)
        assert done.returncode == 1
        assert done.stderr == f"cunei: '{name}' is a C function, which has no lines\n"


def test_source_that_is_gone_is_reported_and_the_numbers_stay(cunei):
    record(cunei, SHOWN, "--lines", ":add")
    (cunei.folder / "app.py").unlink()
    done = cunei("report", "trace", "--lines", "add")

    assert "app.py was not found" in done.stdout
    assert "total" not in done.stdout
    assert re.search(r"^ *4 +4 +", done.stdout, re.MULTILINE), done.stdout
    assert {line["source"] for line in report_of(cunei)["lines"]} == {"missing"}


def test_code_without_a_file_has_lines_all_the_same(cunei):
    source = 'exec(compile("def f():\\n    return 1\\nf()\\n", "<made>", "exec"))\n'
    report = record(cunei, source, "--lines", ":f")

    assert lines_of(report) == {("f", 2): 1}
    assert "<made> is not a file" in cunei("report", "trace", "-l", "f").stdout


def test_functions_that_are_not_there_are_reported_with_the_nearest(cunei):
    record(cunei, SHOWN + "def other(): pass\nother()\n", "--lines", ":add")

    done = cunei("report", "trace", "--lines", "ad")
    assert done.returncode == 1
    assert done.stderr == (
        "cunei: 'trace' has no function like 'ad'; did you mean 'add'?\n"
    )
    done = cunei("report", "trace", "--lines", "other")
    assert done.returncode == 1
    assert done.stderr == (
        "cunei: the lines of 'other' were not recorded in 'trace'; record them with "
        "--lines ':other'\n"
    )
    done = cunei("report", "trace", "--lines", "unheard")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "lines were recorded of 'add'" in done.stderr


METHODS = """\
class Cart:
    def __init__(self): self.all = []
    def total(self): return sum(self.all)
    def empty(self): self.all.clear()
    def tell(self): print(self.all)

def times(function):
    def wrap(*words): return function(*words)
    return wrap

@times
def run():
    cart = Cart()
    cart.total()
    cart.empty()
    cart.tell()

run()
"""


def test_the_advice_on_lines_that_were_not_recorded_records_them(cunei):
    """Also of methods, and of what is defined in a function."""
    record(cunei, METHODS, "--lines", ":Cart.__init__")
    for name in ("total", "wrap", "Cart.total"):
        done = cunei("report", "trace", "--lines", name)
        found = re.fullmatch(
            f"cunei: the lines of '{name}' were not recorded in 'trace'; record them "
            "with --lines '(:.*)'\\n",
            done.stderr,
        )
        assert found, done.stderr
        again = cunei("record", "-o", "again", "--force", "--lines", found[1], "app.py")
        assert "matches" not in again.stderr
        shown = cunei("report", "again", "--lines", name)
        assert (shown.returncode, shown.stderr) == (0, "")


def test_functions_with_lines_are_guessed_first(cunei):
    record(cunei, METHODS, "--lines", ":Cart.tell")

    for typed, meant in (
        (
            "totl",
            "'total'? Its lines were not recorded; record them with --lines "
            "':Cart.total'",
        ),
        ("toll", "'tell'?"),
        ("nomodule", None),
    ):
        printed = cunei("report", "trace", "--lines", typed).stderr
        if meant is None:
            assert printed.endswith("; lines were recorded of 'Cart.tell'\n")
        else:
            assert printed.endswith(f"; did you mean {meant}\n")
    every = ["Cart.__init__", "Cart.total", "Cart.empty", "Cart.tell", "run"]
    cunei("record", "-o", "all", *(f"--lines=:{name}" for name in every), "app.py")
    printed = cunei("report", "all", "--lines", "unheard").stderr
    assert re.search(r"of '[^']+', '[^']+', '[^']+' and 2 more\n$", printed), printed


def test_several_functions_are_shown_side_by_side(cunei):
    record(cunei, METHODS, "--lines", "app.py")
    words = ("--lines", "total", "--lines", "empty")

    done = cunei("report", "trace", *words)
    assert done.returncode == 0
    assert "def total" in done.stdout and "def empty" in done.stdout
    assert "def tell" not in done.stdout
    shown = json.loads(cunei("report", "trace", "--json", *words).stdout)
    assert {line["function"] for line in shown["lines"]} == {"Cart.total", "Cart.empty"}
    done = cunei("report", "trace", *words, "--lines", "totally")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no function like 'totally'" in done.stderr


def test_names_that_are_long_are_guessed_too(cunei):
    name = "RecursiveDescentExpressionParser.parse_statement"
    source = f"class {name.split('.')[0]}:\n"
    source += f"    def {name.split('.')[1]}(self): pass\n{name}(0)\n"
    cunei.write("app.py", source)
    typed = name.replace("ement", "emnt")
    done = cunei("record", "-o", "trace", "--lines", f":{typed}", "app.py")

    assert f"; did you mean ':{name}'?\n" in done.stderr


def test_a_colon_alone_is_no_pattern(cunei):
    cunei.write("app.py", "")
    done = cunei("record", "-o", "trace", "--lines", ":", "app.py")

    assert done.returncode == 2
    assert "--lines needs a pattern, not an empty text" in done.stderr


def test_a_pattern_that_matches_nothing_is_reported(cunei):
    cunei.write("app.py", SHOWN)
    done = cunei("record", "-o", "trace", "--lines", "__main__:ad", "app.py")

    assert done.returncode == 0
    assert (
        "no recorded function matches --lines '__main__:ad'; did you mean "
        "'__main__:add'?"
    ) in done.stderr


def test_replay_dump_and_info_show_lines(cunei):
    record(cunei, SHOWN, "--lines", ":add")

    assert "line 4  app.py:4\n" in cunei("replay", "trace").stdout
    dump = cunei("dump", "trace").stdout
    assert len(re.findall(r" line: enter, \{ line = 4, function = \d+ \}", dump)) == 4
    assert "12 lines" in cunei("info", "trace").stdout
    process = json.loads(cunei("info", "--json", "trace").stdout)["processes"][0]
    assert process["lines"] == 12


def test_lines_before_a_crash_are_there(cunei):
    source = (
        "import os\n\n\ndef f():\n    x = 1\n    os.kill(os.getpid(), 9)\n\n\nf()\n"
    )
    cunei.write("app.py", source)
    cunei("record", "-o", "trace", "--lines", ":f", "app.py")

    assert lines_of(report_of(cunei)) == {("f", 5): 1, ("f", 6): 1}
