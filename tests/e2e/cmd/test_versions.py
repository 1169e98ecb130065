# SPDX-License-Identifier: MIT
"""What a Python lacks: doctor lists it, and an option that needs it prints a line."""

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
    ("version", "count", "part"),
    [
        ("3.8.18", 13, "'with lock:' is not recorded"),
        ("3.9.18", 14, "the recorded stack ends at that generator"),
        ("3.10.13", 13, "__name__ only"),
        ("3.11.7", 11, "a call takes × 1.5"),
        ("3.12.1", 3, "more than 127 lines"),
        ("3.12.3", 4, "closing a generator"),
        ("3.13.0", 5, "closing a generator"),
        ("3.13.11", 4, "closing a generator"),
        ("3.13.12", 3, "pdb.set_trace()"),
        ("3.14.0", 1, "closing a generator"),
        ("3.14.1", 0, ""),
        ("3.15.0", 0, ""),
    ],
)
def test_doctor_lists_what_a_version_cannot_give(
    cunei, pretended, version, count, part
):
    report, row = examine(cunei, pretended(version))
    text = cunei("doctor", "--python", "bin/python3").stdout

    assert len(report["limits"]) == count
    assert not count or any(part in limit for limit in report["limits"])
    assert row["state"] == ("note" if count else "ok")
    assert all(f"· {limit}\n" in text for limit in report["limits"])
    assert text.count("·") == count


NOTES = [
    (["--exclude", "json"], "excluded functions still cost time"),
    (["--include", "app:Cart.add"], "__name__ only"),
    (["--args", ":Cart.add"], "__name__ only"),
    (["--lines", ":Cart.add"], "__name__ only"),
    (["--lines", ":work"], "on one line"),
    (["--c-calls"], "'with lock:'"),
]


@pytest.mark.parametrize("command", ["record", "run"])
@pytest.mark.parametrize(("words", "part"), NOTES, ids=str)
def test_what_is_asked_for_in_vain_is_reported_at_the_start(
    cunei, pretended, command, words, part
):
    old = pretended("3.8.18")

    lines = cunei(command, *words, "--python", old, "-c", "pass").stderr.splitlines()

    assert lines[0].startswith("cunei: on CPython 3.8, ")
    assert part in lines[0]
    assert sum("on CPython" in line for line in lines) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--args", ":add"],
        ["--c-calls", "--quiet", "--exclude", "json"],
        ["--max-size", "2G"],
    ],
    ids=str,
)
def test_available_options_print_no_note(cunei, pretended, words):
    old = pretended("3.8.18")

    done = cunei("record", *words, "--python", old, "-c", "pass")

    assert "on CPython" not in done.stderr


@pytest.mark.parametrize("words", [words for words, _ in NOTES], ids=str)
def test_later_versions_print_no_note(cunei, pretended, words):
    done = cunei("record", *words, "--python", pretended("3.12.1"), "-c", "pass")

    assert "on CPython" not in done.stderr


def test_no_place_for_us_is_reported_before_the_program_starts(cunei, pretended):
    python = pretended("3.11.2", "obstacles frame 4001")

    done = cunei("record", "-o", "trace", "--python", python, "-c", "print(1)")

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"cunei: '{python}' cannot be recorded: the debugger")
    assert len(done.stderr.splitlines()) == 1
    assert not (cunei.folder / "trace").exists()
    assert cunei("doctor", "--python", python).returncode == 1


def test_another_hook_may_have_a_place(cunei, pretended):
    python = pretended("3.11.2", "obstacles trace 4005 frame 4001")
    words = ["record", "--python", python, "--instrumenter"]

    assert "pydevd" in cunei(*words, "frame", "-c", "pass").stderr
    assert "sys.settrace" in cunei(*words, "trace", "-c", "pass").stderr
    assert "cannot be recorded" not in cunei(*words, "profile", "-c", "pass").stderr
    printed = cunei("doctor", "--python", python).stdout
    assert "→ trace: another tool has set a trace function" in printed
    assert "frame: the debugger (pydevd)" in printed


@pytest.mark.parametrize(
    ("version", "best"), [("3.8.18", "frame"), ("3.12.1", "monitoring")]
)
def test_doctor_names_the_instrumenters(cunei, pretended, version, best):
    report = json.loads(
        cunei("doctor", "--json", "--python", pretended(version)).stdout
    )
    (row,) = (row for row in report["checks"] if row["name"] == "instrumenter")

    assert report["instrumenter"] == best
    assert {best, "profile", "trace", "none"} <= set(report["instrumenters"])
    assert f"; {best} is the default" in row["text"]
    assert all(name in row["text"] for name in report["instrumenters"])


@pytest.mark.parametrize(
    ("version", "is_slow"),
    [("3.11.9", False), ("3.12.9", True), ("3.13.2", True), ("3.13.3", False)],
)
def test_limits_of_some_releases_are_reported_for_them(
    cunei, pretended, version, is_slow
):
    python = pretended(version)

    done = cunei("record", "--instrumenter", "trace", "--python", python, "-c", "pass")

    assert (
        "is slow in functions of more than about 127 lines" in done.stderr
    ) is is_slow


def test_limits_of_a_python_without_gil_are_reported_for_it(cunei, pretended):
    with_gil, _ = examine(cunei, pretended("3.13.5"))
    without, _ = examine(cunei, pretended("3.13.5", "gil no"))

    more = [limit for limit in without["limits"] if limit not in with_gil["limits"]]
    assert len(more) == 3
    assert "for the first time at once" in more[0]


@pytest.mark.parametrize(
    ("version", "more", "lacks"),
    [
        ("3.8.18", [], True),
        ("3.11.7", [], True),
        ("3.12.1", [], False),
        ("3.13.5", ["gil no"], True),
        ("3.14.1", ["gil no"], True),
        ("3.15.0", [], False),
    ],
)
def test_that_a_version_has_no_budget_is_reported_and_what_there_is_instead(
    cunei, pretended, version, more, lacks
):
    python = pretended(version, *more)

    report, _ = examine(cunei, python)
    done = cunei("record", "--budget", "5%", "--python", python, "-c", "pass")

    limits = [
        limit for limit in report["limits"] if "--budget is not available" in limit
    ]
    assert len(limits) == lacks and all("cunei filter" in limit for limit in limits)
    instead = "; instead, exclude the functions that 'cunei filter' suggests\n"
    refused = instead in done.stderr
    assert refused is lacks, done.stderr
