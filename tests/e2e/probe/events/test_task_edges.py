# SPDX-License-Identifier: MIT
"""Tasks that come late, run inside of others, or would have us run code of theirs."""

from collections import Counter

import ctf
import pytest
import taskview
from test_tasks import record, recorded_tasks, reported_tasks

HOSTILE = """\
import asyncio, weakref

class Task(asyncio.Task):
    def get_name(self):
        print("asked for its name")
        return super().get_name()

    def __eq__(self, other):
        print("compared")
        return self is other

    def __hash__(self):
        return 1

    def __getattribute__(self, name):
        if name in ("get_name", "_name"):
            print("asked for", name)
        return super().__getattribute__(name)

class PythonTask(asyncio.tasks._PyTask):
    def get_name(self):
        print("asked for its name")
        return "other"

class Name(str):
    def __eq__(self, other):
        print("name compared")
        return str.__eq__(self, other)

    __hash__ = str.__hash__

    def __str__(self):
        return self

class Loop(asyncio.SelectorEventLoop):
    def get_debug(self):
        return False

async def work():
    await asyncio.sleep(0)

async def main():
    loop = asyncio.get_running_loop()
    for kind in (Task, PythonTask):
        task = kind(work(), loop=loop, name=Name(kind.__name__))
        await task
        gone = weakref.ref(task, lambda _: print("gone"))
        del task
        print(gone() is None)

loop = Loop()
loop.run_until_complete(main())
loop.close()
"""


@pytest.mark.core
def test_no_code_of_the_program_runs_and_no_task_is_kept(cunei):
    tasks = recorded_tasks(cunei, HOSTILE)

    assert tasks["Task"][0].steps == tasks["PythonTask"][0].steps == 2


def test_a_loop_with_a_hash_of_its_own_is_left_alone(cunei):
    process, plain, output = record(
        cunei,
        """\
import asyncio

hashed = 0

class Loop(asyncio.SelectorEventLoop):
    def __hash__(self):
        global hashed
        hashed += 1
        return 5

async def work():
    await asyncio.sleep(0)

loop = Loop()
for _ in range(10):
    loop.run_until_complete(work())
loop.close()
print(hashed)
""",
    )

    assert output == plain
    assert process.count(ctf.ENTER)


@pytest.mark.core
def test_coroutines_do_not_import_asyncio(cunei):
    process, plain, output = record(
        cunei,
        """\
import sys

class Pause:
    def __await__(self):
        yield

async def inner():
    await Pause()

async def outer():
    await inner()
    await inner()

def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass

for _ in range(100):
    drive(outer())
print("asyncio" in sys.modules, "_asyncio" in sys.modules)
""",
    )

    assert output == plain == "False False\n"
    assert taskview.tasks_of(process) == {}
    counts = Counter()
    for function, count in process.count(ctf.ENTER, ctf.RESUME).items():
        counts[function.qualname] += count
    assert (counts["outer"], counts["inner"]) == (300, 400)


def test_tasks_of_an_asyncio_that_is_imported_later(cunei):
    tasks = recorded_tasks(
        cunei,
        """\
async def alone():
    pass

async def work():
    pass

def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass

for _ in range(100):
    drive(alone())

import asyncio

async def main():
    await asyncio.create_task(work(), name="late")

asyncio.run(main())
""",
    )

    (late,) = tasks["late"]
    assert late.steps == 1


def test_coroutines_beside_a_loop_belong_to_no_task(cunei):
    """One that is driven by hand in a callback, and a loop in another thread."""
    tasks = recorded_tasks(
        cunei,
        """\
import asyncio, threading

async def by_hand():
    return 1

def callback():
    try:
        by_hand().send(None)
    except StopIteration:
        pass

async def main(name):
    asyncio.current_task().set_name(name)
    asyncio.get_running_loop().call_soon(callback)
    for _ in range(20):
        await asyncio.sleep(0)
    callback()

callback()
threads = [
    threading.Thread(target=lambda n=n: asyncio.run(main(f"main {n}")))
    for n in range(4)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""",
    )

    numbers = set()
    for n in range(4):
        (task,) = tasks[f"main {n}"]
        assert (task.steps, set(task.functions)) == (21, {"main"})
        numbers.add(task.number)
    assert len(numbers) == 4


def test_each_task_has_a_number_of_its_own_even_at_the_same_address(cunei):
    process, plain, output = record(
        cunei,
        """\
import asyncio

async def work():
    await asyncio.sleep(0)

async def main():
    addresses = set()
    for i in range(3000):
        task = asyncio.create_task(work())
        addresses.add(id(task))
        await task
    # How many there are differs from run to run.
    assert len(addresses) < 1000

asyncio.run(main())
""",
    )
    tasks = taskview.tasks_of(process).values()

    assert Counter(task.steps for task in tasks if task.functions[0] == "work") == {
        2: 3000
    }
    assert len([row for row in reported_tasks(cunei) if row["function"] == "work"])


def test_a_selection_shows_the_task_with_the_first_coroutine_that_it_has(cunei):
    tasks = recorded_tasks(
        cunei,
        """\
import asyncio

async def chosen(n):
    for _ in range(n):
        await asyncio.sleep(0)

async def left_out(n):
    await chosen(n)

async def main():
    await asyncio.gather(*(asyncio.create_task(left_out(n), name=f"of {n}")
                           for n in range(1, 4)))

asyncio.run(main())
""",
        "--include",
        "__main__:chosen",
    )

    assert {name: [task.steps for task in found] for name, found in tasks.items()} == {
        "of 1": [2],
        "of 2": [3],
        "of 3": [4],
    }
    assert {row["function"] for row in reported_tasks(cunei)} == {"chosen"}


def test_a_recording_that_begins_and_ends_inside_of_tasks(cunei):
    cunei.write(
        "app.py",
        """\
import asyncio
import cunei

async def other(n):
    for _ in range(n):
        await asyncio.sleep(0)

async def main():
    task = asyncio.create_task(other(10), name="other")
    await asyncio.sleep(0)
    for _ in range(2):
        cunei.start("trace")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        cunei.stop()
    await task

asyncio.run(main())
""",
    )
    done = cunei.run(cunei.python, "app.py")
    assert done.returncode == 0, done.stderr

    processes = ctf.read(cunei.folder / "trace").processes
    assert len(processes) == 2
    for process in processes:
        assert process.is_balanced(), process.replay()
        events = [event.value for event in process.events() if event.kind == ctf.TASK]
        names = {event.task: event.name for event in events if event.name}
        assert sorted(names.values()) == ["Task-1", "other"]


@pytest.mark.core
def test_a_loop_inside_of_a_step(cunei):
    """As nest_asyncio does it: the outer task makes room for an inner loop."""
    tasks = recorded_tasks(
        cunei,
        """\
import asyncio

async def inner():
    asyncio.current_task().set_name("inner")
    for _ in range(3):
        await asyncio.sleep(0)

def nested():
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    asyncio.tasks._leave_task(loop, task)
    asyncio._set_running_loop(None)
    other = asyncio.new_event_loop()
    other.run_until_complete(inner())
    other.close()
    asyncio._set_running_loop(loop)
    asyncio.tasks._enter_task(loop, task)

async def leaf():
    nested()

async def main():
    asyncio.current_task().set_name("main")
    await asyncio.sleep(0)
    await leaf()
    await asyncio.sleep(0)

asyncio.run(main())
""",
    )

    assert [task.steps for task in tasks["main"]] == [3]
    assert [task.steps for task in tasks["inner"]] == [4]
