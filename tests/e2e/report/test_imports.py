# SPDX-License-Identifier: MIT
"""Imports in a report: `import NAME` instead of the functions of importlib."""

import json
import re

import pytest

PROGRAM = """
import outer
def work():
    import late
    return outer.total()
work()
"""
MODULES = {
    "outer": "import inner\ndef total(): return sum(range(10))\n",
    "inner": "def helper(): return list(map(str, range(20000)))\nhelper()\n",
    "late": "VALUE = [i for i in range(20000)]\n",
}


@pytest.fixture
def trace(cunei):
    for name, text in MODULES.items():
        cunei.write(f"{name}.py", text)
    cunei.write("program.py", PROGRAM)
    cunei("record", "-o", "trace", "program.py")
    return "trace"


def rows(text):
    """The functions of a table, without the numbers before them."""
    return [
        line for line in text.splitlines() if re.match(r" *[0-9.]+ (ns|.s|s) ", line)
    ]


def test_the_table_has_a_row_for_each_module_and_none_for_importlib(cunei, trace):
    text = cunei("report", trace, "--limit", "0").stdout

    for name in MODULES:
        assert any(f" import {name} " in row for row in rows(text)), text
    assert "_find_and_load" not in "\n".join(rows(text))
    assert (
        "_find_and_load" in cunei("report", trace, "--no-fold", "--limit", "0").stdout
    )


def test_a_line_names_the_packages_that_took_the_most(cunei, trace):
    text = cunei("report", trace).stdout

    (line,) = [line for line in text.splitlines() if line.startswith("imports ")]
    assert re.search(
        r"^imports +[0-9.]+ .?s \([0-9.]+ %\): .*outer [0-9.]+ .s", line
    ), line
    assert "inner" not in line  # it is part of what outer took


def test_the_tree_of_imports_has_what_a_module_imports_below_it(cunei, trace):
    report = json.loads(cunei("report", trace, "--imports", "--json").stdout)
    modules = {node["module"]: node for node in report["imports"]}

    assert modules["inner"]["parent"] == modules["outer"]["id"]
    assert modules["late"]["parent"] == 0
    assert modules["outer"]["total_ns"] == (
        modules["outer"]["self_ns"] + modules["inner"]["total_ns"]
    )
    # What a module calls while it is imported is its self time.
    (helper,) = [row for row in report["functions"] if row["qualname"] == "helper"]
    assert modules["inner"]["self_ns"] >= helper["total_ns"]
    assert "tree" not in report


def test_the_call_tree_is_folded_too(cunei, trace):
    text = cunei("report", trace, "--tree", "--min-percent", "0").stdout

    assert re.search(r"├ import late ", text), text
    assert "_find_and_load" not in text
    assert "_find_and_load" in cunei("report", trace, "--tree", "--no-fold").stdout
