# SPDX-License-Identifier: MIT
"""What `cunei export` and `--to` say where they cannot do it, and what they leave."""

import csv
import json
import os
import re
import resource

import packets
import pytest
import timeline
from exported import PROGRAM, export, record, report

FORMATS = (
    *("html", "perfetto", "chrome", "speedscope", "pstats", "folded", "callgrind"),
    *("pprof", "csv", "otf2", "ctf"),
)
FOLDERS = ("otf2", "ctf")


@pytest.fixture(scope="module")
def trace(shared):
    """A trace, and what is in the folder besides, which nothing is to change."""
    record(shared, program=PROGRAM)
    return shared, sorted(os.listdir(shared.folder))


def refuse(cunei, *words, status=1, **options):
    """The one sentence that is printed."""
    done = cunei(*words, **options)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    before, prefix, sentence = lines[0].partition("cunei: ")
    assert prefix and not before, done.stderr
    return sentence


def is_built(cunei, form):
    done = cunei("export", "none", "--to", form)
    return "was built without" not in done.stderr


UNKNOWN = {
    "perfeto": "unknown format 'perfeto'; did you mean 'perfetto'? "
    "The formats are html, ",
    "speed": "unknown format 'speed'; did you mean 'speedscope'? "
    "The formats are html, ",
    "Chrome": "unknown format 'Chrome'; did you mean 'chrome'? The formats are html, ",
    "HTML": "unknown format 'HTML'; did you mean 'html'? The formats are html, ",
    "PERFETTO": "unknown format 'PERFETTO'; did you mean 'perfetto'? "
    "The formats are html, ",
    "xlsx": "unknown format 'xlsx'; the formats are html, ",
    "": "unknown format ''; the formats are html, ",
    "perfeto:x": "unknown format 'perfeto'; did you mean 'perfetto'? "
    "The formats are html, ",
}


@pytest.mark.parametrize("word", UNKNOWN)
def test_an_unknown_format(trace, word):
    cunei, before = trace

    message = refuse(cunei, "export", "trace", "--to", word, status=2)

    assert message.startswith(UNKNOWN[word])
    assert all(form in message for form in FORMATS)
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.parametrize("command", ["run", "record"])
def test_an_unknown_format_is_reported_before_the_program_runs(cunei, command):
    cunei.write("app.py", "open('ran', 'w')")

    message = refuse(cunei, command, "--to", "perfeto", "app.py", status=2)

    assert "did you mean 'perfetto'" in message
    assert os.listdir(cunei.folder) == ["app.py"]


def test_no_format_at_all(trace):
    cunei, _ = trace

    message = refuse(cunei, "export", "trace", status=2)

    assert message == (
        "missing format, for example --to perfetto; 'cunei export --list' lists them"
    )


@pytest.mark.parametrize("form", ["csv", "ctf"])
def test_an_output_that_exists_is_left_alone(cunei, form):
    record(cunei)
    path = export(cunei, form)
    before = os.stat(path).st_mtime_ns

    message = refuse(cunei, "export", "trace", "--to", form, "-o", path.name)

    assert message == f"'{path.name}' exists; --force overwrites it"
    assert os.stat(path).st_mtime_ns == before
    assert cunei("export", "trace", "--to", form, "-fo", path).returncode == 0


@pytest.mark.parametrize("command", ["run", "record"])
def test_an_output_that_exists_is_reported_before_the_program_runs(cunei, command):
    cunei.write("app.py", "open('ran', 'w')")
    cunei.write("app.csv", "mine")

    message = refuse(cunei, command, "--to", "csv", "app.py")

    assert message == "'app.csv' exists; --force overwrites it"
    assert sorted(os.listdir(cunei.folder)) == ["app.csv", "app.py"]


@pytest.mark.parametrize("form", FOLDERS)
def test_a_folder_with_other_things_in_it_is_never_replaced(cunei, form):
    if not is_built(cunei, form):
        pytest.skip(f"cunei was built without {form}")
    record(cunei)
    mine = cunei.write("mine/letter.txt", "dear")

    message = refuse(cunei, "export", "trace", "--to", form, "-o", "mine", "--force")

    assert (
        message
        == "'mine' contains files that are not of an export, so it is not overwritten"
    )
    assert mine.read_text() == "dear"


