# SPDX-License-Identifier: MIT
"""`cunei compare`: two sides, function by function."""

import json
import marshal

import pytest
from exported import ODD, report

APP = """\
import math
import time

def spin(ms):
    end = time.perf_counter() + ms / 1000
    while time.perf_counter() < end:
        pass

def stays():
    return math.sqrt(16)

def numbers(n):
    for i in range(n):
        yield i

{more}
"""
BEFORE = APP.format(
    more="""\
def old():
    return dict.fromkeys("ab")

spin(20)
[stays() for i in range(5)]
list(numbers(3))
old()
"""
)
AFTER = APP.format(
    more="""\
# Lines move.
def new():
    return sorted([2, 1])

spin(60)
[stays() for i in range(7)]
list(numbers(3))
new()
"""
)


def record(cunei, name, program, *options):
    cunei.write("app.py", program)
    done = cunei("record", "-q", "-o", name, *options, "app.py")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def sides(shared):
    """In b `spin` takes three times as long as it did in a, whatever held that up."""
    record(shared, "a", BEFORE)
    report = json.loads(shared("report", "--json", "a").stdout)
    (took_ns,) = (f["self_ns"] for f in report["functions"] if f["qualname"] == "spin")
    record(shared, "b", AFTER.replace("spin(60)", f"spin({3 * took_ns / 1e6})"))
    return shared


