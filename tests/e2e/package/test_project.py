# SPDX-License-Identifier: MIT
"""cunei.record(only_project=True): which folder the project is."""

import os
import shutil

import ctf
import pytest

pytestmark = pytest.mark.core


def test_the_package_finds_the_project_of_a_module_or_a_command(cunei):
    """The current folder's, not that of the package that is run."""
    cunei.write("shop/pyproject.toml", "")
    cunei.write("shop/cart.py", "def total(): return 3\n")
    cunei.write(
        "site-packages/server/__main__.py",
        "import cart, cunei, json\n"
        "with cunei.record('trace', only_project=True):\n"
        "    cart.total(), json.dumps([])\n",
    )
    command = cunei.write("venv/bin/serve", "import server.__main__\n")
    folders = (cunei.folder / "site-packages", cunei.folder / "shop")
    env = {"PYTHONPATH": os.pathsep.join(map(str, folders))}

    for words in (["-m", "server"], [command]):
        done = cunei.run(cunei.python, *words, env=env, cwd=cunei.folder / "shop")

        assert (done.returncode, done.stderr) == (0, "")
        trace = cunei.folder / "shop/trace"
        (process,) = ctf.read(trace).processes
        assert {f.qualname for f in process.count(ctf.ENTER)} == {"total"}, words
        shutil.rmtree(trace)
