# SPDX-License-Identifier: MIT
"""User events, in other tools' formats."""

import csv
import json
import pstats
from collections import Counter, defaultdict

import pytest
from exported import export, record, report

PROGRAM = """\
import cunei

def work():
    pass

def begin():
    cunei.region_begin("float")

def end():
    cunei.region_end("float")

@cunei.region("tagged")
def tagged():
    work()

def main():
    hits = cunei.counter("hits")
    cunei.metadata("model", "tiny")
    for i in range(3):
        with cunei.region("load"):
            cunei.parameter("size", i)
            cunei.parameter("name", f"n{i}")
            work()
            cunei.parameter("late", -1)
            cunei.parameter("late", i)
            cunei.parameter("why", f"w{i}")
            hits.add(2)
    hits.set(float("nan"))
    begin()
    work()
    end()
    tagged()
    cunei.mark("there", "yes")
    cunei.mark("a\\n,b")
    stream = cunei.tokens("decode")
    stream.tick(3)
    stream.end()

main()
"""

RECURSIVE = """\
import cunei

def down(n):
    if n:
        down(n - 1)
    cunei.parameter("n", n)

down(2)
"""

# More than a megabyte of calls before its end.
LONG = """\
import cunei

def work():
    pass

with cunei.region("all"):
    work()
    cunei.parameter("long", 1)
    for _ in range(100_000):
        work()
    with cunei.region("part"):
        work()
        cunei.parameter("short", 1)
"""


@pytest.fixture(scope="module")
def recorded(shared):
    record(shared, program=PROGRAM)
    return shared


# The first call of a decorated function is also where its name is reported.
DECORATED = """\
import cunei

@cunei.region("wrapped")
def deco(x):
    pass

for i in range(3):
    deco(i)
"""


def chrome(recorded):
    return json.loads(export(recorded, "chrome").read_text())["traceEvents"]


def test_chrome_has_regions_with_their_parameters(recorded):
    begins = [event for event in chrome(recorded) if event.get("cat") == "region"]

    assert Counter(event["name"] for event in begins)["load"] == 3
    given = [event["args"]["arguments"] for event in begins if event["name"] == "load"]
    assert given == [{"size": str(i), "name": f"n{i}"} for i in range(3)]


def test_chrome_has_late_parameters_at_the_end_of_their_slice(recorded):
    stack, found = [], []
    for event in chrome(recorded):
        if event["ph"] == "B":
            stack.append(event["name"])
        elif event["ph"] == "E":
            late = event.get("args", {}).get("parameters")
            name = stack.pop()
            if late:
                found.append((name, late))

    assert found == [("load", {"late": i, "why": f"w{i}"}) for i in range(3)]


def test_a_late_parameter_of_a_recursive_function_is_of_its_own_call(cunei):
    record(cunei, program=RECURSIVE)
    depth, found = 0, []
    for event in chrome(cunei):
        depth += {"B": 1, "E": -1}.get(event["ph"], 0)
        late = event.get("args", {}).get("parameters")
        if event["ph"] == "E" and late:
            found.append((depth, late["n"]))

    # The innermost is reported right behind its begin, and is an argument of that.
    assert [n for _, n in found] == [1, 2]
    assert found[0][0] - found[1][0] == 1


def test_late_parameters_beyond_a_piece_are_events(cunei):
    record(cunei, program=LONG)
    events = chrome(cunei)

    ends = [
        e["args"]["parameters"] for e in events if "parameters" in e.get("args", ())
    ]
    instants = [e["name"] for e in events if e.get("cat") == "parameter"]
    assert ends == [{"short": 1}]
    assert instants == ["long"]


def test_chrome_has_counters_marks_and_the_rest(recorded):
    events = chrome(recorded)

    counts = [event["args"]["value"] for event in events if event["ph"] == "C"]
    assert counts == [2, 4, 6]
    instants = {
        (event["cat"], event["name"]): event.get("args")
        for event in events
        if event["ph"] == "i"
    }
    assert instants["mark", "there"] == {"value": "yes"}
    assert instants["metadata", "model"] == {"value": "tiny"}
    assert instants["parameter", "late"] == {"value": -1}  # set again after that
    assert ("parameter", "why") not in instants
    assert instants["token", "decode"]["stream"] >= 1


@pytest.fixture(scope="module")
def decorated(shared):
    record(shared, "--args", "__main__:*", program=DECORATED, name="decorated")
    return shared


def test_every_call_of_a_decorated_function_has_its_arguments(decorated):
    path = export(decorated, "chrome", name="decorated")
    events = json.loads(path.read_text())["traceEvents"]
    begins = [event for event in events if event.get("name") == "deco"]
    assert [event["args"]["arguments"] for event in begins] == [
        {"x": str(i)} for i in range(3)
    ]

    with export(decorated, "csv", name="decorated").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["function"].endswith("deco")]
    assert [json.loads(row["arguments"]) for row in rows] == [
        {"x": str(i)} for i in range(3)
    ]


def test_the_name_of_a_decorated_function_is_reported_once(decorated):
    path = export(decorated, "chrome", name="decorated")
    events = json.loads(path.read_text())["traceEvents"]
    named = [event for event in events if event.get("name") == "wrapped"]
    assert [(event["cat"], event["args"]) for event in named] == [
        ("region", {"function": "deco"})
    ]
    with export(decorated, "csv", name="decorated").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["function"] == "wrapped"]
    assert [(row["kind"], json.loads(row["arguments"])) for row in rows] == [
        ("region", {"function": "__main__:deco"})
    ]


