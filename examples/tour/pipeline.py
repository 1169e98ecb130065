"""A pipeline of generators: each item is handed through all of them."""

import collections

WORDS = ("reed", "clay", "tablet", "wedge", "scribe", "barley", "canal", "temple")


def words(count):
    state = 1
    for _ in range(count):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        yield WORDS[state >> 16 & 7]


def without(excluded, items):
    for item in items:
        if item != excluded:
            yield item


def pairs(items):
    """Each item with the one before it."""
    before = next(items)
    for item in items:
        yield before, item
        before = item


def busiest_word(count):
    """The word that most often follows another one than itself."""
    counts = collections.Counter()
    for before, word in pairs(without("clay", words(count))):
        if before != word:
            counts[word] += 1
    return counts.most_common(1)[0][0]
