"""Exceptions: raised three calls deep, retried by a decorator, given up at last."""

import contextlib
import functools

lost = 0


class FloodError(Exception):
    """The road is under water; it may be dry next time."""


def retried(times):
    """Call the function again when the road is flooded, that many times at most."""

    def decorate(function):
        @functools.wraps(function)
        def attempt(*arguments):
            for _ in range(times - 1):
                with contextlib.suppress(FloodError):
                    return function(*arguments)
            return function(*arguments)

        return attempt

    return decorate


class Road:
    """Three of every eleven travellers find it flooded."""

    def __init__(self):
        self.travellers = 0

    def travel(self):
        self.travellers += 1
        if self.travellers % 11 in (5, 6, 7):
            raise FloodError


road = Road()


@retried(3)
def deliver(letter):
    walk(letter)


def walk(letter):
    for _ in range(1 + letter % 3):
        road.travel()


def deliver_all(count):
    """Deliver the letters and return how many arrived."""
    global lost
    arrived = 0
    for letter in range(count):
        try:
            deliver(letter)
        except FloodError:
            lost += 1
        else:
            arrived += 1
    return arrived
