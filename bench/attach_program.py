"""The program that bench/attaching.py measures: it runs each line of its input."""

import os
import statistics
import subprocess
import sys
import threading
import time

import cunei

CALLS = 200_000


def leaf(n):
    return n + 1


def turn():
    """CPU seconds that the calls take."""
    began = time.thread_time()
    for i in range(CALLS):
        leaf(i)
    return time.thread_time() - began


def attach_once(executable, folder, number):
    words = [executable, "attach", os.getpid(), "-q", "--for", "1ms"]
    subprocess.run(
        [str(word) for word in [*words, "-o", f"{folder}/{number}"]], check=True
    )


def ratios(executable, folder, rounds):
    """Armed and detached, by turns, as a multiple of plain."""
    turns = {"plain": [], "armed": [], "detached": []}
    turn()
    for i in range(rounds):
        turns["plain"].append(turn())
        cunei.arm()
        turns["armed"].append(turn())
        attach_once(executable, folder, i)
        turns["detached"].append(turn())
        cunei.disarm()
    plain = statistics.median(turns["plain"])
    return {name: statistics.median(t) / plain for name, t in turns.items()}


def busy():
    while True:
        leaf(1)


def c_bound():
    while True:
        sum(range(400_000))


def own_ticks():
    """Of our threads, by what they are called."""
    ticks = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/stat") as file:
            name, fields = file.read().split("(", 1)[1].rsplit(")", 1)
        if name == "cunei":
            ticks += sum(map(int, fields.split()[11:13]))
    return ticks


def begin(work, count):
    for _ in range(count):
        threading.Thread(target=work, daemon=True).start()


for line in sys.stdin:
    print(eval(line), flush=True)
