# SPDX-License-Identifier: MIT
"""Options read the same everywhere, and help comes from the same tables."""

import json
import os
import re

import pytest

COMMANDS = [
    "run",
    "record",
    "report",
    "replay",
    "dump",
    "info",
    "recover",
    "doctor",
    "filter",
]

PROGRAM = """\
import json

def inner(): pass
def outer(): inner()

for _ in range(3):
    outer()
json.dumps([1])
"""


@pytest.fixture
def trace(cunei):
    cunei.write("app.py", PROGRAM)
    cunei("record", "-q", "-o", "trace", "app.py")
    return "trace"


def functions(cunei, directory="trace"):
    result = cunei("report", "--json", directory)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    return {f"{f['module']}:{f['qualname']}": f["calls"] for f in report["functions"]}


def test_version(cunei):
    for word in ("--version", "-V"):
        result = cunei(word)
        assert re.fullmatch(r"cunei \d+\.\d+\.\d+\n", result.stdout)
        assert result.returncode == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_every_command(cunei, command):
    by_word = cunei("help", command)
    by_option = cunei(command, "--help")

    assert by_word.stdout == by_option.stdout
    assert by_word.stdout.startswith(f"usage: cunei {command}")
    assert f"  cunei {command}" in by_word.stdout, "help without an example"
    assert by_word.returncode == by_option.returncode == 0
    assert f"  {command}" in cunei("--help").stdout
    assert [line for line in by_word.stdout.splitlines() if len(line) > 80] == []


def test_options_stand_before_and_behind_the_directory(cunei, trace):
    expected = cunei("report", "--sort", "calls", "--limit", "1", trace)

    for words in (
        [trace, "--sort", "calls", "--limit", "1"],
        ["--sort=calls", trace, "--limit=1"],
        ["-s", "calls", "-n1", "--", trace],
        [trace, "-scalls", "-n", "1"],
    ):
        result = cunei("report", *words)
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines()[3:5] == expected.stdout.splitlines()[3:5]


def test_words_after_the_program_belong_to_it(cunei):
    cunei.write("app.py", "import sys; print(sys.argv[1:])")

    result = cunei("record", "-o", "trace", "app.py", "-o", "x", "--force", "--help")

    assert result.stdout == "['-o', 'x', '--force', '--help']\n"
    assert (cunei.folder / "trace").is_dir()


def test_the_directory_is_named_after_program_and_process(cunei):
    cunei.write("app.py", "")

    cunei("record", "app.py")
    cunei("record", "-m", "this")

    names = sorted(re.sub(r"\d+$", "N", p.name) for p in cunei.folder.iterdir())
    assert names == ["app.py", "cunei-app.py-N", "cunei-this-N"]


def test_a_folder_called_dot_has_a_name(cunei):
    cunei.write("__main__.py", "")

    cunei("record", ".")

    [trace] = cunei.folder.glob("cunei-*")
    assert re.fullmatch(r"cunei-work-\d+", trace.name)


def test_a_python_that_fails_is_quoted(cunei):
    shim = "#!/bin/sh\necho 'pyenv: python3: command not found' >&2\nexit 127\n"
    python = cunei.write("python3", shim, executable=True)

    result = cunei("record", "--python", python, "-c", "pass")

    assert result.returncode == 1
    assert "not a working Python (pyenv: python3: command not found)" in result.stderr


def test_an_empty_directory_is_taken(cunei):
    (cunei.folder / "trace").mkdir()

    assert cunei("record", "-o", "trace", "-c", "pass").returncode == 0


def test_exclude_leaves_functions_out(cunei):
    cunei.write("app.py", PROGRAM)

    cunei("record", "-o", "trace", "--exclude", "json", "--exclude=:inner", "app.py")

    seen = functions(cunei)
    assert seen["__main__:outer"] == 3
    assert not [name for name in seen if name.startswith("json") or "inner" in name]


def test_include_and_exclude_keep_their_order(cunei):
    cunei.write("app.py", PROGRAM)
    words = ["--include", "__main__", "--exclude", "re:er$", "--include", ":outer"]

    cunei("record", "-o", "trace", *words, "app.py")

    seen = functions(cunei)
    assert seen == {"__main__:<module>": 1, "__main__:outer": 3}


def test_max_size_stops_the_recording_and_says_so(cunei):
    code = "def f(): pass\nfor _ in range(300_000): f()\nprint('done')"

    result = cunei("record", "-o", "trace", "--max-size", "1M", "-c", code)

    assert result.stdout == "done\n"
    line, why = result.stderr.splitlines()
    assert " 0 lost" not in line
    assert why == "cunei: recording stopped: --max-size was reached"


def test_quiet_says_nothing(cunei):
    result = cunei("record", "-q", "-o", "trace", "-c", "pass")

    assert (result.stdout, result.stderr) == ("", "")


def test_run_reports_on_stderr_and_leaves_nothing(cunei, tmp_path):
    cunei.write("app.py", PROGRAM + "print('out')\n")

    result = cunei("run", "--include", "__main__", "--sort", "calls", "app.py")

    assert result.stdout == "out\n"
    assert "app.py:3" in result.stderr and "inner" in result.stderr
    assert sorted(path.name for path in cunei.folder.iterdir()) == ["app.py"]
    assert not list(tmp_path.glob("cunei-*"))


