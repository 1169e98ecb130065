# SPDX-License-Identifier: MIT
"""The regions of pytest --cunei: what is a test's time, and what is not."""

import json

import pytest
from tested import regions, report, run

REPORTING = """\
import statistics

import cunei
import pytest

def test_fails():
    assert statistics.median([1]) == 2

@pytest.fixture
def around(request):
    cunei.region_begin("around")
    request.addfinalizer(cunei.region_end)

def test_inside(around):
    assert statistics.median([1]) == 1
"""

CONFTEST = """\
import statistics

import pytest

def pytest_runtest_logreport(report):
    statistics.mean([1, 2])

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call():
    statistics.mean([1, 2])
    yield

@pytest.fixture(autouse=True)
def prepared():
    statistics.mode([1, 1])
"""


def test_what_pytest_does_to_report_is_outside(cunei):
    cunei.write("conftest.py", CONFTEST)
    names = ("statistics:mean", "statistics:median", "statistics:mode", "test_it")
    words = [f"--cunei-include={name}" for name in names]
    result = run(cunei, "--cunei-dir=trace", *words, tests=REPORTING)

    assert "1 failed, 1 passed" in result.stdout
    found = regions(cunei)
    assert len(found) == 3
    for name in ("test_fails", "test_inside"):
        region = found[f"test_it.py::{name}"]
        called = {f["qualname"]: f["calls"] for f in region["functions"]}
        assert called[name] == called["median"] == called["mode"] == 1
        assert region["count"] == 1 and "mean" not in called
    inside = {f["qualname"] for f in found["around"]["functions"]}
    assert {"median", "test_inside"} <= inside
    calls = {f["qualname"]: f["calls"] for f in report(cunei)["functions"]}
    assert calls["mean"] == 8  # three reports and the wrapper, of each test


TIMED = """\
import time

def work():
    end = time.perf_counter() + 0.02
    while time.perf_counter() < end:
        pass

def test_works():
    work()
"""


@pytest.mark.core
@pytest.mark.parametrize("way", ["launcher", "include"])
def test_a_test_takes_its_time_where_pytest_is_recorded_too(cunei, way):
    launcher = (cunei.executable, "record", "-q", "-o", "trace", "--")
    if way == "launcher":
        result = run(cunei, "--cunei", before=launcher, tests=TIMED)
    else:
        words = ("--cunei-dir=trace", "--cunei-include=re:.*")
        result = run(cunei, *words, tests=TIMED)

    assert result.returncode == 0, result.stdout
    facts = report(cunei)
    (region,) = facts["regions"]
    assert region["name"] == "test_it.py::test_works" and region["count"] == 1
    assert region["total_ns"] >= 20_000_000
    assert region["functions"][0]["qualname"] == "work"
    assert any(f["module"].startswith("pluggy") for f in facts["functions"])


STRAY = """\
import cunei

def work():
    return sum(range(1000000))

def test_works():
    cunei.region_end()
    cunei.region_end("test_it.py::test_works")
    work()
"""


@pytest.mark.core
def test_a_stray_end_does_not_end_the_test(cunei):
    result = run(cunei, "--cunei-dir=trace", tests=STRAY)

    assert result.returncode == 0, result.stdout
    (region,) = regions(cunei).values()
    assert region["functions"][0]["qualname"] == "work"
    marks = json.loads(cunei("report", "--json", "--marks", "trace").stdout)["marks"]
    assert [mark["error"] for mark in marks] == [True, True]
