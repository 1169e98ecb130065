# SPDX-License-Identifier: MIT
"""pytest with --cunei: the real one, with and without its workers."""

import re
import sys
import textwrap

import pytest
from proof import FREE_THREADED, ROOT, needs_monitoring
from tested import TESTS, regions, report, rows, run

PAGE = ROOT / "docs" / "how-to" / "find-slow-tests.md"

NAMES = ["quick", "slow", "text[a b]", "text[\\xe9]", "fails", "forks", "skipped"]
REGIONS = {f"test_it.py::test_{name}" for name in NAMES}


@pytest.mark.core
def test_every_test_is_a_region(cunei):
    result = run(cunei, "--cunei-dir=trace")

    assert result.returncode == 1, result.stderr
    assert "1 failed, 5 passed, 1 skipped" in result.stdout
    found = regions(cunei)
    assert set(found) == REGIONS
    assert {region["count"] for region in found.values()} == {1}


@pytest.mark.core
def test_fixtures_of_a_test_are_inside_its_region(cunei):
    run(cunei, "--cunei-dir=trace", "--cunei-include=test_it", "-k", "quick")

    (quick,) = regions(cunei).values()
    names = {f["qualname"] for f in quick["functions"]}
    assert names == {None, "thing", "prepare", "test_quick", "clear"}


def test_the_slowest_are_shown_with_what_they_did(cunei):
    words = ("--cunei-dir=trace", "--cunei-slowest=2", "-k", "slow or quick")
    result = run(cunei, *words, env={"COLUMNS": "160"})

    first, second = rows(result)[:2]
    assert "test_slow" in first and "work…<genexpr>" in first and "%" in first
    assert "test_quick" in second
    assert "next: cunei report trace --regions" in result.stdout


@pytest.mark.parametrize("count", ["-3", "x", ""])
def test_a_count_of_tests_that_is_not_a_number_is_refused(cunei, count):
    result = cunei.run(cunei.python, "-m", "pytest", f"--cunei-slowest={count}")

    assert result.returncode == 4
    message = f"--cunei-slowest: needs a number from 0 on, not {count!r}\n"
    assert message in result.stderr


def test_a_run_takes_the_place_of_an_earlier_one(cunei):
    for word in ("slow", "quick"):
        result = run(cunei, "--cunei-dir=trace", "-k", word)
        assert result.returncode == 0, result.stdout

    assert {name.split("_")[-1] for name in regions(cunei)} == {"quick"}
    assert len(report(cunei)["processes"]) == 1


@pytest.mark.parametrize(
    "word", ["--cunei-budget=500", "--cunei-include=re:(", "--cunei-filter=nowhere"]
)
def test_a_refusal_leaves_an_earlier_run_as_it_is(cunei, word):
    run(cunei, "--cunei-dir=trace", "-k", "quick")
    before = sorted((cunei.folder / "trace").rglob("*"))

    result = run(cunei, "--cunei-dir=trace", "-k", "quick", word)

    assert result.returncode == 4 and "--cunei cannot record" in result.stderr
    assert sorted((cunei.folder / "trace").rglob("*")) == before


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("trace/notes.txt", "'trace' contains 'notes.txt'"),
        ("trace/{}/mine", "'trace' contains other files in "),
    ],
)
def test_nothing_else_is_replaced(cunei, name, sentence):
    run(cunei, "--cunei-dir=trace", "-k", "quick")
    (folder,) = (cunei.folder / "trace").iterdir()
    path = cunei.write(name.format(folder.name), "kept")

    result = run(cunei, "--cunei-dir=trace", "-k", "quick")

    assert result.returncode == 4 and sentence in result.stderr
    assert path.read_text() == "kept" and (folder / "metadata").exists()


def test_it_does_not_matter_how_pytest_was_started(cunei):
    cunei.write("test_it.py", TESTS)
    cunei.write("check.py", "import pytest, sys\nsys.exit(pytest.main(sys.argv[1:]))\n")
    words = ["-q", "-p", "no:cacheprovider", "--cunei-dir=trace"]
    words += ["--cunei-include=test_it"]
    for word in ("slow", "quick"):
        result = cunei.run(cunei.python, "check.py", *words, "-k", word)
        assert result.returncode == 0, result.stdout + result.stderr

    assert {name.split("_")[-1] for name in regions(cunei)} == {"quick"}


@pytest.mark.parametrize("name", ["app.py", "pytest.py"])
def test_a_trace_that_pytest_did_not_record_is_not_replaced(cunei, name):
    cunei.write(f"other/{name}", "print()")
    cunei("record", "-q", "-o", "trace", f"other/{name}")
    before = sorted((cunei.folder / "trace").rglob("*"))

    result = run(cunei, "--cunei-dir=trace", "-k", "quick")

    sentence = "a trace that 'pytest --cunei' did not record"
    assert result.returncode == 4 and sentence in result.stderr
    assert sorted((cunei.folder / "trace").rglob("*")) == before


