# SPDX-License-Identifier: MIT
"""User events, in reports: regions, counters, marks, tokens."""

import json
import re

import pytest
from exported import record, report

PROGRAM = """\
import asyncio
import threading
import cunei

def work(n):
    return sum(range(n))

@cunei.region("tagged")
def tagged():
    return work(10)

def begin():
    cunei.region_begin("float")

def end():
    cunei.region_end("float")

async def handle(i):
    with cunei.region("request"):
        cunei.parameter("path", "/a" if i % 2 else "/b")
        await asyncio.sleep(0.001)
        work(10)

async def serve():
    await asyncio.gather(*(handle(i) for i in range(6)))

def recurse(n):
    with cunei.region("deep"):
        return n and recurse(n - 1)

def say():
    cunei.metadata("model", "first")
    cunei.metadata("model", "tiny")
    cunei.metadata("size", 7)
    cunei.mark("here")
    cunei.mark("there", "yes")
    cunei.mark("number", -3)
    cunei.region_end("nothing")

def count():
    hits, load = cunei.counter("hits"), cunei.counter("load")
    for i in range(1, 101):
        hits.add(i)
    for value in 1.5, float("nan"), -2:
        load.set(value)
    for _ in range(3):
        cunei.counter("huge").add(2**62)

def decode():
    for name in "decode", "decode", "prefill":
        stream = cunei.tokens(name)
        for _ in range(10):
            work(100)
            stream.tick()
        stream.tick(5)
        stream.end()

def main():
    for i in range(5):
        with cunei.region("load"):
            cunei.parameter("size", i % 2)
            cunei.parameter("unique", str(i))
            work(100)
    for i in range(30):
        with cunei.region("many"):
            cunei.parameter("i", i)
    cunei.parameter("of", "a function")
    begin()
    work(1)
    end()
    recurse(9)
    say()
    count()
    decode()
    asyncio.run(serve())
    thread = threading.Thread(target=tagged)
    thread.start()
    thread.join()
    tagged()

main()
"""


@pytest.fixture(scope="module")
def recorded(shared):
    record(shared, program=PROGRAM)
    return shared


@pytest.fixture(scope="module")
def facts(recorded):
    return report(recorded)


def by_name(items):
    return {item["name"]: item for item in items}


def test_regions_are_counted_and_timed(facts):
    regions = by_name(facts["regions"])

    assert {name: region["count"] for name, region in regions.items()} == {
        "load": 5,
        "many": 30,
        "float": 1,
        "deep": 10,
        "request": 6,
        "tagged": 2,
    }
    assert regions["request"]["resumes"] == 6
    for name, region in regions.items():
        assert 0 < region["total_ns"] <= facts["duration_ns"]
        if name != "deep":
            assert region["mean_ns"] == region["total_ns"] // region["count"]
        assert region["p50_ns"] <= region["p99_ns"] <= region["max_ns"]


def test_one_in_another_of_its_name_counts_once(facts):
    deep = by_name(facts["regions"])["deep"]

    assert deep["total_ns"] == pytest.approx(deep["max_ns"], rel=0.01)
    assert deep["total_ns"] / deep["count"] < deep["mean_ns"] <= deep["max_ns"]


def test_wrong_calls_are_noted_in_every_view(recorded):
    for view in ([], ["--regions"], ["--marks"]):
        words = " ".join(recorded("report", "trace", *view).stdout.split())
        assert (
            "misused 1 call of cunei's functions had no effect, for example region_end "
            "without region_begin; --marks lists them"
        ) in words


ODD = """\
import cunei

cunei.region_end()
stream = cunei.tokens("gone")
stream.tick()
stream.tick(1000)
stream.end()
stream.tick()
cunei.mark("")
cunei.mark("m" * 4095, "overlong")
cunei.mark("turned\u202eround", "short")
for i in range(30):
    with cunei.region(""):
        cunei.parameter("n", i)
        cunei.parameter("", "twice")
        cunei.parameter("", "last")
cunei.counter("mixed").set(123456789)
cunei.counter("mixed").set(987654.25)
cunei.counter("integers").set(2**62 + 1)
"""


@pytest.fixture(scope="module")
def odd(shared):
    """The lines of a view of it."""
    record(shared, program=ODD, name="odd")
    return lambda view: shared("report", "odd", view).stdout.splitlines()


def cells_of(lines, last):
    """Of the row that ends so."""
    (found,) = [line.strip() for line in lines if line.endswith(last)]
    return re.split("  +", found)


def test_marks_show_in_words_what_was_called_wrongly(odd):
    marks = odd("--marks")

    assert cells_of(marks, "a region_begin that is open in this thread")[1] == "error"
    assert cells_of(marks, "on a token stream that has ended")[1] == "error: gone"


def test_odd_names_are_seen(odd):
    marks = odd("--marks")

    assert any(line.endswith('""') for line in marks)
    assert any("turned\\xe2\\x80\\xaeround" in line for line in marks)
    assert "\u202e" not in "".join(marks)
    assert any(line.endswith('""') for line in odd("--regions"))