def test_a_trace_is_not_written_over_itself(trace):
    cunei, _ = trace

    message = refuse(cunei, "export", "trace", "--to", "ctf", "-fo", "./trace/")

    assert message == "cannot write to './trace/': it is the trace itself"


PLACES = {
    "nowhere/x.csv": "cannot write to 'nowhere/x.csv': No such file or directory",
    "app.py/x.csv": "cannot write to 'app.py/x.csv': Not a directory",
    ".": "cannot write to '.': it is a directory",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_where_nothing_can_be_written(trace, place):
    cunei, before = trace

    message = refuse(cunei, "export", "trace", "--to", "csv", "-o", place)

    assert message == PLACES[place]
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_ours(trace):
    cunei, _ = trace

    message = refuse(cunei, "export", "trace", "--to", "csv", "-o", "/usr/x.csv")

    assert message == "cannot write to '/usr/x.csv': Permission denied"


def test_a_place_that_is_not_there_is_reported_before_the_program_runs(cunei):
    cunei.write("app.py", "open('ran', 'w')")

    message = refuse(cunei, "record", "--to", "csv:nowhere/x.csv", "app.py")

    assert message == PLACES["nowhere/x.csv"]
    assert os.listdir(cunei.folder) == ["app.py"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_disk_that_is_full_half_way_leaves_nothing(cunei, form):
    if not is_built(cunei, form):
        pytest.skip(f"cunei was built without {form}")
    record(cunei, program=timeline.LONG if form in FOLDERS else PROGRAM)
    before = sorted(os.listdir(cunei.folder))

    message = refuse(
        *(cunei, "export", "trace", "--to", form, "-o", "out"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
    )

    assert message == "cannot write to 'out': File too large"
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.parametrize("form", sorted(set(FORMATS) - set(FOLDERS)))
def test_a_device_that_is_full(trace, form):
    cunei, _ = trace
    if not is_built(cunei, form):
        pytest.skip(f"cunei was built without {form}")

    message = refuse(cunei, "export", "trace", "--to", form, "-o", "/dev/full")

    assert message == "cannot write to '/dev/full': No space left on device"


def test_stdout_that_is_full(trace):
    cunei, _ = trace
    command = 'exec "$0" export trace --to csv -o - > /dev/full'

    done = cunei.run("sh", "-c", command, cunei.executable)

    assert done.returncode == 1
    assert done.stderr == "cunei: cannot write to stdout: No space left on device\n"


def test_stdout_takes_no_folder(trace):
    cunei, _ = trace

    message = refuse(cunei, "export", "trace", "--to", "ctf:-", status=2)

    assert message == (
        "this format is a folder, which cannot go to stdout; name one with -o"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_of_a_damaged_trace_what_can_be_read_is_written(cunei, form):
    if not is_built(cunei, form):
        pytest.skip(f"cunei was built without {form}")
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    spoil(path, packet=2)

    message = refuse(cunei, "export", "trace", "--to", form, "-o", "out")

    assert re.fullmatch(
        r"'trace/.*/s0' is damaged (at byte|in packet) \d+: .*; "
        r"'out' contains what could be read",
        message,
    )
    out = cunei.folder / "out"
    assert any(out.iterdir()) if form in FOLDERS else out.stat().st_size > 200


def spoil(path, packet):
    """An event of a class that is none, in the middle of a packet."""
    data, at = bytearray(path.read_bytes()), 0
    for _ in range(packet):
        at += packets.HEAD.unpack_from(data, at)[10] // 8
    at += packets.HEAD.size + 8 * 100
    data[at : at + 8] = b"\xff" * 8
    path.write_bytes(data)


def test_an_export_has_the_readable_part_of_a_damaged_trace(cunei):
    record(cunei, program=timeline.LONG)
    whole = len(export(cunei, "csv").read_text().splitlines())
    (path,) = (cunei.folder / "trace").glob("*/s0")
    spoil(path, packet=2)

    cunei("export", "trace", "--to", "csv", "-o", "out")

    part = len((cunei.folder / "out").read_text().splitlines())
    assert whole / 10 < part < whole


def scatter(path, packet, at, data):
    """Other bytes in a packet."""
    whole, begin = bytearray(path.read_bytes()), 0
    for _ in range(packet):
        begin += packets.HEAD.unpack_from(whole, begin)[10] // 8
    whole[begin + at : begin + at + len(data)] = data
    path.write_bytes(whole)


DAMAGES = {
    "its head": (2, 0, bytes(4)),
    "the first head": (0, 0, bytes(4)),
    "a part of it": (2, 1000, bytes(range(1, 251)) * 12),
    "all of its head": (2, 0, b"\xa5" * 3000),
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("form", ["csv", "otf2"])
def test_damage_in_one_packet_costs_that_packet(cunei, form, name):
    if not is_built(cunei, form):
        pytest.skip(f"cunei was built without {form}")
    record(cunei, program=timeline.LONG)
    (path,) = (cunei.folder / "trace").glob("*/s0")
    whole = report(cunei)["calls"]
    count = packets.drop(path, set())
    scatter(path, *DAMAGES[name])

    message = refuse(cunei, "export", "trace", "--to", form, "-o", "out")

    assert re.search(
        r": .*; \d+ bytes at 1 place cannot be read; "
        r"'out' contains what could be read$",
        message,
    )
    done = cunei("report", "--json", "trace")
    left = json.loads(done.stdout)
    assert done.returncode == 1
    assert whole * (1 - 1.5 / count) < left["calls"] < whole
    if form == "csv":
        with (cunei.folder / "out").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert sum(row["kind"] == "call" for row in rows) == left["calls"]
        assert max(int(row["start"]) for row in rows) > 0


FAMILY = """\
import subprocess
import sys

def work():
    pass

work()
if sys.argv[1:] != ["child"]:
    for _ in range(2):
        subprocess.run([sys.executable, __file__, "child"], check=True)
"""


def garble(folder):
    (folder / "metadata").write_bytes(b"\x07" * 1000)


def remove_metadata(folder):
    (folder / "metadata").unlink()


def remove_events(folder):
    (folder / "s0").unlink()


LEFT_OUT = {
    garble: "'trace/{}/metadata' is not the metadata of a cunei trace",
    remove_metadata: "the metadata of 'trace/{}' is missing",
    remove_events: "the streams of 'trace/{}' are missing",
}


@pytest.mark.parametrize("harm", LEFT_OUT)
@pytest.mark.parametrize("form", ["csv", "folded", "html", "ctf"])
def test_one_process_that_cannot_be_read_is_left_out(cunei, form, harm):
    record(cunei, program=FAMILY)
    folder = packets.folders(cunei.folder / "trace")[1]
    harm(folder)

    message = refuse(cunei, "export", "trace", "--to", form, "-o", "out")

    wrong = LEFT_OUT[harm].format(folder.name)
    assert message == f"{wrong}; 'out' contains what could be read"
    for command in "report", "info", "dump", "replay":
        done = cunei(command, "--json", "trace")
        assert (done.returncode, wrong in done.stderr) == (1, True), command
        assert "__main__" in done.stdout or command == "info"
    whole = packets.folders(cunei.folder / "trace")[0].name
    for command in "report", "replay":
        done = cunei(command, "-p", whole, "trace")
        assert (done.returncode, done.stderr) == (0, ""), command


@pytest.mark.parametrize("form", FORMATS)
def test_a_time_when_nothing_was_recorded(trace, form):
    cunei, before = trace
    if not is_built(cunei, form):
        pytest.skip(f"cunei was built without {form}")

    message = refuse(cunei, "export", "trace", "--to", form, "--from", "2h")

    assert message == (
        "nothing was recorded between --from and --until; "
        "'cunei info trace' shows how long the recording is"
    )
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.parametrize("option", ["--from", "--until"])
@pytest.mark.parametrize(
    "word", ["soon", "-1", "", "5parsecs", "nan", "1e400", "1 s x"]
)
def test_a_time_that_is_none(trace, option, word):
    cunei, _ = trace

    message = refuse(
        cunei, "export", "trace", "--to", "csv", f"{option}={word}", status=2
    )

    assert message == f"{option} needs a time such as 0.25, 10ms or 2min, not '{word}'"


def test_an_end_before_the_begin(trace):
    cunei, _ = trace
    window = ("--from", "2s", "--until", "1")

    message = refuse(cunei, "export", "trace", "--to", "csv", *window, status=2)

    assert message == "--until 1 is before --from 2s"


def test_a_thread_that_does_not_exist(trace):
    cunei, before = trace

    message = refuse(cunei, "export", "trace", "--to", "csv", "--thread", "gone*")

    assert message == (
        "'trace' has no thread 'gone*'; 'cunei report trace --threads' lists them"
    )
    assert sorted(os.listdir(cunei.folder)) == before


def test_one_of_several_threads_does_not_exist(trace):
    cunei, before = trace
    threads = ("--thread", "MainThread", "--thread", "gone")

    message = refuse(cunei, "export", "trace", "--to", "csv", *threads)

    assert message.startswith("'trace' has no thread 'gone'; ")
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.parametrize("patterns", [("--include", "gone"), ("--exclude", "*")])
@pytest.mark.parametrize("form", ["csv", "html", "ctf"])
def test_patterns_that_leave_no_function(trace, form, patterns):
    cunei, before = trace

    message = refuse(cunei, "export", "trace", "--to", form, *patterns)

    assert message == (
        "--include, --exclude and --only-project leave no function of 'trace'; a "
        "pattern is a module, "
        "module:qualname, a file or re:…"
    )
    assert sorted(os.listdir(cunei.folder)) == before


@pytest.mark.parametrize("command", ["run", "record"])
def test_stdout_is_the_programs(cunei, command):
    cunei.write("app.py", "open('ran', 'w')")

    message = refuse(cunei, command, "--to", "folded:-", "app.py", status=2)

    assert (
        message == "--to folded:- is not possible: stdout is the program's; name a file"
    )
    assert os.listdir(cunei.folder) == ["app.py"]


def test_a_process_that_does_not_exist(trace):
    cunei, _ = trace

    message = refuse(cunei, "export", "trace", "--to", "csv", "--process", "1")

    assert message == (
        "'trace' has no process '1'; 'cunei report trace --processes' lists them"
    )


WORDS = {
    ("--to", "csv", "--names"): "--names needs --to ctf: other formats name every "
    "function",
    ("--to", "html", "--raw-cells"): "--raw-cells needs --to csv: other formats have "
    "no cells",
    ("--to", "html", "--to", "csv"): "--to can be given only once, not as 'html' "
    "and 'csv'",
    ("--to", "csv:a", "-o", "b"): "--to csv:a and -o b both name a file; "
    "give one of them",
}


@pytest.mark.parametrize("words", WORDS)
def test_words_that_do_not_go_together(trace, words):
    cunei, _ = trace

    assert refuse(cunei, "export", "trace", *words, status=2) == WORDS[words]


def test_open_wants_something_to_open(cunei):
    cunei.write("app.py", "pass")

    message = refuse(cunei, "record", "--open", "app.py", status=2)

    assert message == "--open needs an exported file: add --to html"


def test_no_trace(cunei):
    message = refuse(cunei, "export", "none", "--to", "csv")

    assert message.startswith("there is no trace 'none'; ")


def test_a_file_may_be_named_with_the_format(trace):
    cunei, before = trace

    done = cunei("export", "trace", "--to", "csv:rows.csv")

    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(cunei.folder)) == sorted([*before, "rows.csv"])
    (cunei.folder / "rows.csv").unlink()
