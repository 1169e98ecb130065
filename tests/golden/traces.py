"""Small traces with invented times, written byte by byte as src/wire specifies."""

import pathlib
import struct
import uuid

FREQUENCY = 2_500_000_000
START_NS = 1_700_000_000_000_000_000
FIRST_FUNCTION = 1024
STACK, CALL, UNWIND = 1, 2, 3
SWITCH, TASK, THREAD_NAME, EXCEPTION, GC, LINE, ARGUMENT = 7, 8, 9, 10, 11, 12, 13
ENTER, LEAVE, RESUME, YIELD = range(4)
CLASSES_MAX = 20_000

CONTEXT = """  packet.context := struct {
    uint32_t vpid;
    uint32_t vtid;
    text_t thread_name[32];
    time_t timestamp_begin;
    time_t timestamp_end;
    uint64_t content_size;
    uint64_t packet_size;
    uint64_t packet_seq_num;
    uint64_t events_discarded;
    uint64_t monotonic_ns;
    uint64_t cpu_begin_ns;
    uint64_t cpu_end_ns;
    uint32_t thread;
    uint32_t flags;
  };
  event.header := struct {
    integer {
      size = 40; align = 1; signed = false; map = clock.cunei.value;
    } timestamp;
    integer { size = 22; align = 1; signed = false; } id;
  } align(64);
  event.context := struct { enum phase phase; };
"""

EVENTS = (
    ("stack", 1, 0, "uint32_t omitted; uint32_t count; uint32_t functions[count];"),
    ("call", 2, 0, "uint64_t function;"),
    ("unwind", 3, 0, "uint64_t run;"),
    (
        "define",
        4,
        1,
        "uint32_t function; uint32_t line; uint32_t module_length; "
        "uint32_t qualname_length; uint32_t file_length; uint32_t length; "
        "text_t text[length];",
    ),
    (
        "switch",
        7,
        0,
        "uint64_t greenlet; uint32_t omitted; uint32_t count; "
        "uint32_t functions[count];",
    ),
    (
        "task",
        8,
        0,
        "uint64_t task; uint32_t reserved; uint32_t length; text_t name[length];",
    ),
    (
        "thread_name",
        9,
        0,
        "uint64_t thread; uint32_t reserved; uint32_t length; text_t name[length];",
    ),
    (
        "exception",
        10,
        0,
        "uint32_t function; uint32_t line; uint32_t handler; uint32_t handler_line; "
        "uint32_t unwound; uint32_t length; text_t type[length];",
    ),
    (
        "gc",
        11,
        0,
        "uint64_t collected; uint32_t generation; uint32_t uncollectable;",
    ),
    ("line", 12, 0, "uint32_t line; uint32_t function;"),
    (
        "argument",
        13,
        0,
        "uint32_t function; uint32_t index; uint32_t name_length; uint32_t length; "
        "text_t text[length];",
    ),
)


def integer(size, align, extra=""):
    layout = f"size = {size}; align = {align}; signed = false;"
    return f"typealias integer {{ {layout} {extra}}}"


def preamble(identity, pid, version=1):
    lines = [
        "/* CTF 1.8 */",
        f"/* cunei wire version {version} */",
        integer(8, 8) + " := uint8_t;",
        integer(32, 8) + " := uint32_t;",
        integer(64, 8) + " := uint64_t;",
        integer(8, 8, "encoding = UTF8; ") + " := text_t;",
        integer(2, 1) + " := uint2_t;",
        "enum phase : uint2_t { enter = 0, leave = 1, resume = 2, yield = 3 };",
        "trace {\n  major = 1;\n  minor = 8;\n  byte_order = le;",
        f'  uuid = "{identity}";\n  packet.header := struct {{',
        "    uint32_t magic;\n    uint8_t uuid[16];\n    uint32_t stream_id;",
        "    uint64_t stream_instance_id;\n  };\n};",
        f'env {{\n  hostname = "golden";\n  vpid = {pid};\n  procname = "python";',
        '  tracer_name = "cunei";\n  tracer_major = 1;\n};',
        'clock {\n  name = "cunei";',
        f"  freq = {FREQUENCY:<20};\n  offset_s = {START_NS // 10**9:<20};",
        f"  offset = {0:<20};\n  absolute = true;\n}};",
        integer(64, 8, "map = clock.cunei.value; ") + " := time_t;",
    ]
    text = "\n".join(lines) + "\n"
    for number in range(2):
        text += f"stream {{\n  id = {number};\n{CONTEXT}}};\n"
    for name, number, stream, fields in EVENTS:
        text += (
            f'event {{ name = "{name}"; id = {number}; stream_id = {stream}; '
            f"fields := struct {{ {fields} }}; }};\n"
        )
    return text + "/* functions */\n"


