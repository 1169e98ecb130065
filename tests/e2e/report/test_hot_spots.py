# SPDX-License-Identifier: MIT
"""Real programs, each with a slow loop: its function is on the first screen.

The programs are in support/hot_spots.  Those of large packages (pandas, scikit-learn,
Sphinx) run only where these are installed: `make packages` installs them.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from browser import EXECUTABLE, MISSING, Browser

PROGRAMS = Path(__file__).parent.parent / "support" / "hot_spots"
SCREEN = 24
RUN_S = 240
READY_S = 60


@dataclass
class Program:
    """`needs`: the modules without which it cannot run; `slow`: where the loop is."""

    name: str
    slow: str
    place: str
    command: list
    needs: list = field(default_factory=list)
    requests: int = 0
    prepare: object = None


def write_documents(folder):
    """Sources for Sphinx, and its configuration."""
    (folder / "conf.py").write_text(
        "import os, sys\n"
        "sys.path.insert(0, os.path.dirname(__file__))\n"
        "extensions = ['sphinx_slow', 'sphinx.ext.autodoc']\n"
    )
    pages = [f"page{i}" for i in range(8)]
    lines = "\n".join(f"   {page}" for page in pages)
    (folder / "index.rst").write_text(f"Index\n=====\n\n.. toctree::\n\n{lines}\n")
    for page in pages:
        words = " ".join(f"{page}-{i} and :ref:`search`." for i in range(400))
        text = f"{page}\n{'=' * len(page)}\n\n{words}\n\n.. automodule:: json\n"
        (folder / f"{page}.rst").write_text(text + "   :members:\n")


def write_notebook(folder):
    nbformat = pytest.importorskip("nbformat")
    cells = {}
    exec((folder / "notebook.py").read_text(), cells)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells["CELLS"]]
    nbformat.write(notebook, folder / "notebook.ipynb")


def python(*words):
    return [sys.executable, *words]


GUNICORN = ["-m", "gunicorn", "--workers", "2", "--bind", "127.0.0.1:0"]
ALL = [
    Program(
        "flask",
        "add_up",
        "flask_server.py",
        python("flask_server.py"),
        ["flask"],
        requests=30,
    ),
    Program(
        "fastapi",
        "add_up",
        "fastapi_server.py",
        python("fastapi_server.py"),
        ["fastapi", "uvicorn"],
        requests=30,
    ),
    Program(
        "gunicorn",
        "add_up",
        "gunicorn_app.py",
        python(*GUNICORN, "-c", "python:gunicorn_app", "gunicorn_app:app"),
        ["gunicorn"],
        requests=30,
    ),
    Program(
        "pandas",
        "running",
        "data_frame.py",
        python("data_frame.py"),
        ["pandas", "sklearn"],
    ),
    Program(
        "rows",
        "features",
        "data_rows.py",
        python("data_rows.py"),
        ["pandas", "sklearn"],
    ),
    Program(
        "sphinx",
        "count_all",
        "sphinx_slow.py",
        python("-m", "sphinx", "-q", "-b", "html", ".", "out"),
        ["sphinx"],
        prepare=write_documents,
    ),
    Program(
        "pytest",
        "distance",
        "library.py",
        python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_library.py"),
    ),
    Program(
        "click",
        "checksum",
        "click_tool.py",
        python("click_tool.py", "check", "ann", "bob"),
        ["click"],
    ),
    Program("pool", "collatz", "pool.py", python("pool.py")),
    Program("client", "smooth", "client.py", python("client.py"), ["aiohttp"]),
    Program(
        "notebook",
        "closest",
        "",
        python("-m", "jupyter", "execute", "notebook.ipynb"),
        ["nbclient", "ipykernel", "jupyter_core"],
        prepare=write_notebook,
    ),
]


def wait_for_port(folder, process):
    deadline = time.monotonic() + READY_S
    port = folder / "port"
    while not port.exists() or not port.read_text():
        assert process.poll() is None, f"the server ended with {process.returncode}"
        assert time.monotonic() < deadline, "the server does not listen"
        time.sleep(0.05)
    return int(port.read_text())


def ask(port, count):
    """So many requests; the first may come before the server answers."""
    deadline = time.monotonic() + READY_S
    done = 0
    while done < count:
        try:
            url = f"http://127.0.0.1:{port}/orders/{done}"
            urllib.request.urlopen(url, timeout=READY_S).read()
            done += 1
        except OSError:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)


def run(cunei, program):
    """The report as `cunei run` prints it; the trace is kept."""
    words = ["run", "--save", "trace", "-o", "report", *program.command]
    environment = {**cunei.environment, "COLUMNS": "80"}
    if not program.requests:
        result = cunei(*words, env={"COLUMNS": "80"}, timeout=RUN_S)
        assert result.returncode == 0, result.stderr
    else:
        process = cunei.start(*words, env=environment)
        try:
            ask(wait_for_port(cunei.folder, process), program.requests)
            process.send_signal(signal.SIGINT)
            process.wait(READY_S)
        finally:
            process.kill()
    return (cunei.folder / "report").read_text()


@pytest.fixture(scope="module", params=ALL, ids=lambda program: program.name)
def recorded(request, install, tmp_path_factory):
    program = request.param
    for module in program.needs:
        pytest.importorskip(module)
    cunei = install(tmp_path_factory.mktemp(program.name))
    for path in PROGRAMS.glob("*.py"):
        shutil.copy(path, cunei.folder)
    if program.prepare:
        program.prepare(cunei.folder)
    return cunei, program, run(cunei, program)


def check(program, report):
    """It is named on the first screen, with its place."""
    words = " ".join(report.splitlines()[:SCREEN]).split()
    assert program.slow in words, report
    after = words[words.index(program.slow) :]
    assert any(f"{program.place}:" in word for word in after[:10]), report


def test_it_is_in_the_first_rows_of_cunei_run_in_80_columns(recorded):
    _, program, report = recorded
    assert max(len(line) for line in report.splitlines()) <= 80
    check(program, report)


def test_it_is_in_the_first_rows_in_160_columns(recorded):
    cunei, program, _ = recorded
    check(program, cunei("report", "trace", env={"COLUMNS": "160"}).stdout)


def test_it_is_on_the_first_screen_of_the_tree(recorded):
    cunei, program, _ = recorded
    tree = cunei("report", "trace", "--tree", env={"COLUMNS": "80"}).stdout
    assert any(program.slow in line for line in tree.splitlines()[:SCREEN]), tree


def test_shares_do_not_exceed_100(recorded):
    cunei, program, _ = recorded
    data = json.loads(cunei("report", "trace", "--json").stdout)
    working = data["threads_ns"] - data["waiting_ns"]
    selfs = [f["self_ns"] for f in data["functions"] if not f["waits"]]
    assert sum(selfs) <= working * 1.001


DRAWN = """
window.drawn = [];
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.drawn.push(String(text));
    return fillText.call(this, text, ...rest);
};
"""


def test_it_is_in_the_first_view_of_the_page(recorded, tmp_path):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    cunei, program, _ = recorded
    page = tmp_path / "page.html"
    result = cunei("export", "trace", "--to", f"html:{page}", timeout=RUN_S)
    assert result.returncode == 0, result.stderr
    with Browser(tmp_path / "browser") as browser:
        browser.send("Page.addScriptToEvaluateOnNewDocument", source=DRAWN)
        browser.open(page)
        browser.settle()
        drawn = browser.run("window.drawn")
        shown = browser.run("document.body.innerText")
        assert browser.errors == []
    assert program.slow in "\n".join([*drawn, shown]), drawn
