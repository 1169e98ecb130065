# SPDX-License-Identifier: MIT
"""`--to otf2`: read by OTF2's own bindings and by otf2-print, event by event."""

import json
import pathlib
import re
import shutil
from collections import Counter

import packets
import pytest
import timeline
from exported import RECORDED, export, record, report

READER = pathlib.Path(__file__).parents[1] / "support/otf2read.py"
# The bindings come with the distribution's Python.
PYTHON = "/usr/bin/python3"
# A reader of a damaged archive may print for ever.
LIMIT = ("timeout", "60")


@pytest.fixture(autouse=True, scope="module")
def libotf2(shared):
    """Only with it the format is there."""
    done = shared("export", "none", "--to", "otf2")
    if "cannot export to otf2" in done.stderr:
        pytest.skip("cunei was built without libotf2, or it is not installed")


@pytest.fixture(scope="module")
def bindings(shared):
    if shared.run(PYTHON, "-c", "import otf2").returncode:
        pytest.skip("python3-otf2, which reads archives, is not installed")


class Archive:
    def __init__(self, cunei, *options):
        path = export(cunei, "otf2", *options) / "traces.otf2"
        done = cunei.run(*LIMIT, PYTHON, READER, path)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["hz"] == 1_000_000_000
        self.locations = document["locations"]
        self.regions = document["regions"]
        self.events = document["events"]

    def of(self, *kinds):
        return [event for event in self.events if event["kind"] in kinds]

    def parameters(self, name):
        return [event for event in self.events if event.get("parameter") == name]

    def slices(self):
        stacks = timeline.Stacks()
        for event in self.of("Enter", "Leave"):
            notes = event["attributes"]
            if event["kind"] == "Enter":
                stacks.begin(
                    event["location"],
                    begin=event["time"],
                    apart=event["region"] in ("gc", "error_region"),
                    resumed=notes.get("begin") == "resume",
                    event=event,
                )
            else:
                above = stacks.open[event["location"]][-1]
                assert above["event"]["region"] == event["region"]
                stacks.end(
                    event["location"],
                    event["time"],
                    outcome=notes.get("end", "return"),
                )
        return stacks

    def calls(self):
        found = []
        for each in self.slices().take():
            location = self.locations[each["event"]["location"]]
            if each["event"]["attributes"].get("begin") == "missing":
                each.update(begin=None, duration=None)
            found.append(
                timeline.Slice(
                    *(location["pid"], location["tid"]),
                    *(None, each["event"]["region"]),
                    *(each["begin"], each["duration"], each["depth"]),
                    *(each["resumed"], each["outcome"]),
                )
            )
        return found


@pytest.fixture(scope="module")
def archive(rich, bindings):
    return Archive(rich)


def test_every_region_is_entered_and_left_as_replay_shows_it(rich, archive):
    timeline.compare(archive.calls(), timeline.replayed(rich, joined=True))


def test_locations_are_the_threads_of_their_processes(rich, archive):
    reported = {(t["pid"], t["tid"], t["name"]) for t in report(rich)["threads"]}
    got = {(each["pid"], each["tid"], each["name"]) for each in archive.locations}

    assert got == reported
    for each in archive.locations:
        assert each["group"].endswith(f" ({each['pid']})")
    counts = Counter(event["location"] for event in archive.events)
    assert counts == {n: each["events"] for n, each in enumerate(archive.locations)}
    assert len({each["node"] for each in archive.locations}) == 1


def test_regions_have_their_place(rich, archive):
    line = timeline.PROGRAM[: timeline.PROGRAM.index("def say")].count("\n") + 1

    assert [
        *("__main__:say", str(rich.folder / "app.py"), line, "__main__"),
    ] in archive.regions
    names = {name for name, *_ in archive.regions}
    assert {"__main__:" + RECORDED, "__main__:<lambda>", "gc:collect"} < names