def test_an_overlong_name_moves_its_own_row_alone(odd):
    marks = odd("--marks")

    (short,) = [line for line in marks if line.endswith("short")]
    (overlong,) = [line for line in marks if line.endswith("overlong")]
    assert len(short) < 60
    assert "m" * 2048 in overlong


def test_many_values_of_a_parameter_are_one_row(odd):
    lines = odd("--regions")

    assert cells_of(lines, "n: 30 values")[2] == "30"
    assert cells_of(lines, '""=last')[2] == "30"
    assert not any("twice" in line for line in lines)


GIVEN = """\
import cunei

def given(value):
    cunei.parameter("v", value)

def many():
    for i in range(30):
        cunei.parameter("n", i)

for value in (1, "1", "x"):
    given(value)
    with cunei.region("region"):
        cunei.parameter("v", value)
many()
for i in range(30):
    cunei.metadata(f"key {i}", i)
"""


def test_parameters_of_functions_are_shown_and_texts_distinguished_from_numbers(cunei):
    record(cunei, program=GIVEN)
    lines = cunei("report", "trace", "--regions").stdout.splitlines()

    for ending in ("   v=1", '    v="1"', "    v=x"):
        assert cells_of(lines, ending)[2] == "1"
    for ending in ("given() v=1", 'given() v="1"', "given() v=x"):
        assert cells_of(lines, ending)[2] == "1"
    assert cells_of(lines, "many() n: 30 values")[2] == "1"
    cut = cunei("report", "trace", "--regions", "--limit", "2").stdout
    assert cut.count("given() ") == 2 and "many()" not in cut
    assert "--limit 0 (all 5)" in cut


def test_metadata_has_a_limit(cunei):
    record(cunei, program=GIVEN)
    text = cunei("report", "trace", "--marks", "--limit", "5").stdout

    assert "key 4 " in text and "key 5 " not in text and "… 25 more\n" in text
    text = cunei("report", "trace", "--marks", "--limit", "0").stdout
    assert "key 29 " in text and " more\n" not in text


def test_large_numbers_stand_in_groups(odd):
    counters, tokens = "\n".join(odd("--counters")), odd("--tokens")

    assert "124 444 443" in counters
    assert counters.count("4 611 686 018 427 387 905") == 3
    assert re.fullmatch(r"\d{1,3}( \d{3})+", cells_of(tokens, "gone")[2])


FORKED = """\
import os
import cunei

with cunei.region("across"):
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
cunei.counter("endless").set(float("inf"))
cunei.counter("endless").set(float("-inf"))
"""


def test_a_fork_inside_a_region_adds_to_its_total_alone(shared):
    record(shared, program=FORKED, name="forked")
    forked = report(shared, name="forked")

    across = by_name(forked["regions"])["across"]
    assert across["count"] == 1
    assert across["mean_ns"] == across["max_ns"] < across["total_ns"]
    endless = by_name(forked["counters"])["endless"]
    assert (endless["min"], endless["max"]) == ("-inf", "inf")
    assert endless["sum"] == endless["mean"] == "nan"


def test_suspended_time_is_not_in_a_region(facts):
    request = by_name(facts["regions"])["request"]

    assert request["total_ns"] < 6 * 1_000_000


def test_regions_are_distinguished_by_what_they_were_given(facts):
    regions = by_name(facts["regions"])
    sizes = [item for item in regions["load"]["parameters"] if item["name"] == "size"]
    paths = regions["request"]["parameters"]

    assert {item["value"]: item["count"] for item in sizes} == {0: 3, 1: 2}
    assert sum(item["total_ns"] for item in sizes) == pytest.approx(
        regions["load"]["total_ns"], abs=10
    )
    assert {item["value"]: item["count"] for item in paths} == {"/a": 3, "/b": 3}
    assert regions["many"]["parameters"] == []  # too many to list


def test_parameters_have_a_section_of_their_own(facts):
    values = {item["value"] for item in facts["parameters"] if item["name"] == "i"}
    given = [item for item in facts["parameters"] if item["name"] == "of"]

    assert values == set(range(30))
    assert [(item["region"], item["function"]) for item in given] == [(None, "main")]
    assert given[0]["value"] == "a function"


def test_regions_are_no_functions(facts):
    files = {function["file"] for function in facts["functions"]}

    assert not [name for name in files if name.startswith("<cunei")]
    assert facts["calls"] == sum(item["calls"] for item in facts["functions"])
    assert sum(item["self_ns"] for item in facts["functions"]) <= sum(
        thread["wall_ns"] for thread in facts["threads"]
    )


def test_nothing_is_out_of_place(facts):
    assert (facts["orphans"], facts["unclosed"], facts["appeared"]) == (0, 0, 0)


def test_counters_are_added_up(facts):
    counters = by_name(facts["counters"])

    hits = counters["hits"]
    assert (hits["count"], hits["sum"]) == (100, 5050)
    assert (hits["min"], hits["max"], hits["mean"]) == (1, 100, 50.5)
    assert (hits["p50"], hits["p99"]) == (50, 99)
    load = counters["load"]
    assert (load["count"], load["nan"]) == (3, 1)
    assert (load["sum"], load["min"], load["max"]) == (-0.5, -2, 1.5)
    assert counters["huge"]["sum"] == 3 * 2**62


