# SPDX-License-Identifier: MIT
"""cunei.TokenStreamer, beside a class of the interface it has: put and end."""

import inspect
import json

import pytest
from proof import ROOT

EXAMPLE = ROOT / "examples" / "decode.py"

# As in transformers/generation/streamers.py.
BASE = """\
class BaseStreamer:
    def put(self, value):
        raise NotImplementedError()
    def end(self):
        raise NotImplementedError()
"""

GENERATE = """\
import cunei

class Tensor:
    def __init__(self, *items):
        self.items = items
    def numel(self):
        return len(self.items)

class Kept:
    def __init__(self):
        self.calls = []
    def put(self, value):
        self.calls.append(value)
    def end(self):
        self.calls.append("end")

def generate(streamer, tokens, batch=1):
    streamer.put(Tensor(*range(7)))
    for i in range(tokens):
        streamer.put(Tensor(*range(batch)))
    streamer.end()

"""


def streams(cunei, code):
    path = cunei.write("program.py", GENERATE + code)
    result = cunei("record", "-o", "trace", path)
    assert result.returncode == 0, result.stderr
    done = cunei("report", "--json", "--tokens", "trace")
    assert cunei.run(cunei.python, path).returncode == 0
    return [(each["name"], each["count"]) for each in read(done)["tokens"]]


def read(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.core
def test_a_prompt_begins_a_stream_and_is_no_token(cunei):
    code = (
        "streamer = cunei.TokenStreamer('decode')\n"
        "generate(streamer, 5)\n"
        "generate(streamer, 3, batch=4)\n"
    )

    assert sorted(streams(cunei, code)) == [("decode", 5), ("decode", 12)]


def test_without_prompts_all_are_tokens(cunei):
    code = (
        "streamer = cunei.TokenStreamer('decode', has_prompt=False)\n"
        "for _ in range(2):\n"
        "    for value in ([1, 2], 'text', 7, Tensor(1)):\n"
        "        streamer.put(value)\n"
        "    streamer.end()\n"
    )

    assert streams(cunei, code) == [("decode", 5), ("decode", 5)]


def test_what_comes_is_handed_on(cunei):
    code = (
        "kept = Kept()\n"
        "generate(cunei.TokenStreamer(b'decode', kept), 2)\n"
        "sizes = [len(call.items) for call in kept.calls[:-1]]\n"
        "assert (sizes, kept.calls[-1]) == ([7, 1, 1], 'end')\n"
    )

    assert streams(cunei, code) == [("decode", 2)]


def test_it_has_the_interface_and_ends_twice(cunei):
    names = {}
    exec(BASE, names)
    expected = {
        name: list(inspect.signature(getattr(names["BaseStreamer"], name)).parameters)
        for name in ("put", "end")
    }
    code = (
        "import inspect\n"
        "found = {name: list(inspect.signature(getattr(cunei.TokenStreamer, name))"
        ".parameters) for name in ('put', 'end')}\n"
        f"assert found == {expected!r}, found\n"
        "streamer = cunei.TokenStreamer('decode')\n"
        "streamer.end()\n"
        "generate(streamer, 1)\n"
        "streamer.end()\n"
    )

    assert streams(cunei, code) == [("decode", 1)]


def test_the_example(cunei):
    plain = cunei.run(cunei.python, EXAMPLE)
    result = cunei("record", "-o", "trace", EXAMPLE)

    assert plain.returncode == 0 and plain.stdout.count("…\n") == 3
    assert result.stdout == plain.stdout
    report = read(cunei("report", "--json", "trace"))
    assert [each["count"] for each in report["tokens"]] == [100, 100, 100]
    (region,) = report["regions"]
    assert (region["name"], region["count"]) == ("request", 3)
