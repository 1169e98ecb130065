# SPDX-License-Identifier: MIT
"""docs/reference/commands.md holds the help of every command.

UPDATE_GOLDEN=1 rewrites it.
"""

import os
import pathlib
import re
import textwrap

from test_golden import run

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "commands.md"

INTRO = """\
# Commands

This page has the help of every command, as `cunei help COMMAND` prints it.

A command exits with status 0 if it did what it was asked for, 1 if it failed, and 2 if
its arguments make no sense. `record` and `run` exit with the status of the program. A
trace is a directory that `cunei record` made, or the folder of one process in it. All
commands read a trace while it is recorded, and repair one whose program was killed.
"""


def sections(folder):
    overview = run(folder, "help", 80).stdout
    yield "cunei", overview
    for name in re.findall(r"^  ([\w-]+)  ", overview, re.MULTILINE):
        if name != "cunei":
            yield name, run(folder, f"help {name}", 80).stdout


def test_the_page_of_commands_is_what_help_prints(tmp_path):
    page = INTRO
    for name, text in sections(tmp_path):
        page += f"\n## {name}\n\n{textwrap.indent(text, '    ')}"

    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
