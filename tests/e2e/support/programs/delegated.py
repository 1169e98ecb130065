# SPDX-License-Identifier: MIT
"""Exceptions thrown into what delegates, and taken further in; see hooked.py."""

import types


@types.coroutine
def pause():
    yield


def work(depth):
    return depth and work(depth - 1)


class Wrapped:
    """Awaits a coroutine by an object that is none."""

    def __init__(self, awaited):
        self.awaited = awaited

    def __await__(self):
        return self.awaited.__await__()


class Iterator:
    """Takes what is thrown into it, and is at its end."""

    def __iter__(self):
        return self

    def __next__(self):
        return work(1)

    def throw(self, *error):
        raise StopIteration


async def take():
    try:
        await pause()
    except KeyError:
        work(2)


async def count():
    try:
        yield await pause()
    except KeyError:
        yield work(1)


def iterate():
    yield from Iterator()
    yield work(3)
    work(1)


def at_once():
    yield from Iterator()


async def wait(awaited):
    await awaited
    work(3)
    await pause()


async def wait_deep(depth):
    if depth:
        await wait_deep(depth - 1)
        return
    await take()


async def loop():
    async for _ in count():
        work(1)


def drive(generator):
    """From inside of a generator, which continues when the one it drives rests."""
    generator.send(None)
    try:
        yield generator.throw(KeyError())
        while True:
            yield generator.send(None)
    except StopIteration:
        yield work(1)


def run():
    for _ in range(5):
        for make in (
            iterate,
            at_once,
            loop,
            lambda: wait(take()),
            lambda: wait(Wrapped(take())),
            lambda: wait(Wrapped(wait(take()))),
            lambda: wait_deep(4),
        ):
            list(drive(make()))


WORKLOADS = {"delegated": run}