def test_what_is_reported_as_slices_nests(recorded):
    depth = 0
    for event in chrome(recorded):
        depth += {"B": 1, "E": -1}.get(event["ph"], 0)
        assert depth >= 0
    assert depth == 0


def test_perfetto_has_tracks_of_counters(recorded):
    from test_perfetto import schema  # skips where its package is missing

    trace = schema.Trace()
    trace.ParseFromString(export(recorded, "perfetto").read_bytes())
    tracks, values, categories, named, annotations = {}, [], set(), set(), {}
    for packet in trace.packet:
        if packet.track_descriptor.HasField("counter"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
        categories |= {item.name for item in packet.interned_data.event_categories}
        event = packet.track_event
        if event.type == event.TYPE_COUNTER:
            values.append((tracks[event.track_uuid], event.counter_value))
        if event.type == event.TYPE_INSTANT:
            named.add((event.categories[0], event.name))
        for item in event.debug_annotations:
            value = item.string_value or item.int_value
            annotations.setdefault((event.type, item.name), set()).add(value)

    assert values == [("hits", 2), ("hits", 4), ("hits", 6)]
    assert "region" in categories
    assert {("mark", "there"), ("metadata", "model"), ("token", "decode")} <= named
    begin, end = schema.TrackEvent.TYPE_SLICE_BEGIN, schema.TrackEvent.TYPE_SLICE_END
    assert annotations[begin, "size"] == {"0", "1", "2"}
    assert annotations[begin, "name"] == {"n0", "n1", "n2"}
    assert annotations[end, "late"] == {0, 1, 2}
    assert annotations[end, "why"] == {"w0", "w1", "w2"}
    assert ("parameter", "why") not in named


@pytest.mark.parametrize("form", ["speedscope", "folded", "callgrind", "csv"])
def test_regions_stand_among_the_calls(recorded, form):
    text = export(recorded, form).read_text()

    assert "load" in text and "float" in text


def test_rows_of_what_was_reported(recorded):
    with export(recorded, "csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    user_events = [row for row in rows if not row["outcome"]]
    by_kind = defaultdict(list)
    for row in user_events:
        value = json.loads(row["arguments"]) if row["arguments"] else None
        by_kind[row["kind"]].append((row["function"], value))
        assert row["duration"] == row["self"] == "0"
        assert row["parent"] in ("__main__:main", "region:load")
    adds = [("hits", {"value": n, "added": 2}) for n in (2, 4, 6)]

    assert by_kind["counter"] == [*adds, ("hits", {"value": "nan"})]
    assert by_kind["mark"] == [("there", {"value": "yes"}), (r"a\x0a,b", None)]
    assert by_kind["metadata"] == [("model", {"value": "tiny"})]
    assert by_kind["parameter"] == [
        (name, {"value": value})
        for i in range(3)
        for name, value in (("late", -1), ("late", i), ("why", f"w{i}"))
    ]
    stream = by_kind["token"][0][1]["stream"]
    assert [value for _, value in by_kind["token"]] == [
        {"stream": stream, "begin": 0},
        {"stream": stream, "tokens": 3},
        {"stream": stream, "end": 0},
    ]
    loads = [row for row in rows if row["function"] == "region:load"]
    assert [json.loads(row["arguments"])["size"] for row in loads] == ["0", "1", "2"]


def test_folded_stacks_lead_through_regions(recorded):
    stacks = [line.rsplit(" ", 1)[0] for line in export(recorded, "folded").open()]

    assert any("__main__:main;region:load;__main__:work" in stack for stack in stacks)


def test_costs_of_callgrind_count_once(recorded):
    lines = export(recorded, "callgrind").read_text().splitlines()
    summary = next(int(line.split()[1]) for line in lines if "summary:" in line)
    threads = report(recorded)["threads"]

    assert summary <= sum(thread["wall_ns"] for thread in threads) + 10


def test_pstats_has_functions_alone(recorded):
    stats = pstats.Stats(str(export(recorded, "pstats"))).stats
    calls = {name: entry[1] for (_, _, name), entry in stats.items()}

    assert calls["work"] == 5 and "load" not in calls and "hits" not in calls
    callers = {
        name
        for key, entry in stats.items()
        if key[2] == "work"
        for _, _, name in entry[4]
    }
    assert callers == {"main", "tagged"}


def test_ctf_keeps_all_of_it(recorded):
    copy = export(recorded, "ctf")
    for key in "regions", "counters", "marks", "parameters", "metadata", "tokens":
        assert report(recorded, name=copy)[key] == report(recorded)[key], key


def test_a_selection_keeps_regions_unless_they_are_dropped(recorded):
    kept = json.loads(export(recorded, "chrome", "--include", ":main").read_text())
    names = {event.get("name") for event in kept["traceEvents"]}
    assert {"main", "load"} <= names and "work" not in names

    dropped = json.loads(export(recorded, "chrome", "--exclude", ":load").read_text())
    names = {event.get("name") for event in dropped["traceEvents"]}
    assert {"main", "work", "float"} <= names and "load" not in names
