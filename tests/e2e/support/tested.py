# SPDX-License-Identifier: MIT
"""Running tests with pytest --cunei, and what was recorded of them."""

from __future__ import annotations

import json

TESTS = """\
import os
import signal
import pytest

def work(n):
    return sum(i for i in range(n))

def prepare():
    pass

def clear():
    pass

@pytest.fixture
def thing():
    prepare()
    yield 1
    clear()

def test_quick(thing):
    assert thing == 1

def test_slow():
    work(200000)

@pytest.mark.parametrize("text", ["a b", "\\u00e9"])
def test_text(text):
    assert text

def test_fails():
    assert work(3) == 4

def test_forks():
    pid = os.fork()
    if pid == 0:
        work(10)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

@pytest.mark.skip
def test_skipped():
    pass
"""


def run(cunei, *words, before=(), **options):
    cunei.write("test_it.py", options.pop("tests", TESTS))
    pytest_words = ["-m", "pytest", "-p", "no:cacheprovider", "-q", *words]
    return cunei.run(*before, cunei.python, *pytest_words, **options)


def report(cunei, *words, directory="trace"):
    result = cunei("report", "--json", "--regions", *words, directory)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def regions(cunei, **options):
    found = report(cunei, **options)["regions"]
    return {region["name"]: region for region in found}


def rows(result):
    """The tests of the table, the slowest first."""
    head, _, rest = result.stdout.partition("slowest tests, recorded by cunei")
    assert rest, head
    return [line for line in rest.splitlines() if "test_it.py::" in line]
