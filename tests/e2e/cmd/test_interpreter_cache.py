# SPDX-License-Identifier: MIT
"""The answer of a Python is remembered, and never used where it could be wrong."""

import os
import subprocess
import time
import venv

import pytest

# Each Python that starts adds its number: a virtual environment may read it twice.
COUNT = "import os; os.write(os.open({path!r}, 1025), b'%d\\n' % os.getpid())\n"


class Counted:
    """A Python with cunei whose starts are counted."""

    def __init__(self, cunei):
        self.cunei = cunei
        self.environment = cunei.folder.parent / "venv"
        self.log = cunei.folder.parent / "starts"
        venv.create(self.environment, symlinks=True)
        (self.site,) = self.environment.glob("lib/python*/site-packages")
        # The real package, by a path and by the line that starts it.
        source = "import cunei, os; print(os.path.dirname(cunei.__path__[0]))"
        package = subprocess.run(
            [cunei.python, "-c", source], capture_output=True, text=True, check=True
        ).stdout.strip()
        boot = os.path.join(package, "cunei.pth")
        with open(boot) as file:
            line = file.read()
        (self.site / "a.pth").write_text(f"{package}\n{line}")
        (self.site / "count.pth").write_text(COUNT.format(path=str(self.log)))
        self.cache = cunei.folder.parent / "cache" / "cunei"
        self.python = self.environment / "bin" / "python"
        self.settle()

    def settle(self):
        """Make all files old enough to be trusted: their ctime cannot be set."""
        made = time.time()
        while time.time() < made + 3.1:
            os.stat(self.site)

    def record(self, env=None):
        """How many Pythons a recording starts; it must succeed."""
        self.log.write_text("")
        result = self.cunei(
            "record", "--force", "-o", "trace", self.python, "-c", "pass", env=env
        )
        assert result.returncode == 0, result.stderr
        assert "0 lost" in result.stderr
        return len(set(self.log.read_text().splitlines()))

    def answer(self):
        (file,) = self.cache.glob("answer-*")
        return file


@pytest.fixture
def counted(cunei):
    return Counted(cunei)


def test_a_python_is_asked_once_until_it_or_the_question_changes(counted):
    assert counted.record() == 2
    assert counted.record() == 1
    assert counted.record(env={"SHLVL": "7", "_": "x"}) == 1

    assert counted.record(env={"PYTHONSAFEPATH": "1"}) == 2
    assert counted.record() <= 2  # its place may have been taken
    assert counted.record() == 1

    (counted.site / "more.pth").write_text("# changes the folder\n")
    assert counted.record() == 2
    # The change is so new that a second one could not be distinguished from it.
    assert counted.record() == 2


def test_a_tool_that_a_pth_file_installs_is_noticed_at_once(counted):
    file = counted.site / "count.pth"
    assert counted.record() == 2
    assert counted.record() == 1

    file.write_text(file.read_text() + "import missing_module\n")

    assert counted.record() == 2


def test_the_cache_is_private(counted):
    counted.record()

    assert counted.cache.stat().st_mode & 0o777 == 0o700
    assert counted.answer().stat().st_mode & 0o777 == 0o600


def damage(text):
    yield "empty", b""
    yield "cut", text[: len(text) // 2]
    yield "without its end", text[:-5]
    yield "another question", text.replace(b"answer ", b"answer f", 1)
    yield "another version", text.replace(b"\nversion 3", b"\nversion 2")
    yield (
        "no files",
        b"".join(
            line for line in text.splitlines(True) if not line.startswith(b"file ")
        ),
    )
    yield "zeros", text.replace(b"cpython", b"\0python")
    yield "noise", os.urandom(4096)
    yield "too large", text + b"x" * (1 << 20)


def test_a_damaged_answer_is_not_used(counted):
    counted.record()
    good = counted.answer().read_bytes()

    for what, text in damage(good):
        counted.answer().write_bytes(text)
        assert counted.record() == 2, what
        assert counted.record() == 1, what


def test_an_answer_that_others_could_have_written_is_not_used(counted):
    counted.record()
    answer = counted.answer()

    answer.chmod(0o666)
    assert counted.record() == 2
    assert counted.record() == 1

    answer.rename(answer.with_name("elsewhere"))
    answer.symlink_to("elsewhere")
    assert counted.record() == 2
    assert not answer.is_symlink()

    counted.cache.chmod(0o777)
    assert counted.record() == 2
    assert counted.record() == 2


def test_without_a_place_for_the_cache_the_python_is_asked(counted):
    for place in ("/dev/null", "relative", "/proc/nothing"):
        variables = {"XDG_CACHE_HOME": place, "HOME": "/dev/null"}
        assert counted.record(env=variables) == 2, place
        assert counted.record(env=variables) == 2, place


def test_a_script_that_chooses_a_python_is_asked_each_time(counted):
    chooser = counted.cunei.write(
        "python", f'#!/bin/sh\nexec {counted.python} "$@"\n', executable=True
    )
    counted.settle()
    counted.python = chooser

    assert counted.record() == 2
    assert counted.record() == 2
