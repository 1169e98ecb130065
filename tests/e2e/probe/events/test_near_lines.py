# SPDX-License-Identifier: MIT
"""Lines near the last one take a word: what that saves, and that all readers agree."""

import json
import re
from collections import Counter

import ctf
import pytest
from proof import needs_babeltrace, print_with_babeltrace

# Two functions that take turns, one of them long, a generator, threads, and code
# objects that come and go: some get the address of one that is gone.
SOURCE = """\
import threading


def loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def take_turns(n):
    while n:
        loop(2)
        n -= 1


def generate(n):
    for i in range(n):
        yield i


def long(n):
    while n:
        n -= 1
        FILL
        n += 0
    return n


def churn(n):
    for i in range(n):
        space = {"__name__": "churned"}
        exec("\\n" * (i % 3) + f"def made_{i % 3}():\\n    return 1\\n", space)
        space[f"made_{i % 3}"]()


def work():
    loop(20000)
    take_turns(300)
    list(generate(500))
    long(100)


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
work()
for thread in threads:
    thread.join()
churn(300)
""".replace("FILL", "\n" * 300 + "        n += 0")
LINED = ("loop", "take_turns", "generate", "long")


@pytest.fixture
def directory(cunei):
    cunei.write("app.py", SOURCE)
    chosen = [word for name in LINED for word in ("--lines", f":{name}")]
    done = cunei(
        "record", "-q", "-o", "trace", *chosen, "--lines", "churned:*", "app.py"
    )
    assert (done.returncode, done.stderr) == (0, "")
    return cunei.folder / "trace"


def read_with_ctf(directory):
    """(function, line, phase) of each line, by a reader that is not cunei's."""
    (process,) = ctf.read(directory).processes
    return Counter(
        (
            process.functions[event.value.function].qualname,
            event.value.line,
            ("enter", "leave", "resume", "yield")[event.phase],
        )
        for event in process.events()
        if event.kind == ctf.LINE
    )


@pytest.mark.core
def test_all_readers_find_the_same_lines(cunei, directory):
    recorded = read_with_ctf(directory)

    report = json.loads(cunei("report", "--json", directory).stdout)
    dumped = [
        json.loads(line)
        for line in cunei("dump", "--json", directory).stdout.split("\n")[:-1]
    ]

    hits = Counter()
    for (name, line, phase), count in recorded.items():
        # What the instructions of a long function say is for the reader to decide.
        if phase != "resume" and name != "long":
            hits[name, line] += count
    found = {(each["function"], each["line"]): each["hits"] for each in report["lines"]}
    assert {key: n for key, n in found.items() if key[0] != "long"} == hits
    first = SOURCE[: SOURCE.index("def loop")].count("\n") + 1
    assert found["loop", first + 3] == 3 * (20000 + 2 * 300)
    long = SOURCE[: SOURCE.index("def long")].count("\n") + 1
    assert [n for key, n in sorted(found.items()) if key[0] == "long"]
    assert found["long", long + 2] == 3 * 100
    assert [hits[f"made_{i}", 2 + i] for i in range(3)] == [100] * 3
    assert recorded == Counter(
        (
            event["function"].split(" ")[0].split(":")[1],
            event["payload"]["line"],
            event["phase"],
        )
        for event in dumped
        if event["event"] == "line"
    )


THEIRS = re.compile(
    r".* (line(?P<far>[+-]\d+)?): .* vtid = (?P<tid>\d+),.*"
    r'phase = \( "(?P<phase>\w+)".*?(?:\{ line = (?P<line>\d+), function = (\d+) \})?'
)


@needs_babeltrace
def test_babeltrace_shows_how_far_each_is_from_the_last(directory):
    events = {}
    for text in print_with_babeltrace(directory)[0]:
        match = THEIRS.fullmatch(text)
        if match:
            events.setdefault(match["tid"], []).append(match)

    printed = Counter()
    for matches in events.values():
        line = 0
        for match in matches:
            line = int(match["line"] or line)
            printed[line + int(match["far"] or 0), match["phase"]] += 1

    expected = Counter()
    for (_, line, phase), count in read_with_ctf(directory).items():
        expected[line, phase] += count
    assert printed == expected


@pytest.mark.core
def test_a_line_of_a_loop_takes_a_word(cunei):
    source = """\
def loop(n):
    total = 0
    while n:
        total += n
        n -= 1


loop(50000)
"""
    sizes = []
    for options in ([], ["--lines", ":loop"]):
        cunei.write("app.py", source)
        done = cunei("record", "-q", "--force", "-o", "trace", *options, "app.py")
        assert (done.returncode, done.stderr) == (0, "")
        streams = (cunei.folder / "trace").glob("*/s*")
        sizes.append(sum(file.stat().st_size for file in streams))

    per_line = (sizes[1] - sizes[0]) / (3 * 50000)
    assert 8 <= per_line < 8.1
