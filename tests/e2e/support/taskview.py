# SPDX-License-Identifier: MIT
"""What a trace says of asyncio's tasks, worked out by ctf.py's reader alone."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

import ctf
from pairs import pairs


@dataclass
class Task:
    number: int
    names: list[str] = field(default_factory=list)  # all that were reported
    functions: list[str] = field(default_factory=list)  # that its steps began with
    phases: list[int] = field(default_factory=list)  # of its task events
    begins: list[int] = field(default_factory=list)  # times, in nanoseconds
    ends: list[int] = field(default_factory=list)
    run: int = 0  # while it was the innermost one that ran
    ended: bool = False  # by a leave

    @property
    def name(self):
        return self.names[-1] if self.names else None

    @property
    def steps(self):
        return len(self.phases) - self.phases.count(ctf.LEAVE)

    @property
    def wait(self):
        busy = sum(e - b for b, e in pairs(self.begins, self.ends))
        return self.ends[-1] - self.begins[0] - busy


@dataclass
class Thread:
    """One thread's frames, and those among them that are steps of tasks."""

    process: ctf.Process
    tasks: dict[int, Task]
    frequency: int
    frames: list[Task | None] = field(default_factory=list)
    running: list[Task] = field(default_factory=list)
    since: int = 0

    def follow(self, events):
        step = None
        for event in events:
            now = event.time * 1_000_000_000 // self.frequency
            assert step is None or event.kind == ctf.CALL, "a task without its step"
            if event.kind == ctf.STACK:
                missing = len(event.value) - len(self.frames)
                del self.frames[len(event.value) :]
                self.frames += [None] * missing
            elif event.kind == ctf.TASK:
                step = event
            elif event.kind != ctf.CALL:
                assert event.kind != ctf.SWITCH, "greenlets are not followed here"
            elif event.phase in (ctf.ENTER, ctf.RESUME):
                self.frames.append(self.begin(step, event, now) if step else None)
                step = None
            elif self.frames:
                self.end(self.frames.pop(), event, now)
        assert step is None

    def begin(self, step, event, now):
        task = self.tasks[step.value.task]
        task.names += [step.value.name] if step.value.name else []
        task.functions.append(self.process.functions[event.function].qualname)
        task.phases.append(step.phase)
        task.begins.append(now)
        self.pass_to(now)
        self.running.append(task)
        return task

    def end(self, task, event, now):
        if task is None:
            return
        self.pass_to(now)
        assert self.running.pop() is task
        task.ends.append(now)
        task.ended = event.phase == ctf.LEAVE

    def pass_to(self, now):
        if self.running:
            self.running[-1].run += now - self.since
        self.since = now


class Tasks(dict):
    def __missing__(self, number):
        self[number] = Task(number)
        return self[number]


def tasks_of(process):
    """The tasks of a process by number; each must have ended its steps."""
    metadata = (process.folder / "metadata").read_bytes()
    frequency = int(re.search(rb"freq = (\d+)", metadata)[1])
    tasks = Tasks()
    for packets in process.threads().values():
        thread = Thread(process, tasks, frequency)
        for packet in packets:
            thread.follow(packet.events())
    return dict(tasks)


def by_name(tasks):
    found = defaultdict(list)
    for task in tasks.values():
        found[task.name].append(task)
    return found
