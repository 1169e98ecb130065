# SPDX-License-Identifier: MIT
"""The import system has one name in patterns, trees and all processes."""

import json

import pytest
from filtered import recorded

IMPORTS = "import subprocess, sys\nimport decimal\nimport importlib\nimport this\n"


@pytest.mark.core
def test_the_import_system_is_excluded_by_its_documented_name(cunei):
    """Its modules are called _frozen_importlib… until importlib is imported."""
    cunei.write("app.py", IMPORTS)
    names = recorded(cunei)
    assert any("importlib" in name and "_find_and_load" in name for name in names)

    for words in (["--exclude", "importlib.*"], ["--exclude", "importlib"]):
        left = recorded(cunei, *words)
        assert not {name for name in left if "importlib._boot" in name}
        assert not {name for name in left if "_frozen_importlib" in name}
        assert "this:<module>" in left


@pytest.mark.core
def test_an_excluded_function_is_not_in_the_tree(cunei):
    """What it calls is below its caller."""
    cunei.write("app.py", IMPORTS)
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0

    words = ("report", "--tree", "--no-fold", "--min-percent", "0", "trace")
    assert "_find_and_load" in cunei(*words).stdout
    tree = cunei(*words, "--exclude", "importlib.*").stdout
    assert "this.py" in tree
    assert "_bootstrap" not in tree
    rows = cunei(*words, "--exclude", "importlib.*", "--json").stdout
    assert not [
        row
        for row in json.loads(rows)["tree"]
        if (row["file"] or "").startswith("<frozen importlib._boot")
    ]


@pytest.mark.core
def test_the_import_system_is_one_in_all_processes(cunei):
    """One process imports importlib, the other does not."""
    cunei.write(
        "app.py",
        """\
import os
if os.fork() == 0:
    import importlib
    import this
    os._exit(0)
os.wait()
import this
""",
    )
    assert cunei("record", "-q", "-o", "trace", "app.py").returncode == 0

    functions = json.loads(cunei("report", "--json", "trace").stdout)["functions"]
    keys = [(each["file"], each["line"], each["qualname"]) for each in functions]
    frozen = [key for key in keys if key[0].startswith("<frozen importlib")]
    assert frozen
    assert len(frozen) == len(set(frozen))
