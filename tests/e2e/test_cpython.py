# SPDX-License-Identifier: MIT
"""CPython's own tests pass while they are recorded, where they pass without us.

Left out: test_monitoring, which wants to be the only tool; test_subprocess, two of
whose tests list the descriptors of a child, where one is ours; test_code, which asks
CPython to call a function of ctypes when code objects with an extra word are freed,
and lets that function go before they are.
"""

import json
import re

import pytest

MODULES = [
    "test_asyncgen",
    "test_atexit",
    "test_contextlib",
    "test_coroutines",
    "test_exceptions",
    "test_frame",
    "test_functools",
    "test_generators",
    "test_raise",
    "test_sys_setprofile",
    "test_sys_settrace",
    "test_threading_local",
    "test_yield_from",
]

MORE = [
    "test_asyncio",
    "test_concurrent_futures",
    "test_cprofile",
    "test_dataclasses",
    "test_decimal",
    "test_fork1",
    "test_gc",
    "test_importlib",
    "test_inspect",
    "test_multiprocessing_fork",
    "test_multiprocessing_spawn",
    "test_pickle",
    "test_signal",
    "test_sys",
    "test_thread",
    "test_threading",
    "test_traceback",
    "test_typing",
    "test_weakref",
]


def numbers(output):
    """How many tests ran, failed and so on."""
    return re.findall(r"Total tests: (.*)", output)


@pytest.mark.parametrize(
    "module",
    [*MODULES, *(pytest.param(name, marks=pytest.mark.soak) for name in MORE)],
)
def test_they_pass(cunei, module):
    words = ["-m", "test", "--timeout=500", module]
    plain = cunei.run(cunei.python, *words, timeout=600)
    if plain.returncode != 0:
        pytest.skip(f"{module} is not here, or fails without us")

    done = cunei("record", "-q", "-o", "trace", *words, timeout=600)

    assert done.returncode == 0, done.stdout + done.stderr
    assert numbers(done.stdout) == numbers(plain.stdout) != []
    shown = cunei("report", "trace", "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["lost"] == 0
