# SPDX-License-Identifier: MIT
"""Filter files and --only-project: which functions they select, what cunei prints."""

import json
import os
import re

import ctf
import pytest
from filtered import recorded

pytestmark = pytest.mark.core

PROGRAM = """\
import json
import helper

class Prime:
    def first(self): return helper.work()

def isprime(): pass
def main():
    Prime().first()
    isprime()
    json.dumps([1])

main()
"""

HELPER = "def work(): return tiny()\ndef tiny(): pass\n"


@pytest.fixture
def program(cunei):
    cunei.write("app.py", PROGRAM)
    cunei.write("helper.py", HELPER)
    return cunei


OWN = {
    "__main__:<module>",
    "__main__:Prime",
    "__main__:Prime.first",
    "__main__:isprime",
    "__main__:main",
    "helper:<module>",
    "helper:work",
    "helper:tiny",
}


@pytest.mark.parametrize(
    ("text", "words", "wanted"),
    [
        ("+ helper\n", [], {"helper:<module>", "helper:work", "helper:tiny"}),
        (
            "# a comment\n+ __main__\n- :isprime  # tiny\n- re:<module>$\n",
            [],
            {"__main__:Prime", "__main__:Prime.first", "__main__:main"},
        ),
        (
            '{"include_timers": ["prime", "^first$"], "comment": 1}',
            [],
            {"__main__:isprime", "__main__:Prime.first"},
        ),
        (
            '{"include_files": ["app\\\\.py$"], "exclude_timers": ["^[<P]", "ma?in"]}',
            [],
            {"__main__:isprime", "__main__:Prime.first"},
        ),
        ("+ helper\n", ["--exclude", ":tiny"], {"helper:<module>", "helper:work"}),
        ("- :tiny\n", ["--include", "helper"], {"helper:<module>", "helper:work"}),
    ],
)
def test_a_filter_file_selects_as_if_it_was_typed(program, text, words, wanted):
    program.write("filter", text)
    # An --include stands before the filter, an --exclude behind it.
    before = words if "--include" in words else []
    after = words if "--exclude" in words else []

    assert recorded(program, *before, "--filter", "filter", *after) == wanted


def test_several_filters_are_read_one_after_the_other(program):
    program.write("first", "+ helper\n")
    program.write("second", '{"exclude_timers": ["tiny"]}')

    got = recorded(program, "--filter=first", "--filter", "second")

    assert got == {"helper:<module>", "helper:work"}


def test_children_have_the_filter_without_reading_the_file(cunei):
    cunei.write("filter", '{"include_timers": ["^wanted"]}')
    child = "def wanted(): pass\\ndef other(): pass\\nwanted(); other()"
    cunei.write(
        "app.py",
        "import os, subprocess, sys\n"
        "os.remove('filter')\n"
        "def wanted_too(): pass\n"
        "wanted_too()\n"
        f"subprocess.run([sys.executable, '-c', '{child}'], check=True)\n",
    )

    got = recorded(cunei, "--filter", "filter")

    assert got == {"__main__:wanted", "__main__:wanted_too"}
    assert len(ctf.read(cunei.folder / "trace").processes) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "+ app\nhelper\n",
            "f:2:1: expected '+ PATTERN', '- PATTERN' or a comment with '#', not 'h'",
        ),
        ("- re:(\n", "f:1:3: invalid pattern: Unmatched ( or \\("),
        (
            "- re:((a{1,255}){1,255}){1,255}\n",
            "f:1:3: invalid pattern: it needs too much memory; use smaller repetitions "
            "({1,9}, not {1,255}) or fewer alternatives",
        ),
        (
            '{"include_timers": ["((a{99}){99}){99}"]}',
            "f:1:21: invalid pattern: it needs too much memory; use smaller "
            "repetitions ({1,9}, not {1,255}) or fewer alternatives",
        ),
        (
            "+ app\n- app:f[\n",
            "f:2:3: invalid pattern: a '[' has no ']'; write \\[ for a literal one",
        ),
        (
            '{"exclude_timers": ["a"\n "b"]}',
            "f:2:2: expected ',' or ']', not '\"'",
        ),
        (
            '{"include_files": [""]}',
            'f:1:20: an empty expression matches every name; write "." to match all',
        ),
        (
            '{"exclude_timers": ["a(?=b)"]}',
            "f:1:21: invalid regular expression: at its byte 2, (?:…) is the "
            "only supported group that begins with (?",
        ),
    ],
)
def test_a_malformed_file_is_reported_with_the_place(program, text, message):
    program.write("f", text)

    done = program("record", "-o", "trace", "--filter", "f", "app.py")

    assert (done.returncode, done.stderr) == (1, f"cunei: {message}\n")
    assert not (program.folder / "trace").exists()