def test_a_recording_beside_an_earlier_run_is_not_replaced(cunei):
    run(cunei, "--cunei-dir=trace", "-k", "quick")
    done = cunei.run(cunei.python, "-c", "import cunei\ncunei.start('trace')")
    before = sorted((cunei.folder / "trace").rglob("*"))

    result = run(cunei, "--cunei-dir=trace", "-k", "quick")

    assert (done.returncode, result.returncode) == (0, 4)
    assert sorted((cunei.folder / "trace").rglob("*")) == before


@pytest.mark.parametrize("word", ["test_it.py", "test_it.py::test_quick"])
def test_a_test_may_follow_the_flag(cunei, word):
    result = run(cunei, "--cunei", word, "-k", "quick")

    assert result.returncode == 0, result.stderr
    (directory,) = cunei.folder.glob("cunei-pytest-*")
    assert set(regions(cunei, directory=directory)) == {"test_it.py::test_quick"}
    assert len(rows(result)) == 1


def test_of_more_tests_than_are_shown_the_rest_is_counted(cunei):
    result = run(cunei, "--cunei-dir=trace", "--cunei-slowest=1")

    assert "… and 6 more" in result.stdout


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["", "workers"])
def test_regions_of_the_program_are_no_tests(cunei, words):
    if words:
        pytest.importorskip("xdist")
    tests = """\
import cunei

@cunei.region("decorated")
def work():
    with cunei.region("inside"):
        return 1

def test_work():
    assert work() == 1
"""
    result = run(cunei, "--cunei-dir=trace", *words, tests=tests)

    assert result.returncode == 0, result.stdout
    assert set(regions(cunei)) == {"test_it.py::test_work", "decorated", "inside"}
    assert len(rows(result)) == 1
    assert "decorated" not in result.stdout and "inside" not in result.stdout


def test_workers_record_into_the_same_trace(cunei):
    pytest.importorskip("xdist")
    result = run(cunei, "--cunei-dir=trace", "-n", "2")

    assert result.returncode == 1, result.stderr
    assert set(regions(cunei)) == REGIONS
    assert any("test_slow" in row for row in rows(result))
    processes = report(cunei)["processes"]
    assert sum(not process["forked"] for process in processes) == 3
    listed = cunei("report", "--processes", "trace").stdout
    assert "execnet · gw0" in listed and "execnet · gw1" in listed
    one = report(cunei, "--process", "gw1")["processes"]
    assert {process["name"] for process in one} == {"gw1"}


def test_events_of_a_killed_worker_are_kept(cunei):
    pytest.importorskip("xdist")
    tests = (
        "import os\nimport signal\n"
        "def test_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "def test_lives():\n    pass\n"
    )
    result = run(cunei, "--cunei-dir=trace", "-n", "1", tests=tests)

    assert result.returncode == 1
    assert "test_it.py::test_dies" in regions(cunei)
    assert any("test_lives" in row for row in rows(result))


def test_below_the_launcher_there_are_regions_only(cunei):
    launcher = (cunei.executable, "record", "-o", "trace", "--")
    result = run(cunei, "--cunei", before=launcher)

    assert result.returncode == 1
    assert set(regions(cunei)) == REGIONS
    assert "spent in" not in result.stdout and "warning" not in result.stdout
    assert sorted(path.name for path in cunei.folder.glob("*trace*")) == ["trace"]
    assert not list(cunei.folder.glob("cunei-pytest-*"))


TIMES = re.compile(r"in [0-9.]+s")


def test_collecting_tests_alone_records_nothing(cunei):
    plain = run(cunei, "--collect-only").stdout
    result = run(cunei, "--collect-only", "--cunei-dir=trace")

    assert "test_it.py::test_quick" in plain
    assert TIMES.sub("", result.stdout) == TIMES.sub("", plain)
    assert not (cunei.folder / "trace").exists()


def test_without_the_option_nothing_is_loaded(cunei):
    loaded = (
        "import sys\n"
        "def test_it():\n"
        "    names = {n for n in sys.modules if n.startswith('cunei')}\n"
        "    assert names == {'cunei', 'cunei.pytest_plugin'}\n"
    )
    result = run(cunei, tests=loaded)

    assert result.returncode == 0, result.stdout


def test_the_plugin_can_be_left_out(cunei):
    assert run(cunei, "-p", "no:cunei", "-k", "quick").returncode == 0
    assert run(cunei, "-p", "no:cunei", "--cunei").returncode == 4


def test_a_directory_of_its_own_without_a_name(cunei):
    result = run(cunei, "--cunei", "-k", "quick")

    assert result.returncode == 0
    (directory,) = cunei.folder.glob("cunei-pytest-*")
    assert set(regions(cunei, directory=directory)) == {"test_it.py::test_quick"}


def test_what_runs_the_tests_is_left_out(cunei):
    run(cunei, "--cunei-dir=trace")

    modules = {f["module"].partition(".")[0] for f in report(cunei)["functions"]}
    assert "test_it" in modules
    assert not modules & {"_pytest", "pluggy", "cunei"}