def ticks(ns):
    return ns * FREQUENCY // 10**9


class Thread:
    """One thread's story: calls with times in ns, cut into packets."""

    def __init__(self, process, serial, name, stream, start_ns=0):
        self.process, self.serial, self.name = process, serial, name
        self.stream, self.now = stream, start_ns
        self.cpu_ns = 0
        self.open = []
        self.words = []
        self.begin = start_ns
        self.cpu_begin = 0
        self.begin_packet()

    def begin_packet(self):
        self.begin, self.cpu_begin = self.now, self.cpu_ns
        functions = [self.process.ids[name] for name in self.open]
        if len(functions) % 2:
            functions.insert(0, 0)
        self.record(STACK, 0)
        self.words.append(len(functions) << 32)
        self.pairs(functions)

    def pairs(self, numbers):
        assert len(numbers) % 2 == 0, numbers
        for low, high in zip(numbers[::2], numbers[1::2]):
            self.words.append(low | high << 32)

    def text(self, text):
        """The words of a text, and how many bytes they are."""
        data = text.encode(errors="surrogateescape")
        data += bytes(-len(data) % 8)
        return struct.unpack(f"<{len(data) // 8}Q", data), len(data)

    def put(self, number, phase, fixed, text):
        """An event of 32-bit numbers, the length of a text last, and the text."""
        words, size = self.text(text)
        self.record(number, phase)
        self.pairs([*fixed, size])
        self.words.extend(words)

    def switch(self, greenlet, names):
        functions = [self.process.ids[name] for name in names]
        if len(functions) % 2:
            functions.insert(0, 0)
        self.record(SWITCH, 0)
        self.words += [greenlet, len(functions) << 32]
        self.pairs(functions)
        self.open = list(names)

    def task(self, number, name, coroutine, phase=ENTER):
        """A step of a task begins."""
        self.put(TASK, phase, [number, 0, 0], name)
        self.enter(coroutine, phase)

    def rename(self, name):
        self.put(THREAD_NAME, 0, [self.serial, 0, 0], name)
        self.name = name

    def exception(self, phase, kind, raised, handler=None, unwound=0):
        """`raised` and `handler` are a function and a line."""
        function, line = raised
        by, by_line = handler or (None, 0)
        numbers = [self.process.ids[function], line]
        numbers += [self.process.ids[by] if by else 0, by_line, unwound]
        self.put(EXCEPTION, phase, numbers, kind)

    def gc(self, phase, generation, collected=0, uncollectable=0):
        self.record(GC, phase)
        self.words.append(collected)
        self.pairs([generation, uncollectable])

    def line(self, line, phase=ENTER):
        self.record(LINE, phase)
        self.pairs([line, self.process.ids[self.open[-1]]])

    def argument(self, phase, function, index, name, value):
        size = len(name.encode())
        self.put(
            ARGUMENT,
            phase,
            [self.process.ids[function], index, size],
            f"{name}={value}" if name else value,
        )

    def record(self, number, phase):
        time = ticks(self.now) & (1 << 40) - 1
        self.words.append(time | number << 40 | phase << 62)

    def work(self, ns):
        """Time passes on the CPU."""
        self.now += ns
        self.cpu_ns += ns

    def wait(self, ns):
        self.now += ns

    def event(self, name, phase):
        number = self.process.ids[name]
        if number < FIRST_FUNCTION + CLASSES_MAX:
            self.record(number, phase)
        else:
            self.record(CALL, phase)
            self.words.append(number)

    def enter(self, name, phase=ENTER):
        self.event(name, phase)
        self.open.append(name)

    def leave(self, phase=LEAVE):
        self.event(self.open.pop(), phase)

    def orphan(self, name):
        self.event(name, LEAVE)

    def raise_out(self, run=1):
        self.record(UNWIND, 0)
        self.words.append(run)
        self.leave()

    def flush(self, last=False, cpu=True):
        size = 152 + 8 * len(self.words)
        name = self.name.encode()[:32]
        head = struct.pack(
            "<I16sIQII32s9QII",
            0xC1FC1FC1,
            self.process.identity.bytes,
            0,
            self.stream,
            self.process.pid,
            self.process.pid + self.serial - 1,
            name,
            ticks(self.begin),
            ticks(self.now),
            8 * size,
            8 * size,
            self.process.sequences.get(self.stream, 0),
            self.process.discarded,
            self.begin,
            self.cpu_begin,
            self.cpu_ns if cpu else self.cpu_begin,
            self.serial,
            int(last),
        )
        body = struct.pack(f"<{len(self.words)}Q", *self.words)
        self.process.streams.setdefault(self.stream, bytearray()).extend(head + body)
        self.process.sequences[self.stream] = (
            self.process.sequences.get(self.stream, 0) + 1
        )
        self.words = []
        if not last:
            self.begin_packet()


