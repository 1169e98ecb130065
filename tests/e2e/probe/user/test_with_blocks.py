# SPDX-License-Identifier: MIT
"""What `with` blocks and decorators of the package are, beyond the two statements."""

import json
from collections import Counter

import ctf
import pytest
from proof import cunei, python
from user_events import record

pytestmark = pytest.mark.core

BLOCKS = """
import contextlib

def raises(called, *args, **names):
    try:
        called(*args, **names)
    except TypeError:
        return True

region = cunei.region("stack")
with contextlib.ExitStack() as stack:
    assert stack.enter_context(region) is region
with region as same:
    assert same is region and same.name == "stack"
region.__enter__()
region.__exit__(None, None, None)
type(region).__enter__(region)
type(region).__exit__(region, None, None, None)
try:
    with region:
        1 / 0
except ZeroDivisionError:
    pass

for block in (region, cunei.enable()):
    assert raises(block, None)
    assert raises(block, print, print)
    assert raises(block, function=print)
    assert raises(type(block))
    assert raises(type(block).__enter__)
for each in (cunei.counter("c"), cunei.tokens("t")):
    assert raises(type(each))
assert raises(cunei.disable, 1, 2)
assert raises(cunei.disable, 1)

@cunei.disable()
def hidden():
    return 1

@cunei.enable
def shown():
    return 2

assert (hidden(), shown()) == (1, 2)
assert (hidden.__name__, shown.__wrapped__.__name__) == ("hidden", "shown")
"""


def test_blocks_recorded(tmp_path):
    recorded = record(tmp_path, BLOCKS)

    assert recorded.regions() == " ".join(["stack -stack"] * 5)


def test_blocks_not_recorded(tmp_path):
    done = python("-c", "import cunei\n" + BLOCKS, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_use_loads_all(tmp_path):
    """A module's __getattr__ makes each look at the module slow."""
    done = python(
        "-c",
        "import cunei; lazy = set(cunei.__all__) - set(vars(cunei)); "
        "before = cunei.is_recording; cunei.region; "
        "assert lazy and not set(cunei.__all__) - set(vars(cunei)); "
        "assert not hasattr(cunei, '__getattr__') and not hasattr(cunei, 'nothing'); "
        "assert (before(), cunei.is_recording()) == (False, False); "
        "cunei.start('trace'); "
        "assert (before(), cunei.is_recording()) == (True, True)",
        cwd=tmp_path,
    )

    assert (done.returncode, done.stderr) == (0, "")


LATE = """
def early():
    pass

cunei.exclude("__main__:early", "__main__:never")
early()
cunei.region("late")(early)
early()
early()
"""


def test_an_excluded_function_can_become_a_region(tmp_path):
    recorded = record(tmp_path, LATE)

    assert recorded.tags() == {"early": "late"}
    assert recorded.trace.count("early") == 2


def test_the_report_says_what_was_excluded_meanwhile(tmp_path):
    recorded = record(tmp_path, LATE)
    shown = cunei("report", recorded.directory).stdout
    (process,) = json.loads(cunei("report", "--json", recorded.directory).stdout)[
        "processes"
    ]

    assert "filter     -__main__:early -__main__:never; the time of excluded" in shown
    assert process["patterns"] == ["-__main__:early", "-__main__:never"]


def test_each_kind_has_room_for_its_names(tmp_path):
    recorded = record(
        tmp_path,
        """
        for i in range(66_000):
            with cunei.region(f"region {i}"):
                pass
        cunei.counter("one").add()
        cunei.tokens("two").tick()
        """,
    )
    kinds = Counter(each.file for each in recorded.process.functions.values())

    assert kinds[ctf.REGION_FILE] == 65_536
    assert recorded.trace.lost() == 2 * (66_000 - 65_536)
    assert [count[0] for count in recorded.counts()] == ["one"]
    assert len(recorded.tokens()) == 2
