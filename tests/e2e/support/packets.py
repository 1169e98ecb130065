# SPDX-License-Identifier: MIT
"""A second reader of the format, small and strict, for tests to check the first by.

It is written from docs/reference/trace-format.md, not from the C sources.  It accepts
only what a trace may hold after a clean end or a recovery; anything else is an
AssertionError.
"""

import array
import collections
import dataclasses
import pathlib
import re
import struct

HEAD = struct.Struct("<I16sIQ II32s QQQQ QQ QQQ II")
DEFINITION = struct.Struct("<QIIIIII")
STACK, CALL, UNWIND, DEFINE = 1, 2, 3, 4
SWITCH, TASK, THREAD_NAME, EXCEPTION, GC, ARGUMENT = 7, 8, 9, 10, 11, 13
# Words before the items that the last of them counts, and how many are in a word.
LAYOUTS = {
    STACK: (2, 2),
    DEFINE: (4, 8),
    SWITCH: (3, 2),
    TASK: (3, 8),
    THREAD_NAME: (3, 8),
    EXCEPTION: (4, 8),
    GC: (3, 0),
    ARGUMENT: (3, 8),
}
ENTER, LEAVE, RESUME, YIELD = range(4)
FIRST_FUNCTION = 1024
OPEN_SPAN = 1 << 45

LINE = re.compile(
    rb'event { name = "(?P<name>(?:[^"\\]|\\.)*)"; id = (?P<id>\d+); stream_id = 0; };'
    rb" /\* (?P<module>\d+) (?P<qualname>\d+) (?P<file>\d+)(?P<escaped> e)? \*/"
)


@dataclasses.dataclass
class Packet:
    stream: int
    stream_class: int
    vpid: int
    vtid: int
    thread_name: str
    begin: int
    end: int
    sequence: int
    discarded: int
    thread: int
    words: array.array  # of its events


def folders(directory):
    """The folders of the processes in a trace directory."""
    return sorted(path.parent for path in pathlib.Path(directory).glob("*/metadata"))


def drop(path, numbers):
    """Take packets out of a stream's file; returns how many there were."""
    data, kept, at, number = path.read_bytes(), b"", 0, 0
    while at < len(data):
        size = HEAD.unpack_from(data, at)[10] // 8
        if number not in numbers:
            kept += data[at : at + size]
        at, number = at + size, number + 1
    path.write_bytes(kept)
    return number


def packets(folder):
    """All packets of a process, file by file, in order."""
    for path in sorted(folder.glob("s*"), key=lambda path: int(path.name[1:])):
        yield from _packets_of(path.read_bytes(), int(path.name[1:]))


def _packets_of(data, number):
    at, sequence, end = 0, -1, 0
    while at < len(data):
        assert len(data) - at >= HEAD.size, f"s{number}: torn head at {at}"
        fields = HEAD.unpack_from(data, at)
        magic, _, stream_class, stream, vpid, vtid, name = fields[:7]
        first, last, content, size, count, discarded = fields[7:13]
        thread = fields[16]
        assert magic == 0xC1FC1FC1, f"s{number}: no packet at {at}"
        assert stream == number
        assert content == size, f"s{number}: not trimmed at {at}"
        assert size // 8 <= len(data) - at, f"s{number}: torn packet at {at}"
        assert sequence < count, f"s{number}: sequence {sequence}, then {count}"
        assert end <= first <= last, f"s{number}: times {end}, {first}, {last}"
        assert last - first < OPEN_SPAN, f"s{number}: still open at {at}"
        words = array.array("Q", data[at + HEAD.size : at + size // 8])
        name = name.rstrip(b"\0").decode()
        yield Packet(
            number,
            stream_class,
            vpid,
            vtid,
            name,
            first,
            last,
            count,
            discarded,
            thread,
            words,
        )
        at, sequence, end = at + size // 8, count, last


def function_names(folder):
    """The qualified name of every function, by id."""
    names = _defined_names(folder)
    text = (folder / "metadata").read_bytes()
    assert text.endswith(b"\n"), "a torn line"
    for line in text.split(b"/* functions */\n", 1)[1].splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        name = re.sub(rb"\\(.)", rb"\1", match["name"])
        start = int(match["module"]) + 1
        names[int(match["id"])] = name[start : start + int(match["qualname"])].decode(
            errors="surrogateescape"
        )
    return names


def _defined_names(folder):
    """Those beyond the classes, which the definitions stream names."""
    names = {}
    for packet in packets(folder):
        data, at = packet.words.tobytes(), 0
        while packet.stream_class == 1 and at < len(data):
            fields = DEFINITION.unpack_from(data, at)
            assert fields[0] >> 40 & 0x3FFFFF == DEFINE, "a definition is none"
            number, _, module, qualname, _, length = fields[1:]
            start = at + DEFINITION.size + module + 1
            names[number] = data[start : start + qualname].decode()
            at += DEFINITION.size + length
    return names


def _event_words(words, at):
    kind = words[at] >> 40 & 0x3FFFFF
    if kind >= FIRST_FUNCTION:
        return 1
    if kind not in LAYOUTS:
        return 2
    fixed, per_word = LAYOUTS[kind]
    return fixed + (words[at + fixed - 1] >> 32) // per_word if per_word else fixed


def count_events(folder):
    """How often each (class, phase) occurs; functions beyond the classes by id."""
    counts = collections.Counter()
    for packet in packets(folder):
        words = packet.words
        if packet.stream_class == 0:
            assert words[0] >> 40 & 0x3FFFFF == STACK, "the first event is no stack"
        else:
            counts[DEFINE] += sum(1 for _ in _events(words))
            continue
        skip = _event_words(words, 0)
        found = collections.Counter(word >> 40 for word in words[skip:])
        if all(key & 0x3FFFFF >= FIRST_FUNCTION for key in found):
            found[words[0] >> 40] += 1
        else:
            found = _count_slowly(words)
        counts.update(found)
    return collections.Counter(
        {(key & 0x3FFFFF, key >> 22): count for key, count in counts.items()}
    )


def _events(words):
    """Where each event begins."""
    at = 0
    while at < len(words):
        yield at
        at += _event_words(words, at)
    assert at == len(words), "the last event is cut short"


def _count_slowly(words):
    found = collections.Counter()
    for at in _events(words):
        key = words[at] >> 40
        found[key] += 1
        if key & 0x3FFFFF == CALL:
            found[key & ~0x3FFFFF | words[at + 1]] += 1
    return found


def total(counts):
    """The number of events: a call beyond the classes is counted twice above."""
    classes = 1024 + 20000
    return sum(count for (kind, _), count in counts.items() if kind < classes)


def entries(folder):
    """How often each function was entered, by qualified name."""
    names = function_names(folder)
    counts = collections.Counter()
    for (kind, phase), count in count_events(folder).items():
        if phase == ENTER and kind in names:
            counts[names[kind]] += count
    return counts
