# SPDX-License-Identifier: MIT
"""cunei as it is installed, and the Python it is installed in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from steady import record_steady

TIMEOUT_S = 60

# Under nohup, or in the background of a script, every program that a test starts would
# ignore the signals it is about to be sent.
for each in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(each) == signal.SIG_IGN:
        signal.signal(each, signal.SIG_DFL)

# What a table looks like must not depend on the terminal that the tests are run in.
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE"):
    os.environ.pop(name, None)


@dataclass(frozen=True)
class Cunei:
    """The installed executable, to be called with its words."""

    python: str
    executable: str
    folder: Path
    environment: dict[str, str]

    def __call__(self, *words, **options):
        return self.run(self.executable, *words, **options)

    def run(self, *command, env=None, **options):
        """Any command, in the test's folder, with its output as text."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("cwd", self.folder)
        options.setdefault("timeout", TIMEOUT_S)
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            env={**self.environment, **(env or {})},
            **options,
        )

    def start(self, *words, **options):
        """Start it and come back at once."""
        options.setdefault("cwd", self.folder)
        options.setdefault("env", self.environment)
        return subprocess.Popen(
            [self.executable, *(str(word) for word in words)], **options
        )

    def write(self, name, text, executable=False):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(0o755)
        return path


def test_python():
    return os.environ.get("CUNEI_TEST_PYTHON") or sys.executable


def installed(folder):
    python = test_python()
    executable = str(Path(python).parent / "cunei")
    if not os.access(executable, os.X_OK):
        pytest.fail(f"cunei is not installed beside {python}")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CUNEI_", "PYTHON", "PYTEST_", "COVERAGE"))
    }
    environment.update(
        NO_COLOR="1", TMPDIR=str(folder), XDG_CACHE_HOME=str(folder / "cache")
    )
    work = folder / "work"
    work.mkdir()
    return Cunei(python, executable, work, environment)


@pytest.fixture(scope="session")
def install():
    """`installed`, for fixtures that make their own folders."""
    return installed


@pytest.fixture
def cunei(tmp_path):
    return installed(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The same for all tests of a file, which only read what one of them made."""
    return installed(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """A program that always makes the same events, and how many."""
    return record_steady(tmp_path_factory.mktemp("steady"))
