# SPDX-License-Identifier: MIT
""".ci/run: its last line and its exit status, with a make that only prints."""

import shutil
import subprocess

import pytest
from proof import ROOT

# Each target prints its file, and ends with its status.
MAKE = """\
#!/bin/sh
cat "$2"
exit "$(cat "$2.status")"
"""


@pytest.mark.parametrize(
    "lint, test, last",
    [
        (("7 passed, 0 failed", 0), ("30 passed, 0 failed", 0), "37 passed, 0 failed"),
        (
            ("7 passed, 0 failed", 0),
            ("30 passed, 0 failed, 2 skipped", 0),
            "37 passed, 0 failed, 2 skipped",
        ),
        (("6 passed, 1 failed", 2), ("30 passed, 0 failed", 0), "36 passed, 1 failed"),
        (("7 passed, 0 failed", 0), ("28 passed, 2 failed", 2), "35 passed, 2 failed"),
        (("please install gcc", 2), ("30 passed, 0 failed", 0), "30 passed, 1 failed"),
        (("7 passed, 0 failed", 0), ("", 0), "7 passed, 1 failed"),
        (("7 passed, 0 failed", 0), ("30 passed, 0 failed", 2), "7 passed, 1 failed"),
    ],
)
def test_the_last_line_is_the_sum_and_the_status_agrees(
    tmp_path, monkeypatch, lint, test, last
):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / "make").write_text(MAKE)
    (tmp_path / "make").chmod(0o755)
    for name, (text, status) in {
        "pythons": ("", 0),
        "lint": lint,
        "test": test,
    }.items():
        (tmp_path / name).write_text(f"a step of {name}\n{text}\n")
        (tmp_path / f"{name}.status").write_text(str(status))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    result = subprocess.run(
        [tmp_path / ".ci" / "run"], stdout=subprocess.PIPE, text=True
    )

    lines = result.stdout.splitlines()
    assert lines[-1] == last
    assert (result.returncode == 0) == (", 0 failed" in last)
    assert "a step of lint" in lines and "a step of test" in lines
