# SPDX-License-Identifier: MIT
"""A pool of processes."""

import multiprocessing


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def longest(numbers):
    return max((collatz(n), n) for n in numbers)


def main():
    parts = [range(start, start + 500) for start in range(1, 8001, 500)]
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(max(pool.imap_unordered(longest, parts)))


if __name__ == "__main__":
    main()
