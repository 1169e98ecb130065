"""The workloads: small programs that do little but what is measured.

Each takes a size and returns how many times it did that: entered functions, resumed
generators or coroutines, raised exceptions, called builtins, collected garbage.
"""

import gc


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def hanoi(discs, source, target, spare):
    if discs:
        hanoi(discs - 1, source, spare, target)
        hanoi(discs - 1, spare, target, source)


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount


def numbers(count):
    i = 0
    while i < count:
        yield i
        i += 1


def refuse(depth):
    if depth == 1:
        raise ValueError
    refuse(depth - 1)


def run_fib(n):
    fib(n)
    calls, before = 1, 1
    for _ in range(n - 1):
        calls, before = calls + before + 1, calls
    return calls


def run_hanoi(discs):
    hanoi(discs, "a", "c", "b")
    return 2 ** (discs + 1) - 1


def run_methods(count):
    account = Account()
    for amount in range(count):
        account.deposit(amount)
    return count


def run_generator(count):
    for _ in numbers(count):
        pass
    return count


def run_raise(count, depth=1):
    caught = 0
    for _ in range(count):
        try:
            refuse(depth)
        except ValueError:
            caught += 1
    return caught


def run_deep_raise(count):
    return run_raise(count, 10)


def run_builtins(count):
    items = []
    for number in range(count):
        items.append(number)
        len(items)
        items.pop()
    return 3 * count


def run_collections(count):
    """Each with as many young objects as trigger a collection."""
    for _ in range(count):
        young = [[] for _ in range(700)]
        gc.collect(0)
        del young
    return count


# Sizes that take some milliseconds and fill several packets.
WORKLOADS = {
    "fib": (run_fib, 23),
    "hanoi": (run_hanoi, 15),
    "method calls": (run_methods, 80_000),
    "generator": (run_generator, 80_000),
}
