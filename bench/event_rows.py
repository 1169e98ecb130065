"""Events other than calls: a row of the table each."""

import functools
import typing

import concurrency
import workloads
from floor import C_CALLS, EXCEPTIONS


class Row(typing.NamedTuple):
    function: typing.Callable
    size: int
    unit: str
    events: tuple = ()  # of the floor, besides those of functions
    collector: bool = False  # whether the floor has a callback in gc.callbacks
    options: dict = {}  # of the recording
    threads: bool = False  # whether it has more than one


def threads(count, n):
    function = functools.partial(concurrency.run_threads, count)
    return Row(function, n, "a call", threads=True)


# Sizes that take some milliseconds each; with threads more, because without a GIL it
# takes 0.3 ms to start one.
ROWS = {
    "await, two coroutines": Row(concurrency.run_exchange, 10_000, "a send"),
    "await through ten": Row(concurrency.run_chain, 4000, "a send"),
    "await, two asyncio tasks": Row(concurrency.run_ping_pong, 500, "a switch"),
    "raise and catch": Row(workloads.run_raise, 10_000, "a raise", EXCEPTIONS),
    "raise through ten": Row(workloads.run_deep_raise, 2000, "a raise", EXCEPTIONS),
    "builtin calls, --c-calls": Row(
        workloads.run_builtins, 20_000, "a call", C_CALLS, options={"c_calls": True}
    ),
    "garbage collection": Row(
        workloads.run_collections, 30, "a collection", collector=True
    ),
    "1 thread": threads(1, 24),
    "2 threads": threads(2, 23),
    "8 threads": threads(8, 21),
    "start and join a thread": Row(
        concurrency.run_short_threads, 100, "a thread", threads=True
    ),
    "fork, os._exit": Row(concurrency.run_forks, 5, "a child"),
}
