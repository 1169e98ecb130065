"""Recursion: many calls that do next to nothing."""


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def hanoi(discs, source="a", target="c", spare="b"):
    """The number of moves that carry the discs from source to target."""
    if discs == 0:
        return 0
    moves = hanoi(discs - 1, source, spare, target)
    return moves + 1 + hanoi(discs - 1, spare, target, source)
