# SPDX-License-Identifier: MIT
"""More of exceptions.py: those that come from outside, or leave a task or a thread."""

# ruff: noqa: SIM105 - try and except are what this is about

import _thread
import asyncio
import concurrent.futures
import signal
import sys
import threading


def case_interrupt():
    try:
        signal.raise_signal(signal.SIGINT)
        while True:
            len("")
    except KeyboardInterrupt:
        pass


def case_exit():
    try:
        sys.exit(3)
    except SystemExit:
        pass


def case_cancelled():
    async def wait(begun):
        begun.set_result(None)
        await asyncio.get_running_loop().create_future()

    async def guard(begun):
        try:
            await wait(begun)
        finally:
            len("")

    async def cancel():
        begun = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(guard(begun))
        await begun
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass

    asyncio.run(cancel())


def case_tasks():
    async def fail():
        raise ValueError

    async def ask(task):
        try:
            await task
        except ValueError:
            pass

    async def fail_in_a_group():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
        except* ValueError:
            pass

    async def run():
        task = asyncio.create_task(fail())
        await ask(task)
        await fail_in_a_group()

    asyncio.run(run())


def case_futures():
    def work():
        raise ValueError

    def ask(future):
        try:
            future.result()
        except ValueError:
            pass

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        for _ in range(3):
            ask(future)


def case_futures_of_another_loop():
    async def work():
        raise KeyError

    def ask(loop):
        try:
            asyncio.run_coroutine_threadsafe(work(), loop).result()
        except KeyError:
            pass
        loop.call_soon_threadsafe(loop.stop)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    ask(loop)
    thread.join()
    loop.close()


def case_threads():
    def fail():
        raise ValueError

    def fail_alone():
        try:
            raise OSError
        finally:
            done.set()

    done = threading.Event()
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    _thread.start_new_thread(fail_alone, ())
    done.wait()
