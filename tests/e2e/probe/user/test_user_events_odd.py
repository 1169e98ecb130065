# SPDX-License-Identifier: MIT
"""What a program says wrongly, or oddly."""

import ctf
import pytest
from proof import needs_babeltrace, print_with_babeltrace, python
from user_events import record

# Names that are no trouble in a program, and could be in a trace.
NAMES = {
    "": "",
    "nul\0inside": "nul\\x00inside",
    "two\nlines\ttab\x1b[31m": "two\nlines\ttab\x1b[31m",
    'quote"and\\backslash': 'quote"and\\backslash',
    "caf\u00e9 \U0001f40d": "caf\u00e9 \U0001f40d",
    "lone\udcff": "lone\udcff",
    "other lone \ud800": "other lone \\ud800",
    "x" * 10_000: "x" * 4095,
}


@pytest.mark.core
def test_odd_names(tmp_path):
    recorded = record(
        tmp_path,
        f"""
        for name in {ascii(list(NAMES))}:
            with cunei.region(name):
                cunei.counter(name).add()
                cunei.mark(name, name)
                cunei.parameter(name, 1)
                cunei.tokens(name).end()
            cunei.region_begin(name)
            cunei.region_end(name)
        """,
    )

    wanted = list(NAMES.values())
    entered = [name for name, phase in recorded.phases() if phase == "enter"]
    assert entered == [name for name in wanted for _ in range(2)]
    assert [count[0] for count in recorded.counts()] == wanted
    # In an event, a name and a text have less room.
    assert recorded.marks()[:-1] == [(name, name) for name in wanted[:-1]]
    name, text = recorded.marks()[-1]
    assert (len(name), len(name) + 1 + len(text)) == (2048, 4096)
    assert [each.stream for each in recorded.values(ctf.TOKEN)] == [
        number for number in range(1, len(NAMES) + 1) for _ in range(2)
    ]
    marks = [event for event in recorded.dumped if event["event"] == "mark"]
    assert [mark["name"] for mark in marks[:-1]] == wanted[:-1]


@needs_babeltrace
def test_babeltrace_reads_odd_names(tmp_path):
    recorded = record(
        tmp_path,
        f"""
        for name in {ascii([name for name in NAMES if name])}:
            with cunei.region(name):
                cunei.mark(name, name)
        """,
    )

    lines, warnings = print_with_babeltrace(recorded.directory)

    assert warnings == ""
    assert len(lines) == len(recorded.dumped)


def test_names_of_bytes(tmp_path):
    recorded = record(tmp_path, r'with cunei.region(b"caf\xe9"): pass')

    assert recorded.regions() == "caf\udce9 -caf\udce9"


def test_more_names_than_are_kept(tmp_path):
    recorded = record(
        tmp_path,
        """
        import resource
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        def say(names):
            for name in names:
                with cunei.region(f"name {name}"):
                    pass
        say(range(100_000))
        before = peak()
        say(range(100_000, 150_000))
        print(peak() - before)
        with cunei.region("name 0"):
            pass
        """,
        "--include",
        "nothing",
    )

    begun = [name for name, phase in recorded.phases() if phase == "enter"]
    assert len(begun) == 65_536 + 1
    assert begun[-1] == "name 0"  # which is known
    assert recorded.trace.lost() == 2 * (150_000 - 65_536)
    assert int(recorded.out) < 4096, "kB more for 50 000 more names"


@pytest.mark.core
def test_wrong_ends_are_reported_and_harm_nothing(tmp_path):
    recorded = record(
        tmp_path,
        """
        cunei.region_end()
        cunei.region_end("never")
        cunei.region_begin("a")
        cunei.region_end("b")
        cunei.region_begin("b")
        cunei.region_end("a")
        with cunei.region("with"):
            cunei.region_end("with")
            cunei.region_end()
            cunei.region_end()
        """,
        errors=5,
    )

    assert recorded.regions() == "a b -a with -b -with"
    wrong = [mark.name for mark in recorded.values(ctf.MARK)]
    assert wrong == ["", "never", "b", "with", ""]
    assert recorded.errors[0] == (
        "region_end without a region_begin that is open in this thread"
    )
    dumped = [event for event in recorded.dumped if event["event"] == "mark"]
    assert [event["error"] for event in dumped] == recorded.errors