def test_run_writes_the_report_to_a_file_and_keeps_the_trace(cunei):
    cunei.write("app.py", PROGRAM)

    words = ["run", "--json", "-o", "report.json", "--save", "kept", "app.py"]
    result = cunei(*words)

    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    report = json.loads((cunei.folder / "report.json").read_text())
    assert report["version"] == 1
    assert functions(cunei, "kept")["__main__:inner"] == 3


def test_run_keeps_the_trace_of_a_process_that_still_records(cunei, tmp_path):
    os.mkfifo(cunei.folder / "hold")
    held = os.open(cunei.folder / "hold", os.O_RDWR)  # until it is closed
    cunei.write("child.py", "print('ready', flush=True)\nopen('hold').read()\n")
    cunei.write(
        "app.py",
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, 'child.py'], text=True,\n"
        "    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)\n"
        "assert child.stdout.readline() == 'ready\\n'\n"
        "print(child.pid)\n"
        "child.returncode = 0  # no warning\n",
    )

    try:
        result = cunei("run", "app.py")
        (kept,) = tmp_path.glob("cunei-*")
        child = int(result.stdout)
        assert result.stderr.endswith(
            f"cunei: process {child} is still recording, so the trace stays in "
            f"'{kept}'; remove it when the process has ended\n"
        )
        info = json.loads(cunei("info", "--json", kept).stdout)
        states = {process["pid"]: process["state"] for process in info["processes"]}
        assert states.pop(child) == "recording"
        assert list(states.values()) == ["ended"]
    finally:
        os.close(held)


def test_a_trace_that_is_there_is_not_overwritten(cunei, trace):
    for words, option in ((["record", "-o"], "-o"), (["run", "--save"], "--save")):
        result = cunei(*words, trace, "app.py")

        assert result.returncode == 1
        assert result.stderr == (
            "cunei: 'trace' already holds a trace; overwrite it with --force, or "
            f"choose another directory with {option}\n"
        )


def test_run_ends_as_the_program_does(cunei):
    assert cunei("run", "-c", "raise SystemExit(9)").returncode == 9
    assert cunei("run", "-c", "import os; os.abort()").returncode == -6


@pytest.mark.parametrize("words", [["app.py"], ["--tree", "app.py"], ["-c", "pass"]])
def test_python_m_cunei_with_a_program_is_run(cunei, words):
    cunei.write("app.py", PROGRAM)

    result = cunei.run(cunei.python, "-m", "cunei", *words)

    assert result.returncode == 0, result.stderr
    assert "0 lost" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-I", "-X", "dev", "-m", "cunei"],
        ["-IXdev", "-m", "cunei"],
        ["-Xdev", "-Im", "cunei"],
        ["--check-hash-based-pycs", "never", "-X", "dev", "-Imcunei"],
    ],
)
def test_python_m_cunei_keeps_the_options_of_python(cunei, words):
    cunei.write("app.py", "import sys; print(sys.flags.isolated, sys.flags.dev_mode)")

    result = cunei.run(cunei.python, *words, "app.py", "-x")

    assert result.stdout == "1 True\n", result.stderr
    assert "0 lost" in result.stderr


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["help", "run"]])
def test_python_m_cunei_is_cunei(cunei, words):
    assert cunei.run(cunei.python, "-m", "cunei", *words).stdout == cunei(*words).stdout


@pytest.mark.parametrize("command", ["dump", "info", "recover"])
def test_a_command_needs_one_directory(cunei, trace, command):
    missing = cunei(command)
    extra = cunei(command, trace, "b")

    assert missing.returncode == extra.returncode == 2
    assert missing.stderr == (
        "cunei: missing trace directory, which 'cunei record' creates: "
        f"cunei {command} DIR\n"
    )
    assert extra.stderr == (
        f"cunei: unexpected argument 'b': 'cunei {command}' reads one trace\n"
    )


def test_dump_shows_a_thread_by_number_or_name(cunei, trace):
    whole = cunei("dump", trace).stdout
    number = whole.split()[2]

    assert cunei("dump", trace, "--thread", number).stdout == whole
    assert cunei("dump", trace, "--thread", "Main*").stdout == whole
    for words in (["--thread", "nobody"], ["--process", "1"]):
        result = cunei("dump", trace, *words)
        assert (result.returncode, result.stdout) == (1, "")
        assert " has no " in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trace"], "it is a trace; to see where the time went: cunei report trace"),
        (["-m", "pkg"], "where its time goes: cunei run -m pkg"),
        (["--vers"], "did you mean 'cunei --version'?"),
        (
            ["help", "report", "extra"],
            "cunei: unexpected argument 'extra'; usage: cunei help COMMAND\n",
        ),
        (["record", "--max-size", "100K", "app.py"], "at least 1M"),
    ],
)
def test_meaningless_arguments_get_a_suggestion(cunei, trace, words, message):
    result = cunei(*words)

    assert result.returncode == 2
    assert message in result.stderr


def test_help_helps_with_itself(cunei):
    assert cunei("help", "help").stdout == cunei("--help").stdout


def test_cunei_does_not_record_itself(cunei):
    result = cunei("record", cunei.executable, "record", "-c", "pass")

    assert result.returncode == 2
    assert "cunei cannot record itself" in result.stderr
