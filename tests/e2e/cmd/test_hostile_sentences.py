# SPDX-License-Identifier: MIT
"""A sentence about hostile text escapes it once."""

import json

import pytest

HOSTILE = "a\nb\x1b\\d"
SHOWN = r"a\nb\x1b\d"
BAD_EXPRESSION = f"--include 're:({SHOWN}' is not a valid pattern: Unmatched ( or \\("


@pytest.fixture
def project(cunei):
    cunei.write("app.py", "def f():\n    pass\nf()\n")
    return cunei


def configure(project, key, value):
    # A basic string of TOML escapes as JSON does.
    text = f"[tool.cunei]\n{json.dumps(key)} = {json.dumps(value)}\n"
    return project.write("pyproject.toml", text)


def test_a_typed_pattern(project):
    done = project("record", "-o", "t", "--include", f"re:({HOSTILE}", "app.py")

    assert done.stderr == f"cunei: {BAD_EXPRESSION}\n"


def test_a_pattern_of_pyproject_toml(project):
    path = configure(project, "include", f"re:({HOSTILE}")

    done = project("record", "-o", "t", "app.py")

    ignored = " (--no-config ignores [tool.cunei])"
    assert done.stderr == f"cunei: {path}:2:13: {BAD_EXPRESSION}{ignored}\n"
    assert f" {path}:2:13: {BAD_EXPRESSION}\n" in project("doctor").stdout


def test_a_pattern_that_matched_nothing(project):
    configure(project, "include", HOSTILE)

    done = project("record", "-o", "t", "app.py")

    assert f": no function matched '{SHOWN}'; " in done.stderr
    assert f"write ':{SHOWN}'\n" in done.stderr


def test_advice_that_has_a_backslash_of_its_own(project):
    done = project("record", "--include", "\x1b[", "app.py")

    assert done.stderr == (
        r"cunei: --include '\x1b[' is not a valid pattern: a '[' has no ']'; "
        "write \\[ for a literal one\n"
    )


def test_a_key_of_pyproject_toml(project):
    path = configure(project, HOSTILE, 1)

    done = project("record", "-o", "t", "app.py")

    found = f"cunei: {path}:2:1: [tool.cunei] has no key '{SHOWN}'; "
    assert done.stderr.startswith(found)
