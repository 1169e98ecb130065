# SPDX-License-Identifier: MIT
"""A second reader of traces, written from the bytes that src/wire specifies.

Tests that count events or follow stacks read with it, so that cunei's own reader is
never its own witness.  It reads finished traces only and trusts them.
"""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pairs import pairs
from payloads import read_counter, read_token, read_value
from words import decode, halves, text_of

HEAD = struct.Struct("<I16sIQII32s9QII")
MAGIC = 0xC1FC1FC1
LAST, RENEWED = 1, 2

STACK, CALL, UNWIND, DEFINE, GAP = 1, 2, 3, 4, 5
SWITCH, TASK, THREAD_NAME, EXCEPTION, GC, LINE, ARGUMENT = 7, 8, 9, 10, 11, 12, 13
MARK, COUNTER, PARAMETER, TAG, METADATA, TOKEN = 15, 17, 18, 21, 22, 23
NEAR, NEAR_ABOVE = 768, 128  # lines by their distance from the last LINE
FIRST_FUNCTION = 1024
CLASS_END = FIRST_FUNCTION + 20000
ENTER, LEAVE, RESUME, YIELD = range(4)
REGION_FILE = "<cunei region>"


class Function(NamedTuple):
    module: str
    qualname: str
    file: str
    line: int


class Event(NamedTuple):
    time: int
    kind: int  # a built-in class; CALL for the phases of any function
    phase: int  # of a stack: how many frames are omitted
    function: int  # of a call
    value: object  # open functions of a stack, run of an unwind, bytes of a define,
    # and one of the following, or of payloads.py, for the others


class Switch(NamedTuple):
    greenlet: int
    omitted: int
    functions: list[int]


class Task(NamedTuple):
    task: int
    name: str  # empty: as before


class ThreadName(NamedTuple):
    thread: int
    name: str


class Exception_(NamedTuple):
    function: int
    line: int
    handler: int
    handler_line: int
    unwound: int
    type: str


class Collection(NamedTuple):
    collected: int
    generation: int
    uncollectable: int


class Line(NamedTuple):
    line: int
    function: int


class Argument(NamedTuple):
    function: int
    index: int
    name: str
    text: str


