# SPDX-License-Identifier: MIT
"""[tool.cunei] of pyproject.toml: defaults for a project, which the words overrule."""

import itertools
import json
import os
import textwrap

import ctf
import pytest
from proof import ROOT

PROGRAM = """\
import helper

def one(): pass
def two(): helper.work()

one()
two()
"""

HELPER = "def work(): return len([])\n"


@pytest.fixture
def project(cunei):
    cunei.write("src/app.py", PROGRAM)
    cunei.write("src/helper.py", HELPER)
    return cunei


def configure(cunei, text, name="pyproject.toml"):
    head = '[project]\nname = "x"\ndescription = """\n[tool.cunei]\n"""\n'
    return cunei.write(name, f"{head}\n[tool.cunei]\n{text}")


def record(cunei, *words, program="src/app.py", **options):
    done = cunei("record", "--force", "-o", "trace", *words, program, **options)
    assert done.returncode == 0, done.stderr
    names = {
        f"{function.module}:{function.qualname}"
        for function in ctf.read(cunei.folder / "trace").processes[0].count(ctf.ENTER)
    }
    return names, done.stderr


def test_the_defaults_are_used_and_reported(project):
    path = configure(
        project,
        "include = [\"helper\", '__main__:one']\n"
        'exclude = ":<module>"\n'
        "c-calls = true\n",
    )

    names, printed = record(project)

    assert names == {"helper:work", "__main__:one"}
    assert printed.startswith(
        f"cunei: options from [tool.cunei] in '{path}': include, exclude, c-calls\n"
    )
    names, printed = record(project, "-q")
    assert (names, printed) == ({"helper:work", "__main__:one"}, "")


def test_a_typed_option_replaces_that_of_the_project(project):
    configure(project, 'include = "helper"\nonly-project = true\n')

    for words, wanted in (
        (["--include", ":one"], {"__main__:one"}),
        (["--exclude", "re:.", "--include", ":two"], {"__main__:two"}),
    ):
        assert record(project, "-q", *words)[0] == wanted
    names, printed = record(project, "--no-config")
    assert "__main__:two" in names and "tool.cunei" not in printed


def test_only_what_was_not_typed_comes_from_the_file(project):
    configure(project, 'include = "helper"\nargs = ":one"\nmax-size = "1G"\n')

    _, printed = record(project, "--args", ":work", "--max-size", "2G")

    assert "pyproject.toml': include\n" in printed


def test_the_file_is_found_upward_from_the_script_or_the_current_folder(project):
    configure(project, 'include = ":one"\n')
    project.write("src/pyproject.toml", "[tool.other]\nx = 1\n")
    other = project.folder.parent / "elsewhere"
    other.mkdir()

    app = project.folder / "src/app.py"
    done = project("record", "-qo", "t", app, cwd=other)
    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(other / "t").processes
    assert {f.qualname for f in process.count(ctf.ENTER)} == {"one"}

    done = project("record", "-o", "t2", "-m", "app", cwd=project.folder / "src")
    assert f"in '{project.folder}/pyproject.toml': include\n" in done.stderr
    done = project("record", "-o", "t3", "-c", "pass", cwd=other)
    assert "tool.cunei" not in done.stderr


def test_a_filter_is_named_from_the_file_s_own_folder(project):
    configure(project, 'filter = ["etc/f"]\n')
    project.write("etc/f", "+ :one\n")

    done = project("record", "-qo", "t", "app.py", cwd=project.folder / "src")

    assert (done.returncode, done.stderr) == (0, "")
    (process,) = ctf.read(project.folder / "src/t").processes
    assert {function.qualname for function in process.count(ctf.ENTER)} == {"one"}


def doctor_row(cunei, **options):
    report = json.loads(cunei("doctor", "--json", **options).stdout)
    (found,) = [check for check in report["checks"] if check["name"] == "config"]
    return found["state"], found["text"]


LIST = "'include' needs a string, or an array of strings"

BAD = [
    ("inlcude = 3", "8:1", "[tool.cunei] has no key 'inlcude'; did you mean "
     "'include'?"),
    ("include = 3", "8:11", LIST),
    ("include = [['x']]", "8:12", LIST),
    ("c-calls = 'yes'", "8:11", "'c-calls' needs true or false"),
    ("instrumenter = true", "8:16", "'instrumenter' needs a string"),
    ("max-size = []", "8:12", "'max-size' needs a number or a string"),
    (
        "python = '/bin/x'",
        "8:1",
        "[tool.cunei] cannot contain 'python'; use --python on the command line",
    ),
    ("include = 'x'\ninclude = 'y'", "9:1", "'include' is set twice"),
    ("c-calls = true\n[tool.cunei.record]\nargs = 'x'", "9:2", "[tool.cunei] has no "
     "key 'record'; its keys are options of 'cunei record'"),
    ("[tool.cunei]\nc-calls = true", "8:2", "[tool.cunei] appears twice"),
    ("include.more = 'x'", "8:1", LIST),
    ("include = 'x", "8:13", "expected \"'\" at the end of the string, but the line "
     "ends"),
    ("args = x", "8:8", "expected a value: a string in quotes, a number, true, false, "
     "an array or a table, not 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message"), BAD)
def test_a_malformed_file_is_reported_with_the_place(project, text, place, message):
    path = configure(project, text + "\n")

    done = project("run", "src/app.py")

    wanted = f"cunei: {path}:{place}: {message} (--no-config ignores [tool.cunei])\n"
    assert (done.returncode, done.stderr) == (1, wanted)
    assert project("run", "--no-config", "src/app.py").returncode == 0