def compare(cunei, *words):
    done = cunei("compare", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_name(comparison, module="__main__"):
    return {
        function["qualname"]: function
        for function in comparison["functions"]
        if function["module"] == module
    }


def test_each_function_has_both_sides(sides):
    comparison = compare(sides, "a", "b")

    assert comparison["version"] == 1
    assert comparison["runs"] == [1, 1]
    functions = by_name(comparison)
    assert functions["stays"]["calls"] == [5, 7]
    assert functions["numbers"]["calls"] == [1, 1]
    assert functions["old"]["calls"] == [1, 0]
    assert functions["new"]["calls"] == [0, 1]
    assert functions["old"]["self_ns"][1] == functions["old"]["total_ns"][1] == 0
    spin = functions["spin"]
    assert set(spin) == {
        *("module", "qualname", "file", "line", "calls", "self_ns", "total_ns")
    }
    assert spin["file"] == str(sides.folder / "app.py")
    assert spin["line"] == 4
    assert spin["self_ns"][0] >= 20_000_000 and spin["self_ns"][1] >= 60_000_000


def test_a_function_is_a_line_and_so_is_a_pair_of_numbers(sides):
    lines = sides("compare", "--json", "a", "b").stdout.splitlines()

    assert lines[:3] == ["{", '"version":1,', '"runs":[1,1],']
    functions = [line.rstrip(",]") for line in lines if "qualname" in line]
    assert {json.loads(line)["qualname"] for line in functions} >= {"spin", "stays"}


def test_the_largest_change_comes_first(sides):
    functions = compare(sides, "a", "b")["functions"]

    changes = [abs(f["self_ns"][1] - f["self_ns"][0]) for f in functions]
    assert changes == sorted(changes, reverse=True)
    functions = compare(sides, "a", "b", "--sort", "calls")["functions"]
    changes = [abs(f["calls"][1] - f["calls"][0]) for f in functions]
    assert changes == sorted(changes, reverse=True)


def test_the_table_shows_new_and_gone(sides):
    words = ("a", "b", "--include", "__main__", "--limit", "0")
    done = sides("compare", *words, env={"COLUMNS": "200"})

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "1 new, 1 gone, 1 called more or less often" in done.stdout
    rows = {line.split()[-2]: line for line in done.stdout.splitlines() if ":" in line}
    assert " gone " in rows["old"] and " new " in rows["new"]
    assert rows["spin"].lstrip().startswith("+")
    assert rows["spin"].split()[1] in ("ms", "s")
    assert rows["spin"].endswith("app.py:4")


def test_only_what_is_asked_for_is_compared(sides):
    comparison = compare(sides, "a", "b", "--include", "__main__:st*")

    assert [f["qualname"] for f in comparison["functions"]] == ["stays"]
    assert comparison["calls"] == [5, 7]


def profile(cunei, name, program=BEFORE):
    cunei.write("app.py", program)
    done = cunei.run(cunei.python, "-m", "cProfile", "-o", name, "app.py")
    assert done.returncode == 0, done.stderr


def test_beside_cprofile_all_calls_are_the_same(cunei):
    """With a relative file name there, generators, and functions in C."""
    record(cunei, "trace", BEFORE, "--c-calls")
    profile(cunei, "app.prof")

    comparison = compare(cunei, "app.prof", "trace")

    own = by_name(comparison)
    assert set(own) == {"<module>", "spin", "stays", "numbers", "old"} | {
        name for name in own if name.endswith("<listcomp>")
    }
    for name, function in own.items():
        assert function["calls"][0] == function["calls"][1], name
    assert own["numbers"]["calls"] == [4, 4]
    assert by_name(comparison, "math")["sqrt"]["calls"] == [5, 5]
    assert by_name(comparison, "builtins")["dict.fromkeys"]["calls"] == [1, 1]


def test_our_own_profile_is_the_same_as_the_trace(cunei):
    record(cunei, "trace", BEFORE, "--c-calls")
    done = cunei("export", "trace", "--to", "pstats", "-o", "own.prof")
    assert done.returncode == 0, done.stderr

    comparison = compare(cunei, "trace", "own.prof")

    for function in comparison["functions"]:
        assert function["calls"][0] == function["calls"][1], function
        for times in (function["self_ns"], function["total_ns"]):
            assert abs(times[0] - times[1]) <= 1, function
    assert comparison["growth_percent"] == pytest.approx(0, abs=1e-6)


def test_two_profiles_are_compared_as_well(cunei):
    profile(cunei, "a.prof")
    profile(cunei, "b.prof", AFTER)

    comparison = compare(cunei, "a.prof", "b.prof")

    # Beside cProfile a function on another line is another one.
    names = {f["qualname"]: f["calls"] for f in comparison["functions"] if f["line"]}
    assert names["stays"] == [5, 7]


def invent(cunei, name, **seconds):
    """A profile in which each function was called once, and took so long."""
    rows = {
        ("app.py", 4 + line, name): (1, 1, took, took, {})
        for line, (name, took) in enumerate(seconds.items())
    }
    (cunei.folder / name).write_bytes(marshal.dumps(rows))


def test_several_runs_say_what_is_significant(cunei):
    for i in range(3):
        invent(cunei, f"a{i}", spin=0.020 + 0.001 * i, stays=0.01 * (1 + i))
        invent(cunei, f"b{i}", spin=0.060 - 0.001 * i, stays=0.02)

    comparison = compare(cunei, "a0", "a1", "a2", "--", "b0", "b1", "b2")

    assert comparison["runs"] == [3, 3]
    assert comparison["functions"][0]["qualname"] == "spin"
    found = {function["qualname"]: function for function in comparison["functions"]}
    spin, stays = found["spin"], found["stays"]
    assert spin["significant"] is True and 0 <= spin["chance"] < 0.05
    assert stays["significant"] is False and stays["chance"] > 0.05
    words = ("a0", "a1", "a2", "--", "b0", "b1", "b2", "-n", "1")
    done = cunei("compare", *words, env={"COLUMNS": "200"})
    assert "a0 (3 runs)" in done.stdout
    row = next(line for line in done.stdout.splitlines() if " spin " in line)
    assert " * " in row


def test_runs_are_several_recordings(cunei):
    for i in range(2):
        record(cunei, f"a{i}", BEFORE)
        record(cunei, f"b{i}", AFTER)

    comparison = compare(cunei, "a0", "a1", "--", "b0", "b1")

    assert comparison["runs"] == [2, 2]
    assert by_name(comparison)["stays"]["calls"] == [5, 7]
    assert 0 <= by_name(comparison)["spin"]["chance"] <= 1


def test_averages_of_calls_need_not_be_whole(cunei):
    record(cunei, "a0", BEFORE)
    record(cunei, "a1", BEFORE.replace("range(5)", "range(6)"))
    record(cunei, "b0", AFTER)

    comparison = compare(cunei, "a0", "a1", "--", "b0")

    assert by_name(comparison)["stays"]["calls"] == [5.5, 7]
    assert by_name(comparison)["numbers"]["calls"] == [1, 1]


def test_without_time_there_is_no_percentage(sides):
    done = sides("compare", "a", "b", "--include", "__main__:new")
    record(sides, "c", BEFORE, "--instrumenter", "none")
    none = sides("compare", "c", "c")
    gate = sides("compare", "a", "b", "--include", "__main__:new", "--fail-over", "5")

    assert "\n   no time in A\n" in done.stdout
    assert "\n   no time in either\n" in none.stdout
    assert gate.returncode == 1
    assert "so there is no percentage to check" in gate.stderr


def test_a_gate_fails_with_what_exceeded_it(cunei):
    invent(cunei, "a", spin=0.02, stays=0.01)
    invent(cunei, "b", spin=0.06, stays=0.02)

    passed = cunei("compare", "b", "a", "--fail-over", "5")
    failed = cunei("compare", "a", "b", "--fail-over", "5%")

    assert passed.returncode == 0, passed.stderr
    assert failed.returncode == 1
    assert " % more time than A (limit: 5 %), most of it in spin (+" in (failed.stderr)
    assert "Δself" in failed.stdout


@pytest.mark.parametrize(
    "limit", ["", "x", "-1", "nan", "inf", "0x5", "5%%", "5 p", "."]
)
def test_a_limit_is_a_percentage(cunei, limit):
    done = cunei("compare", "a", "b", "--fail-over", limit)

    assert done.returncode == 2
    assert "--fail-over needs a percentage" in done.stderr


def test_a_gate_that_compares_nothing_is_none(sides):
    done = sides("compare", "a", "b", "--include", "gone", "--fail-over", "5")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "cunei: --include, --exclude and --only-project leave no function of either "
        "side; "
    )