def test_a_filter_that_is_not_a_regular_file_is_refused(program):
    os.mkfifo(program.folder / "f")

    done = program("record", "-o", "trace", "--filter", "f", "app.py")

    assert (done.returncode, done.stderr) == (
        1,
        "cunei: cannot read the filter 'f': it is not a regular file; write the "
        "patterns to a file first\n",
    )


def test_the_package_refuses_a_filter_that_is_not_a_regular_file(program):
    os.mkfifo(program.folder / "f")
    program.write(
        "start.py",
        "import cunei\n"
        "try:\n"
        "    cunei.start('trace', filter='f')\n"
        "except cunei.Error as error:\n"
        "    print(error)\n",
    )

    done = program.run(program.python, "start.py")

    assert done.stdout == "cannot read the filter 'f': it is not a regular file\n"


@pytest.mark.parametrize("text", ["", "# none\n", '{"exclude_timer": ["tiny"]}'])
def test_a_filter_without_a_pattern_is_reported(program, text):
    program.write("f", text)

    done = program("record", "-q", "-o", "trace", "--filter", "f", "app.py")

    assert done.returncode == 0
    assert done.stderr.startswith("cunei: the filter 'f' has no patterns: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--include", "--exclude", "--args", "--lines"])
@pytest.mark.parametrize(
    "pattern",
    ["", "!", "re:(", "re-file:*", "re-name:", "!re:", "in-project:shop",
     "in-project:", "in-project:/nonexistent", "[", "JSON[Decoder*", ":f[z-a]"],
)  # fmt: skip
def test_an_invalid_pattern_is_refused(program, option, pattern):
    done = program("record", "-o", "trace", option, pattern, "app.py")

    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"cunei: {option} ")
    assert not (program.folder / "trace").exists()


def test_a_filter_that_cannot_be_read(program):
    for name, why in (
        ("missing", "No such file or directory"),
        (".", "Is a directory"),
    ):
        done = program("run", "--filter", name, "app.py")
        message = f"cunei: cannot read the filter '{name}': {why}\n"
        assert (done.returncode, done.stderr) == (1, message)


def test_more_patterns_than_an_environment_holds_are_refused(program):
    program.write("f", "".join(f"- module_{i}:function\n" for i in range(6000)))

    done = program("record", "-o", "trace", "--filter", "f", "app.py")

    assert done.returncode == 1
    size = re.search("patterns take ([0-9]+) bytes, but an environment variable holds "
                     "at most 120000; ", done.stderr)  # fmt: skip
    assert size and int(size.group(1)) > 120000, done.stderr
    assert not (program.folder / "trace").exists()


def test_the_package_takes_filters_in_the_same_words(program):
    program.write("good", "+ helper\n")
    program.write("bad", "+ helper\nx\n")
    program.write(
        "app.py",
        """\
import cunei, helper, pathlib

with cunei.recording("trace", filter="good", exclude=":tiny"):
    helper.work()
with cunei.recording("trace", filter=[pathlib.Path("good")], include=":only"):
    def only(): pass
    only(), helper.work()
for arguments, kind, words in (
    ({"filter": "bad"}, ValueError, "bad:2:1: expected '+ PATTERN'"),
    ({"filter": ["good", "missing"]}, cunei.Error, "cannot read the filter 'missing'"),
    ({"filter": 3}, TypeError, "filter must be a path or a list of paths, not int"),
):
    try:
        cunei.start("trace", **arguments)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(arguments)
assert not cunei.is_recording()
""",
    )

    done = program.run(program.python, "app.py")

    assert (done.returncode, done.stderr) == (0, "")
    got = [
        {function.qualname for function in process.count(ctf.ENTER)}
        for process in ctf.read(program.folder / "trace").processes
    ]
    assert got == [{"work"}, {"work", "tiny", "only"}]


def in_tree(cunei, prefix=""):
    """A project with an environment of its own, whose packages are not its own."""
    cunei.write(f"{prefix}pyproject.toml", "")
    cunei.write(f"{prefix}src/app.py", "import lib, helper, json\n" + PROGRAM)
    cunei.write(f"{prefix}src/helper.py", HELPER)
    site = f"{prefix}.venv/lib/python3.13/site-packages"
    cunei.write(f"{site}/lib.py", "def f(): pass\nf()\n")
    return {"PYTHONPATH": str(cunei.folder / site)}


