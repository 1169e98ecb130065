# SPDX-License-Identifier: MIT
"""`--to perfetto`: decoded with Perfetto's own schema, every slice is replay's."""

from collections import Counter

import packets
import pytest
import timeline
from exported import RECORDED, export, record, report

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
except Exception as error:  # protobuf has errors of its own for versions that differ
    reason = f"the schema in the package perfetto cannot be loaded: {error}"
    pytest.skip(reason, allow_module_level=True)

REALTIME, OWN = 1, 64
OUTCOMES = {
    "returned": "return",
    "yielded": "yield",
    "raised": "raise",
    "still open": "open",
    "end is missing": "missing",
}


class Trace:
    """What trace_processor makes of the packets, as far as we write them."""

    def __init__(self, path):
        trace = schema.Trace()
        trace.ParseFromString(path.read_bytes())
        self.tracks, self.sequences, events = {}, {}, []
        for packet in trace.packet:
            events += self.take(packet)
        # It sorts them all; what is at the same time stays in order.
        self.events = sorted(events, key=lambda event: event["time"])

    def take(self, packet):
        sequence = self.sequences.setdefault(packet.trusted_packet_sequence_id, {})
        assert packet.trusted_packet_sequence_id > 0
        if packet.HasField("clock_snapshot"):
            self.set_clock(sequence, packet.clock_snapshot)
        if packet.sequence_flags & packet.SEQ_INCREMENTAL_STATE_CLEARED:
            sequence.update(names={}, categories={}, places={}, notes={})
        if packet.HasField("trace_packet_defaults"):
            defaults = packet.trace_packet_defaults
            assert defaults.timestamp_clock_id == OWN
            sequence["track"] = defaults.track_event_defaults.track_uuid
        self.intern(sequence, packet.interned_data)
        if packet.HasField("track_descriptor"):
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            assert packet.sequence_flags & packet.SEQ_NEEDS_INCREMENTAL_STATE
            yield self.event(sequence, packet)

    def set_clock(self, sequence, snapshot):
        # A clock that goes back makes trace_processor drop packets.
        assert "now" not in sequence
        assert snapshot.primary_trace_clock == REALTIME
        clocks = {clock.clock_id: clock for clock in snapshot.clocks}
        assert clocks[OWN].is_incremental and clocks[OWN].timestamp == 0
        sequence["now"] = clocks[REALTIME].timestamp

    def intern(self, sequence, data):
        for item in data.event_names:
            sequence["names"][item.iid] = item.name
        for item in data.event_categories:
            sequence["categories"][item.iid] = item.name
        for item in data.debug_annotation_names:
            sequence["notes"][item.iid] = item.name
        for item in data.source_locations:
            sequence["places"][item.iid] = (item.file_name, item.line_number)

    def event(self, sequence, packet):
        event = packet.track_event
        if packet.timestamp_clock_id == REALTIME:
            time = packet.timestamp
        else:
            sequence["now"] += packet.timestamp
            time = sequence["now"]
        return {
            "time": time,
            "type": event.type,
            "track": event.track_uuid or sequence["track"],
            "name": event.name or sequence["names"].get(event.name_iid),
            "category": (
                [*event.categories]
                or [sequence["categories"][iid] for iid in event.category_iids]
            ),
            "place": sequence["places"].get(event.source_location_iid),
            "notes": {
                each.name or sequence["notes"][each.name_iid]: getattr(
                    each, each.WhichOneof("value")
                )
                for each in event.debug_annotations
            },
        }

    def thread(self, track):
        thread = self.tracks[track].thread
        return thread.pid, thread.tid

    def slices(self):
        """Of functions; and what else there is on threads' tracks, and on others."""
        stacks, kind = timeline.Stacks(), schema.TrackEvent
        for event in self.events:
            if event["type"] == kind.TYPE_SLICE_BEGIN:
                is_resumed = "resumed" in event["category"]
                stacks.begin(
                    event["track"],
                    begin=event["time"],
                    apart=event["name"] in ("gc", "step") and event["place"] is None,
                    resumed=is_resumed,
                    outcome="yield" if is_resumed else "return",
                    event=event,
                )
            elif event["type"] == kind.TYPE_SLICE_END:
                outcomes = [OUTCOMES[n] for n in event["notes"] if n in OUTCOMES]
                stacks.end(
                    event["track"],
                    event["time"],
                    **({"outcome": outcomes[0]} if outcomes else {}),
                    ended=event,
                )
        return stacks

    def calls(self, origin):
        found = []
        for each in self.slices().take():
            pid, tid = self.thread(each["event"]["track"])
            module = each["event"]["category"][0]
            if "begin is missing" in each["event"]["notes"]:
                each.update(begin=None, duration=None)
            found.append(
                timeline.Slice(
                    *(pid, tid, module, each["event"]["name"]),
                    *(each["begin"] and each["begin"] - origin, each["duration"]),
                    each["depth"],
                    *(each["resumed"], each["outcome"]),
                )
            )
        return found

    def instants(self, category):
        return [
            event
            for event in self.events
            if event["type"] == schema.TrackEvent.TYPE_INSTANT
            and event["category"] == [category]
        ]