def test_runs_that_differ_by_themselves_do_not_fail(cunei):
    for name, seconds in (("a0", 0.01), ("a1", 0.06), ("b0", 0.03), ("b1", 0.08)):
        invent(cunei, name, spin=seconds)

    done = cunei("compare", "a0", "a1", "--", "b0", "b1", "--fail-over", "5")

    assert done.returncode == 0
    assert "may be chance" in done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["a"], "compare needs two traces"),
        (["a", "--"], "compare needs two traces"),
        (["a", "b", "c"], "-- between them"),
        (["a", "--", "b", "--", "c"], "use -- once, between"),
        (["a", "b", "--to", "svg"], "not to 'svg'"),
        (["a", "b", "--output", "x"], "--output needs --to html"),
    ],
)
def test_words_that_make_no_sense(cunei, words, message):
    done = cunei("compare", *words)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_a_run_counts_once(sides):
    (sides.folder / "again").symlink_to("a")

    twice = sides("compare", "a", "again", "--", "b")
    both = sides("compare", "a", "a", "--fail-over", "0")

    assert twice.returncode == 2
    assert "'again' is given twice on one side" in twice.stderr
    assert both.returncode == 0
    assert "'a' is on both sides" in both.stderr


@pytest.mark.parametrize("content", [b"", b"{", b"\x80\x04N.", b"\x00" * 100, b"x" * 9])
def test_what_is_neither_trace_nor_profile(cunei, content):
    record(cunei, "a", BEFORE)
    (cunei.folder / "b.prof").write_bytes(content)

    done = cunei("compare", "a", "b.prof")

    assert done.returncode == 1
    assert done.stderr == (
        "cunei: 'b.prof' is neither a trace nor what cProfile writes\n"
    )


def test_a_profile_that_is_cut_short(cunei):
    profile(cunei, "a.prof")
    whole = (cunei.folder / "a.prof").read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 12)):
        (cunei.folder / "b.prof").write_bytes(whole[:size])
        done = cunei("compare", "a.prof", "b.prof")
        assert done.returncode == 1
        assert "neither" in done.stderr


