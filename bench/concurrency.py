"""More workloads: coroutines, tasks, threads and processes."""

import asyncio
import os
import threading

from workloads import run_fib


class Pause:
    """Awaiting it suspends a coroutine until its next send()."""

    def __await__(self):
        yield


async def step(count):
    pause = Pause()
    for _ in range(count):
        await pause


async def chain(depth, count):
    if depth > 1:
        await chain(depth - 1, count)
    else:
        await step(count)


def take_turns(*coroutines):
    """Resume each of them in turn until the first one ends."""
    sends = [coroutine.send for coroutine in coroutines]
    try:
        while True:
            for send in sends:
                send(None)
    except StopIteration:
        for coroutine in coroutines:
            coroutine.close()


def run_exchange(count):
    take_turns(step(count), step(count))
    return 2 * count


def run_chain(count):
    take_turns(chain(9, count))
    return count


async def return_ball(mine, theirs, count):
    for _ in range(count):
        await mine.wait()
        mine.clear()
        theirs.set()


async def play(count):
    ping, pong = asyncio.Event(), asyncio.Event()
    ping.set()
    await asyncio.gather(return_ball(ping, pong, count), return_ball(pong, ping, count))


def run_ping_pong(count):
    asyncio.run(play(count))
    return 2 * count


def run_threads(count, n):
    """fib in that many threads at once; returns the number of calls in all of them."""
    calls = []
    threads = [
        threading.Thread(target=lambda: calls.append(run_fib(n))) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(calls)


def do_nothing():
    pass


def run_short_threads(count):
    for _ in range(count):
        thread = threading.Thread(target=do_nothing)
        thread.start()
        thread.join()
    return count


def run_forks(count):
    for _ in range(count):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    return count