@pytest.mark.parametrize("text", ["[[tool.cunei]]\n", "[tool]\ncunei = 3\n"])
def test_what_stands_in_the_table_s_place_is_refused(project, text):
    path = project.write("pyproject.toml", text)

    done = project("run", "src/app.py")

    place = f"{path}:1:3" if "[[" in text else f"{path}:2:1"
    message = f"cunei: {place}: expected one table here: [tool.cunei] ("
    assert done.returncode == 1 and done.stderr.startswith(message)


def test_a_project_file_that_is_not_a_regular_file_is_refused(project):
    path = project.folder / "pyproject.toml"
    os.mkfifo(path)
    wanted = f"{path}:1:1: it is not a regular file"

    done = project("run", "src/app.py")

    assert done.returncode == 1
    assert done.stderr == f"cunei: {wanted} (--no-config ignores [tool.cunei])\n"
    assert doctor_row(project) == ("bad", wanted)


def test_a_project_file_of_many_megabytes_is_refused(project):
    path = project.folder / "pyproject.toml"
    path.write_bytes(b"#" * (5 << 20))

    done = project("run", "src/app.py")

    assert done.returncode == 1
    assert f"{path}:1:1: it is longer than 4 MiB" in done.stderr


REFUSED = [
    ("max-size = 'much'", 12, "--max-size needs a size such as 500M or 2G, not 'much'"),
    ("max-repr = 3", 12, "--max-repr needs a number from 8 to 4096"),
    ("budget = '200%'", 10, "--budget needs a percentage from 0.1 to 100, for "
     "example 5%, not '200%'"),
    ("budget = 0", 10, "--budget needs a percentage from 0.1 to 100, for "
     "example 5%, not '0'"),
    ("include = 're:('", 11, "--include 're:(' is not a valid pattern: Unmatched ( or "
     "\\("),
    ("include = 're:((a{99}){99}){99}'", 11, "--include 're:((a{99}){99}){99}' is not "
     "a valid pattern: it needs too much memory; use smaller repetitions ({1,9}, not "
     "{1,255}) or fewer alternatives"),
    ("instrumenter = 'nope'", 16, "--instrumenter cannot be 'nope'; did you mean "
     "'none'?"),
    ("filter = '/nowhere/f'", 10, "cannot read the filter '/nowhere/f': No such file "
     "or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), REFUSED)
def test_a_value_that_an_option_refuses_is_reported_with_its_place(
    project, text, column, message
):
    path = configure(project, f"c-calls = true\n{text}\n")
    wanted = f"{path}:9:{column}: {message}"

    done = project("run", "src/app.py")

    assert done.returncode == 1
    assert done.stderr == f"cunei: {wanted} (--no-config ignores [tool.cunei])\n"
    assert doctor_row(project) == ("bad", wanted)


@pytest.mark.parametrize(
    ("text", "words", "place", "message"),
    [
        ("c-calls = true\nbudget = 5", [], "9:10", "--budget cannot be used with "
         "--c-calls; use only one of them"),
        ("budget = 5", ["--c-calls"], "8:10", "--budget cannot be used with --c-calls; "
         "use only one of them"),
        ("lines = ':one'", ["--budget", "5"], "8:9", "--budget cannot be used with "
         "--lines; use only one of them"),
        ("only-project = true", ["--instrumenter", "none"], "8:16", "--include cannot "
         "be used with --instrumenter none, which records no calls; use only one "
         "of them"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_reported_with_their_place(
    project, text, words, place, message
):
    path = configure(project, f"{text}\n")

    done = project("record", "-o", "trace", "-q", *words, "src/app.py")

    wanted = f"cunei: {path}:{place}: {message}, or use --no-config\n"
    assert (done.returncode, done.stderr) == (2, wanted)
    if not words:
        assert doctor_row(project) == ("bad", f"{path}:{place}: {message}")


def test_the_example_of_the_docs_is_taken(project):
    page = ROOT / "docs/reference/patterns.md"
    lines = page.read_text().partition("    [tool.cunei]\n")[2].splitlines()
    example = list(itertools.takewhile(lambda line: line.startswith("    "), lines))
    assert len(example) > 3
    configure(project, textwrap.dedent("\n".join(example)) + "\n")
    project.write("etc/app.filter", "- :two\n")

    assert doctor_row(project)[0] == "ok"
    assert "__main__:one" in record(project)[0]


def test_a_budget_may_be_a_number(project):
    configure(project, "budget = 5\n")

    done = project("doctor", "--json")

    assert "budget = 5" in done.stdout


def test_the_nearest_table_counts_though_it_says_nothing(project):
    configure(project, 'include = ":one"\n')

    for text in ("[tool.cunei]\n", "[tool.cunei]\nc-calls = false\n"):
        path = project.write("src/pyproject.toml", text)
        names, printed = record(project)
        assert "__main__:two" in names and "tool.cunei" not in printed
        row = doctor_row(project, cwd=project.folder / "src")
        assert row == ("ok", f"[tool.cunei] in {path}: nothing")


def test_files_of_others_are_never_refused(project):
    project.write("pyproject.toml", "[tool.other\nthis is no TOML")

    done = project("record", "-qo", "trace", "src/app.py")

    assert (done.returncode, done.stderr) == (0, "")


def test_doctor_shows_what_would_be_used(project):
    def row():
        return doctor_row(project)

    assert row() == (
        "ok",
        "no [tool.cunei] in a pyproject.toml here or above",
    )
    path = configure(
        project, "include = ['a', 'b']\nonly-project = true\nmax-repr = 60\n"
    )
    text = f"[tool.cunei] in {path}: include = a, b; only-project; max-repr = 60"
    assert row() == ("ok", text)
    configure(project, "include = 1\n")
    state, text = row()
    assert state == "bad" and text.startswith(f"{path}:8:11: 'include' needs")