def read(cunei, *options):
    return Trace(export(cunei, "perfetto", *options))


@pytest.fixture(scope="module")
def trace(rich):
    return read(rich)


def test_every_slice_is_that_of_replay(rich, trace):
    timeline.compare(trace.calls(timeline.origin(rich)), timeline.replayed(rich))


def test_a_long_stream_in_pieces_is_reported_as_a_whole(cunei):
    record(cunei, program=timeline.LONG)

    trace = read(cunei)

    assert len(trace.sequences) > 2
    wanted = timeline.replayed(cunei)
    timeline.compare(trace.calls(timeline.origin(cunei)), wanted)
    size = (cunei.folder / "exported.perfetto").stat().st_size
    assert size / (2 * len(wanted)) <= 16


def test_threads_and_processes_have_tracks_with_their_names(rich, trace):
    tracks = trace.tracks.values()

    threads = [track for track in tracks if track.HasField("thread")]
    names = Counter(track.thread.thread_name for track in threads)
    assert names == {"MainThread": 2, "workér": 1}
    processes = {t.uuid: t for t in tracks if t.HasField("process")}
    assert {t.process.process_name for t in processes.values()} == {
        "app.py",
        "python -c def child(): return 1 child()",
    }
    reported = report(rich)["processes"]
    assert {t.process.pid for t in processes.values()} == {p["pid"] for p in reported}
    for track in threads:
        assert track.thread.pid == processes[track.parent_uuid].process.pid


def test_tasks_have_tracks_with_their_steps(rich, trace):
    steps = Counter()
    for each in trace.slices().take(apart=True):
        if each["event"]["name"] == "step":
            steps[trace.tracks[each["event"]["track"]].name] += 1
    recorded = timeline.happenings(rich, "task", "enter", "resume")
    assert sum(steps.values()) == len(recorded)
    assert set(steps) == {task["name"] for task in report(rich)["tasks"]}
    assert {"téa 0", "téa 1", "téa 2"} < set(steps)


def test_exceptions_are_instants_where_they_were_raised(rich, trace):
    got = [
        (*trace.thread(each["track"]), each["time"], each["name"], each["notes"])
        for each in trace.instants("exception")
    ]
    wanted = [
        (pid, tid, time, payload["type"], {"line": payload["line"]})
        for pid, tid, time, payload in timeline.happenings(rich, "exception", "enter")
    ]
    assert sorted(got, key=str) == sorted(wanted, key=str)
    assert "KeyError" in {each[3] for each in got}


def test_pauses_of_the_garbage_collector_are_slices(rich, trace):
    got = [
        (
            *trace.thread(each["event"]["track"]),
            *(each["begin"], each["duration"], each["event"]["notes"]["collected"]),
        )
        for each in trace.slices().take(apart=True)
        if each["event"]["name"] == "gc"
    ]
    assert sorted(got) == sorted(timeline.pauses(rich))
    assert len(got) >= 2


def test_values_and_places_belong_to_their_slices(rich, trace):
    slices = trace.slices().take()

    (say,) = (each for each in slices if each["event"]["name"] == "say")
    word = "'a, \"b\" 木'"
    assert say["event"]["notes"] == {"word": word, "n": "2"}
    assert say["ended"]["notes"] == {"return": '\'a, "b" 木a, "b" 木\''}
    line = timeline.PROGRAM[: timeline.PROGRAM.index("def say")].count("\n") + 1
    assert say["event"]["place"] == (str(rich.folder / "app.py"), line)


def test_any_name_survives(trace):
    names = {(call.module, call.name) for call in trace.calls(0)}

    assert ("__main__", RECORDED) in names
    assert ("__main__", "<lambda>") in names
    assert ("gc", "collect") in names


def test_a_window_is_what_replay_shows_of_it(rich):
    whole = timeline.replayed(rich)
    (run,) = (e for e in whole if (e.module, e.name) == ("asyncio.runners", "run"))
    end = run.begin + run.duration
    window = ("--from", f"{run.begin + 1}ns", "--until", f"{end - 1}ns")

    got = read(rich, *window, "--thread", "MainThread").calls(timeline.origin(rich))

    inside = [e for e in whole if run.begin < e.begin < end and e.pid == run.pid]
    known = [each for each in got if each.begin is not None]
    timeline.compare(known, [each for each in inside if each.tid == run.tid])
    around = {(each.module, each.name) for each in got if each.begin is None}
    assert around == {("__main__", "<module>"), ("asyncio.runners", "run")}


def test_losses_are_an_instant(cunei):
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    packets.drop(path, {1, 3})

    trace = read(cunei)

    assert [each["name"] for each in trace.instants("lost")] == ["events were lost"] * 2
    timeline.compare(trace.calls(timeline.origin(cunei)), timeline.replayed(cunei))


def test_tasks_that_were_named_before_a_window_have_their_names(rich):
    window, names = timeline.after_names(rich)

    trace = read(rich, *window)

    found = {
        trace.tracks[event["track"]].name
        for event in trace.events
        if "task" in event["category"]
    }
    assert found == set(names.values())