def test_values_and_exceptions_are_parameters(rich, archive):
    assert [e["value"] for e in archive.parameters("argname:word")] == ["'a, \"b\" 木'"]
    assert [e["value"] for e in archive.parameters("argname:n")] == ["2"]
    (result,) = archive.parameters("return")
    assert result["value"] == '\'a, "b" 木a, "b" 木\''

    start = timeline.origin(rich)
    raised = [(e["time"], e["value"]) for e in archive.parameters("exception")]
    wanted = timeline.happenings(rich, "exception", "enter")
    assert sorted(raised) == sorted((e[2] - start, e[3]["type"]) for e in wanted)


def test_steps_of_tasks_are_parameters(rich, archive):
    steps = timeline.happenings(rich, "task", "enter", "resume")
    names = [e["value"] for e in archive.parameters("task name")]

    assert [e["value"] for e in archive.parameters("task")] == [
        payload["task"] for *_, payload in steps
    ]
    assert sorted(names) == sorted(task["name"] for task in report(rich)["tasks"])


def test_pauses_of_the_garbage_collector_are_regions(rich, archive):
    start = timeline.origin(rich)
    got = []
    for each in archive.slices().take(apart=True):
        location = archive.locations[each["event"]["location"]]
        begin = start + each["begin"]
        got.append((location["pid"], location["tid"], begin, each["duration"]))

    assert sorted(got) == sorted(pause[:4] for pause in timeline.pauses(rich))
    assert len(got) >= 2


def test_measurement_is_off_where_events_were_lost(cunei, bindings):
    record(cunei, program=timeline.LONG.replace("fib(19)", "fib(17)"))
    (path,) = (cunei.folder / "trace").glob("*/s0")
    packets.drop(path, {1})

    archive = Archive(cunei)

    off, on = archive.of("MeasurementOnOff")
    assert ("OFF" in off["mode"], "ON" in on["mode"]) == (True, True)
    between = [e for e in archive.of("Enter") if off["time"] < e["time"] < on["time"]]
    assert off["time"] < on["time"] and between == []
    timeline.compare(archive.calls(), timeline.replayed(cunei, joined=True))


ORPHANS = "def f():\n    pass\ndef g():\n    f()\ng()\n"


def test_what_was_left_without_being_entered_is_an_error_region(cunei, bindings):
    record(cunei, program=ORPHANS)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    leave_instead_of_entering(path, nth=1)

    archive = Archive(cunei)

    assert [e["value"] for e in archive.parameters("leave-region")] == (
        ["__main__:g"] * 2
    )
    errors = [e["kind"] for e in archive.events if e.get("region") == "error_region"]
    assert errors == ["Enter", "Leave"] * 2
    assert report(cunei)["orphans"] == 2


def leave_instead_of_entering(path, nth):
    """Change the nth entry of a function, counted from 0, to a leave."""
    data, at = bytearray(path.read_bytes()), packets.HEAD.size
    found = -1
    while found < nth:
        (word,) = packets.struct.unpack_from("<Q", data, at)
        is_call = (word >> 40) & (1 << 22) - 1 >= packets.FIRST_FUNCTION
        found += is_call and word >> 62 == packets.ENTER
        at += 8
    data[at - 8 : at] = (word | packets.LEAVE << 62).to_bytes(8, "little")
    path.write_bytes(data)


def test_excluded_functions_are_not_defined(rich, bindings):
    archive = Archive(rich, "--include", "__main__", "--exclude", "__main__:say")

    names = {name for name, *_ in archive.regions} - {"gc", "error_region"}
    assert names and all(name.startswith("__main__:") for name in names)
    assert "__main__:say" not in names
    assert {call.name for call in archive.calls()} <= names


