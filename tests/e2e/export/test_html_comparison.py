# SPDX-License-Identifier: MIT
"""The page of a comparison of two traces."""

import json

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import PROGRAM, export, record


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


def test_a_comparison_is_a_page_of_the_difference(cunei, browser):
    record(cunei, name="a")
    record(cunei, name="b", program=PROGRAM + "\nfib(16)\n")
    done = cunei("compare", "a", "b", "--to", "html:out.html")
    assert done.returncode == 0, done.stderr
    assert "wrote 'out.html': open it in a browser\n" in done.stderr
    browser.errors.clear()
    browser.resize(1400, 900)
    browser.open(cunei.folder / "out.html")
    browser.settle()

    widths = {}
    for side, key in (("A", "a"), ("B", "b"), ("Δ", "d")):
        browser.key(key)
        assert browser.run("flame.side") == side
        widths[side] = browser.run("flame.total[0]")
    assert widths["A"] + widths["B"] == widths["Δ"]
    comparison = json.loads(cunei("compare", "--json", "a", "b").stdout)
    assert abs(widths["A"] - comparison["self_ns"][0]) < 1000
    assert browser.run("heat(0.5) !== heat(-0.5)")
    browser.key("2")
    heads = browser.run(
        "[...document.querySelectorAll('#columns th')].map((th) => th.textContent)"
    )
    assert heads[0] == "ΔSelf ▾" and "Calls A" in heads
    assert browser.run("document.querySelector('#tab-time').hidden")
    assert browser.errors == []


def test_a_page_of_a_comparison_is_written_with_care(cunei):
    record(cunei, name="a")
    record(cunei, name="b")
    cunei.write("compare.html", "mine")
    export(cunei, "pstats", name="a")

    exists = cunei("compare", "a", "b", "--to", "html")
    forced = cunei("compare", "a", "b", "--to", "html", "--force")
    stdout = cunei("compare", "a", "b", "--to", "html", "-o", "-")
    profile = cunei("compare", "a", "exported.pstats", "--to", "html:x.html")

    assert exists.returncode == 1 and "compare.html" in exists.stderr
    assert (cunei.folder / "compare.html").stat().st_mode & 0o777 == 0o600
    assert forced.returncode == 0
    assert (cunei.folder / "compare.html").read_text().startswith("<!doctype html>")
    assert stdout.returncode == 0 and stdout.stdout.startswith("<!doctype html>")
    assert profile.returncode == 2 and "two traces" in profile.stderr