def test_only_the_project(cunei):
    run(cunei, "--cunei-dir=trace", "--cunei-only-project", "-k", "slow")

    assert {f["module"] for f in report(cunei)["functions"]} == {"test_it"}


def test_chosen_functions(cunei):
    words = ("--cunei-include=test_it", "--cunei-exclude=test_it:work*")
    run(cunei, "--cunei-dir=trace", *words, "-k", "slow")

    names = {f["qualname"] for f in report(cunei)["functions"]}
    assert "test_slow" in names and "work" not in names


def test_a_filter_file(cunei):
    pytest.importorskip("xdist")
    cunei.write("f", "+ test_it\n- :work*\n")

    for name, words in (("one", []), ("two", ["-n", "1"])):
        result = run(cunei, f"--cunei-dir={name}", "--cunei-filter=f", *words)
        assert result.returncode == 1, result.stderr
        names = {f["qualname"] for f in report(cunei, directory=name)["functions"]}
        assert "test_slow" in names and "work" not in names


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--cunei-dir=trace", "--cunei-filter=nowhere"], "cannot read the filter"),
        (["--cunei-dir=test_it.py"], "to 'test_it.py': Not a directory"),
        (["--cunei-dir="], "--cunei-dir: needs the name of a directory"),
        (["--cunei-dir=full"], "'full' contains 'file'"),
        (["--cunei-dir=trace", "--cunei-include=re:("], "--cunei cannot record: "),
    ],
)
def test_impossible_options_are_reported_before_a_test_runs(cunei, words, sentence):
    cunei.write("full/file", "")
    result = run(cunei, *words)

    assert result.returncode == 4, result.stdout
    assert sentence in result.stderr
    assert "passed" not in result.stdout


def test_an_interrupted_run_has_its_table(cunei):
    tests = (
        "def test_first():\n    pass\ndef test_stops():\n    raise KeyboardInterrupt\n"
    )
    result = run(cunei, "--cunei-dir=trace", tests=tests)

    assert result.returncode == 2
    assert len(rows(result)) == 2


def without_cunei(text):
    """What pytest prints, without times, and without what cunei adds."""
    text = re.sub(r"=+ slowest tests, .*?\nnext: [^\n]*\n", "", text, flags=re.S)
    text = re.sub(r"cunei: recording to [^\n]*\n", "", text)
    return re.sub(r"in \d+\.\d+s", "in TIME", re.sub("=+", "=", text))


@pytest.mark.parametrize("words", [["-v", "-rA"], ["-x"], ["-k", "none"]])
def test_output_and_status_of_pytest_are_unchanged(cunei, words):
    plain = run(cunei, *words)
    recorded = run(cunei, "--cunei-dir=trace", *words)

    assert recorded.returncode == plain.returncode
    assert without_cunei(recorded.stdout) == without_cunei(plain.stdout)
    assert recorded.stderr == plain.stderr


@pytest.mark.parametrize("core", ["ctrace", "sysmon"])
def test_pytest_cov_beside_it(cunei, core):
    pytest.importorskip("pytest_cov")
    if core == "ctrace":
        pytest.importorskip("coverage.tracer")
    elif not hasattr(sys, "monitoring"):
        pytest.skip("sys.monitoring came with 3.12")
    cunei.write("lib.py", "def one(x):\n    if x:\n        return 1\n    return 2\n")
    tests = "import lib\ndef test_one():\n    assert lib.one(3) == 1\n"
    env = {"COVERAGE_CORE": core}
    words = ("--cov=lib", "--cov-report=term-missing")
    result = run(cunei, "--cunei-dir=trace", *words, tests=tests, env=env)

    assert result.returncode == 0, result.stdout
    assert re.search(r"lib.py +4 +1 +75% +4\n", result.stdout), result.stdout
    assert "test_it.py::test_one" in regions(cunei)
    calls = {f["qualname"]: f["calls"] for f in report(cunei)["functions"]}
    assert calls["one"] == 1


def test_the_example_of_the_page(cunei):
    blocks = re.findall(r"(?:^(?:    .*)?\n)+", PAGE.read_text(), re.MULTILINE)
    (example,) = [textwrap.dedent(b) for b in blocks if "    import pytest" in b]
    result = run(cunei, "--cunei-dir=trace", tests=example, env={"COLUMNS": "200"})

    assert result.returncode == 0, result.stdout
    assert "findall" in rows(result)[0] and "test_count" in rows(result)[0]
    assert len(rows(result)) == 4


@needs_monitoring
@pytest.mark.skipif(FREE_THREADED, reason="a budget needs a GIL")
def test_a_budget(cunei):
    assert run(cunei, "--cunei-dir=trace", "--cunei-budget=5%").returncode == 1
    assert set(regions(cunei)) == REGIONS
    assert run(cunei, "--cunei-dir=other", "--cunei-budget=much").returncode == 4
