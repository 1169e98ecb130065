# SPDX-License-Identifier: MIT
"""What the words of an event's payload hold."""

from __future__ import annotations


def halves(word: int) -> tuple[int, int]:
    return word & 0xFFFFFFFF, word >> 32


def text_of(words: memoryview, at: int, length: int) -> bytes:
    return bytes(words[at : at + length // 8].cast("B"))[:length].rstrip(b"\0")


def decode(text: bytes) -> str:
    return text.decode(errors="surrogateescape")
