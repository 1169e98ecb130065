# SPDX-License-Identifier: MIT
"""asyncio's tasks: their steps, names and times are what asyncio itself would say."""

import json
import sys

import ctf
import pytest
import taskview


def record(cunei, source, *options, status=0):
    """Record a program that behaves as it does without us, and read its trace."""
    cunei.write("app.py", source)
    plain = cunei.run(cunei.python, "app.py")
    done = cunei("record", "-q", "-o", "trace", *options, "app.py")

    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    assert done.returncode == status, done.stderr
    (process,) = ctf.read(cunei.folder / "trace").processes
    assert process.is_balanced(), process.replay()
    assert process.description["lost"] == "0"
    return process, plain.stdout, done.stdout


def recorded_tasks(cunei, source, *options):
    process, plain, output = record(cunei, source, *options)
    assert output == plain
    return taskview.by_name(taskview.tasks_of(process))


def reported_tasks(cunei):
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)["tasks"]


# A task factory that wraps each coroutine in one that counts and times its steps.
COUNTED = """\
import asyncio, collections, collections.abc, functools, json, time

class Counted(collections.abc.Coroutine):
    def __init__(self, coroutine):
        self.coroutine = coroutine
        self.steps = self.run = self.begin = self.end = 0

    def step(self, call, *args):
        self.steps += 1
        begin = time.perf_counter_ns()
        self.begin = self.begin or begin
        try:
            return call(*args)
        finally:
            self.end = time.perf_counter_ns()
            self.run += self.end - begin

    def send(self, value):
        return self.step(self.coroutine.send, value)

    def throw(self, *error):
        return self.step(self.coroutine.throw, *error)

    def close(self):
        self.coroutine.close()

    def __await__(self):
        return self

counted = []
inside = collections.Counter()  # nanoseconds that tasks have certainly run
Task = asyncio.Task

def factory(loop, coroutine, **options):
    wrapped = Counted(coroutine)
    task = (Task if counted else asyncio.Task)(wrapped, loop=loop, **options)
    counted.append((task, wrapped))
    return task

def run(main, new_loop=asyncio.new_event_loop):
    loop = new_loop()
    loop.set_task_factory(factory)
    loop.run_until_complete(main)
    loop.close()
    rows = [
        (t.get_name(), w.steps, inside[t], w.run, w.end - w.begin - w.run)
        for t, w in counted
    ]
    print(json.dumps(rows))
"""

BUSY = """
def work(seconds):
    begin = time.perf_counter_ns()
    while time.perf_counter_ns() < begin + seconds * 1e9:
        pass
    inside[asyncio.current_task()] += time.perf_counter_ns() - begin

async def ping(mine, other, count):
    for i in range(count):
        await mine.put(i)
        work(0.0005)
        await other.get()

async def down(depth, event):
    if depth:
        return await down(depth - 1, event)
    try:
        await event.wait()
    finally:
        work(0.001)

async def rest(event):
    work(0.004)
    await event.wait()
    work(0.002)

async def main():
    one, two, over = asyncio.Queue(1), asyncio.Queue(1), asyncio.Event()
    tasks = [
        asyncio.create_task(ping(one, two, 10), name="ping"),
        asyncio.create_task(ping(two, one, 10), name="pong"),
        asyncio.create_task(rest(over), name="rest"),
        asyncio.create_task(down(10, asyncio.Event()), name="cancelled"),
        asyncio.create_task(down(3, asyncio.Event()), name="never"),
    ]
    tasks[4].cancel()
    await asyncio.sleep(0)
    tasks[3].cancel()
    work(0.02)
    over.set()
    await asyncio.wait(tasks)
"""

NAMED = {"ping", "pong", "rest", "cancelled", "never"}

LOOPS = {
    "C": "run(main())",
    "Python": "Task = asyncio.tasks._PyTask; run(main())",
    "uvloop": "import uvloop; run(main(), uvloop.new_event_loop)",
    "eager": "Task = functools.partial(Task, eager_start=True); run(main())",
}


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param(name, marks=pytest.mark.core if name == "C" else [])
        for name in LOOPS
    ],
)
def test_steps_run_and_wait_are_those_that_the_loop_sees(cunei, loop):
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    if loop == "eager" and sys.version_info < (3, 12):
        pytest.skip("none starts at once")
    process, _, output = record(cunei, COUNTED + BUSY + LOOPS[loop])
    rows = [row for row in json.loads(output) if row[0] in NAMED]
    tasks = taskview.by_name(taskview.tasks_of(process))
    shown = {row["name"]: row for row in reported_tasks(cunei)}

    assert len(rows) == len(NAMED)
    for name, steps, inside, run, wait in rows:
        (task,) = tasks[name]
        assert task.ended
        assert (task.steps, name) == (steps, name)
        assert shown[name]["switches"] == steps
        assert abs(shown[name]["run_ns"] - task.run) <= 1000 * steps
        assert shown[name]["ended"]
        # What is measured inside of a step lies within what we see of it, and that
        # within what is measured around it; but for the rates of the two clocks.
        assert 0.99 * inside <= task.run <= 1.01 * run
        assert 0.99 * wait <= task.wait <= 1.01 * (run - inside + wait)
        assert abs(shown[name]["wait_ns"] - task.wait) <= 1000 * steps
    assert shown["rest"]["run_ns"] >= 6_000_000
    assert shown["rest"]["wait_ns"] >= 15_000_000
    assert shown["cancelled"]["raised"] and not shown["rest"]["raised"]


