# SPDX-License-Identifier: MIT
"""Patterns that a program adds hold for the programs that it starts, if recorded."""

import json

import pytest

CHILD = """\
def seen(): pass
def hidden(): pass
seen()
hidden()
"""

PROGRAM = """\
import multiprocessing
import os
import subprocess
import sys

import cunei

def here(): pass

def spawned():
    here()

def inherited():
    return os.environ.get("CUNEI_RECORD", "")

def start(**options):
    subprocess.run([sys.executable, "child.py"], check=True, **options)

if __name__ == "__main__":
    before = inherited()
    BODY
"""


def record(cunei, body, *options):
    cunei.write("child.py", CHILD)
    cunei.write("app.py", PROGRAM.replace("BODY", "\n    ".join(body)))
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def called(cunei, name="trace"):
    """The functions of each process."""
    done = cunei("dump", "--json", name)
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["phase"] == "enter" and row["event"].endswith(")"):
            name = row["event"].split(" (")[0].split(":")[-1]
            found.setdefault(row["pid"], set()).add(name)
    return found


def children(cunei):
    return [names for names in called(cunei).values() if "start" not in names]


@pytest.mark.core
def test_a_child_begins_with_patterns_that_were_added(cunei):
    record(cunei, ['cunei.exclude("*:hidden")', "start()", "here()"])

    (names,) = children(cunei)
    assert "seen" in names and "hidden" not in names


def test_a_copy_of_the_environment_has_them(cunei):
    record(
        cunei, ['cunei.exclude("*:hidden")', "start(env=dict(os.environ, MORE='1'))"]
    )

    (names,) = children(cunei)
    assert "seen" in names and "hidden" not in names


def test_includes_are_handed_on_behind_what_there_was(cunei):
    record(
        cunei,
        ["start()", 'cunei.include("*:hidden")', "start()"],
        *("--include", "re:start"),
    )

    assert sorted(children(cunei), key=len) == [{"hidden"}]


def test_where_everything_is_recorded_an_include_changes_nothing(cunei):
    out = record(cunei, ['cunei.include("*:hidden")', "print(inherited() == before)"])

    assert out == "True\n"


def test_spawned_processes_have_them(cunei):
    record(
        cunei,
        [
            'cunei.exclude("*:here")',
            'process = multiprocessing.get_context("spawn").Process(target=spawned)',
            "process.start()",
            "process.join()",
        ],
    )

    names = set().union(*called(cunei).values())
    assert "spawned" in names and "here" not in names


def test_the_text_does_not_grow_when_the_same_is_reported_again(cunei):
    out = record(
        cunei,
        [
            'cunei.exclude("*:seen", "*:hidden")',
            "first = inherited()",
            "for _ in range(50):",
            '    cunei.exclude("*:seen", "*:hidden")',
            "print(len(inherited()) - len(first))",
            'cunei.include("*:seen")',
            "start()",
        ],
    )

    assert int(out) <= len(" exclude=%2a:seen exclude=%2a:hidden")
    (names,) = children(cunei)
    assert "seen" in names and "hidden" not in names


def test_a_text_that_gets_too_long_stays_as_it_was(cunei):
    out = record(
        cunei,
        [
            "for i in range(100):",
            '    cunei.exclude(f"*:{i}" + 4000 * "x")',
            "print(len(inherited()))",
            "start()",  # a longer one would be E2BIG
        ],
    )

    assert 100_000 < int(out) <= 128_000
    assert len(children(cunei)) == 1


@pytest.mark.parametrize(
    "body",
    [
        ['os.environ["CUNEI_RECORD"] = before + "-elsewhere"'],
        ['del os.environ["CUNEI_RECORD"]'],
    ],
)
def test_what_the_program_has_put_there_is_left_alone(cunei, body):
    out = record(
        cunei,
        [
            *body,
            "put = inherited()",
            'cunei.exclude("*:here")',
            "print(inherited() == put)",
        ],
    )

    assert out == "True\n"


def test_without_children_nothing_is_handed_on(cunei):
    out = record(
        cunei,
        ['cunei.exclude("*:here")', "print(inherited() == before)", "start()"],
        "--no-children",
    )

    assert out == "True\n" and len(called(cunei)) == 1


def test_a_recording_from_inside_leaves_the_environment_alone(cunei):
    cunei.write("child.py", CHILD)
    body = [
        'with cunei.recording("trace"):',
        '    cunei.exclude("*:here")',
        "    start()",
        '    print("CUNEI_RECORD" in os.environ)',
    ]
    cunei.write("app.py", PROGRAM.replace("BODY", "\n    ".join(body)))

    done = cunei.run(cunei.python, "app.py")

    assert (done.stdout, done.stderr) == ("False\n", "")
    assert len(called(cunei)) == 1
