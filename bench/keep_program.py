"""The program that bench/keep.py records: calls in blocks, each timed.

keep_program.py BLOCKS          print the best nanoseconds of a call
keep_program.py 0 FILE          until FILE exists; print the end and the time of each
                                block, on the monotonic clock
"""

import os
import sys
import time

from clock import clock_ns

CALLS = 100_000


def nothing():
    pass


def block():
    call = nothing
    for _ in range(CALLS):
        call()


def timed():
    begin = clock_ns()
    block()
    return clock_ns() - begin


def main():
    blocks = int(sys.argv[1])
    if blocks:
        print(min(timed() for _ in range(blocks)) / CALLS)
        return
    while not os.path.exists(sys.argv[2]):
        took = timed()
        print(time.monotonic_ns(), took, flush=True)


main()
