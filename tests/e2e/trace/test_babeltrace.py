# SPDX-License-Identifier: MIT
"""Stock babeltrace2 and `cunei dump` show the same events, one by one."""

import collections
import json
import os
import re
import signal
import subprocess
import sys

import packets
import pytest
from babeltrace import compare
from pairs import pairs
from proof import (
    Recording,
    cunei,
    needs_babeltrace,
    print_with_babeltrace,
    wait_for,
    write_program,
)

pytestmark = needs_babeltrace


def record(tmp_path, text, *options, **more):
    directory = tmp_path / "trace"
    program = write_program(tmp_path, text)
    done = cunei("record", "-q", *options, "-o", directory, program, **more)
    assert done.stderr == ""
    return directory


def test_every_kind_of_event_is_the_same(tmp_path):
    directory = record(
        tmp_path,
        """
        import asyncio, gc, threading, types
        def recurse(n):
            return recurse(n - 1) if n else 0
        def generate():
            yield 1
            yield 2
        def fail(n):
            if n:
                fail(n - 1)
            raise ValueError
        @types.coroutine
        def turn():
            yield
        async def task(n):
            await turn()
            return n
        async def main():
            await asyncio.gather(*(task(n) for n in range(10)))
        def work():
            recurse(50)
            list(generate())
            try:
                fail(5)
            except ValueError:
                pass
            generator = generate()
            next(generator)
            generator.close()
        work()
        asyncio.run(main())
        threads = [threading.Thread(target=work, name=f"né {n}") for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in range(6_000):
            recurse(2)
        gc.collect()
        threading.current_thread().name = 'the "end"?'
        """,
        "--args",
        "__main__:generate",
        "--return",
        "__main__:task",
    )

    threads = compare(directory)

    names = {thread for _, _, thread in threads}
    assert names == {"MainThread", "né 0", "né 1", "né 2", "né 3"}
    events = [event for events in threads.values() for event in events]
    assert {event.phase for event in events} == {"enter", "leave", "resume", "yield"}
    kinds = {event.name for event in events if not event.name.endswith(")")}
    wanted = "argument exception gc stack task thread_name unwind"
    assert kinds == set(wanted.split())
    assert any(" [1] = " in event.payload for event in events if event.name == "stack")


def test_c_functions_and_odd_values_are_the_same(tmp_path):
    directory = record(
        tmp_path,
        r"""
        class Own:
            def __repr__(self):
                return "own\n\ttab \" quote \\ \x1b[0m \x9b é"
        def show(value, *rest, **more):
            return sorted([value, *rest], key=id)
        show(Own(), "a'\"\\\n\0é\udcff", b"\xff", odd="%s {} \u2028")
        for n in range(12_000):
            sorted([n], key=lambda n: len(str(n)))
        """,
        "--c-calls",
        "--args=__main__",
        "--return=:show",
        "--repr=full",
    )

    (events,) = compare(directory).values()

    names = {event.name for event in events}
    assert {"builtins:sorted (:0)", "builtins:len (:0)", "argument"} <= names
    stacks = [event.payload for event in events if event.name == "stack"]
    assert len(stacks) > 2
    texts = [event.payload for event in events if event.name == "argument"]
    assert any("own tab " in text and "quote" in text for text in texts)


def test_several_processes_are_merged(tmp_path):
    directory = record(
        tmp_path,
        """
        import subprocess, sys
        def parent():
            pass
        parent()
        code = "def child():\\n    pass\\nchild()"
        for _ in range(3):
            subprocess.run([sys.executable, "-c", code], check=True)
        parent()
        """,
    )

    threads = compare(directory)

    assert len({pid for pid, _, _ in threads}) == 4
    everything = sorted(event for events in threads.values() for event in events)
    named = [event.name.split(" ")[0] for event in everything if event.phase == "enter"]
    recorded = [name for name in named if name in ("__main__:parent", "__main__:child")]
    assert recorded == ["__main__:parent", *3 * ["__main__:child"], "__main__:parent"]


ODD_NAMES = [
    'quo"te',
    "back\\slash",
    'both\\"',
    "trailing\\",
    "new\nline",
    "tab\tand\rreturn",
    "\x1b[31mred",
    "\x7f\x80\x85\u2028",
    "*/ };",
    "/* 1 2 3 */",
    '"; id = 5; };',
    "%s%n{}${x}",
    ": { vpid = 1, vtid = 2",
    " leading and trailing ",
    "naïve.日本.🐍",
    "a.<locals>.b.<locals>.<lambda>",
    "x" * 5000,
    "é" * 5000,
    "\n" * 3000,
    "\\" * 4000,
]


@pytest.mark.core
def test_odd_names_are_the_same(tmp_path):
    directory = record(
        tmp_path,
        f"""
        names = {ODD_NAMES!r}
        def f():
            pass
        for i, name in enumerate(names):
            code = f.__code__.replace(co_name=name, co_firstlineno=i + 1)
            if hasattr(code, "co_qualname"):
                code = code.replace(co_qualname=name)
            exec(code, {{"__name__": "odd"}})
            exec(code.replace(co_filename=name + ".py"), {{"__name__": name}})
        """,
    )

    threads = compare(directory)

    (events,) = threads.values()
    names = [event.name for event in events if event.phase == "enter"]
    assert len({name for name in names if re.search(r":\d+\)$", name)}) == (
        2 * len(ODD_NAMES) + 1
    )
    functions = json.loads(cunei("report", "--json", directory).stdout)["functions"]
    found = {function["qualname"] for function in functions}
    assert {name for name in ODD_NAMES if len(name) < 1000} <= found