def open_functions(words: memoryview, at: int, count: int) -> list[int]:
    """Ids two to a word, from `at`; a leading 0 only makes their number even."""
    ids = [n for word in words[at : at + count // 2] for n in halves(word)]
    functions = ids[1:] if ids and ids[0] == 0 else ids
    assert 0 not in functions
    return functions


def read_switch(words: memoryview, at: int) -> tuple[Switch, int]:
    omitted, count = halves(words[at + 1])
    functions = open_functions(words, at + 2, count)
    return Switch(words[at], omitted, functions), at + 2 + count // 2


def read_task(words: memoryview, at: int) -> tuple[Task, int]:
    _, length = halves(words[at + 1])
    name = decode(text_of(words, at + 2, length))
    return Task(words[at], name), at + 2 + length // 8


def read_thread_name(words: memoryview, at: int) -> tuple[ThreadName, int]:
    task, at = read_task(words, at)
    return ThreadName(*task), at


def read_exception(words: memoryview, at: int) -> tuple[Exception_, int]:
    *numbers, length = (n for word in words[at : at + 3] for n in halves(word))
    kind = decode(text_of(words, at + 3, length))
    return Exception_(*numbers, kind), at + 3 + length // 8


def read_gc(words: memoryview, at: int) -> tuple[Collection, int]:
    return Collection(words[at], *halves(words[at + 1])), at + 2


def read_argument(words: memoryview, at: int) -> tuple[Argument, int]:
    function, index = halves(words[at])
    name_length, length = halves(words[at + 1])
    text = text_of(words, at + 2, length)
    name, value = text[:name_length], text[name_length:]
    if name:
        assert value[:1] == b"=", text
        value = value[1:]
    return Argument(function, index, decode(name), decode(value)), at + 2 + length // 8


def read_line(words: memoryview, at: int) -> tuple[Line, int]:
    return Line(*halves(words[at])), at + 1


def read_gap(words, at):
    return words[at], at + 1


READERS = {
    GAP: read_gap,
    SWITCH: read_switch,
    TASK: read_task,
    THREAD_NAME: read_thread_name,
    EXCEPTION: read_exception,
    GC: read_gc,
    LINE: read_line,
    ARGUMENT: read_argument,
    MARK: read_value,
    PARAMETER: read_value,
    TAG: read_value,
    METADATA: read_value,
    COUNTER: read_counter,
    TOKEN: read_token,
}


@dataclass
class Packet:
    """A packet's head, and the words behind it."""

    stream_class: int
    stream: int
    vpid: int
    vtid: int
    thread_name: str
    begin: int
    end: int
    sequence: int
    discarded: int
    thread: int
    flags: int
    words: memoryview

    def events(self) -> Iterator[Event]:
        words, at = self.words, 0
        line = None  # the last LINE
        while at < len(words):
            word = words[at]
            kind, phase = word >> 40 & 0x3FFFFF, word >> 62
            time = self.begin + (word - self.begin & (1 << 40) - 1)
            at += 1
            if kind >= FIRST_FUNCTION:
                yield Event(time, CALL, phase, kind, None)
            elif kind == CALL:
                yield Event(time, CALL, phase, words[at], None)
                at += 1
            elif kind == UNWIND:
                yield Event(time, UNWIND, 0, 0, words[at])
                at += 1
            elif kind == STACK:
                omitted, count = halves(words[at])
                functions = open_functions(words, at + 1, count)
                at += 1 + count // 2
                yield Event(time, STACK, omitted, 0, functions)
            elif kind == DEFINE:
                length = words[at + 2] >> 32
                body = bytes(words[at : at + 3 + length // 8].cast("B"))
                at += 3 + length // 8
                yield Event(time, DEFINE, phase, 0, body)
            elif kind in READERS:
                value, at = READERS[kind](words, at)
                line = value if kind == LINE else line
                yield Event(time, kind, phase, 0, value)
            elif kind >= NEAR:
                assert line, "near to nothing"
                number = line.line + kind - NEAR - NEAR_ABOVE
                yield Event(time, LINE, phase, 0, Line(number, line.function))
            else:
                raise ValueError(f"class {kind} is not known")

    def count(self) -> Counter[tuple[int, int]]:
        """How often each (function, phase) occurs."""
        rest = self.words[2 + (self.words[1] >> 32) // 2 :]
        found = Counter(word >> 40 for word in rest)
        if all(key & 0x3FFFFF >= FIRST_FUNCTION for key in found):
            return Counter({(key & 0x3FFFFF, key >> 22): n for key, n in found.items()})
        calls = (event for event in self.events() if event.kind == CALL)
        return Counter((event.function, event.phase) for event in calls)


def split_packets(data: bytes) -> Iterator[Packet]:
    at = 0
    while at < len(data):
        values = HEAD.unpack_from(data, at)
        magic, _, stream_class, stream, vpid, vtid, name = values[:7]
        begin, end, content, size, sequence, discarded = values[7:13]
        thread, flags = values[16:]
        assert magic == MAGIC and content == size and size % 64 == 0
        yield Packet(
            stream_class,
            stream,
            vpid,
            vtid,
            name.rstrip(b"\0").decode(errors="surrogateescape"),
            begin,
            end,
            sequence,
            discarded,
            thread,
            flags,
            memoryview(data[at + HEAD.size : at + size // 8]).cast("Q"),
        )
        at += size // 8
    assert at == len(data)


def unescape(text: bytes) -> bytes:
    return text.decode("unicode_escape").encode("latin-1") if b"\\" in text else text


def split_name(name: bytes, lengths: list[int], escaped: bool) -> Function:
    parts = []
    for length, gap in pairs(lengths, (b":", b" (", b":")):
        part, name = name[:length], name[length:]
        assert name.startswith(gap)
        name = name[len(gap) :]
        part = unescape(part) if escaped else part
        parts.append(part.decode(errors="surrogateescape"))
    return Function(*parts, int(name.rstrip(b"\0)")))


def parse_definitions(metadata: bytes) -> Iterator[tuple[int, Function]]:
    _, _, lines = metadata.partition(b"/* functions */\n")
    for line in lines.splitlines():
        text, _, rest = line[len(b'event { name = "') :].rpartition(b'"; id = ')
        number, _, comment = rest.partition(b";")
        *lengths, _ = comment.partition(b"/* ")[2].replace(b"e ", b"").split()
        lengths = [word for word in lengths if not word.startswith(b"s")]
        name = text.replace(b'\\"', b'"').replace(b"\\\\", b"\\")
        escaped = b" e " in comment.rpartition(b"/* ")[2]
        yield int(number), split_name(name, [int(word) for word in lengths], escaped)


def parse_define(event: Event) -> tuple[int, Function]:
    head = struct.unpack_from("<6I", event.value)
    return head[0], split_name(event.value[24:], list(head[2:5]), bool(event.phase))


@dataclass
class Replay:
    """One thread's stack, followed from event to event, and what did not fit."""

    regions: frozenset[int] = frozenset()  # definitions that are regions
    stack: list[int] | None = None
    orphans: int = 0  # exits of frames whose entry is missing
    unclosed: int = 0  # entries whose exit is missing
    appeared: int = 0  # frames in a later packet's stack whose entry is missing
    torn: int = 0  # switches to a greenlet whose frames are not those it had
    deepest: int = 0
    greenlet: int = 0  # that runs; 0: the one before the first switch
    suspended: dict[int, list[int]] = field(default_factory=dict)
    open_regions: Counter[int] | None = None  # in no order: they need not nest
    left: dict[int, Counter[int]] = field(default_factory=dict)  # by greenlets

    def region(self, region: int, phase: int) -> None:
        if phase in (ENTER, RESUME):
            self.open_regions[region] += 1
        elif self.open_regions[region]:
            self.open_regions[region] -= 1
        else:
            self.orphans += 1

    def split(self, stack: list[int], renewed: bool) -> list[int]:
        """Take over which regions are open, and leave the functions."""
        found = Counter(each for each in stack if each in self.regions)
        known = found if self.open_regions is None or renewed else self.open_regions
        self.unclosed += sum((known - found).values())
        self.appeared += sum((found - known).values())
        self.open_regions = found
        return [each for each in stack if each not in self.regions]

    def leave(self, function: int, run: int | None) -> None:
        """The rules of wire/event.h for a leave, after an unwind with this run."""
        stack = self.stack
        if run is None and function in stack[-1:]:
            stack.pop()
            return
        if run is None and function in stack:
            while stack.pop() != function:
                self.unclosed += 1
            return
        same = 0
        while same < len(stack) and stack[-1 - same] == function and run:
            same += 1
        if stack[-1:] != [function] or (run and same < run):
            self.orphans += 1
            return
        for _ in range(same - run if run else 0):
            stack.pop()
            self.unclosed += 1
        stack.pop()

    def synchronise(self, stack: list[int], omitted: int, renewed: bool) -> None:
        """Take over what a packet begins with; frames it omits stay as known."""
        known = stack if self.stack is None or renewed else self.stack
        stack[:omitted] = known[:omitted]
        both = enumerate(zip(known, stack))
        ends = (at for at, (old, new) in both if old != new)
        common = next(ends, min(len(known), len(stack)))
        self.unclosed += len(known) - common
        self.appeared += len(stack) - common
        self.stack = stack

    def switch(self, switch: Switch) -> None:
        """Its frames must be those with which it was suspended, if it was."""
        functions = [each for each in switch.functions if each not in self.regions]
        here = Counter(each for each in switch.functions if each in self.regions)
        self.left[self.greenlet] = self.open_regions
        self.open_regions = here
        self.suspended[self.greenlet] = self.stack
        known = self.suspended.pop(switch.greenlet, None)
        # The greenlet that ran first gets its number when it runs again; one that was
        # suspended before the recording began has frames that were not recorded.
        if known is None and self.suspended.get(0) == functions:
            known = self.suspended.pop(0)
        if known is not None:
            self.torn += known[switch.omitted :] != functions
            self.torn += self.left.get(switch.greenlet, here) != here
        self.stack = [0] * switch.omitted + functions
        if known is not None and switch.omitted:
            self.stack[: switch.omitted] = known[: switch.omitted]
        self.greenlet = switch.greenlet

    def follow(self, packet: Packet) -> None:
        renewed = bool(packet.flags & RENEWED)
        run = None
        for event in packet.events():
            if event.kind == STACK:
                stack = self.split(event.value, renewed)
                self.synchronise([0] * event.phase + stack, event.phase, renewed)
            elif event.kind == UNWIND:
                run = event.value
            elif event.kind == SWITCH:
                self.switch(event.value)
            elif event.kind == CALL and event.function in self.regions:
                self.region(event.function, event.phase)
            elif event.kind == CALL:
                if event.phase in (ENTER, RESUME):
                    self.stack.append(event.function)
                    self.deepest = max(self.deepest, len(self.stack))
                else:
                    self.leave(event.function, run)
                run = None

    def is_balanced(self) -> bool:
        return self.orphans == self.unclosed == self.appeared == self.torn == 0


@dataclass
class Process:
    """One folder of a trace."""

    folder: Path
    functions: dict[int, Function] = field(default_factory=dict)
    packets: list[Packet] = field(default_factory=list)
    definitions: list[Packet] = field(default_factory=list)
    description: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert not (self.folder / ".live").exists(), "the recording has not ended"
        metadata = (self.folder / "metadata").read_bytes()
        self.functions = dict(parse_definitions(metadata))
        for file in sorted(self.folder.glob("s*")):
            for packet in split_packets(file.read_bytes()):
                target = self.definitions if packet.stream_class else self.packets
                target.append(packet)
        for packet in self.definitions:
            self.functions.update(parse_define(event) for event in packet.events())
        for line in (self.folder / ".process").read_text().splitlines():
            key, _, value = line.partition(" ")
            self.description[key] = value

    @property
    def pid(self) -> int:
        return int(self.folder.name.split("-")[-2])

    def threads(self) -> dict[int, list[Packet]]:
        """The packets of each thread, by its serial number, in order."""
        found = defaultdict(list)
        for packet in self.packets:
            found[packet.thread].append(packet)
        return dict(found)

    def events(self) -> Iterator[Event]:
        for packet in self.packets:
            yield from packet.events()

    def count(self, *phases: int, thread_name: str | None = None) -> Counter[Function]:
        """Events of these phases, by function; of one thread, or of all."""
        counts = Counter()
        for packet in self.packets:
            if thread_name not in (None, packet.thread_name):
                continue
            for (function, phase), n in packet.count().items():
                if phase in phases:
                    counts[self.functions[function]] += n
        return counts

    def replay(self) -> dict[int, Replay]:
        """What became of each thread's stack."""
        found = {}
        regions = frozenset(
            number
            for number, function in self.functions.items()
            if function.file == REGION_FILE
        )
        for thread, packets in self.threads().items():
            found[thread] = Replay(regions)
            for packet in packets:
                found[thread].follow(packet)
        return found

    def is_balanced(self) -> bool:
        return all(replay.is_balanced() for replay in self.replay().values())


@dataclass
class Trace:
    """All folders of a trace directory, in the order in which they were begun."""

    processes: list[Process]

    def count(self, qualname: str, *phases: int) -> int:
        """Events of one function, ENTER by default, in all processes."""
        return sum(
            n
            for process in self.processes
            for function, n in process.count(*(phases or (ENTER,))).items()
            if function.qualname == qualname
        )

    def is_balanced(self) -> bool:
        return all(process.is_balanced() for process in self.processes)

    def lost(self) -> int:
        return sum(int(process.description["lost"]) for process in self.processes)


def read(directory: Path) -> Trace:
    processes = [Process(path.parent) for path in Path(directory).glob("*/metadata")]
    return Trace(sorted(processes, key=lambda p: int(p.description["start_ns"])))
