# SPDX-License-Identifier: MIT
"""A build without a compiler or headers says which packages to install."""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[3]

# A compiler that works, but for what these lines do to its arguments.
COMPILERS = {
    "none": None,
    "without the C library's headers": 'set -- -nostdinc "$@"',
    "without Python's headers": """
for word; do
    shift
    case "$word" in -I*python*) ;; *) set -- "$@" "$word" ;; esac
done""",
}

HINTS = {
    "none": ("a C compiler", "apt-get install gcc libc6-dev", "dnf install gcc"),
    "without the C library's headers": (
        "the headers of the C library",
        "apt-get install gcc libc6-dev",
        "dnf install gcc",
    ),
    "without Python's headers": (
        "needs Python.h",
        "apt-get install python3.",
        "dnf install python3-devel",
    ),
}


def make_compiler(folder, kind):
    path = folder / "cc"
    if COMPILERS[kind] is not None:
        path.write_text(f'#!/bin/sh\n{COMPILERS[kind]}\nexec gcc "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("kind", COMPILERS)
def test_the_error_names_the_packages(cunei, tmp_path, kind):
    meson = pathlib.Path(cunei.python).parent / "meson"
    if not meson.exists() or not shutil.which("gcc"):
        pytest.skip("no meson beside this Python, or no gcc")
    environment = {**os.environ, "CC": str(make_compiler(tmp_path, kind))}

    build = subprocess.run(
        [meson, "setup", tmp_path / "build", ROOT],
        env={**environment, "PATH": f"{meson.parent}{os.pathsep}{environment['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert build.returncode != 0
    (error,) = (line for line in build.stdout.splitlines() if "ERROR:" in line)
    for words in HINTS[kind]:
        assert words in error
    assert error.endswith("then repeat this command.")
