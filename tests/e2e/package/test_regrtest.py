# SPDX-License-Identifier: MIT
"""What `make cpython` makes of the results of CPython's own tests."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest
from proof import ROOT

sys.path.append(str(ROOT / "tools"))

import cpython  # noqa: E402
import regrtest  # noqa: E402
from regrtest import PROCESS, Exemption, Module, Run  # noqa: E402

LISTS = ROOT / "tests" / "cpython"

REPORT = """\
<testsuites><testsuite>
<testcase name="a.T.test_passes"/>
<testcase name="a.T.test_fails"><failure type="x" message="y">z</failure></testcase>
<testcase name="a.T.test_breaks"><error type="x" message="y">z</error></testcase>
<testcase name="a.T.test_skips"><skipped>why</skipped></testcase>
<testcase name="a.T.test_parts"><failure type="x" message="y">z</failure></testcase>
<testcase name="a.T.test_parts"/>
</testsuite></testsuites>
"""


def test_a_report_is_read_case_by_case(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)

    assert regrtest.read_report(report) == {
        "a.T.test_passes": "passed",
        "a.T.test_fails": "failed",
        "a.T.test_breaks": "error",
        "a.T.test_skips": "skipped",
        "a.T.test_parts": "failed",
    }


@pytest.mark.parametrize(
    ("status", "outcomes", "description"),
    [
        (0, {"t": "passed"}, "ended"),
        (2, {"t": "failed"}, "ended"),
        (2, {"t": "passed"}, "failed outside of tests"),
        (3, {"t": "passed"}, "environment changed"),
        (-11, {"t": "passed"}, "crashed by SIGSEGV"),
        (1, {}, "ended with 1"),
        (None, {}, "timed out"),
    ],
)
def test_how_a_process_ended(status, outcomes, description):
    assert regrtest.describe_end(status, outcomes) == description


@pytest.mark.parametrize(
    ("status", "output", "outcome"),
    [
        (1, "Timeout (0:15:00)!\nThread 0x1\n", "timed out"),
        (1, "it says Timeout (0:15:00)! itself\n", "ended with 1"),
        (-6, "Timeout (0:15:00)!\n", "crashed by SIGABRT"),
    ],
)
def test_a_deadline_that_regrtest_kept_is_one(tmp_path, status, output, outcome):
    log = tmp_path / "log"
    log.write_text(output)
    found = regrtest.collect(status, 1.0, tmp_path / "report.xml", log, None)

    assert found.outcomes == {PROCESS: outcome}


def run(**outcomes):
    return Run(outcomes, 1.0)


@pytest.mark.parametrize(
    ("plain", "recorded", "found"),
    [
        ([run(t="passed")], run(t="passed"), {}),
        ([run(t="failed")], run(t="failed"), {}),
        ([run(t="passed")], run(t="failed"), {"t": ("passed", "failed")}),
        ([run(t="failed")], run(t="passed"), {"t": ("failed", "passed")}),
        ([run(t="passed")], run(t="skipped"), {"t": ("passed", "skipped")}),
        ([run(t="passed")], run(), {"t": ("passed", "absent")}),
        ([run()], run(t="failed"), {"t": ("absent", "failed")}),
        ([run(t="passed"), run(t="failed")], run(t="failed"), {}),
        (
            [run(t="passed"), run(t="failed")],
            run(t="error"),
            {"t": ("failed/passed", "error")},
        ),
    ],
)
def test_only_what_no_plain_run_shows_is_a_difference(plain, recorded, found):
    assert regrtest.differences(plain, recorded) == found


def test_a_run_that_crashed_fails():
    crashed = Run({"t": "passed", PROCESS: "crashed by SIGSEGV"}, 1.0)

    assert crashed.failures() == {PROCESS}


def test_modules_come_with_patterns(tmp_path):
    file = tmp_path / "modules.txt"
    file.write_text("# first\ntest_a\n\ntest_b Yes.* !No.*  # why\n")

    assert regrtest.read_modules(file) == [
        Module("test_a"),
        Module("test_b", ["Yes.*"], ["No.*"]),
    ]


def test_exemptions_come_with_a_reason(tmp_path):
    file = tmp_path / "exemptions.txt"
    file.write_text("# about\n\ntest_a *.x 3.12\n!test_a *.y\n    It is\n    so.\n\n")

    assert regrtest.read_exemptions(file) == [
        Exemption("test_a", "*.x", False, "It is so.", ("3.12",)),
        Exemption("test_a", "*.y", True, "It is so."),
    ]


@pytest.mark.parametrize(
    ("series", "held"), [((), True), (("3.12", "3.13"), True), (("3.11",), False)]
)
def test_an_exemption_holds_for_the_series_it_names(series, held):
    assert Exemption("test_a", "*", False, "So.", series).holds("3.12") is held


def test_no_pattern_covers_how_a_process_ended_but_its_name():
    assert Exemption("test_x", "*", False, "").covers("test_x", "a.T.test_y")
    assert not Exemption("test_x", "*", False, "").covers("test_x", PROCESS)
    assert Exemption("test_x", PROCESS, False, "").covers("test_x", PROCESS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--python", "3.7"], "there is no Python 3.7 here; there are 3."),
        (["--jobs", "0"], "--jobs: must be a number from 1, not '0'"),
        (["--jobs", "many"], "--jobs: must be a number from 1, not 'many'"),
        (["--timeout", "-1"], "--timeout: must be a number from 1, not '-1'"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused(words, message):
    done = compare(*words)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]


def compare(*words):
    tool = ROOT / "tools" / "cpython.py"
    return subprocess.run(
        [sys.executable, tool, *words], capture_output=True, text=True, cwd=ROOT
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "test_gcc"], "no Python that was looked at has the tests test_gcc"),
        ([], "nothing was compared: no Python that was looked at has such tests"),
        (
            ["--as-installed"],
            "cunei was not installed for the tests of Python 3.13.0 before; without "
            "--as-installed it is",
        ),
    ],
)
def test_a_comparison_of_nothing_has_not_succeeded(
    monkeypatch, capsys, tmp_path, words, message
):
    chosen = [("3.13.0", "python3.13")]
    monkeypatch.setattr(sys, "argv", ["cpython.py", *words])
    monkeypatch.setattr(cpython, "BUILD", tmp_path)
    monkeypatch.setattr(cpython.environments, "pythons", lambda: chosen)
    monkeypatch.setattr(cpython.environments, "install", lambda *words: None)
    monkeypatch.setattr(cpython, "compare_python", lambda *words: ([], set()))
    with pytest.raises(SystemExit) as ended:
        cpython.compare_pythons(cpython.parse_options())

    assert ended.value.code == 2
    assert capsys.readouterr().err == f"{message}\n"


def test_every_exemption_has_a_reason_and_is_in_the_docs():
    exemptions = regrtest.read_exemptions(LISTS / "exemptions.txt")
    docs = (ROOT / "docs" / "explanation" / "validation.md").read_text()
    listed = {module.name for module in regrtest.read_modules(LISTS / "modules.txt")}

    assert [row for row in exemptions if not row.reason] == []
    assert {row.module for row in exemptions} <= listed
    assert [
        row for row in exemptions if f"`{row.module}` `{row.pattern}`" not in docs
    ] == []
    flowing = " ".join(docs.split())
    assert [row for row in exemptions if row.reason not in flowing] == []
    for row in exemptions:
        named = flowing.split(row.reason)[0].rsplit("* `", 1)[1]
        assert [series for series in row.series if series not in named] == []


@pytest.mark.core
@pytest.mark.skipif(
    cpython.environments.series(sys.version.split()[0]) not in cpython.SAMPLED,
    reason="the sample is not run on this Python",
)
def test_the_sample_has_forty_modules_of_this_python():
    # Debian has the runner without the tests, in a package of their own.
    there = importlib.util.find_spec("test.test_grammar")
    if not there:
        pytest.skip("this Python comes without its tests")
    folder = pathlib.Path(there.origin).parent
    names = {path.stem for path in folder.iterdir()}
    sample = regrtest.read_modules(LISTS / "sample.txt")

    assert len([module for module in sample if module.name in names]) >= 40


def test_no_module_is_listed_twice():
    for name in ("modules.txt", "sample.txt"):
        names = [module.name for module in regrtest.read_modules(LISTS / name)]
        assert sorted(set(names)) == sorted(names)
