# SPDX-License-Identifier: MIT
"""What a Python cannot give is said by doctor, and in a line where it is asked for."""

import json

import pytest


@pytest.fixture
def pretended(cunei):
    """A Python that says it is of this version, and does nothing else."""

    def make(version, *more):
        ours = cunei("--version").stdout.split()[-1]
        answer = [
            "implementation cpython",
            f"version {version}",
            f"package {cunei.folder}",
            f"cunei {ours}",
            "boot yes",
            *more,
        ]
        lines = "\n".join(f'echo "{line}"' for line in answer)
        return cunei.write("bin/python3", f"#!/bin/sh\n{lines}\n", executable=True)

    return make


def examine(cunei, python):
    report = json.loads(cunei("doctor", "--json", "--python", python).stdout)
    rows = {row["name"]: row for row in report["checks"]}
    return report, rows["version"]


@pytest.mark.parametrize(
    ("version", "count"),
    [
        ("3.8.18", 5),
        ("3.9.18", 5),
        ("3.10.13", 4),
        ("3.11.2", 3),
        ("3.12.1", 0),
        ("3.15.0", 0),
    ],
)
def test_doctor_lists_what_a_version_cannot_give(cunei, pretended, version, count):
    report, row = examine(cunei, pretended(version))
    text = cunei("doctor", "--python", "bin/python3").stdout

    assert len(report["limits"]) == count
    assert row["state"] == ("note" if count else "ok")
    assert all(f"· {limit}\n" in text for limit in report["limits"])
    assert text.count("·") == count


SAYINGS = [
    (["--exclude", "json"], "left out are not free"),
    (["--include", "app:Cart.add"], "plain name"),
    (["--args", ":Cart.add"], "plain name"),
    (["--lines", ":Cart.add"], "plain name"),
    (["--lines", ":work"], "in one line"),
    (["--c-calls"], "'with lock:'"),
]


@pytest.mark.parametrize("command", ["record", "run"])
@pytest.mark.parametrize(("words", "part"), SAYINGS, ids=str)
def test_what_is_asked_for_in_vain_is_said_at_the_start(
    cunei, pretended, command, words, part
):
    old = pretended("3.8.18")

    said = cunei(command, *words, "--python", old, "-c", "pass").stderr.splitlines()

    assert said[0].startswith("cunei: on CPython 3.8, ")
    assert part in said[0]
    assert sum("on CPython" in line for line in said) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--args", ":add"],
        ["--c-calls", "--quiet", "--exclude", "json"],
        ["--max-size", "2G"],
    ],
    ids=str,
)
def test_what_can_be_had_is_not_spoken_of(cunei, pretended, words):
    old = pretended("3.8.18")

    done = cunei("record", *words, "--python", old, "-c", "pass")

    assert "on CPython" not in done.stderr


@pytest.mark.parametrize("words", [words for words, _ in SAYINGS], ids=str)
def test_later_versions_need_no_word(cunei, pretended, words):
    done = cunei("record", *words, "--python", pretended("3.12.1"), "-c", "pass")

    assert "on CPython" not in done.stderr


def test_no_place_for_us_is_said_before_the_program_starts(cunei, pretended):
    python = pretended("3.11.2", "obstacle somebody sits there")

    done = cunei("record", "-o", "trace", "--python", python, "-c", "print(1)")

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"cunei: '{python}' cannot be recorded: somebody sits there\n"
    assert not (cunei.folder / "trace").exists()
    assert cunei("doctor", "--python", python).returncode == 1


def test_another_hook_may_have_a_place(cunei, pretended):
    python = pretended("3.11.2", "obstacle somebody sits there")
    words = ["record", "--python", python, "--instrumenter"]

    assert "sits there" in cunei(*words, "frame", "-c", "pass").stderr
    assert "sits there" not in cunei(*words, "profile", "-c", "pass").stderr
