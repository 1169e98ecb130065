"""What the commands print, compared whole with what is in expected/.

UPDATE_GOLDEN=1 writes it anew; the difference is for the reviewer.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import stories
from library_story import library
from trigger_story import caught

HERE = pathlib.Path(__file__).parent
BESIDE = pathlib.Path(sys.executable).parent  # where the install under test put it
CUNEI = os.environ.get("CUNEI_EXE") or shutil.which("cunei", path=str(BESIDE))

# name: the words after `cunei`, and how wide the terminal is that is not there; 0: none
CASES = {
    "report": ("report tour", 100),
    "report-narrow": ("report tour", 60),
    "report-wide": ("report tour", 160),
    "report-killed": ("report killed", 100),
    "report-killed-threads": ("report killed --threads", 120),
    "report-processes": ("report processes", 100),
    "report-process": ("report processes --process 4300", 100),
    "report-pool": ("report pool", 80),
    "report-pool-idle": ("report pool --idle", 80),
    "report-pool-json": ("report pool --json", 80),
    "report-library": ("report library", 80),
    "report-library-wide": ("report library", 160),
    "report-library-whole": ("report library --no-fold --idle", 80),
    "report-library-own": ("report library --only-project", 80),
    "report-library-own-json": ("report library --only-project --json --tree", 80),
    "report-library-tree": ("report library --tree", 80),
    "report-library-tree-narrow": ("report library --tree", 60),
    "report-library-tree-wide": ("report library --tree", 160),
    "report-library-tree-whole": ("report library --tree --no-fold --idle", 80),
    "report-library-tree-own": ("report library --tree --only-project", 80),
    "report-library-imports": ("report library --imports", 80),
    "report-library-exceptions": ("report library --exceptions", 80),
    "report-tree-80": ("report tour --tree", 80),
    "report-pool-wide": ("report pool", 160),
    "report-empty": ("report empty", 100),
    "report-sorted": ("report --sort calls --limit 3 tour", 100),
    "report-filtered": ("report tour --include tour --exclude tour.retry", 100),
    "report-tree": ("report tour --tree", 100),
    "report-tree-narrow": ("report tour --tree", 60),
    "report-tree-all": ("report tour --tree --min-percent 0 --depth 3", 100),
    "report-callers": ("report tour --callers fib", 100),
    "report-callers-pattern": ("report tour --callers tour.parse:*", 100),
    "report-threads": ("report processes --threads", 120),
    "report-tasks": ("report server --tasks", 120),
    "report-tasks-narrow": ("report server --tasks", 80),
    "report-no-tasks": ("report tour --tasks", 80),
    "report-exceptions": ("report server --exceptions", 120),
    "report-exceptions-narrow": ("report server --exceptions", 80),
    "report-no-exceptions": ("report tour --exceptions", 80),
    "report-lines": ("report lined --lines *", 100),
    "report-lines-narrow": ("report lined --lines solve", 60),
    "report-lines-json": ("report lined --json --lines numbers", 80),
    "report-no-lines": ("report lined --lines solv", 80),
    "report-lines-nowhere": ("report tour --lines fib", 80),
    "report-server": ("report server", 100),
    "report-server-tree": ("report server --tree", 80),
    "report-server-threads": ("report server --threads", 80),
    "report-server-json": ("report server --json", 80),
    "report-family": ("report family --processes", 120),
    "report-family-narrow": ("report family --processes --limit 3", 80),
    "report-family-all": ("report family --processes --limit 0", 80),
    "report-family-member": ("report family --process ForkPool* -p 900", 80),
    "report-json": ("report tour --json", 100),
    "report-json-all": ("report killed --json --tree --callers fib", 100),
    "report-damaged": ("report damaged", 100),
    "report-odd": ("report odd", 80),
    "report-odd-wide": ("report odd", 0),
    "report-odd-callers": ("report odd --callers is_even", 100),
    "report-again": ("report again", 60),
    "report-resumed": ("report tour --callers lines", 100),
    "top-once": ("top --once tour", 100),
    "top-once-narrow": ("top --once tour --limit 3", 60),
    "top-once-odd": ("top --once --idle --ascii odd", 120),
    "top-once-json": ("top --json killed", 100),
    "top-group": ("top --once tour --group file --sort total% --reverse", 100),
    "top-post-mortem": ("top --post-mortem killed -n 3", 100),
    "replay": ("replay killed", 100),
    "replay-long": ("replay tour --min-time 300us", 100),
    "replay-window": ("replay tour --from 845us --until 0.000925 -t MainThread", 100),
    "replay-depth": ("replay tour --depth 2 --thread worker-*", 100),
    "replay-json": ("replay killed --json", 100),
    "replay-damaged": ("replay damaged --depth 1", 100),
    "replay-odd": ("replay odd", 100),
    "replay-library": ("replay library", 80),
    "replay-library-whole": ("replay library --no-fold", 160),
    "replay-library-own": ("replay library --only-project", 80),
    "replay-server": ("replay server", 100),
    "replay-server-narrow": ("replay server --min-time 20us", 80),
    "replay-server-json": ("replay server --json", 80),
    "dump": ("dump killed", 100),
    "replay-lined": ("replay lined", 80),
    "dump-lined": ("dump lined", 100),
    "info-lined": ("info lined", 80),
    "dump-server": ("dump server", 100),
    "dump-server-json": ("dump server --json", 100),
    "info": ("info tour", 100),
    "info-killed": ("info killed", 100),
    "info-server": ("info server", 100),
    "filter": ("filter tour --max-overhead 10", 100),
    "filter-brief": ("filter brief --max-overhead 0.1", 100),
    "filter-far": ("filter odd --max-overhead 0.1", 100),
    "report-caught": ("report caught", 80),
    "report-caught-json": ("report caught --json", 80),
    "info-caught": ("info caught", 80),
    "try-trigger": (
        "try-trigger server --trigger exception:Stop --trigger slow::*>40us "
        "--trigger lag>1us --trigger exit!=0 --trigger crash",
        100,
    ),
    "try-trigger-narrow": ("try-trigger tour --trigger slow:tour>100us", 60),
    "try-trigger-limits": (
        "try-trigger tour --trigger slow::fetch>1us --snapshot-interval 0s "
        "--snapshot-count 2 -n 3",
        100,
    ),
    "try-trigger-json": ("try-trigger server --json --trigger exception:*Stop", 80),
    "try-trigger-unmatched": (
        "try-trigger server --trigger exception:Stopp --trigger slow::runn>1us "
        "--trigger mark:x",
        80,
    ),
    "bad-trigger": ("try-trigger tour --trigger slow:fib", 80),
    "bad-no-trigger": ("try-trigger tour", 80),
    "bad-missing": ("report nothing-here", 100),
    "bad-file": ("report file", 100),
    "bad-no-trace": ("report folder", 100),
    "bad-version": ("report newer", 100),
    "bad-metadata": ("report broken", 100),
    "bad-process": ("report tour --process 1", 100),
    "bad-process-name": ("replay family --process ForkPoolWorker-1 -p nobody", 100),
    "bad-function": ("report tour --callers nix", 100),
    "bad-sort": ("report tour --sort wibble", 100),
    "bad-option": ("report tour --tre", 100),
    "bad-percent": ("report tour --tree --min-percent many", 100),
    "bad-words": ("report", 100),
    "bad-views": ("report tour --tree --callers fib", 100),
    "bad-name": ("report tour --lines=", 100),
    "bad-window": ("replay tour --from 2 --until 1", 100),
    "bad-thread": ("replay tour --thread nobody", 100),
    "bad-time": ("replay tour --from yesterday", 100),
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    directory = tmp_path_factory.mktemp("golden")
    for name, story in {**stories.ALL, "library": library, "caught": caught}.items():
        for process in story():
            process.write(directory / name)
    shutil.copytree(directory / "tour", directory / "damaged")
    with open(next((directory / "damaged").glob("*/s1")), "r+b") as stream:
        stream.seek(152)
        stream.write(b"\xff" * 8)
    shutil.copytree(directory / "tour", directory / "broken")
    next((directory / "broken").glob("*/metadata")).write_text("trace {};\n")
    (directory / "file").write_text("not a trace\n")
    (directory / "folder").mkdir()
    (directory / "lined.py").write_text(stories.LINED)
    return directory


def run(traces, words, width):
    environment = {"PATH": os.environ["PATH"], "TZ": "UTC"}
    if width:
        environment["COLUMNS"] = str(width)
    return subprocess.run(
        [CUNEI, *words.split()],
        cwd=traces,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


@pytest.mark.parametrize("name", CASES)
def test_output_is_as_expected(traces, name):
    result = run(traces, *CASES[name])
    shown = f"$ cunei {CASES[name][0]}\n{result.stdout}"
    if result.stderr:
        shown += f"(stderr)\n{result.stderr}"
    if result.returncode:
        shown += f"(exit status {result.returncode})\n"

    expected = HERE / "expected" / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize(
    "words",
    [
        "report tour",
        "report tour --tree",
        "report server",
        "report server --tasks",
        "report server --exceptions",
        "report server --threads",
        "report lined --lines *",
        "report family --processes",
    ],
)
def test_no_line_is_wider_than_the_terminal(traces, words, width):
    lines = run(traces, words, width).stdout.splitlines()

    assert [line for line in lines if len(line) > width] == []


def test_json_holds_what_babeltrace2_counts(traces):
    if not shutil.which("babeltrace2"):
        pytest.skip("no babeltrace2")
    lines = subprocess.run(
        ["babeltrace2", traces / "processes"], capture_output=True, check=True
    ).stdout.splitlines()

    report = json.loads(run(traces, "report processes --json", 100).stdout)

    assert report["events"] == len(lines)


@pytest.mark.parametrize("trace, least", [("server", 21), ("lined", 10)])
def test_payloads_are_those_of_babeltrace2(traces, trace, least):
    if not shutil.which("babeltrace2"):
        pytest.skip("no babeltrace2")
    theirs = subprocess.run(
        ["babeltrace2", traces / trace], capture_output=True, check=True, text=True
    ).stdout.splitlines()
    ours = run(traces, f"dump {trace}", 0).stdout.splitlines()

    assert len(theirs) == len(ours)
    # Of a text without bytes, babeltrace2 2.0 prints the text before it.
    payloads = [
        (
            re.search(r"container = \d \) \}(?:, (\{.*\}))?$", their)[1],
            re.search(r": \w+(?:, (\{.*\}).*)?$", our)[1],
        )
        for their, our in zip(theirs, ours)
        if "length = 0" not in their
    ]
    assert [their for their, _ in payloads] == [our for _, our in payloads]
    assert sum(their is not None for their, _ in payloads) >= least


def test_one_function_of_two_processes_is_one(traces):
    report = json.loads(run(traces, "report processes --json", 100).stdout)

    names = [(f["module"], f["qualname"], f["file"]) for f in report["functions"]]
    assert len(names) == len(set(names))
    calls = sum(function["calls"] for function in report["functions"])
    assert calls == report["calls"] == sum(t["calls"] for t in report["threads"])
