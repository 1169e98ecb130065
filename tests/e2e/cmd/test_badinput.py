# SPDX-License-Identifier: MIT
"""What cannot be done gets one sentence, and the right exit status."""

import os
import shutil
import subprocess
import sys

import pytest
from proof import UNPRIVILEGED

READERS = ["report", "replay", "dump", "info", "recover"]
WATCHERS = [*READERS, "top"]


def assert_refused(result, status, *parts):
    """One sentence of cunei's on stderr, and nothing on stdout."""
    assert result.stdout == ""
    assert result.stderr.startswith("cunei: "), result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    for part in parts:
        assert part in result.stderr
    assert result.returncode == status


@pytest.fixture
def trace(cunei):
    cunei("record", "-q", "-o", "trace", "-c", "pass")
    return cunei.folder / "trace"


@pytest.fixture
def stranger(cunei):
    """Options that run a command as a user without rights."""
    if os.geteuid() != 0:
        return {}
    for folder in [cunei.folder, *cunei.folder.parents]:
        if folder.name.startswith("pytest-of-"):
            folder.chmod(0o711)
            break
        folder.chmod(0o755)
    skip_unless_runs(cunei, cunei.executable, "--version", **UNPRIVILEGED)
    return UNPRIVILEGED


def skip_unless_runs(cunei, *command, **options):
    try:
        result = cunei.run(*command, **options)
    except OSError as error:
        pytest.skip(f"{command[0]}: {error.strerror}")
    if result.returncode != 0:
        pytest.skip(f"{command[0]} does not run")


@pytest.mark.parametrize("command", WATCHERS)
def test_a_trace_that_does_not_exist(cunei, command):
    assert_refused(cunei(command, "nowhere"), 1, "'nowhere'")


@pytest.mark.parametrize("command", READERS)
def test_a_file_is_no_trace(cunei, command):
    cunei.write("notes.txt", "hello")

    assert_refused(cunei(command, "notes.txt"), 1, "notes.txt")


@pytest.mark.parametrize("command", WATCHERS)
def test_an_empty_directory_is_no_trace(cunei, command):
    (cunei.folder / "empty").mkdir()

    assert_refused(cunei(command, "empty"), 1, "empty")


@pytest.mark.parametrize("command", WATCHERS)
def test_a_directory_of_other_things_is_no_trace(cunei, command):
    cunei.write("things/a.txt", "hello")
    cunei.write("things/inside/metadata", "no trace at all")

    assert_refused(cunei(command, "things"), 1, "things")


@pytest.mark.parametrize("command", WATCHERS)
def test_a_trace_of_a_newer_version(cunei, trace, command):
    [metadata] = trace.glob("*/metadata")
    text = metadata.read_text()
    metadata.write_text(text.replace("wire version 1 ", "wire version 9999 "))

    wanted = "by a newer cunei (format 9999, this one reads 1); upgrade cunei"
    assert_refused(cunei(command, "trace"), 1, wanted)


@pytest.mark.parametrize("command", READERS)
def test_a_process_that_has_lost_its_metadata_is_not_left_out_silently(
    cunei, trace, command
):
    [folder] = (path.parent for path in trace.glob("*/metadata"))
    shutil.copytree(folder, trace / "other")
    (folder / "metadata").unlink()

    done = cunei(command, "trace")

    assert done.returncode == 1
    assert f"the metadata of 'trace/{folder.name}' is missing; the rest" in done.stderr
    assert done.stdout


@pytest.mark.parametrize("command", WATCHERS)
def test_a_trace_that_may_not_be_read(cunei, trace, stranger, command):
    trace.chmod(0 if os.geteuid() else 0o700)

    result = cunei(command, "trace", **stranger)

    trace.chmod(0o700)
    assert_refused(result, 1, "trace", "Permission denied")


@pytest.mark.parametrize("command", [*READERS, "record", "run"])
def test_nothing_to_work_on(cunei, command):
    assert_refused(cunei(command), 2, f"cunei {command}")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nope.py"], "'nope.py'"),
        (["./nope"], "'./nope'"),
        (["nope"], "'nope'"),
        (["python3.99", "x.py"], "'python3.99'"),
        ([sys.executable, "-B", "nope.py"], "'nope.py'"),
        (["folder"], "__main__.py"),
        (["./data.sh"], "not executable"),
    ],
)
@pytest.mark.parametrize("command", ["record", "run"])
def test_a_program_that_does_not_exist(cunei, command, words, part):
    (cunei.folder / "folder").mkdir()
    cunei.write("data.sh", "#!/bin/sh\n")

    assert_refused(cunei(command, *words), 1, part)
    assert sorted(path.name for path in cunei.folder.iterdir()) == ["data.sh", "folder"]


