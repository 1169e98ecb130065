# SPDX-License-Identifier: MIT
"""`cunei doctor` says what is there, and what to do where something is not."""

import json
import platform

import pytest


def examine(cunei, *words, **options):
    result = cunei("doctor", "--json", *words, **options)
    report = json.loads(result.stdout)
    rows = {row["name"]: row for row in report["checks"]}
    return result, report, rows


@pytest.mark.core
def test_a_healthy_machine_can_record(cunei):
    result, report, rows = examine(cunei)

    bad = {name: row for name, row in rows.items() if row["state"] == "bad"}
    assert not bad
    assert report["can_record"] is True
    assert result.returncode == 0
    assert platform.python_version() in rows["python"]["text"]
    assert platform.release() in rows["kernel"]["text"]


def test_text_and_json_show_the_same(cunei):
    text = cunei("doctor").stdout
    _, _, rows = examine(cunei)

    for name, row in rows.items():
        assert f"\n{name} " in f"\n{text}"
        assert row["state"] in {"ok", "note", "missing", "bad"}


def test_a_python_that_cannot_record_is_bad(cunei):
    answer = "#!/bin/sh\necho 'implementation cpython'\necho 'version 3.7.17'\n"
    python = cunei.write("python3", answer, executable=True)

    result, report, rows = examine(cunei, "--python", python)

    assert result.returncode == 1
    assert report["can_record"] is False
    assert "3.7.17" in rows["python"]["text"]
    assert rows["python"]["state"] == "bad"
    assert "needs 3.8" in rows["python"]["text"]
    assert "3.8" in rows["cunei"]["advice"]


def test_a_python_that_is_not_there_is_bad(cunei):
    result, _, rows = examine(cunei, "--python", "./nowhere")

    assert result.returncode == 1
    assert rows["python"]["state"] == "bad"
    assert "./nowhere" in rows["python"]["text"]
    assert "--python" in rows["python"]["advice"]


def test_a_missing_reader_is_named_with_how_to_get_it(cunei):
    _, _, rows = examine(cunei, env={"PATH": "/nowhere"})

    assert rows["babeltrace2"]["state"] == "missing"
    assert "babeltrace2" in rows["babeltrace2"]["advice"]


def test_a_limited_file_size_is_noted(cunei):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    _, _, rows = examine(cunei, preexec_fn=limit)

    assert rows["limits"]["state"] == "note"
    assert "1048576" in rows["limits"]["text"]
