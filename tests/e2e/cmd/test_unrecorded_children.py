# SPDX-License-Identifier: MIT
"""Pythons below the program that cannot record are counted, where they are known."""

import shutil

import pytest
from proof import needs_monitoring

NO_SITE = (
    "Python was started with -S, which disables site-packages, so that it could not "
    "load cunei"
)
NO_VARIABLE = "Python was started without CUNEI_RECORD in its environment"

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
}


def record(cunei, start, *options):
    """What is printed of a program that has started the child: all but the counts."""
    cunei.write("app.py", f"import os, subprocess, sys\n{start}\n")
    shutil.rmtree(cunei.folder / "trace", ignore_errors=True)
    done = cunei("record", "-o", "trace", *options, "app.py")
    assert done.returncode == 0
    return done.stderr.splitlines()[1:]


@needs_monitoring
@pytest.mark.parametrize(("start", "reason"), STARTS.values(), ids=STARTS)
def test_a_python_that_cannot_record(cunei, start, reason):
    assert record(cunei, start) == [
        f"cunei: one process could not be recorded: {reason}"
    ]
    words = " ".join(cunei("report", "trace").stdout.split())
    assert f"1 process could not be recorded: {reason}" in words


@needs_monitoring
def test_several_are_counted(cunei):
    starts = [STARTS["-S"][0], *[STARTS["an empty environment"][0]] * 2]

    (line,) = record(cunei, "\n".join(starts))
    assert line.startswith("cunei: 3 processes could not be recorded: ")
    assert f"{NO_SITE} (1)" in line
    assert f"{NO_VARIABLE} (2)" in line
    words = " ".join(cunei("report", "trace").stdout.split())
    assert line.removeprefix("cunei: ") in words


RECORDED = {
    "a Python": 'subprocess.run([sys.executable, "-c", "pass"])',
    "isolated": 'subprocess.run([sys.executable, "-I", "-c", "pass"])',
    "a copy": 'subprocess.run([sys.executable, "-c", "pass"], env={**os.environ})',
    "a copy in bytes": (
        'subprocess.run([sys.executable, "-c", "pass"], env={**os.environb})'
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


@needs_monitoring
def test_children_that_were_not_asked_for_are_not_counted(cunei):
    start = STARTS["an empty environment"][0]

    assert record(cunei, start, "--no-children") == []
