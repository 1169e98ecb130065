# SPDX-License-Identifier: MIT
"""Pythons below the program that cannot record are counted, where they are known."""

import json
import shutil
import subprocess
import sys

import pytest

NO_SITE = (
    "Python was started with -S, which disables site-packages, so that it could not "
    "load cunei"
)
NO_VARIABLE = "Python was started without CUNEI_RECORD in its environment"

NO_CUNEI = (
    "cunei is not installed in the Python that was started, or that Python ended "
    "before its first line"
)

STARTS = {
    "-S": ('subprocess.run([sys.executable, "-S", "-c", "pass"])', NO_SITE),
    "-S among others": (
        'subprocess.run([sys.executable, "-BSE", "-c", "pass"])',
        NO_SITE,
    ),
    "an empty environment": (
        'subprocess.run([sys.executable, "-c", "pass"], env={})',
        NO_VARIABLE,
    ),
    "another environment": (
        'subprocess.run([sys.executable, "-c", "pass"], env={"HOME": "/"})',
        NO_VARIABLE,
    ),
    "removed": (
        'del os.environ["CUNEI_RECORD"]; '
        'subprocess.run([sys.executable, "-c", "pass"])',
        NO_VARIABLE,
    ),
    "posix_spawn": (
        'os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-S", "-c", ""], '
        "os.environ), 0)",
        NO_SITE,
    ),
    "another argv[0]": (
        # Beside the real one: Python finds its standard library from there.
        'subprocess.run([os.path.dirname(sys.executable) + "/worker", "-S", "-c", ""], '
        "executable=sys.executable)",
        NO_SITE,
    ),
    "a script": ('subprocess.run([os.getcwd() + "/script"], env={})', NO_VARIABLE),
    "a Python without cunei": (
        'subprocess.run([os.getcwd() + "/bare/bin/python", "-c", "pass"])',
        NO_CUNEI,
    ),
    "a script of a Python without cunei": (
        'subprocess.run([os.getcwd() + "/bare/script"])',
        NO_CUNEI,
    ),
    "a file that is missing": (
        'subprocess.run([sys.executable, "/nowhere.py"], stderr=-3)',
        NO_CUNEI,
    ),
    "spawnv": (
        'os.spawnv(0, sys.executable, [sys.executable, "-S", "-c", ""])',
        NO_SITE,
    ),
    "execve": (
        'if os.fork() == 0: os.execve(sys.executable, [sys.executable, "-c", ""], {})\n'
        "os.wait()",
        NO_VARIABLE,
    ),
    "execvp": (
        "if os.fork() == 0:\n"
        "    os.environ['PATH'] = '/nowhere:' + os.path.dirname(sys.executable)\n"
        "    os.execvp('python', ['python', '-S', '-c', ''])\n"
        "os.wait()",
        NO_SITE,
    ),
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python without cunei."""
    folder = tmp_path_factory.mktemp("bare")
    words = [sys.executable, "-m", "venv", "--without-pip", folder]
    subprocess.run(words, check=True)
    return folder


@pytest.fixture(autouse=True)
def scripts(cunei, bare):
    (cunei.folder / "bare").symlink_to(bare)
    for path, python in [
        (cunei.folder / "script", cunei.python),
        (bare / "script", bare / "bin" / "python"),
    ]:
        path.write_text(f"#!{python}\npass\n")
        path.chmod(0o755)


def record(cunei, start, *options):
    """What is printed of a program that has started the child: all but the counts."""
    cunei.write("app.py", f"import os, subprocess, sys\n{start}\n")
    shutil.rmtree(cunei.folder / "trace", ignore_errors=True)
    done = cunei("record", "-o", "trace", *options, "app.py")
    assert done.returncode == 0
    return done.stderr.splitlines()[1:]


@pytest.mark.core
@pytest.mark.parametrize(("start", "reason"), STARTS.values(), ids=STARTS)
def test_a_python_that_cannot_record(cunei, start, reason):
    assert record(cunei, start) == [
        f"cunei: one process could not be recorded: {reason}"
    ]
    words = " ".join(cunei("report", "trace").stdout.split())
    assert f"1 process could not be recorded: {reason}" in words
    for command in (["report", "--json"], ["info", "--json"]):
        (refusal,) = json.loads(cunei(*command, "trace").stdout)["unrecorded"]
        assert refusal["reason"] == reason
    shown = cunei("info", "trace").stdout
    assert shown.endswith(
        f"\n\ncould not be recorded\n  process   {refusal['pid']}: {reason}\n"
    )


def test_several_are_counted(cunei):
    starts = [STARTS["-S"][0], *[STARTS["an empty environment"][0]] * 2]

    (line,) = record(cunei, "\n".join(starts))
    assert line.startswith("cunei: 3 processes could not be recorded: ")
    assert f"{NO_SITE} (1)" in line
    assert f"{NO_VARIABLE} (2)" in line
    words = " ".join(cunei("report", "trace").stdout.split())
    assert line[len("cunei: ") :] in words


RECORDED = {
    "a Python": 'subprocess.run([sys.executable, "-c", "pass"])',
    "isolated": 'subprocess.run([sys.executable, "-I", "-c", "pass"])',
    "a copy": 'subprocess.run([sys.executable, "-c", "pass"], env={**os.environ})',
    "a copy in bytes": (
        'subprocess.run([sys.executable, "-c", "pass"], env={**os.environb})'
    ),
    "a script": 'subprocess.run([os.getcwd() + "/script"])',
    "a script in a shell": 'subprocess.run(os.getcwd() + "/script", shell=True)',
    "a module": 'subprocess.run([sys.executable, "-m", "this"], stdout=-3)',
    "a process of multiprocessing": (
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    process = context.Process(target=print)\n"
        "    process.start(); process.join()"
    ),
    "exec": (
        "if os.fork() == 0: os.execv(sys.executable, [sys.executable, '-c', ''])\n"
        "os.wait()"
    ),
    "exec of a program that is missing": (
        "try: os.execv('/nowhere/python3', ['python3', '-S'])\nexcept OSError: pass"
    ),
    "its version": 'subprocess.run([sys.executable, "-V"], env={}, stdout=-3)',
    "another program": 'subprocess.run(["true", "-S"], env={})',
    "a program that is missing": (
        "try: subprocess.run(['/nowhere/python3', '-S'])\nexcept OSError: pass"
    ),
}


@pytest.mark.parametrize("start", RECORDED.values(), ids=RECORDED)
def test_no_other_program_is_counted(cunei, start):
    assert record(cunei, start) == []


def test_children_that_were_not_asked_for_are_not_counted(cunei):
    start = STARTS["an empty environment"][0]

    assert record(cunei, start, "--no-children") == []