def test_only_the_project_is_recorded(cunei):
    env = in_tree(cunei)
    cunei.write("tests/other.py", "def other(): pass\n")
    env["PYTHONPATH"] += os.pathsep + str(cunei.folder / "tests")
    cunei.write("src/more.py", "import app, other\nother.other()\n")

    for words, wanted in (
        (["src/app.py"], OWN),
        ([cunei.folder / "src/app.py"], OWN),
        ([cunei.python, "src/app.py"], OWN),
        (["src/../src/app.py"], OWN),
        (["src/more.py"], {"other:other", "app:main", "__main__:<module>"}),
    ):
        done = cunei("run", "--save=t", "--force", "--only-project", *words, env=env)
        assert done.returncode == 0, done.stderr
        got = {
            f"{function.module}:{function.qualname}"
            for function in ctf.read(cunei.folder / "t").processes[0].count(ctf.ENTER)
        }
        assert wanted <= got, words
        assert not {name for name in got if name.startswith(("json", "lib:", "re:"))}


def test_modules_commands_and_code_are_the_current_folders_project(cunei):
    env = in_tree(cunei)
    env["PYTHONPATH"] += os.pathsep + str(cunei.folder / "src")
    command = f"#!{cunei.python}\nimport app, lib\n"
    cunei.write(".venv/bin/tool", command, executable=True)

    for words, main in (
        (["-m", "app"], {"__main__:main"}),
        (["-c", "import app\ndef f(): pass\nf()"], {"__main__:f", "app:main"}),
        ([".venv/bin/tool"], {"app:main"}),
    ):
        done = cunei("run", "--save=t", "--force", "--only-project", *words, env=env)
        assert done.returncode == 0, done.stderr
        got = {
            f"{function.module}:{function.qualname}"
            for function in ctf.read(cunei.folder / "t").processes[0].count(ctf.ENTER)
        }
        assert main | {"helper:tiny"} <= got, words
        assert not {name for name in got if name.startswith(("json", "lib:", "re:"))}


def test_a_link_to_the_script_is_its_project_all_the_same(cunei):
    in_tree(cunei, "real/")
    env = {
        "PYTHONPATH": str(cunei.folder / "real/.venv/lib/python3.13/site-packages"),
    }
    (cunei.folder / "link").symlink_to("real/src")

    done = cunei("record", "-qo", "trace", "--only-project", "link/app.py", env=env)

    assert (done.returncode, done.stderr) == (0, "")
    got = {
        f"{function.module}:{function.qualname}"
        for function in ctf.read(cunei.folder / "trace").processes[0].count(ctf.ENTER)
    }
    assert got == OWN


def test_links_lead_into_the_project_and_out_of_it(cunei):
    """By whatever name a module is found, what counts is where its file lies."""
    cunei.write("real/pyproject.toml", "")
    cunei.write("real/src/helper.py", HELPER)
    cunei.write("real/app.py", "import helper, other, spaced.part\nhelper.work()\n")
    cunei.write("real/src/spaced/part.py", "def f(): pass\nf()\n")  # no __init__.py
    cunei.write("outside/other.py", "def other(): pass\nother()\n")
    (cunei.folder / "link").symlink_to("real")
    cunei.write("elsewhere/own.py", "def own(): pass\n")
    (cunei.folder / "elsewhere/tool.py").symlink_to("../real/app.py")
    folders = ["link/src", "real/../outside", "elsewhere"]
    env = {"PYTHONPATH": os.pathsep.join(str(cunei.folder / f) for f in folders)}
    words = ("record", "-q", "--force", "-o", cunei.folder / "trace", "--only-project")

    for place, program in (
        (".", ["real/app.py"]),
        (".", ["link/app.py"]),
        ("elsewhere", ["tool.py"]),
        ("real", ["-m", "app"]),
    ):
        done = cunei(*words, *program, cwd=cunei.folder / place, env=env)
        assert (done.returncode, done.stderr) == (0, "")
        (process,) = ctf.read(cunei.folder / "trace").processes
        got = {function.module for function in process.count(ctf.ENTER)}
        assert got == {"__main__", "helper", "spaced.part"}, program


