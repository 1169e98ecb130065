# SPDX-License-Identifier: MIT
"""`cunei view` opens the page in a browser, or prints how to look at it."""

import os
import re
import stat

import pytest
from exported import page_of, record

PROGRAM = "def f(): pass\nf()\n"
# Nothing of the machine that the tests run on.
NONE = {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": "", "SSH_CONNECTION": ""}


@pytest.fixture
def trace(cunei):
    record(cunei, program=PROGRAM)
    os.mkfifo(cunei.folder / "opened")
    return cunei


def with_program(trace, name, script=None):
    """A PATH with one program, which by default writes its words to a pipe."""
    # The shell opens the pipe before anything else: it waits for the reader.
    script = script or f'echo "$@" > {trace.folder}/opened'
    trace.write(f"bin/{name}", f"#!/bin/sh\n{script}\n", executable=True)
    return {**NONE, "PATH": str(trace.folder / "bin")}


def view(trace, settings, *words, status=0):
    """The lines that were printed."""
    done = trace("view", "trace", *words, env=settings)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    return [line[len("cunei: ") :] for line in done.stderr.splitlines()]


def pages(trace):
    return sorted(trace.folder.parent.glob("cunei-view-*/*"))


def test_the_page_is_opened_in_the_browser_of_the_desktop(trace):
    settings = {**with_program(trace, "xdg-open"), "DISPLAY": ":0"}

    printed = view(trace, settings)

    [page] = pages(trace)
    assert (trace.folder / "opened").read_text() == f"{page}\n"
    assert len(printed) == 1 and printed[0].startswith(f"wrote '{page}': ")
    assert page.name == "trace.html" and page_of(page)["program"] == "app.py"


def test_other_users_cannot_read_it(trace):
    view(trace, NONE)

    [page] = pages(trace)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("browser", "words"),
    [
        ("chosen", "{page}"),
        ("missing:chosen --new-window", "--new-window {page}"),
        ("chosen %s --quiet:missing", "{page} --quiet"),
    ],
)
def test_the_user_chooses_the_browser(trace, browser, words):
    settings = {**with_program(trace, "chosen"), "BROWSER": browser}

    view(trace, settings)

    [page] = pages(trace)
    assert (trace.folder / "opened").read_text() == words.format(page=page) + "\n"


def test_without_a_display_it_says_what_to_do(trace):
    settings = with_program(trace, "xdg-open", "exit 0")

    printed = view(trace, settings)

    [page] = pages(trace)
    assert printed[1:] == [
        "cannot open a browser: there is no display here, and $BROWSER is not set; "
        f"open '{page}' in one, or copy it to a computer that has one"
    ]


def test_over_ssh_it_says_how_to_copy_the_page(trace):
    settings = {**NONE, "SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}

    printed = view(trace, settings)

    [page] = pages(trace)
    assert printed[1:] == [
        "cannot open a browser: there is no display here, and $BROWSER is not set; "
        f"on your computer, run scp '{os.uname().nodename}:{page}' . and open the copy"
    ]


def test_a_browser_that_fails_is_reported(trace):
    settings = {
        **with_program(trace, "chosen", "echo spilled >&2; exit 3"),
        "BROWSER": "chosen",
    }

    printed = view(trace, settings)

    assert len(printed) == 2
    assert printed[1].startswith(
        "cannot open a browser: $BROWSER, 'chosen', does not start; open '"
    )


def test_a_part_of_a_trace(trace):
    view(trace, NONE, "--exclude", ":f")

    [page] = pages(trace)
    assert "f" not in [row[0] for row in page_of(page)["functions"]]


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        ([], 2, "missing trace directory"),
        (["trace", "other"], 2, "unexpected argument 'other'"),
        (["trace", "--to", "html"], 2, "no option '--to'"),
        (["trace", "--from", "soon"], 2, "--from needs a time"),
        (["nowhere"], 1, "'nowhere'"),
        (["app.py"], 1, "app.py"),
        (["trace", "--thread", "none"], 1, "no thread 'none'"),
        (["trace", "--process", "1"], 1, "1"),
    ],
)
def test_what_makes_no_sense_gets_one_sentence_and_leaves_nothing(
    trace, words, status, part
):
    done = trace("view", *words, env=NONE)

    assert (done.returncode, done.stdout) == (status, "")
    assert re.fullmatch(r"cunei: .*\n", done.stderr) and part in done.stderr
    assert list(trace.folder.parent.glob("cunei-view-*")) == []


def test_a_folder_that_cannot_be_made_is_reported(trace):
    done = trace("view", "trace", env={**NONE, "TMPDIR": "/nowhere"})

    assert done.returncode == 1
    assert done.stderr == (
        "cunei: cannot make a folder for the page in '/nowhere': "
        "No such file or directory\n"
    )


def test_the_source_can_be_hidden(trace):
    view(trace, NONE)
    view(trace, NONE, "--hide-source")

    found = sorted(bool(page_of(page)["sources"]) for page in pages(trace))
    assert found == [False, True]
