# SPDX-License-Identifier: MIT
"""A library with a slow function, and what its tests call."""


def distance(one, two):
    """Levenshtein's, without any shortcut."""
    before = list(range(len(two) + 1))
    for i, left in enumerate(one, 1):
        row = [i]
        for j, right in enumerate(two, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (left != right)))
        before = row
    return before[-1]


def nearest(word, words):
    return min(words, key=lambda other: distance(word, other))