def test_what_is_not_there(cunei):
    (cunei.folder / "empty").mkdir()

    for name in ("nothing", "empty"):
        done = cunei("compare", name, name)
        assert done.returncode == 1
        assert name in done.stderr


def test_what_was_recorded_in_another_manner_is_reported(cunei):
    record(cunei, "a", BEFORE, "--c-calls")
    record(cunei, "b", BEFORE, "--exclude", "math")
    profile(cunei, "c.prof")

    done = cunei("compare", "a", "b")
    beside = cunei("compare", "b", "c.prof")

    assert "only 'a' was recorded with --c-calls" in done.stderr
    assert "'b' with --exclude 'math'" in done.stderr
    assert (
        "'b' was recorded without --c-calls, but cProfile counts C functions"
        in beside.stderr
    )


def test_names_that_need_escaping(cunei):
    program = BEFORE + f"exec(compile('stays()', {ODD[:-6]!r}, 'exec'))\n"
    record(cunei, "a", program)

    comparison = compare(cunei, "a", "a")
    assert any(ODD[:-6] in f["file"] for f in comparison["functions"])
    table = cunei("compare", "a", "a", "-n", "0")
    assert "\t" not in table.stdout


def test_help_teaches(cunei):
    done = cunei("compare", "--help")

    assert done.returncode == 0
    for word in ("cProfile", "--fail-over", "Welch", "A… -- B…", "--to html"):
        assert word in done.stdout


REGIONS = """\
import cProfile
import cunei

def work():
    with cunei.region("part"):
        pass

@cunei.region("whole")
def decorated():
    pass

@cunei.region("part")
def both():
    pass

profile = cProfile.Profile() if {profiled} else None
for i in range({count}):
    profile.runcall(work) if profile else work()
profile and profile.dump_stats("app.prof")
for i in range({count} if {decorates} else 0):
    decorated()
    both()
"""


def test_regions_are_no_functions(cunei):
    for name, count in (("a", 2), ("b", 3)):
        program = REGIONS.format(count=count, profiled=False, decorates=False)
        record(cunei, name, program, "--include", "__main__")
    comparison = compare(cunei, "a", "b")
    shown = cunei("compare", "a", "b", env={"COLUMNS": "200"}).stdout

    assert comparison["calls"] == [3, 4]
    assert {function["qualname"] for function in comparison["functions"]} == {
        "<module>",
        "work",
    }
    (region,) = comparison["regions"]
    assert (region["name"], region["count"]) == ("part", [2, 3])
    assert all(ns > 0 for ns in region["total_ns"])
    assert "2 functions and 1 region, 0 new" in shown and "(region)" in shown

    cunei.write("app.py", REGIONS.format(count=2, profiled=True, decorates=False))
    assert cunei.run(cunei.python, "app.py").returncode == 0
    assert compare(cunei, "a", "app.prof")["regions"] == []


def test_decorated_functions_are_regions_and_functions(cunei):
    for name, count in (("a", 2), ("b", 3)):
        program = REGIONS.format(count=count, profiled=False, decorates=True)
        record(cunei, name, program, "--include", "__main__")
    comparison = compare(cunei, "a", "b")

    counts = {region["name"]: region["count"] for region in comparison["regions"]}
    assert counts == {"part": [4, 6], "whole": [2, 3]}
    for side, name in enumerate("ab"):
        for region in report(cunei, name=name)["regions"]:
            (same,) = (r for r in comparison["regions"] if r["name"] == region["name"])
            assert same["total_ns"][side] == region["total_ns"]
    functions = {function["qualname"] for function in comparison["functions"]}
    assert {"decorated", "both"} <= functions


def test_the_page_and_json_do_not_share_stdout(cunei):
    done = cunei("compare", "a", "b", "--to", "html", "-o", "-", "--json")

    assert (done.returncode, done.stdout) == (2, "")
    assert "--json and -o - both write to stdout" in done.stderr
