# SPDX-License-Identifier: MIT
"""Whether babeltrace2 and `cunei dump` show the same of a trace, event by event."""

import collections
import json
import re

from pairs import pairs
from proof import cunei, print_with_babeltrace

TOLERANCE_NS = 2

THEIRS = re.compile(
    r"\[(?P<time>\d\d:\d\d:\d\d\.\d{9})\] \(\+\S+\) (?P<host>\S+):python:\(\d+\) "
    r"(?P<name>.*): \{ vpid = (?P<pid>\d+), vtid = (?P<tid>\d+), "
    r'thread_name = "(?P<thread>.*)", monotonic_ns = \d+, cpu_begin_ns = \d+, '
    r"cpu_end_ns = \d+, thread = \d+, flags = \d+ \}, "
    r'\{ phase = \( "(?P<phase>\w+)" : container = \d \) \}(?:, (?P<payload>\{.*\}))?',
    re.DOTALL,
)
OURS = re.compile(
    r"\[(?P<time>\d\d:\d\d:\d\d\.\d{9})\] (?P<pid>\d+) (?P<tid>\d+) "
    r'"(?P<thread>(?:[^"\\]|\\.)*)" (?P<name>.*?): (?P<phase>enter|leave|resume|yield)'
    r"(?:, (?P<payload>\{.*\})(?: (?P<function>.*))?)?",
    re.DOTALL,
)

Event = collections.namedtuple("Event", "time pid tid thread name phase payload")


def nanoseconds(time):
    hours, minutes, seconds = time.split(":")
    second, ns = seconds.split(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(second)) * 10**9 + int(ns)


# In place of a text without letters, babeltrace2 2.0 prints the last one that had some.
NO_TEXT = re.compile(r'(length = 0, \w+ = )".*"')


# What `cunei dump` escapes as well: C1, characters that turn, break or hide text, and
# bytes that are not UTF-8.
UNSAFE = re.compile(
    "[\x80-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\udc80-\udcff]"
)


def escape(text):
    """As `cunei dump` prints a text of babeltrace2."""
    return UNSAFE.sub(lambda match: escape_bytes(match[0]), text)


def escape_bytes(text):
    return "".join(f"\\x{n:02x}" for n in text.encode("utf-8", "surrogateescape"))


def parse(form, lines):
    """Events by process and thread, each in order."""
    threads = collections.defaultdict(list)
    for line in lines:
        match = form.fullmatch(line)
        assert match, line
        fields = match.groupdict()
        event = Event(
            nanoseconds(fields["time"]),
            fields["pid"],
            fields["tid"],
            fields["thread"],
            fields["name"],
            fields["phase"],
            fields["payload"] and NO_TEXT.sub(r'\1""', fields["payload"]),
        )
        threads[event.pid, event.tid, event.thread].append(event)
    return threads


def compare(directory, *, lost=0):
    """Compare all events one by one; returns them by thread."""
    theirs_lines, warnings = print_with_babeltrace(directory)
    ours_lines = cunei("dump", directory).stdout.split("\n")[:-1]
    report = json.loads(cunei("report", "--json", directory).stdout)

    assert len(theirs_lines) == len(ours_lines) == report["events"]
    discarded = sum(map(int, re.findall(r"Tracer discarded (\d+) event", warnings)))
    assert (discarded, report["lost"]) == (lost, lost)
    if not lost:
        assert warnings == ""
    theirs, ours = parse(THEIRS, map(escape, theirs_lines)), parse(OURS, ours_lines)
    assert theirs.keys() == ours.keys()
    for key, events in theirs.items():
        assert len(events) == len(ours[key]), key
        for their, our in pairs(events, ours[key]):
            assert abs(their.time - our.time) <= TOLERANCE_NS, (their, our)
            assert their[1:] == our[1:]
    return ours


# What babeltrace2 has letters for.
LETTERS = dict(pairs("\\'\"?\a\b\x1b\f\n\r\t\v", "\\'\"?abefnrtv"))
LETTERS = {ord(letter): f"\\{name}" for letter, name in LETTERS.items()}
LETTERS.update({n: f"\\x{n:02x}" for n in (*range(32), 127) if n not in LETTERS})


def render(value):
    """A payload of `cunei dump --json` in the words of babeltrace2."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {render(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        items = (f" [{n}] = {item}" for n, item in enumerate(value))
        return "[" + ",".join(items) + " ]"
    if isinstance(value, str):
        return '"' + escape(value.translate(LETTERS)) + '"'
    return str(value)


def compare_json(directory, ours):
    """The same events as JSON; returns those that are no calls, by kind."""
    kinds = collections.defaultdict(list)
    taken = collections.Counter()
    for line in cunei("dump", "--json", directory).stdout.splitlines():
        row = json.loads(line)
        thread = escape(row["thread"].translate(LETTERS))
        key = str(row["pid"]), str(row["tid"]), thread
        event = ours[key][taken[key]]
        taken[key] += 1
        assert (event.name, event.phase) == (row["event"], row["phase"])
        assert (row["time_ns"] - event.time) % 10**9 == 0
        if event.payload:
            assert render(row["payload"]) == event.payload, line
            kinds[row["event"]].append(row)
    assert taken == {key: len(events) for key, events in ours.items()}
    return kinds
