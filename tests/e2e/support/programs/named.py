# SPDX-License-Identifier: MIT
"""Uses each of the names of its arguments wherever a program can choose a name."""

import asyncio
import contextlib
import multiprocessing
import os
import sys
import threading
import types

import cunei


def run_code(name):
    """A function, a file and a module of that name."""
    code = compile("def f(value):\n    return value\n\nf(value)", f"{name}.py", "exec")
    consts = tuple(
        const.replace(co_name=name, **qualify(name))
        if isinstance(const, types.CodeType)
        else const
        for const in code.co_consts
    )
    exec(code.replace(co_consts=consts), {"__name__": name, "value": name})


def qualify(name):
    return {"co_qualname": name} if sys.version_info >= (3, 11) else {}


def fail(name):
    raise type(name, (Exception,), {"__module__": name})(name)


def raise_and_catch(name):
    with contextlib.suppress(Exception):
        fail(name)


def use_all_kinds(name):
    with cunei.region(name):
        cunei.parameter(name, name)
        cunei.mark(name, name)
        cunei.metadata(name, name)
        cunei.counter(name).add()
        stream = cunei.tokens(name)
        stream.tick()
        stream.end()
    with cunei.region("by value"):
        cunei.parameter("name", name)
    cunei.region(name)(lambda: None)()


async def nap():
    await asyncio.sleep(0)


async def run_task(name):
    await asyncio.create_task(nap(), name=name)


def fork(name):
    context = multiprocessing.get_context("fork")
    child = context.Process(target=run_code, args=(name,), name=name)
    child.start()
    child.join()


def main(names):
    for name in names:
        run_code(name)
        raise_and_catch(name)
        use_all_kinds(name)
        asyncio.run(run_task(name))
        thread = threading.Thread(target=run_code, args=(name,), name=name)
        thread.start()
        thread.join()
        fork(name)


main(sys.argv[1:])
if os.environ.get("CUT_OFF"):
    os.kill(os.getpid(), 9)