@pytest.mark.parametrize("flag", ["-S", "-BS", "-sSE"])
def test_a_python_that_does_not_look_for_packages(cunei, flag):
    result = cunei("record", cunei.python, flag, "-c", "print(1)")

    assert_refused(result, 1, "-S")


def test_a_python_without_cunei(cunei):
    subprocess.run(
        [cunei.python, "-m", "venv", "--without-pip", cunei.folder / "bare"], check=True
    )

    bare = cunei.folder / "bare" / "bin" / "python"
    result = cunei("record", "--python", bare, "-c", "print(1)")

    assert_refused(result, 1, "cunei is not installed in", str(bare), "pip install")


def test_a_script_whose_python_has_no_cunei(cunei):
    subprocess.run(
        [cunei.python, "-m", "venv", "--without-pip", cunei.folder / "bare"], check=True
    )
    bare = cunei.folder / "bare" / "bin" / "python"
    cunei.write("tool", f"#!{bare}\nprint(1)\n", executable=True)

    assert_refused(cunei("record", "./tool"), 1, "cunei is not installed in", str(bare))


def fake_python(cunei, *answer):
    """A Python by its answers only."""
    lines = "\n".join(f"echo '{line}'" for line in answer)
    return cunei.write("bin/python3", f"#!/bin/sh\n{lines}\n", executable=True)


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        (["implementation cpython", "version 3.7.17"], ["3.7.17", "3.8"]),
        (["implementation python", "version 2.7.18"], ["2.7.18", "3.8"]),
        (["implementation pypy", "version 3.12.1"], ["pypy"]),
        (
            ["implementation cpython", "version 3.13.0", "package /x", "cunei 0.0.1"],
            ["0.0.1", "pip install"],
        ),
        (
            ["implementation cpython", "version 3.13.0", "package /x", "boot no"],
            ["cunei.pth"],
        ),
        (
            ["implementation cpython", "version 3.13.0", "error ImportError: broken"],
            ["ImportError: broken"],
        ),
        (["hello"], ["is not a working Python"]),
    ],
)
def test_a_python_that_cannot_record(cunei, answer, parts):
    python = fake_python(cunei, *answer)

    result = cunei("record", "--python", python, "-c", "print(1)")

    assert_refused(result, 1, str(python), *parts)


def test_an_old_python_is_asked_in_words_it_understands(cunei):
    found = (shutil.which(f"python{version}") for version in ("2.7", "3.6", "3.7"))
    old = next((path for path in found if path), "python2.7")
    skip_unless_runs(cunei, old, "-c", "pass")

    result = cunei("record", "--python", old, "-c", "print(1)")

    assert_refused(result, 1, "needs CPython 3.8 or newer")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["reprot", "x"], "did you mean 'cunei report'?"),
        (["recrod"], "did you mean 'cunei record'?"),
        (["rec"], "did you mean 'cunei rec"),
        (["frobnicate"], "see 'cunei --help'"),
        (["--frobnicate"], "see 'cunei --help'"),
        (["app.py"], "cunei run app.py"),
        (["printf", "x"], "cunei run printf"),
        (["-m", "module"], "cunei run -m"),
        (["help", "reprot"], "did you mean 'cunei report'?"),
        (["report", "--sotr", "self", "x"], "did you mean '--sort'?"),
        (["report", "--sort", "sefl", "x"], "did you mean 'self'?"),
        (["report", "--frobnicate", "x"], "see 'cunei help report'"),
        (["record", "--exclde", "x", "app.py"], "did you mean '--exclude'?"),
        (["record", "--max-size", "much", "app.py"], "--max-size"),
        (["record", "--max-size"], "--max-size"),
        (["record", "--include", "re:(", "app.py"], "re:("),
        (["record", "--lines", "re:(", "app.py"], "re:("),
        (["record", "--include", "re:((a{99}){99}){99}", "app.py"], "too much memory"),
        (["report", "--exclude", "re:((a{99}){99}){99}", "x"], "too much memory"),
        (["record", "--lines", "", "app.py"], "--lines needs a pattern"),
        (["record", "--quiet=yes", "app.py"], "--quiet"),
        (["doctor", "me"], "'me'"),
        (["run", "--limit", "-1", "app.py"], "--limit"),
    ],
)
def test_words_that_make_no_sense(cunei, words, part):
    assert_refused(cunei(*words), 2, part)


def test_no_words_at_all_show_the_help(cunei):
    result = cunei()

    assert result.returncode == 2
    assert result.stderr.startswith("usage: cunei COMMAND")


@pytest.mark.parametrize("target", ["file/trace", "/proc/trace", "missing/trace"])
def test_a_directory_that_cannot_be_made(cunei, target):
    cunei.write("file", "")

    assert_refused(cunei("record", "-o", target, "-c", "print(1)"), 1, f"'{target}'")


