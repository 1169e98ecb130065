# SPDX-License-Identifier: MIT
"""Programs for tests that count calls: coroutines, tasks, threads; see workloads.py."""

import asyncio
import concurrent.futures
import contextlib
import queue
import sys
import threading
import types

# asyncio does something else where a timeout is over when it is set, as one of a
# millisecond is now and then on a busy machine.
NOT_YET_S = 0.05


@types.coroutine
def let_others_run():
    """To the loop and back: no time has to pass."""
    yield


def run_asyncio():
    """Tasks, a queue, a group that fails, time-outs, cancellation, generators."""

    async def produce(target, count):
        for i in range(count):
            await target.put(i)
            await let_others_run()
        await target.put(None)

    async def consume(source):
        total = 0
        while (item := await source.get()) is not None:
            total += item
        return total

    async def count():
        try:
            for i in range(10):
                yield i
                await let_others_run()
        finally:
            await let_others_run()

    async def fail():
        await let_others_run()
        raise ValueError

    async def for_ever():
        try:
            await asyncio.Event().wait()
        finally:
            await let_others_run()

    async def in_groups():
        line = asyncio.Queue(3)
        async with asyncio.TaskGroup() as group:
            group.create_task(produce(line, 20))
            group.create_task(consume(line))
        with contextlib.suppress(Exception):
            async with asyncio.TaskGroup() as group:
                group.create_task(for_ever())
                group.create_task(fail())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(NOT_YET_S):
                await for_ever()

    async def main():
        line = asyncio.Queue(3)
        await asyncio.gather(produce(line, 20), consume(line))
        # In early 3.11 a timeout after that raises CancelledError (gh-102780).
        if sys.version_info >= (3, 11, 4):
            await in_groups()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(for_ever(), NOT_YET_S)
        async for i in count():
            if i == 3:
                break
        [i async for i in count()]
        loop = asyncio.get_running_loop()
        await asyncio.gather(loop.run_in_executor(None, sum, [1]), let_others_run())

    asyncio.run(main())


def run_coroutines():
    """Coroutines driven by hand; all that can be thrown into them."""

    @types.coroutine
    def pause(value):
        return (yield value)

    async def down(depth):
        if depth:
            return await down(depth - 1)
        try:
            return await pause(depth)
        except KeyError:
            return await pause("caught")

    async def count():
        try:
            for i in range(5):
                try:
                    yield await pause(i)
                except KeyError:
                    yield "caught"
        finally:
            await pause("last")

    @contextlib.asynccontextmanager
    async def manage():
        await pause("enter")
        try:
            yield
        finally:
            await pause("exit")

    async def use():
        async with manage():
            async for _ in count():
                pass
            return [i async for i in count() if i]

    async def abandon():
        generator = count()
        await generator.asend(None)
        with contextlib.suppress(StopAsyncIteration):
            await generator.athrow(KeyError)
            await generator.athrow(ValueError)

    def drive(awaitable, *errors):
        errors = list(errors)
        with contextlib.suppress(StopIteration, ValueError, RuntimeError):
            awaitable.send(None)
            while True:
                if errors:
                    awaitable.throw(errors.pop(0))
                else:
                    awaitable.send(1)

    for depth in range(8):
        drive(down(depth))
        drive(down(depth), KeyError)
        drive(down(depth), KeyError, ValueError)
        drive(down(depth), ValueError)
        suspended = down(depth)
        suspended.send(None)
        suspended.close()
        down(depth).close()
    for _ in range(3):
        drive(use())
        drive(use(), ValueError)
        drive(abandon())
        drive(count().aclose())
        drive(down(3).__await__(), KeyError)


def run_tasks():
    """Tasks that start at once, in Python, cancelled deep within, in crowds."""

    async def down(depth, event):
        if depth:
            return await down(depth - 1, event)
        await event.wait()

    async def at_once(depth):
        if depth:
            await asyncio.create_task(at_once(depth - 1))
        return depth

    async def count():
        for i in range(5):
            await let_others_run()
            yield i

    async def cancel(depth):
        task = asyncio.create_task(down(depth, asyncio.Event()))
        await let_others_run()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def crowd(limit, n):
        async with limit:
            await let_others_run()
            return n

    async def main():
        for depth in range(8):
            await cancel(depth)
            await asyncio.tasks._PyTask(at_once(depth))
        never = asyncio.create_task(at_once(3))
        never.cancel()
        limit = asyncio.Semaphore(3)
        together = [crowd(limit, n) for n in range(20)]
        await asyncio.gather(*together, never, return_exceptions=True)
        generator = count()
        for _ in range(3):
            await asyncio.create_task(generator.__anext__())
        await generator.aclose()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(down(5, asyncio.Event()), NOT_YET_S)
        if sys.version_info >= (3, 12):
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        await at_once(10)
        tasks = [asyncio.create_task(at_once(n)) for n in range(5)]
        await asyncio.gather(*tasks)
        event = asyncio.Event()
        waiting = [asyncio.create_task(down(n, event)) for n in range(5)]
        event.set()
        await asyncio.wait(waiting)
        return tasks

    asyncio.run(main())


def run_futures():
    """A pool of threads."""

    def work(n):
        if n == 7:
            raise ValueError(n)
        return sum(i for i in range(n))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(work, n) for n in range(40)]
        list(pool.map(work, range(5)))
        for future in concurrent.futures.as_completed(futures):
            future.exception()


def run_threads():
    """Threads, a queue between them, locals, a timer."""
    line, own = queue.Queue(5), threading.local()

    def take():
        own.seen = 0
        while line.get() is not None:
            own.seen += 1

    workers = [threading.Thread(target=take, name=f"worker {i}") for i in range(3)]
    for worker in workers:
        worker.start()
    for item in [*range(100), *(None for _ in workers)]:
        line.put(item)
    for worker in workers:
        worker.join()
    timer = threading.Timer(0, take)
    line.put(None)
    timer.start()
    timer.join()
