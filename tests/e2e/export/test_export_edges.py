# SPDX-License-Identifier: MIT
"""Exports of what is rare: streams with two threads, lines, numbers that go back."""

import csv
import json
import struct
from collections import Counter

import packets
import pytest
from exported import export, page_of, record, report

# The second thread gets the stream of the first, and is still in its calls at the end.
TURNS = """\
import os
import threading

def first():
    return 1

def second():
    begun.set()
    threading.Event().wait()

begun = threading.Event()
thread = threading.Thread(target=first, name="one")
thread.start()
thread.join()
threading.Thread(target=second, name="two", daemon=True).start()
begun.wait()
os._exit(0)
"""


@pytest.fixture
def turns(cunei):
    record(cunei, "--include", "__main__", program=TURNS)
    (folder,) = packets.folders(cunei.folder / "trace")
    tids = {packet.thread_name: packet.vtid for packet in packets.packets(folder)}
    streams = {packet.thread_name: packet.stream for packet in packets.packets(folder)}
    assert streams["one"] == streams["two"], "a stream is used again"
    return cunei, tids


def test_open_calls_are_closed_on_their_own_thread(turns):
    cunei, tids = turns
    document = json.loads(export(cunei, "chrome").read_text())

    begun, ended = Counter(), Counter()
    for event in document["traceEvents"]:
        if event["ph"] == "B":
            begun[event["tid"]] += 1
        elif event["ph"] == "E":
            ended[event["tid"]] += 1

    assert begun[tids["two"]] == 1
    assert begun == ended


def test_a_row_of_what_is_open_is_its_own_threads(turns):
    cunei, tids = turns
    with open(export(cunei, "csv")) as file:
        rows = {row["function"]: row for row in csv.DictReader(file)}

    assert int(rows["__main__:first"]["thread"]) == tids["one"]
    assert int(rows["__main__:second"]["thread"]) == tids["two"]


LINES = """\
def work(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= i
    return total

def other():
    return work(5)

other()
"""


def lines_of(cunei, name):
    done = cunei("dump", "--json", name)
    assert done.returncode == 0, done.stderr
    events = map(json.loads, done.stdout.splitlines())
    return [event["payload"] for event in events if event["event"] == "line"]


def test_a_selection_has_the_lines_that_were_recorded(cunei):
    record(cunei, "--lines", "*:work", program=LINES)
    export(cunei, "ctf", "--include", "*:work")

    recorded = lines_of(cunei, "trace")

    assert len(recorded) > 10
    assert lines_of(cunei, "exported.ctf") == recorded


def rewrite(path, change):
    """Change the heads of a stream's packets; `change` gets the fields of each."""
    data, at, number = bytearray(path.read_bytes()), 0, 0
    while at < len(data):
        fields = list(packets.HEAD.unpack_from(data, at))
        change(number, fields)
        packets.HEAD.pack_into(data, at, *fields)
        at, number = at + fields[10] // 8, number + 1
    path.write_bytes(data)
    return number


LONG = """\
def f():
    pass

for i in range(300_000):
    f()
"""
SEQUENCE, DISCARDED, THREAD = 11, 12, 16


def test_packets_out_of_order_are_damage_wherever_pieces_part(cunei):
    record(cunei, "--include", "__main__", program=LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")

    def go_back(number, fields):
        if number >= 8:
            fields[SEQUENCE] -= 5

    assert rewrite(path, go_back) > 16
    done = cunei("export", "trace", "--to", "perfetto")

    assert done.returncode == 1
    assert "the packet's sequence number goes back" in done.stderr


def test_any_serial_of_a_thread_can_be_chosen(cunei):
    record(cunei, "--include", "__main__", program=LINES)
    (path,) = (cunei.folder / "trace").glob("*/s0")

    def renumber(number, fields):
        fields[THREAD] = 0xFFFFFFFF

    rewrite(path, renumber)
    out = export(cunei, "csv", "--thread", "MainThread", name="trace")

    assert "__main__:work" in out.read_text()


FAMILY = """\
import multiprocessing
import threading

def work():
    pass

if __name__ == "__main__":
    kids = multiprocessing.get_context("fork")
    for name in "kid", "other":
        kid = kids.Process(target=work, name=name)
        kid.start()
        kid.join()
    thread = threading.Thread(target=work, name="worker-1")
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def family(shared):
    record(shared, program=FAMILY, name="family")
    return shared


def test_a_process_with_no_chosen_thread_is_as_if_never_recorded(family):
    chosen = ("--thread", "worker*")

    page = page_of(export(family, "html", *chosen, name="family"))
    copy = export(family, "ctf", *chosen, name="family")

    assert len(page["processes"]) == 1 and "processes" not in page["facts"]
    assert len(packets.folders(copy)) == 1
    assert len(report(family, "--processes", name=copy)["processes"]) == 1


@pytest.mark.parametrize("word, count", [("app.py", 3), ("app.*", 3), ("kid", 1)])
def test_processes_are_chosen_as_reports_show_them(family, word, count):
    path = export(family, "csv", "--process", word, name="family")

    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["process"] for row in rows}) == count


def test_processes_have_the_names_that_multiprocessing_gave_them(family):
    events = json.loads(export(family, "chrome", name="family").read_text())
    names = {
        event["args"]["name"]
        for event in events["traceEvents"]
        if event.get("name") == "process_name"
    }
    assert names == {"app.py", "app.py · kid", "app.py · other"}

    profiles = json.loads(export(family, "speedscope", name="family").read_text())
    titles = [profile["name"] for profile in profiles["profiles"]]
    assert any(title.startswith("app.py · kid (") for title in titles)


def test_a_count_of_lost_events_may_not_go_back(cunei):
    record(cunei, "--include", "__main__", program=LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")

    def forget(number, fields):
        fields[DISCARDED] = 5 if number < 3 else 3

    rewrite(path, forget)
    events = json.loads(export(cunei, "chrome").read_text())["traceEvents"]

    lost = [event["args"] for event in events if event.get("cat") == "lost"]
    assert lost == [{"count": "not known"}]


def test_a_trace_whose_first_packet_is_damaged_begins_there(cunei):
    record(cunei, "--include", "__main__", program=LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    data = bytearray(path.read_bytes())
    word = struct.unpack_from("<Q", data, packets.HEAD.size + 16)[0]
    unknown = word & ~(0x3FFFFF << 40) | 700 << 40
    struct.pack_into("<Q", data, packets.HEAD.size + 16, unknown)
    path.write_bytes(data)

    done = cunei("export", "trace", "--to", "csv")

    assert (done.returncode, "damaged at byte 0" in done.stderr) == (1, True)
    with open(cunei.folder / "trace.csv") as file:
        starts = [int(row["start"]) for row in csv.DictReader(file)]
    assert starts and 0 < min(starts) <= max(starts) < 60_000_000_000


NAMED = """\
def f():
    pass

names = dict(co_name="é" * 9000, co_qualname="é" * 9000)
if not hasattr(f.__code__, "co_qualname"):
    del names["co_qualname"]
f.__code__ = f.__code__.replace(**names)
f()
"""


def test_a_name_of_many_kilobytes_is_cut_where_each_call_has_it(cunei):
    record(cunei, "--include", "__main__", program=NAMED)
    events = json.loads(export(cunei, "chrome").read_text())["traceEvents"]
    with open(export(cunei, "csv")) as file:
        rows = [row["function"] for row in csv.DictReader(file)]

    cut = "é" * 512 + "…"

    assert cut in [event.get("name") for event in events]
    assert f"__main__:{cut}" in rows
