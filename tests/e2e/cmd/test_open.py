# SPDX-License-Identifier: MIT
"""--open shows what was exported, or prints how to look at it."""

import os

import pytest
from exported import record

PROGRAM = "def f(): pass\nf()\n"


@pytest.fixture
def trace(cunei):
    record(cunei, program=PROGRAM)
    (cunei.folder / "bin").mkdir()
    return cunei


def only_with(trace, name=None, script=""):
    """Settings under which there is no program but this one, if any."""
    if name:
        trace.write(f"bin/{name}", f"#!/bin/sh\n{script}\n", executable=True)
    return {"PATH": str(trace.folder / "bin")}


def opened(trace, form, settings, *words):
    done = trace("export", "trace", "--to", form, "--open", *words, env=settings)
    assert (done.returncode, done.stdout) == (0, "")
    return [line[len("cunei: ") :] for line in done.stderr.splitlines()]


@pytest.mark.parametrize(
    ("form", "program", "file"),
    [
        ("html", "xdg-open", "trace.html"),
        ("csv", "xdg-open", "trace.csv"),
        ("speedscope", "speedscope", "trace.speedscope.json"),
        ("callgrind", "kcachegrind", "trace.callgrind"),
        ("otf2", "vampir", "trace.otf2/traces.otf2"),
    ],
)
def test_the_program_for_it_is_started(trace, form, program, file):
    # The shell opens the pipe before anything else: it waits for the reader.
    os.mkfifo(trace.folder / "opened")
    script = f'[ -e "$1" ] && echo "$1" > {trace.folder}/opened'
    done = trace("export", "--list", "--json")
    if form == "otf2" and '"is_here":false' in done.stdout:
        pytest.skip("cunei was built without otf2")

    printed = opened(trace, form, only_with(trace, program, script))

    assert (trace.folder / "opened").read_text() == f"{file}\n"
    assert len(printed) == 1


def test_a_name_that_looks_like_an_option_is_none(trace):
    os.mkfifo(trace.folder / "opened")
    script = f'echo "$1" > {trace.folder}/opened'

    opened(trace, "html", only_with(trace, "xdg-open", script), "-o", "-x.html")

    assert (trace.folder / "opened").read_text() == "./-x.html\n"


def test_a_program_that_gives_up_is_reported_in_our_words(trace):
    script = "echo nothing to show it with >&2; echo and more; exit 3"

    printed = opened(trace, "html", only_with(trace, "xdg-open", script))

    assert printed[1:] == [
        "cannot open 'trace.html': xdg-open failed; open it in a browser"
    ]


def test_without_the_program_cunei_says_how_to_open_it(trace):
    printed = opened(trace, "callgrind", only_with(trace))

    assert printed[1:] == [
        "cannot open 'trace.callgrind': kcachegrind is not installed; "
        "kcachegrind trace.callgrind"
    ]


@pytest.mark.parametrize(
    ("form", "how"),
    [
        ("perfetto", "open it in ui.perfetto.dev"),
        ("chrome", "load it in chrome://tracing"),
        ("pstats", "python -m pstats trace.prof, or snakeviz trace.prof"),
        ("folded", "flamegraph.pl trace.folded > flames.svg"),
        ("ctf", "babeltrace2 trace.ctf"),
    ],
)
def test_a_format_without_a_program_is_reported(trace, form, how):
    script = "exec >&2; echo never started"

    printed = opened(trace, form, only_with(trace, "xdg-open", script))

    assert printed[1:] == [f"--open knows no program for {form}; {how}"]


def test_a_comparison_is_opened_as_well(trace):
    script = "echo spilled >&2; exit 4"
    settings = only_with(trace, "xdg-open", script)

    done = trace("compare", "trace", "trace", "--to", "html", "--open", env=settings)

    assert done.returncode == 0
    assert done.stderr.endswith(
        "cannot open 'compare.html': xdg-open failed; open it in a browser\n"
    )
    assert "spilled" not in done.stderr
