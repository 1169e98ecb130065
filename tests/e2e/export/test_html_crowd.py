# SPDX-License-Identifier: MIT
"""`--to html` of what is more than a page can show."""

import sys

import pytest
from exported import export, page_of, record, slices_of

CROWDED = """
import threading

def leaf():
    pass

def fail(error):
    try:
        raise error
    except error:
        pass

def work(errors):
    for error in errors:
        fail(error)

errors = [type(f"E{i}", (Exception,), {}) for i in range(1100)]
work(errors * 20)
for i in range(200_000):
    leaf()
thread = threading.Thread(target=work, args=([KeyError] * 3,))
thread.start()
thread.join()
"""


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="what a function raises and takes is not seen"
)
def test_what_is_too_much_is_thinned_out_and_reported(cunei):
    record(cunei, program=CROWDED)

    page = page_of(export(cunei, "html"))

    first, second = page["threads"]
    # No thread has what the other needs.
    raised = len(first["raises"]) // 3
    assert raised <= 20_000 and raised + first["left_out"] >= 22_000
    assert len(second["raises"]) // 3 >= 3 and second["left_out"] == 0
    assert len(page["types"]) == 1000 and page["types"][-1] == "others"
    assert max(first["raises"][1::3]) == 999
    # As are calls that are too short.
    short = [s for s in slices_of(first) if s[1] < page["hidden_ns"]]
    tenths = {10 * (s[0] - page["begin_ns"]) // page["duration_ns"] for s in short}
    assert page["hidden_ns"] > 0 and len(tenths) > 2
    assert sum(len(slices_of(thread)) for thread in page["threads"]) < 170_000


EAGER = """
import asyncio

async def inner():
    await asyncio.sleep(0)

async def outer():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    await asyncio.create_task(inner(), name="inner")

asyncio.run(outer())
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no eager tasks")
def test_a_step_inside_of_another_leaves_it_whole(cunei):
    record(cunei, program=EAGER)

    page = page_of(export(cunei, "html"))

    numbers = {row[2]: row[1] for row in page["tasks"]}
    steps = list(zip(*(iter(page["threads"][0]["steps"]),) * 3))
    (start, took, _), *_ = (s for s in steps if s[2] == numbers["inner"])
    assert any(
        begin <= start and start + took <= begin + whole
        for begin, whole, task in steps
        if task != numbers["inner"]
    )
