# SPDX-License-Identifier: MIT
"""Records programs that call cunei, and reads the user events back."""

from __future__ import annotations

import json
import textwrap

import ctf
from proof import cunei, write_program

NAMES = {
    ctf.ENTER: "enter",
    ctf.LEAVE: "leave",
    ctf.RESUME: "resume",
    ctf.YIELD: "yield",
}


class Recorded:
    """A trace as ctf.py and `cunei dump` read it; most methods expect one process."""

    def __init__(self, directory, errors=0):
        self.directory = directory
        self.trace = ctf.read(directory)
        assert self.trace.is_balanced()
        self.errors = [each.error for each in self.values(ctf.MARK) if each.error]
        assert len(self.errors) == errors, self.errors

    @property
    def dumped(self):
        dumped = cunei("dump", "--json", self.directory).stdout.splitlines()
        return [json.loads(line) for line in dumped]

    @property
    def process(self):
        (process,) = self.trace.processes
        return process

    def name(self, number):
        return self.process.functions[number].qualname

    def is_region(self, number):
        return self.process.functions[number].file == ctf.REGION_FILE

    def events(self, *kinds):
        return [event for event in self.process.events() if event.kind in kinds]

    def values(self, kind):
        return [
            event.value
            for process in self.trace.processes
            for event in process.events()
            if event.kind == kind
        ]

    def phases(self, *names, functions=True):
        """(name, phase) of these functions and regions, or of all regions."""
        return [
            (self.name(event.function), NAMES[event.phase])
            for event in self.events(ctf.CALL)
            if (
                self.name(event.function) in names
                if functions and names
                else self.is_region(event.function)
            )
        ]

    def regions(self):
        """The names of regions as they begin, `-` in front as they end."""
        signs = {"enter": "", "leave": "-", "yield": "~", "resume": "+"}
        return " ".join(signs[phase] + name for name, phase in self.phases())

    def tags(self):
        """The names of functions that are regions, and what they are as such."""
        return {self.name(tag.target): tag.name for tag in self.values(ctf.TAG)}

    def marks(self):
        return [
            (mark.name, mark.value)
            for mark in self.values(ctf.MARK)
            if mark.error is None
        ]

    def parameters(self):
        return [
            (each.name, each.value, each.target and self.name(each.target))
            for each in self.values(ctf.PARAMETER)
        ]

    def counts(self):
        """(name, phase, value, total), as they came."""
        return [
            (self.name(event.value.counter), NAMES[event.phase], *event.value[1:])
            for event in self.events(ctf.COUNTER)
        ]

    def tokens(self):
        return [
            (event.value.stream, NAMES[event.phase], event.value.count)
            for event in self.events(ctf.TOKEN)
        ]


def record(tmp_path, text, *options, errors=0):
    directory = tmp_path / "trace"
    program = write_program(tmp_path, "import cunei\n" + textwrap.dedent(text))
    done = cunei("record", "-q", *options, "-o", directory, program, cwd=tmp_path)
    assert done.stderr == "", done.stderr
    recorded = Recorded(directory, errors)
    recorded.out = done.stdout
    return recorded