@pytest.mark.skipif(
    not shutil.which("otf2-print"), reason="otf2-tools, which print it, are missing"
)
def test_otf2_print_reads_the_same(rich, archive):
    path = export(rich, "otf2") / "traces.otf2"

    done = rich.run(*LIMIT, "otf2-print", "--warnings-as-errors", path)

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    rows = re.findall(
        r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: "([^"\n]*)', done.stdout, re.MULTILINE
    )
    wanted = [
        (
            *(event["kind"].upper(), str(event["location"]), str(event["time"])),
            re.split(r'["\n]', event["region"])[0],
        )
        for event in archive.of("Enter", "Leave")
    ]
    assert rows == wanted


@pytest.mark.skipif(
    not shutil.which("otf2-print"), reason="otf2-tools, which print it, are missing"
)
@pytest.mark.parametrize("words", [(), ("--exclude", ":early")], ids=["all", "some"])
def test_regions_are_numbered_without_gaps(cunei, words):
    record(
        cunei,
        program="import cunei\n"
        "def early(): pass\n"
        "def late(): pass\n"
        "early()\n"
        "cunei.counter('hits').add()\n"
        "cunei.tokens('decode').tick()\n"
        "late()\n",
    )
    path = export(cunei, "otf2", *words) / "traces.otf2"

    done = cunei.run("otf2-print", "--warnings-as-errors", path)

    assert done.returncode == 0, done.stderr
    assert '"__main__:late"' in done.stdout


def test_a_machine_without_the_library_lacks_this_format_alone(cunei):
    """What is found first under its name is no library."""
    name = re.search(
        rb"lib(?:otf2|open-trace-format2)\.so\.\d+",
        pathlib.Path(cunei.executable).read_bytes(),
    )[0].decode()
    package = name.replace(".so.", "-")
    cunei.write(f"none/{name}", "")
    env = {"LD_LIBRARY_PATH": str(cunei.folder / "none")}
    record(cunei)

    done = cunei("export", "trace", "--to", "otf2", env=env)
    before = cunei("record", "--to", "otf2", "-c", "print(1)", env=env)
    listed = json.loads(cunei("export", "--list", "--json", env=env).stdout)

    message = (
        f"cunei: cannot export to otf2: {name} (Debian: {package}) is not installed\n"
    )
    assert (done.returncode, done.stderr) == (1, message)
    assert (before.returncode, before.stdout, before.stderr) == (1, "", message)
    assert [row["name"] for row in listed["formats"] if not row["is_here"]] == ["otf2"]
    done = cunei("export", "trace", "--to", "perfetto", env=env)
    assert done.returncode == 0, done.stderr


def test_tasks_that_were_named_before_a_window_have_their_names(rich, bindings):
    window, names = timeline.after_names(rich)

    archive = Archive(rich, *window)

    recorded = [event["value"] for event in archive.parameters("task name")]
    assert sorted(recorded) == sorted(names.values())


USER_EVENTS = """\
import cunei

def work():
    pass

cunei.metadata("model", "tiny")
hits = cunei.counter("hits")
with cunei.region("load"):
    cunei.parameter("size", 3)
    work()
    cunei.parameter("late", 1.5)
    hits.add(2)
    hits.add(2**60)
hits.set(float("inf"))
cunei.mark("here")
cunei.mark("there", "yes")
cunei.region_end("nothing")
cunei.tokens("decode").tick(3)
"""


def test_what_a_program_says_itself(cunei, bindings):
    record(cunei, program=USER_EVENTS)
    archive = Archive(cunei)

    counts = [(event["metric"], event["value"]) for event in archive.of("Metric")]
    assert counts == [("hits", 2), ("hits", 2**60)]
    values = {
        event["parameter"]: event["value"]
        for event in archive.of("ParameterString", "ParameterUnsignedInt")
    }
    assert values["metadata:model"] == "tiny"
    assert (values["argname:size"], values["argname:late"]) == ("3", "1.5")
    assert (values["mark:here"], values["mark:there"]) == ("", "yes")
    assert values["error:nothing"].startswith("region_end without")
    assert values["token:decode"] == 3
    names = {region[0] for region in archive.regions}
    assert "region:load" in names and not {"hits", "decode"} & names