def test_a_directory_without_rights(cunei, stranger):
    skip_unless_runs(cunei, cunei.python, "-c", "pass", **stranger)
    closed = cunei.folder / "closed"
    closed.mkdir(mode=0o755 if os.geteuid() == 0 else 0o555)

    result = cunei("record", "-o", "closed/trace", "-c", "print(1)", **stranger)
    assert_refused(result, 1, "'closed/trace'", "Permission denied")

    result = cunei("record", "-o", "closed", "-c", "print(1)", **stranger)
    assert_refused(result, 1, "'closed'", "Permission denied")


def test_a_report_that_cannot_be_written(cunei):
    result = cunei("run", "-o", "missing/report", "-c", "print(1)")

    assert_refused(result, 1, "'missing/report'")


def test_an_existing_trace_is_not_overwritten(cunei, trace):
    before = sorted(trace.rglob("*"))

    result = cunei("record", "-o", "trace", "-c", "print(1)")

    assert_refused(result, 1, "'trace' already holds a trace", "--force")
    assert sorted(trace.rglob("*")) == before


def test_force_overwrites_a_trace_and_nothing_else(cunei, trace):
    [old] = trace.glob("*-*-*")
    notes = cunei.write("trace/notes.txt", "mine")
    inner = cunei.write("trace/inner-1-1/data", "mine")

    result = cunei("record", "--force", "-o", "trace", "-c", "pass")

    assert result.returncode == 0, result.stderr
    assert not old.exists()
    assert notes.read_text() == inner.read_text() == "mine"


def test_force_overwrites_the_trace_that_a_link_leads_to(cunei, trace):
    [old] = trace.glob("*-*-*")
    link = cunei.folder / "link"
    link.symlink_to("trace")

    result = cunei("record", "--force", "-o", "link", "-c", "pass")

    assert result.returncode == 0, result.stderr
    assert link.is_symlink()
    [new] = trace.glob("*-*-*")
    assert new.name != old.name


# Of a recording or a recovery that was killed.
TEMPORARY = [".new", ".metadata.new", "..process.new", ".process.new"]


def test_force_overwrites_temporary_files(cunei, trace):
    [old] = trace.glob("*-*-*")
    for name in TEMPORARY:
        cunei.write(f"trace/{old.name}/{name}", "")
        cunei.write(f"trace/host-1-{TEMPORARY.index(name)}/{name}", "")

    result = cunei("record", "--force", "-o", "trace", "-c", "pass")

    assert result.returncode == 0, result.stderr
    [new] = trace.glob("*-*-*")
    assert new.name != old.name


def test_force_does_not_overwrite_what_is_no_trace(cunei):
    notes = cunei.write("things/notes.txt", "mine")

    result = cunei("record", "--force", "-o", "things", "-c", "print(1)")

    assert_refused(result, 1, "'things'", "other files")
    assert notes.read_text() == "mine"


def test_force_leaves_a_folder_with_other_files_in_it(cunei, trace):
    [folder] = trace.glob("*-*-*")
    notes = cunei.write(f"trace/{folder.name}/notes.txt", "mine")

    result = cunei("record", "--force", "-o", "trace", "-c", "print(1)")

    assert_refused(result, 1, "cannot remove the old trace")
    assert notes.read_text() == "mine"


def test_force_does_not_overwrite_a_trace_that_is_being_recorded(cunei):
    code = "print('ready', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with cunei.start("record", "-q", "-o", "trace", "-c", code, **pipes) as running:
        assert running.stdout.readline() == "ready\n"

        result = cunei("record", "--force", "-o", "trace", "-c", "print(1)")
        running.communicate("\n", timeout=60)

    assert_refused(result, 1, "is recording to 'trace'")
    assert running.returncode == 0


@pytest.mark.parametrize("command", ["dump", "replay", "report", "info"])
def test_a_reader_that_goes_away_is_no_reason_to_complain(cunei, trace, command):
    reading, writing = os.pipe()
    os.close(reading)

    process = cunei.start(
        command, "trace", stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    _, errors = process.communicate(timeout=60)

    assert errors == ""
    assert process.returncode == 1


def test_a_full_device_is_a_reason_to_complain(cunei, trace):
    with open("/dev/full", "w") as full:
        process = cunei.start(
            "dump", "trace", stdout=full, stderr=subprocess.PIPE, text=True
        )
        _, errors = process.communicate(timeout=60)

    assert errors.startswith("cunei: ") and "No space left" in errors
    assert process.returncode == 1


def test_a_closed_stderr_does_not_change_the_programs_end(cunei):
    reading, writing = os.pipe()
    os.close(reading)

    process = cunei.start(
        "record", "-o", "t", "-c", "raise SystemExit(5)", stderr=writing
    )
    os.close(writing)

    assert process.wait(timeout=60) == 5
