# SPDX-License-Identifier: MIT
"""`--to chrome`: the JSON's slices are replay's, and so is what happened in them."""

import json
import re
from collections import Counter, defaultdict

import packets
import pytest
import timeline
from exported import RECORDED, export, record, report

OUTCOMES = {
    "yielded": "yield",
    "raised": "raise",
    "still_open": "open",
    "end_is_missing": "missing",
}


def unique(pairs):
    """An object, in which no key may be twice."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


class Trace:
    def __init__(self, path):
        # Times to the nanosecond are no doubles.
        document = json.loads(
            path.read_text(),
            object_pairs_hook=unique,
            parse_float=lambda text: int(text.replace(".", "")),
        )
        assert document["displayTimeUnit"] == "ns"
        self.events = document["traceEvents"]

    def of(self, *phases, category=None):
        return [
            event
            for event in self.events
            if event["ph"] in phases and category in (None, event.get("cat"))
        ]

    def slices(self):
        stacks = timeline.Stacks()
        for event in self.of("B", "E"):
            track, notes = (event["pid"], event["tid"]), event.get("args", {})
            if event["ph"] == "B":
                stacks.begin(
                    track,
                    begin=event["ts"],
                    resumed="resumed" in notes,
                    event=event,
                )
            else:
                outcomes = [OUTCOMES[note] for note in notes if note in OUTCOMES]
                stacks.end(
                    track,
                    event["ts"],
                    **({"outcome": outcomes[0]} if outcomes else {}),
                    ended=event,
                )
        return stacks.take()

    def calls(self):
        found = []
        for each in self.slices():
            event = each["event"]
            if "begin_is_missing" in event.get("args", {}):
                each.update(begin=None, duration=None)
            found.append(
                timeline.Slice(
                    *(event["pid"], event["tid"], event["cat"], event["name"]),
                    *(each["begin"], each["duration"], each["depth"]),
                    *(each["resumed"], each["outcome"]),
                )
            )
        return found


def read(cunei, *options):
    return Trace(export(cunei, "chrome", *options))


@pytest.fixture(scope="module")
def trace(rich):
    return read(rich)


def test_every_slice_is_that_of_replay(rich, trace):
    timeline.compare(trace.calls(), timeline.replayed(rich))


def test_a_long_stream_in_pieces_is_reported_as_a_whole(cunei):
    record(cunei, program=timeline.LONG)

    trace = read(cunei)

    timeline.compare(trace.calls(), timeline.replayed(cunei))
    # Where a function is, is reported once in a piece: it would be most of the file.
    places = Counter(
        event["name"] for event in trace.of("B") if "file" in event.get("args", {})
    )
    assert 1 < places["fib"] < 10


def test_threads_and_processes_have_their_names(rich, trace):
    names = defaultdict(set)
    for event in trace.of("M"):
        names[event["name"]].add((event["pid"], event["args"].get("name")))

    facts = report(rich)
    assert names["process_name"] == {(p["pid"], p_name(p)) for p in facts["processes"]}
    assert {name for _, name in names["thread_name"]} == {"MainThread", "workér"}
    assert not [event for event in trace.of("M") if "ts" in event]


def p_name(process):
    return process["program"] if process["program"] == "app.py" else CHILD


CHILD = "python -c def child(): return 1 child()"


def test_tasks_have_steps_and_a_name(rich, trace):
    begins = Counter(event["id"] for event in trace.of("b", category="task"))
    ends = Counter(event["id"] for event in trace.of("e", category="task"))
    steps = (*trace.of("b", category="task"), *trace.of("e", category="task"))
    names = {(event["id"], event["name"]) for event in steps}

    assert begins == ends
    assert sum(begins.values()) == len(
        timeline.happenings(rich, "task", "enter", "resume")
    )
    tasks = report(rich)["tasks"]
    assert names == {(f"{t['pid']}.{t['task']}", t["name"]) for t in tasks}


def test_tasks_that_were_named_before_a_window_have_their_names(rich):
    window, names = timeline.after_names(rich)

    part = Trace(export(rich, "chrome", *window))

    found = {(event["id"], event["name"]) for event in part.of("b", category="task")}
    assert found == {(f"{pid}.{task}", name) for (pid, task), name in names.items()}


def test_exceptions_are_instants_where_they_were_raised(rich, trace):
    got = [
        (event["pid"], event["tid"], event["ts"], event["name"], event["args"]["line"])
        for event in trace.of("i", category="exception")
    ]

    start = timeline.origin(rich)
    wanted = [
        (pid, tid, time - start, payload["type"], payload["line"])
        for pid, tid, time, payload in timeline.happenings(rich, "exception", "enter")
    ]
    assert sorted(got) == sorted(wanted)


def test_pauses_of_the_garbage_collector_are_slices(rich, trace):
    start = timeline.origin(rich)
    got = [
        (e["pid"], e["tid"], start + e["ts"], e["dur"], e["args"]["collected"])
        for e in trace.of("X", category="gc")
    ]

    assert sorted(got) == sorted(timeline.pauses(rich))
    assert len(got) >= 2


def test_values_and_places_belong_to_their_slices(rich, trace):
    (say,) = (each for each in trace.slices() if each["event"]["name"] == "say")

    line = timeline.PROGRAM[: timeline.PROGRAM.index("def say")].count("\n") + 1
    assert say["event"]["args"] == {
        "file": str(rich.folder / "app.py"),
        "line": line,
        "arguments": {"word": "'a, \"b\" 木'", "n": "2"},
    }
    assert say["ended"]["args"] == {"return": '\'a, "b" 木a, "b" 木\''}


def test_any_name_survives(trace):
    names = {(call.module, call.name) for call in trace.calls()}

    assert ("__main__", RECORDED) in names
    assert ("__main__", "<lambda>") in names


def test_losses_are_an_instant(cunei):
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    packets.drop(path, {1, 3})

    trace = read(cunei)

    lost = trace.of("i", category="lost")
    assert [event["name"] for event in lost] == ["events were lost"] * 2
    assert [event["args"] for event in lost] == [{"count": "not known"}] * 2
    timeline.compare(trace.calls(), timeline.replayed(cunei))


# A name that is long makes a large file of a short recording.
LARGE = """\
def f():
    pass

names = dict(co_name="x" * 4000, co_qualname="x" * 4000)
if not hasattr(f.__code__, "co_qualname"):
    del names["co_qualname"]
f.__code__ = f.__code__.replace(**names)
for i in range(COUNT):
    f()
"""


@pytest.mark.parametrize("count, is_large", [(208_000, True), (2_000, False)])
def test_a_large_file_is_reported(cunei, count, is_large):
    record(cunei, program=LARGE.replace("COUNT", str(count)))

    done = cunei("export", "trace", "--to", "chrome")

    assert done.returncode == 0, done.stderr
    size = (cunei.folder / "trace.json").stat().st_size
    (cunei.folder / "trace.json").unlink()
    assert (size > 200_000_000) == is_large
    assert bool(re.search("--to perfetto is much smaller", done.stderr)) == is_large
