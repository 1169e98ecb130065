# SPDX-License-Identifier: MIT
"""The cells of a notebook."""

LOAD = """\
import random
import statistics
random.seed(1)
points = [(random.random(), random.random()) for _ in range(3000)]"""

PLANTED = """\
def closest(points):
    best = 9.0
    for i, (x, y) in enumerate(points):
        for u, v in points[:i]:
            best = min(best, (x - u) ** 2 + (y - v) ** 2)
    return best ** 0.5"""

USE = """\
def summary(points):
    return closest(points), statistics.mean(x for x, _ in points)

summary(points)"""

CELLS = [LOAD, PLANTED, USE]