def test_marks_come_in_order_with_what_was_done_wrong(facts):
    marks = facts["marks"]

    assert [mark["name"] for mark in marks] == ["here", "there", "number", "nothing"]
    assert [mark["value"] for mark in marks[:3]] == [None, "yes", -3]
    assert "region_begin" in marks[3]["value"] and marks[3]["error"]
    thread = next(item for item in facts["threads"] if item["serial"] == 1)
    assert {mark["thread"] for mark in marks} == {thread["tid"]}
    assert all(thread["begin_ns"] < mark["time_ns"] for mark in marks)
    assert facts["metadata"] == {"model": "tiny", "size": 7}


def test_tokens_are_timed_by_stream(facts):
    tokens = facts["tokens"]

    assert [item["name"] for item in tokens] == ["decode", "decode", "prefill"]
    assert len({item["stream"] for item in tokens}) == 3
    for item in tokens:
        assert item["count"] == 15
        assert item["first_ns"] > 0
        assert item["per_s"] > 0
        assert item["p50_ns"] <= item["p90_ns"] <= item["p99_ns"] <= item["max_ns"]


@pytest.mark.parametrize(
    "view, words",
    [
        ("--regions", ["load", "size=0", "path=/a", "tagged", "≈p99"]),
        ("--counters", ["hits", "5 050", "▁", "NaN"]),
        ("--marks", ["there", "yes", "nothing", "model", "tiny"]),
        ("--tokens", ["decode", "prefill", "tokens/s"]),
        ("--tree", ["load", "(region)"]),
    ],
)
def test_each_has_a_view(recorded, view, words):
    text = recorded(
        "report", "trace", view, "--min-percent", "0", "--limit", "0"
    ).stdout

    for word in words:
        assert word in text, text


def offset_ns(text, behind):
    """The last `+TIME` in front of a word."""
    found = re.search(rf"\+([\d.]+) (ns|µs|ms|s)\b[^+\n]*{behind}\n", text)
    assert found, text
    return float(found[1]) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[found[2]]


def test_times_are_those_of_replay(cunei):
    code = "import cunei; cunei.tokens('decode').tick(); cunei.mark('here')"
    cunei("record", "-q", "-o", "trace", "-c", code)

    replayed = cunei("replay", "trace").stdout
    mark_ns = float(re.search(r"([\d.]+) +mark here", replayed)[1]) * 1e9
    marks, tokens, threads = (
        cunei("report", view, "trace").stdout
        for view in ("--marks", "--tokens", "--threads")
    )
    assert offset_ns(marks, "here") == pytest.approx(mark_ns, rel=0.01)
    assert 0 < offset_ns(tokens, "decode") <= mark_ns
    assert re.search(r"MainThread +\d+ +\+0 ns", threads), threads


def test_views_that_have_nothing_to_show_say_so(cunei):
    record(cunei, program="print(1)")

    for view, words in [
        ("--regions", "No region was recorded."),
        ("--counters", "No counter was recorded."),
        ("--marks", "No mark was recorded."),
        ("--tokens", "No token stream was recorded."),
    ]:
        assert words in cunei("report", "trace", view).stdout
    assert "--regions" not in cunei("report", "trace").stdout


def test_a_caller_may_be_a_region(recorded):
    text = recorded("report", "trace", "--callers", "work").stdout

    assert "load" in text and "request" in text


def test_info_counts_them(recorded):
    facts = json.loads(recorded("info", "trace", "--json").stdout)["processes"][0]

    assert facts["regions"] == 5 + 30 + 1 + 10 + 6
    assert facts["marks"] == 4
    assert facts["counters"] == 106
    assert facts["tokens"] == 33
    assert "52 regions" in recorded("info", "trace").stdout


NESTED = """\
import cunei

def leaf(n):
    return sum(range(n))

def deep(n):
    with cunei.region("outer"):
        leaf(2000)
        return n and deep(n - 1)

with cunei.region("outer"):
    leaf(1000)
    with cunei.region("inner"):
        leaf(30000)
        deep(3)
with cunei.region("empty"):
    pass
leaf(100)
"""


def test_the_functions_in_a_region(cunei):
    record(cunei, program=NESTED)
    regions = by_name(report(cunei, "--regions")["regions"])

    calls = {
        name: {f["qualname"]: f["calls"] for f in region["functions"]}
        for name, region in regions.items()
    }
    assert calls == {
        "outer": {None: 0, "leaf": 6, "deep": 4},
        "inner": {None: 0, "leaf": 5, "deep": 4},
        "empty": {None: 0},
    }
    for region in regions.values():
        times = [f["self_ns"] for f in region["functions"]]
        assert times == sorted(times, reverse=True)
        assert sum(times) == pytest.approx(region["total_ns"], abs=100)


def test_they_are_not_asked_for_otherwise(facts):
    assert all("functions" not in region for region in facts["regions"])
