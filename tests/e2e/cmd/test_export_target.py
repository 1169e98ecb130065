# SPDX-License-Identifier: MIT
"""Where an export goes: what it may replace, what it leaves, what it says of it."""

import os
import signal
import time

import packets
import pytest
from exported import PROGRAM, export, record, report

MARK = ".cunei-export"


@pytest.fixture(scope="module")
def trace(shared):
    record(shared, program=PROGRAM)
    return shared


def names(folder):
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_recording_is_never_overwritten(trace):
    record(trace, program="def f(): pass\nf()\n", name="other")
    before = names(trace.folder / "other")

    done = trace("export", "trace", "--to", "ctf", "-o", "other", "--force")

    assert done.returncode == 1
    assert "'other' contains files that are not of an export" in done.stderr
    assert names(trace.folder / "other") == before


def test_an_export_is_overwritten_where_it_is_forced(trace):
    out = export(trace, "ctf", "--include", "*:fib")
    small = names(out)
    export(trace, "ctf")

    assert MARK in small
    assert sum(names(out).values()) > sum(small.values())
    assert [name for name in os.listdir(trace.folder) if "ctf." in name] == []


@pytest.mark.parametrize("stranger", ["traces.txt", "notes"])
def test_an_export_with_something_else_in_it_stays(trace, stranger):
    out = export(trace, "ctf")
    (out / stranger).write_text("mine")

    done = trace("export", "trace", "--to", "ctf", "-o", out, "--force")

    assert done.returncode == 1
    assert (out / stranger).read_text() == "mine"
    (out / stranger).unlink()


def test_a_recording_in_the_place_of_an_export_is_none(trace):
    export(trace, "ctf")
    (trace.folder / "exported.ctf").rename(trace.folder / "again")
    done = trace("record", "-q", "--force", "-o", "again", "app.py")
    assert done.returncode == 0, done.stderr

    refused = trace("export", "trace", "--to", "ctf", "-o", "again", "--force")

    assert refused.returncode == 1
    assert not (trace.folder / "again" / MARK).exists()


LONG = """\
def f():
    pass

for i in range(COUNT):
    f()
"""


@pytest.mark.parametrize("form", ["csv", "ctf"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(cunei, form, number):
    record(cunei, "--include", "__main__", program=LONG.replace("COUNT", "400_000"))
    out = cunei.folder / "out"
    deadline = time.monotonic() + 60

    # One that is done before the signal comes shows nothing.
    status = 0
    while status == 0 and time.monotonic() < deadline:
        started = cunei.start("export", "trace", "--to", form, "-o", out, "-f")
        while started.poll() is None and not list(cunei.folder.glob("out.*")):
            pass
        started.send_signal(number)
        started.communicate()
        status = started.returncode

    assert status == -number
    assert list(cunei.folder.glob("out.*")) == []


@pytest.mark.parametrize(
    "words",
    [
        ("export", "trace", "--to", "html", "-o", "-", "--open"),
        ("compare", "trace", "trace", "--to", "html", "-o", "-", "--open"),
    ],
)
def test_an_export_to_stdout_cannot_be_opened(trace, words):
    done = trace(*words)

    assert (done.returncode, done.stdout) == (2, "")
    assert "--open needs a file" in done.stderr


FORMS_THAT_REPORT_LOSSES = (
    *("html", "perfetto", "chrome", "speedscope", "pstats", "folded", "callgrind"),
    *("pprof", "csv", "otf2"),
)


@pytest.mark.parametrize("form", FORMS_THAT_REPORT_LOSSES)
def test_losses_of_the_recording_are_reported(cunei, form):
    record(cunei, "--include", "__main__", program=LONG.replace("COUNT", "60_000"))
    (path,) = (cunei.folder / "trace").glob("*/s0")
    packets.drop(path, {1})

    done = cunei("export", "trace", "--to", form)

    assert done.returncode == 0
    sentence = "cunei: the recording lost 1 packet, so times and calls are too low\n"
    assert sentence in done.stderr


@pytest.mark.parametrize("form", ["csv", "speedscope", "chrome", "folded"])
def test_events_that_were_never_written_are_counted(cunei, form):
    record(cunei, "--max-size", "1M", program=LONG.replace("COUNT", "200_000"))
    lost = report(cunei)["lost"]
    assert lost > 0

    done = cunei("export", "trace", "--to", form)

    assert done.returncode == 0
    assert f"the recording lost {lost:_} events".replace("_", " ") in done.stderr


def test_a_process_folder_can_be_exported_from_within(trace):
    (folder,) = packets.folders(trace.folder / "trace")
    out = trace.folder / "within"

    done = trace("export", ".", "--to", "ctf", "-o", out, cwd=folder)

    assert done.returncode == 0, done.stderr
    assert [path.name for path in packets.folders(out)] == [folder.name]


def test_how_to_open_it_is_reported_with_its_name(trace):
    done = trace("export", "trace", "--to", "csv", "-o", "calls.csv")
    assert done.stderr.endswith("; duckdb -c \"from 'calls.csv'\"\n")

    done = trace("export", "trace", "--to", "ctf", "-o", "calls.ctf")
    assert done.stderr.endswith("; babeltrace2 calls.ctf\n")

    # One that a shell would not take as it is cannot stand in a command.
    done = trace("export", "trace", "--to", "csv", "-o", "it's calls.csv")
    assert done.stderr.endswith("; duckdb -c \"from 'FILE'\"\n")


def test_several_threads(trace):
    def threads(*options):
        done = trace("export", "trace", "--to", "csv", "-o", "-", *options)
        assert done.returncode == 0, done.stderr
        return {row.split(",")[1] for row in done.stdout.splitlines()[1:]}

    first, second = threads()

    assert threads("--thread", first) == {first}
    assert threads("--thread", first, "--thread", second) == {first, second}
    assert threads("--thread", "Main*", "--thread", "work*") == {first, second}