def test_file_names_that_are_no_utf_8_are_the_same(tmp_path):
    folder = os.fsencode(tmp_path / "odd")
    os.mkdir(folder)
    path = folder + b"/na\xefve\xff.py"
    with open(path, "w") as file:
        file.write("def f():\n    pass\nf()\n")
    directory = tmp_path / "trace"

    done = subprocess.run(
        [sys.executable, "-m", "cunei", "record", "-q", "-o", directory, path],
        capture_output=True,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    threads = compare(directory)
    (events,) = threads.values()
    wanted = os.fsdecode(folder) + r"/na\xefve\xff.py"
    assert [event.name for event in events][2] == f"__main__:f ({wanted}:1)"


def test_thread_names_are_the_same(tmp_path):
    names = [
        'quo"te',
        "back\\slash",
        "new\nline",
        "日本語" * 10,
        "x" * 31,
        "x" * 40,
        "",
    ]
    directory = record(
        tmp_path,
        f"""
        import threading
        def f():
            pass
        for name in {names!r}:
            thread = threading.Thread(target=f)
            thread.name = name
            thread.start()
            thread.join()
        """,
    )

    dumped = [
        json.loads(line)["thread"]
        for line in cunei("dump", "--json", directory).stdout.splitlines()
    ]
    lines, _ = print_with_babeltrace(directory)

    report = json.loads(cunei("report", "--json", directory).stdout)
    assert {thread["name"] for thread in report["threads"]} >= {
        'quo"te',
        "back\\slash",
        "new\nline",
        "x" * 31,
        "x" * 40,
    }
    assert len(lines) == len(dumped)


def test_more_functions_than_classes_are_the_same(tmp_path):
    directory = record(
        tmp_path,
        """
        def f():
            pass
        for n in range(20_300):
            code = f.__code__.replace(co_name=f"f{n}")
            if hasattr(code, "co_qualname"):
                code = code.replace(co_qualname=code.co_name)
            exec(code)
        def last(n):
            if n:
                last(n - 1)
            raise ValueError
        try:
            last(3)
        except ValueError:
            pass
        """,
    )

    threads = compare(directory)

    events = [event for events in threads.values() for event in events]
    kinds = collections.Counter(event.name.split(" ")[0] for event in events)
    assert kinds["call"] > 600 and kinds["define"] > 300 and kinds["unwind"] >= 4
    functions = json.loads(cunei("report", "--json", directory).stdout)["functions"]
    calls = {function["qualname"]: function["calls"] for function in functions}
    assert all(calls[f"f{n}"] == 1 for n in range(20_300))
    assert calls["last"] == 4


def test_ten_thousand_threads_are_the_same_in_few_files(tmp_path):
    directory = record(
        tmp_path,
        """
        import _thread
        def f(lock):
            lock.release()
        for n in range(10_050):
            lock = _thread.allocate_lock()
            lock.acquire()
            _thread.start_new_thread(f, (lock,))
            lock.acquire()
        """,
    )

    threads = compare(directory)

    calls = sum(
        event.name.startswith("__main__:f ") and event.phase == "enter"
        for events in threads.values()
        for event in events
    )
    assert calls == 10_050
    (folder,) = packets.folders(directory)
    serials = {packet.thread for packet in packets.packets(folder)}
    assert len(serials) == 10_051
    assert len(list(folder.glob("s*"))) < 50


def test_a_recovered_trace_is_the_same(tmp_path):
    directory = tmp_path / "trace"
    ready = tmp_path / "ready"
    program = write_program(
        tmp_path,
        f"""
        import threading
        def f():
            pass
        def loop():
            for _ in range(6_000):
                f()
        threads = [threading.Thread(target=loop) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        loop()
        open({str(ready)!r}, "w").close()
        threading.Event().wait()
        """,
    )
    recording = Recording(directory, program)
    wait_for(ready.exists, recording.launcher)
    recording.kill_program()
    status, _, _ = recording.wait()

    assert status == -signal.SIGKILL
    threads = compare(directory)
    assert len(threads) == 4


# With many calls, the thread has nothing in its file when the recording is full: of
# what is lost before a first packet, babeltrace2 cannot say how much.
@pytest.mark.parametrize(("calls", "threads"), [(25_000, 3), (62_000, 1)])
def test_lost_events_are_reported(tmp_path, calls, threads):
    directory = record(
        tmp_path,
        f"""
        import threading
        def f():
            pass
        def loop():
            for _ in range({calls}):
                f()
        loop()
        for _ in range({threads}):
            thread = threading.Thread(target=loop)
            thread.start()
            thread.join()
        loop()
        """,
        "--max-size",
        "1M",
    )
    lost = json.loads(cunei("report", "--json", directory).stdout)["lost"]

    assert lost > 100_000
    compare(directory, lost=lost)


@pytest.mark.core
def test_times_are_those_of_the_wall_clock(tmp_path):
    directory = record(
        tmp_path,
        f"""
        import json, time
        def f():
            pass
        times = []
        begin = time.monotonic()
        for n in range(150):
            while time.monotonic() < begin + n / 100:
                pass
            before = time.time_ns()
            f()
            times.append((before, time.time_ns()))
        with open({str(tmp_path / "times")!r}, "w") as file:
            json.dump(times, file)
        """,
    )
    lines, _ = print_with_babeltrace(directory, "--clock-seconds")

    times = json.loads((tmp_path / "times").read_text())
    seen = [
        int(line[1 : line.index("]")].replace(".", ""))
        for line in lines
        if "__main__:f " in line and '"enter"' in line
    ]
    assert len(seen) == len(times)
    slack_ns = 500_000
    worst = max(
        max(before - at, at - after, 0) for at, (before, after) in pairs(seen, times)
    )
    assert worst < slack_ns, f"{worst} ns off"