def test_the_project_is_where_other_patterns_begin(program):
    """Wherever it is typed."""
    for words in (
        ["--only-project", "--exclude", "helper"],
        ["--exclude", "helper", "--only-project"],
    ):
        got = recorded(program, *words)
        assert got == {name for name in OWN if not name.startswith("helper")}
    got = recorded(program, "--include", "json:dumps", "--only-project")
    assert got == OWN | {"json:dumps"}


def test_a_project_of_which_nothing_runs_is_reported(cunei):
    cunei.write("empty/x", "")

    done = cunei(
        "record", "-otrace", "--only-project", "-m", "json.tool", "--help",
        cwd=cunei.folder / "empty",
    )  # fmt: skip

    message = (
        f"cunei: no function of the project '{cunei.folder}/empty' was called; "
        "--include selects others, by module or file\n"
    )
    assert message in done.stderr


def test_the_package_finds_the_project_of_the_main_script(cunei):
    env = in_tree(cunei)
    text = (cunei.folder / "src/app.py").read_text()
    cunei.write(
        "src/app.py",
        text.rsplit("main()", 1)[0]
        + "import cunei\nwith cunei.recording('trace', only_project=True):\n"
        "    main(), lib.f()\n",
    )

    done = cunei.run(cunei.python, "src/app.py", env=env)

    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(cunei("report", "--json", "trace").stdout)
    names = {f["qualname"] for f in report["functions"]} - {"<module>"}
    assert names == {"main", "Prime.first", "isprime", "work", "tiny"}


def test_lines_args_and_c_calls_obey_the_same_patterns(program):
    program.write("f", "+ helper\n+ builtins\n")
    program.write("helper.py", "def work(n=1): return len(str(n))\n")

    done = program(
        "run", "--json", "-o", "r.json", "--filter", "f", "--c-calls",
        "--args", ":*", "--lines", ":*", "app.py",
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    report = json.loads((program.folder / "r.json").read_text())
    modules = {function["module"] for function in report["functions"]}
    assert modules - {"builtins"} == {"helper"}
    assert {line["module"] for line in report["lines"]} == {"helper"}
    calls = {f["qualname"]: f["calls"] for f in report["functions"]}
    assert calls["len"] == 1


def test_the_report_says_that_a_filter_was_on(program):
    program.write("f", "+ helper\n" + "".join(f"- :x{i}\n" for i in range(5)))
    program("record", "-q", "-o", "trace", "--filter", "f", "app.py")

    text = program("report", "trace").stdout

    message = "filter +helper -:x0 -:x1 -:x2 and 2 more; the time of excluded functions"
    assert message in " ".join(text.split())
    report = json.loads(program("report", "--json", "trace").stdout)
    patterns = ["+helper", *(f"-:x{i}" for i in range(5))]
    assert report["processes"][0]["patterns"] == patterns
    held = program("info", "trace").stdout
    assert "\n  filter    +helper -:x0 -:x1 -:x2 -:x3 -:x4\n" in held
    assert "\n  budget" not in held


def test_what_is_included_stands_below_its_nearest_recorded_caller(program):
    program(
        "record", "-q", "-o", "trace", "--include=:main", "--include=:tiny", "app.py"
    )

    tree = program("report", "--tree", "--min-percent", "0", "trace").stdout
    lines = [line for line in tree.splitlines() if " main " in line or " tiny " in line]
    assert len(lines) == 2, tree
    assert lines[0].index("main") < lines[1].index("tiny")


def test_a_tree_of_calls_that_took_little_says_so(program):
    """They were called, and the patterns let them through."""
    program.write(
        "app.py",
        "def leaf(): pass\ndef top(): leaf()\nfor _ in range(100): top()\n",
    )
    words = ("record", "-q", "-o", "trace", "--include=:top", "--include=:leaf")
    program(*words, "app.py")

    text = program("report", "--tree", "--min-percent", "100", "trace").stdout

    assert "No function took 100 % of the time of all threads or more.\n" in text
    assert "matches the patterns" not in text
    text = program("report", "--tree", "--include", "nobody", "trace").stdout
    assert "No recorded function matches the patterns.\n" in text


def test_a_recording_of_nothing_is_whole(cunei):
    """What was open when it began is defined, and has no events."""
    code = "import cunei\nwith cunei.record('trace', include='__main__'): sum([1])\n"
    assert cunei.run(cunei.python, "-c", code).returncode == 0

    for command in "report", "info", "dump", "replay":
        done = cunei(command, "trace")
        assert (done.returncode, done.stderr) == (0, ""), command