@pytest.mark.parametrize(
    "call",
    [
        "cunei.region(3)",
        "cunei.region(print)",
        "cunei.region(type)",
        "cunei.region('x')(3)",
        "cunei.region()",
        "cunei.region('x', name='x')",
        "cunei.region(label='x')",
        "cunei.region_begin(None)",
        "cunei.region_end(3)",
        "cunei.region_end('a', 'b')",
        "cunei.counter(3)",
        "cunei.counter('x').add('1')",
        "cunei.counter('x').add(1, number=1)",
        "cunei.counter('x').set()",
        "cunei.counter(name='x', number=1)",
        "cunei.mark()",
        "cunei.mark('x', [])",
        "cunei.mark('x', nothing=3)",
        "cunei.mark('x', 1, value=3)",
        "cunei.parameter('x')",
        "cunei.parameter(value=3)",
        "cunei.parameter('x', None)",
        "cunei.parameter(3, 3)",
        "cunei.metadata('x', 1j)",
        "cunei.tokens(None)",
        "cunei.tokens('x').tick('1')",
        "cunei.tokens('x').tick(-1)",
        "cunei.tokens('x').tick(2**32)",
    ],
)
def test_arguments_are_wrong_whether_recorded_or_not(tmp_path, call):
    program = f"""
import cunei
def wrong():
    try:
        {call}
    except (TypeError, ValueError) as error:
        return repr(error)
refusal = wrong()
assert refusal, "nothing was wrong"
with cunei.recording("trace"):
    assert wrong() == refusal
assert wrong() == refusal
"""
    done = python("-c", program, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_names_may_be_bytes(tmp_path):
    program = """
import cunei
assert cunei.counter(b"x") is cunei.counter("x")
assert cunei.region(b"a\\xff").name == "a\\udcff"
try:
    cunei.counter(3)
except TypeError as error:
    print(error)
"""
    done = python("-c", program, cwd=tmp_path)

    assert done.stdout == "a counter's name must be a str or bytes, not int\n"


def test_how_many_tokens_may_come_at_once(tmp_path):
    program = """
import cunei
cunei.tokens("decode").tick(2**32 - 1)
try:
    cunei.tokens("decode").tick(2**32)
except ValueError as error:
    print(error)
"""
    done = python("-c", program, cwd=tmp_path)

    assert done.stdout == "tick() takes a number of tokens from 0 to 4294967295\n"


def test_help_says_what_each_does(tmp_path):
    program = """
import cunei, inspect
names = "region region_begin region_end counter mark parameter metadata tokens"
items, stream = cunei.counter("items"), cunei.tokens("stream")
functions = [getattr(cunei, name) for name in names.split()]
methods = [items.add, items.set, stream.tick, stream.start, stream.end]
for function in functions + methods:
    print(inspect.getdoc(function).split()[0])
"""
    done = python("-c", program, cwd=tmp_path)

    verbs = (
        "Return Begin End Return Record Record Record Begin Add Set Record Begin End"
    )
    assert done.stdout.split() == verbs.split()


@pytest.mark.core
def test_arguments_by_name(tmp_path):
    recorded = record(
        tmp_path,
        """
        import inspect
        with cunei.region(name="block"):
            cunei.parameter(value=1, name="size")
        cunei.region_begin(name="begun")
        cunei.region_end(name="begun")

        @cunei.region(name="called")
        def work():
            pass

        work()
        items = cunei.counter(name="items")
        items.add(number=2)
        items.set(number=7)
        cunei.mark(name="mark", value="text")
        cunei.metadata(key="version", value=3)
        cunei.tokens(name="stream").tick(count=4)
        print(inspect.signature(cunei.mark), inspect.signature(items.add))
        """,
    )

    assert recorded.regions() == "block -block begun -begun"
    assert recorded.tags() == {"work": "called"}
    assert recorded.parameters() == [("size", 1, "block")]
    assert recorded.counts() == [("items", "resume", 2, 2), ("items", "enter", 7, 7)]
    assert recorded.marks() == [("mark", "text")]
    assert [(each.name, each.value) for each in recorded.values(ctf.METADATA)] == [
        ("version", 3)
    ]
    assert [count for _, _, count in recorded.tokens()] == [0, 4]
    assert recorded.out == "(name, value=None) (number=1)\n"


def test_numbers_of_other_kinds(tmp_path):
    recorded = record(
        tmp_path,
        """
        from decimal import Decimal
        from fractions import Fraction
        class Index:
            def __index__(self):
                return 7
        for value in (True, Fraction(1, 2), Decimal("1.5"), Index()):
            cunei.mark("x", value)
            cunei.counter("x").set(value)
        class Broken:
            def __float__(self):
                raise KeyError("mine")
        try:
            cunei.mark("x", Broken())
        except KeyError as error:
            cunei.mark("raised", str(error))
        """,
    )

    values = [1, 0.5, 1.5, 7]
    assert recorded.marks() == [
        *(("x", value) for value in values),
        ("raised", "'mine'"),
    ]
    assert [count[2] for count in recorded.counts()] == values


@pytest.mark.core
def test_what_holds_them_is_copied_and_sent(tmp_path):
    recorded = record(
        tmp_path,
        """
        import copy, pickle
        class Job:
            def __init__(self):
                self.items = cunei.counter("items")
                self.work = cunei.region("work")
        job = Job()
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(job, protocol)).items is job.items
        for other in (copy.copy(job), copy.deepcopy(job)):
            with other.work:
                other.items.add()
        print(job.items, job.work, cunei.tokens("t"))
        """,
    )

    assert recorded.regions() == "work -work work -work"
    assert [count[3] for count in recorded.counts()] == [1, 2]
    assert (
        recorded.out
        == "cunei.counter('items') cunei.region('work') cunei.tokens('t')\n"
    )
