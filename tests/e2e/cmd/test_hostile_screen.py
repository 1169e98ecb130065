# SPDX-License-Identifier: MIT
"""The screen of `cunei top` shows hostile names; none reaches the terminal as it is."""

import re

import pytest
from screen import Terminal
from test_hostile_bytes import (
    HOSTILE,
    WORDS,
    find_unsafe,
    traces,  # noqa: F401
)

# What ncurses writes: colours, moves, modes, character sets; never the window's title.
CURSES = re.compile(rb"\x1b(\[[?>]?[0-9;]*[A-Za-z]|[()][0B]|[=>78M])|[\r\n\b\x0f\x0e]")

PANES = "12345678"


def top(cunei, *words, **options):
    environment = {**cunei.environment, "XDG_RUNTIME_DIR": str(cunei.folder)}
    environment.pop("NO_COLOR")
    return Terminal(
        [cunei.executable, "top", *words],
        rows=50,
        columns=200,
        cwd=cunei.folder,
        env=environment,
        **options,
    )


def assert_is_safe(terminal):
    assert find_unsafe(CURSES.sub(b"", terminal.raw)) == (set(), [])
    assert not any(name in terminal.raw for name in HOSTILE)


@pytest.mark.parametrize("trace", ["ended", "killed"])
def test_panes_show_names_escaped(traces, trace):  # noqa: F811
    pytest.importorskip("pyte")
    with top(traces, trace) as terminal:
        terminal.wait("calls")
        shown = []
        for keys in [
            *PANES,
            "i",
            "w",
            "G",
            "\n",
            "\x1b",
            "t",
            "m",
            "m",
            "m",
            "?",
            "\x1b",
        ]:
            terminal.type(keys)
            while terminal.read(0.3):
                pass
            shown.append(terminal.text)
        terminal.type("/").type("x1b").type("\n").type("q")
        terminal.end()

    assert_is_safe(terminal)
    assert r"\x1b[31m" in "\n".join(shown)


def test_what_a_program_prints_is_shown_escaped(cunei):
    pytest.importorskip("pyte")
    text = b"\n".join(name.replace(b"\n", b"") for name in WORDS)
    cunei.write(
        "app.py",
        f"import os\nos.write(1, {text!r})\nos.write(2, {text!r})\nprint('end')\n",
    )
    with top(cunei, "app.py") as terminal:
        terminal.wait("ended").type("o").wait("end")
        before_end = terminal.raw
        terminal.type("\x1b").type("q")
        terminal.end()

    terminal.raw = before_end  # at the end it is printed as it was
    assert_is_safe(terminal)
