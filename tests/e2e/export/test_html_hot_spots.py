# SPDX-License-Identifier: MIT
"""The function with a planted slow loop is in the first view of the page."""

import json

import pytest
from browser import EXECUTABLE, MISSING, Browser
from exported import export

SLOW = """\
def slow_loop():
    total = 0
    for i in range(400_000):
        total += i * i
    return total
"""
SERVER = """\
import http.server
import threading
import urllib.request

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        slow_loop()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever).start()
for i in range(5):
    urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").close()
server.shutdown()
"""
POOL = """\
import multiprocessing

def work(n):
    return slow_loop()

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, range(6))
"""
CLIENT = """\
import asyncio

async def fetch(i):
    await asyncio.sleep(0.001)
    return slow_loop()

async def main():
    await asyncio.gather(*(fetch(i) for i in range(5)))

asyncio.run(main())
"""
IMPORTS = """\
import asyncio, email.mime.text, http.server, json.tool, unittest.mock, xml.dom.minidom
import decimal, logging.config, sqlite3, urllib.request, concurrent.futures.process
for i in range(5):
    slow_loop()
"""
TESTS = """\
def test_slow():
    for i in range(5):
        slow_loop()
"""
PROGRAMS = {
    "server": SERVER,
    "pool": POOL,
    "client": CLIENT,
    "imports": IMPORTS,
    "tests": TESTS,
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not EXECUTABLE:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_slow_loop_is_in_the_first_view(cunei, browser, name):
    cunei.write("test_app.py", SLOW + PROGRAMS[name])
    words = ["test_app.py"]
    if name == "tests":
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_app.py"]
    done = cunei("record", "-q", "-o", "trace", *words)
    assert done.returncode == 0, done.stderr
    path = export(cunei, "html")

    for width in (1400, 700):
        browser.errors.clear()
        browser.resize(width, 900)
        browser.open(path)
        browser.settle()
        cards = browser.run(
            "[...document.querySelectorAll('.card')].map((card) => {"
            " const { bottom, width } = card.getBoundingClientRect();"
            " return [card.querySelector('b').textContent, width > 0 && bottom < 300];"
            " })"
        )
        assert ["slow_loop", True] in cards, (width, cards)
        # And in the flame graph, without scrolling.
        y = browser.run(
            "(() => { const nodes = flame.tree.function.flatMap((index, node) =>"
            " functions[index].name === 'slow_loop' ? [flame.level[node]] : []);"
            " const { top } = flame.canvas.getBoundingClientRect();"
            " return top + (Math.min(...nodes) + 1) * ROW; })()"
        )
        assert y < 860, (width, y)
        assert browser.errors == []


BUSY = """\
import json.tool

def pick(rows, i):
    return sum(rows[:i]) + sum(rows[i:])

def busy():
    for i in range(9):
        try:
            raise ValueError(i)
        except ValueError:
            pass
    return sum(i * i for i in range(300_000))
"""
BURIED = """\
import engine

def handle(rows):
    return [engine.pick(rows, i) for i in range(len(rows))]

def start():
    return handle(list(range(2000)))

engine.busy()
start()
try:
    {}["missing"]
except KeyError:
    pass
"""


def test_what_is_behind_libraries_is_on_the_first_card(cunei, browser):
    cunei.write("shop/pyproject.toml", "")
    cunei.write("shop/site-packages/engine.py", BUSY)
    cunei.write("shop/main.py", BURIED)
    path = {"PYTHONPATH": str(cunei.folder / "shop/site-packages")}
    done = cunei("record", "-q", "-o", "trace", "shop/main.py", env=path)
    assert done.returncode == 0, done.stderr

    browser.errors.clear()
    browser.resize(700, 900)
    browser.open(export(cunei, "html"))
    browser.settle()
    cards = browser.run(
        "[...document.querySelectorAll('.card')].map((card) =>"
        " [card.querySelector('b').textContent, card.classList.contains('own')])"
    )
    assert {name for name, is_own in cards if is_own} == {"<module>", "handle"}, cards
    assert cards[0][1] and cards[1][1] and not cards[2][1], cards
    rows = browser.run(
        "details.exceptions().flatMap((part) =>"
        " [...part.querySelectorAll('tr')].map((row) => row.textContent))"
    )
    assert "KeyError" in rows[1] and "<module>" in rows[1], rows
    assert browser.errors == []


BLOCKED = """\
import threading

gate = threading.Lock()

def sit():
    with gate:
        pass

def work():
    return sum(i * i for i in range(300_000))

gate.acquire()
for i in range(3):
    threading.Thread(target=sit, daemon=True).start()
work()
"""


def test_shares_are_those_of_the_report(cunei, browser):
    cunei.write("main.py", BLOCKED)
    done = cunei("record", "-q", "-o", "trace", "main.py")
    assert done.returncode == 0, done.stderr
    browser.open(export(cunei, "html"))
    browser.settle()

    report = json.loads(cunei("report", "trace", "--json").stdout)
    working = report["working_ns"]

    assert abs(browser.run("calls.base") - working) <= working / 100
    assert working < report["threads_ns"] / 2
