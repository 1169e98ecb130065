# SPDX-License-Identifier: MIT
"""zip with strict=True, which came with Python 3.10."""


def pairs(*sides):
    sides = [list(side) for side in sides]
    assert len({len(side) for side in sides}) == 1, sides
    return zip(*sides)
