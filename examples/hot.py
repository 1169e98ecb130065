# SPDX-License-Identifier: MIT
"""Counts words with tiny functions: see docs/how-to/keep-a-budget.md."""

import sys
import time

TEXT = "of all that is recorded what is tiny and hot costs most and tells least " * 20


def is_letter(char):
    return "a" <= char <= "z"


def tokens(text):
    word = []
    for char in text:
        if is_letter(char):
            word.append(char)
        elif word:
            yield "".join(word)
            word.clear()


def count(text):
    counts = {}
    for token in tokens(text):
        counts[token] = counts.get(token, 0) + 1
    return counts


def main(rounds):
    for _ in range(rounds):
        count(TEXT)
    print(f"{time.process_time():.2f} s of CPU time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