starting_at_once = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="none starts at once before 3.12"
)


@pytest.mark.core
@starting_at_once
def test_tasks_that_start_at_once_run_inside_others(cunei):
    tasks = recorded_tasks(
        cunei,
        """\
import asyncio

async def nest(depth):
    if depth:
        await asyncio.create_task(nest(depth - 1), name=f"depth {depth - 1}")
    await asyncio.sleep(0)

async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    await asyncio.create_task(nest(100), name="depth 100")
    async with asyncio.TaskGroup() as group:
        group.create_task(nest(0), name="grouped")

asyncio.run(main())
""",
    )

    for depth in range(101):
        (task,) = tasks[f"depth {depth}"]
        assert set(task.functions) == {"nest"}
        # First until its sleep, or until it waits for the next one, then once more.
        assert task.steps == (2 if depth == 0 else 3)
        assert task.phases == [ctf.ENTER] + [ctf.RESUME] * (task.steps - 1)
    assert tasks["grouped"][0].steps == 2


@starting_at_once
def test_a_task_made_without_a_call_of_python(cunei):
    tasks = recorded_tasks(
        cunei,
        """\
import asyncio

async def child():
    await asyncio.sleep(0)

async def main():
    loop = asyncio.get_running_loop()
    await asyncio.Task(child(), loop=loop, eager_start=True, name="child")

asyncio.run(main())
""",
    )

    assert [(task.steps, task.functions) for task in tasks["child"]] == [
        (2, ["child", "child"])
    ]


NAMES = """\
import asyncio

async def rename(name):
    await asyncio.sleep(0)
    asyncio.current_task().set_name(name)
    await asyncio.sleep(0)

async def main():
    for name in ("plain", "größer", "lone \\udcff \\ud800", "long " + "x" * 2000, ""):
        await asyncio.create_task(rename(name), name="first")
    await asyncio.create_task(rename(5), name=("tuple", 1))
    await asyncio.create_task(rename("same"), name="same")

asyncio.run(main())
"""


def test_names_are_reported_when_they_change(cunei):
    process, _, _ = record(cunei, NAMES)
    tasks = [
        task
        for task in taskview.tasks_of(process).values()
        if task.functions[0] == "rename"
    ]

    names = [tuple(task.names) for task in sorted(tasks, key=lambda t: t.number)]
    assert names == [
        ("first", "plain"),
        ("first", "größer"),
        ("first", r"lone \udcff \ud800"),
        ("first", ("long " + "x" * 2000)[:1024]),
        ("first",),
        ("('tuple', 1)", "5"),
        ("same",),
    ]


def test_the_report_shows_the_tasks(cunei):
    record(cunei, COUNTED + BUSY + LOOPS["C"])
    shown = cunei("report", "trace", "--tasks")

    assert shown.returncode == 0, shown.stderr
    names = {
        line.split()[-3] for line in shown.stdout.splitlines() if len(line.split()) > 3
    }
    assert {"ping", "pong", "rest", "cancelled"} <= names


CLOSED = """\
import asyncio

async def items():
    try:
        yield 1
    finally:
        await asyncio.sleep(0)

async def spoilt():
    try:
        yield 1
    finally:
        await asyncio.sleep(0)
        raise ValueError

async def main():
    for name, make in (("closed", items), ("spoilt", spoilt), ("thrown", items)):
        generator = make()
        await generator.__anext__()
        ending = (
            generator.athrow(KeyError) if name == "thrown" else generator.aclose()
        )
        task = asyncio.ensure_future(ending)
        task.set_name(name)
        await asyncio.wait([task])
        print(name, bool(task.exception()))

asyncio.run(main())
"""


@pytest.mark.core
def test_a_task_that_closes_a_generator_has_not_raised(cunei):
    cunei.write("app.py", CLOSED)
    done = cunei("record", "-q", "-o", "trace", "app.py")
    assert done.stdout == "closed False\nspoilt True\nthrown True\n", done.stderr

    report = json.loads(cunei("report", "trace", "--json").stdout)
    raised = {task["name"]: task["raised"] for task in report["tasks"]}
    wanted = {"Task-1": False, "closed": False, "spoilt": True, "thrown": True}
    assert {name: raised[name] for name in wanted} == wanted