class Process:
    def __init__(self, pid, functions, arguments, python="CPython 3.12.1", version=1):
        self.pid, self.version, self.number = pid, version, 0
        self.identity = uuid.uuid5(uuid.NAMESPACE_OID, f"cunei golden {pid}")
        self.functions = functions
        self.ids = {key: FIRST_FUNCTION + i for i, key in enumerate(functions)}
        self.streams, self.sequences = {}, {}
        self.discarded = 0
        self.facts = {
            "pid": pid,
            "parent": 1,
            "ended": 1,
            "start_ns": START_NS,
            "end_ns": START_NS + 10**9,
            "lost": 0,
            "write_ns": 40_000,
            "event_cost_ps": 30_000,
            "host": "golden",
            "python": python,
            "executable": "/usr/bin/python3.12",
            "directory": "/home/user/tour",
        }
        self.arguments = arguments

    def define(self, key):
        module, qualname, file, line = self.functions[key]
        parts = [module, qualname, file]
        escaped = any(ord(character) < 32 for part in parts for character in part)
        if escaped:
            parts = [part.encode("unicode_escape").decode() for part in parts]
        name = f"{parts[0]}:{parts[1]} ({parts[2]}:{line})".replace("\\", "\\\\")
        sizes = [len(part.encode(errors="surrogateescape")) for part in parts]
        lengths = " ".join(map(str, sizes))
        return (
            f'event {{ name = "{name}"; id = {self.ids[key]}; stream_id = 0; }}; '
            f"/* {lengths}{' e' if escaped else ''} */\n"
        )

    def write(self, directory):
        folder = pathlib.Path(directory) / f"golden-{self.pid}-{self.number}"
        folder.mkdir(parents=True)
        text = preamble(self.identity, self.pid, self.version)
        text += "".join(self.define(key) for key in self.functions)
        (folder / "metadata").write_bytes(text.encode(errors="surrogateescape"))
        for number, data in self.streams.items():
            (folder / f"s{number}").write_bytes(data)
        lines = [f"cunei {self.version}"]
        lines += [f"{key} {quote(str(value))}" for key, value in self.facts.items()]
        lines += [f"argument {quote(word)}" for word in self.arguments]
        (folder / ".process").write_text("\n".join(lines) + "\n")
        return folder


def quote(text):
    """As cunei_text_quote, for what stories say."""
    return text.replace("%", "%25").replace(" ", "%20")
