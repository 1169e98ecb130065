# SPDX-License-Identifier: MIT
"""Hostile names in the formats that only viewers read: the formats stay what they are.

They hold names as they are, if that is UTF-8; what a viewer does with them is up to the
viewer.  So these tests read each format with an independent reader.
"""

import gzip
import pstats
import shutil
import subprocess

import pytest
from browser import EXECUTABLE, MISSING, Browser
from proof import needs_babeltrace
from test_hostile_bytes import (
    FOR_VIEWERS,
    HOSTILE,
    find_unsafe,
    run,
    traces,  # noqa: F401
)

# A function, a file, a region and a process have this name, which is not UTF-8.
INVALID = HOSTILE[1]
ESCAPED = rb"\x9b2J\x90q\xff\xc0\x80\xed\xa0\x80"

assert INVALID.startswith(b"\x9b2J")


def read_bytes(path):
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    data = b"".join(each.read_bytes() for each in files if each.is_file())
    return gzip.decompress(data) if path.suffix == ".pprof" else data


def test_each_format_is_tested():
    others = {"html", "pstats", "ctf"}
    assert others | {"perfetto", "pprof", "otf2"} == FOR_VIEWERS


@pytest.fixture(params=["ended", "killed"])
def export(request, traces, tmp_path):  # noqa: F811
    def run_export(name):
        path = tmp_path / f"exported.{name}"
        run(traces, "export", request.param, "--to", name, "-o", path)
        return path

    run_export.cunei, run_export.trace = traces, request.param
    return run_export


@pytest.mark.parametrize("name", ["perfetto", "pprof", "otf2"])
def test_a_name_that_is_not_utf8_is_escaped(export, name):
    data = read_bytes(export(name))

    assert INVALID[:4] not in data
    assert ESCAPED in data


@pytest.mark.skipif(not EXECUTABLE, reason=MISSING)
def test_the_page_is_safe_text_and_opens(export, tmp_path):
    path = export("html")

    assert find_unsafe(path.read_bytes()) == (set(), [])
    with Browser(tmp_path / "browser") as browser:
        browser.open(path)
        shown = []
        for key in "1234":  # the views
            browser.key(key)
            shown.append(browser.run("document.body.innerText + document.title"))
        assert (browser.errors, browser.requests) == ([], [path.as_uri()])
    text = "\n".join(shown).replace("\t", " ")  # between the cells of a table
    assert find_unsafe(text.encode("utf-8", "surrogatepass")) == (set(), [])
    assert r"\x1b[31m\x1b]0;t\x07" in text
    assert r"\u202eabc\u2066" in text


def test_pstats_reads_each_function(export):
    stats = pstats.Stats(str(export("pstats"))).stats

    assert HOSTILE[0].decode() in {name for _, _, name in stats}
    assert {type(name) for _, _, name in stats} == {str}


@pytest.mark.skipif(not shutil.which("otf2-print"), reason="otf2-print is missing")
def test_otf2_print_reads_everything(export):
    path = export("otf2") / "traces.otf2"
    done = subprocess.run(["otf2-print", "-G", path], capture_output=True)

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b[31m\x1b]0;t\x07" in done.stdout  # it prints names as they are


@needs_babeltrace
def test_babeltrace_and_cunei_read_the_same_ctf(export):
    path = export("ctf")
    done = subprocess.run(["babeltrace2", path], capture_output=True)

    assert (done.returncode, done.stderr) == (0, b"")
    dumps = [run(export.cunei, "dump", each).stdout for each in (path, export.trace)]
    assert dumps[0] == dumps[1]
