# SPDX-License-Identifier: MIT
"""User events, read from the bytes that src/wire specifies."""

from __future__ import annotations

import struct
from typing import NamedTuple

from words import decode, halves, text_of


class Value(NamedTuple):
    """A mark, a parameter, a tag or a metadata."""

    name: str
    value: int | float | str | None
    target: int
    error: str | None  # of a mark that says what was done wrong


class Count(NamedTuple):
    counter: int
    value: int | float
    total: int | float


class Token(NamedTuple):
    stream: int
    name: int
    count: int


def number_of(word: int, is_double: bool) -> int | float:
    return struct.unpack("<d" if is_double else "<q", struct.pack("<Q", word))[0]


def read_value(words: memoryview, at: int) -> tuple[Value, int]:
    kind, name_length = halves(words[at + 1])
    target, length = halves(words[at + 2])
    text = text_of(words, at + 3, length)
    name, behind = decode(text[:name_length]), text[name_length:]
    assert behind[:1] == (b"=" if kind in (3, 4) else b""), text
    value = error = None
    if kind in (1, 2):
        value = number_of(words[at], kind == 2)
    elif kind == 3:
        value = decode(behind[1:])
    elif kind == 4:
        error = decode(behind[1:])
    else:
        assert kind == 0
    return Value(name, value, target, error), at + 3 + length // 8


def read_counter(words: memoryview, at: int) -> tuple[Count, int]:
    counter, kind = halves(words[at + 2])
    value = number_of(words[at], bool(kind & 1))
    return Count(counter, value, number_of(words[at + 1], bool(kind & 2))), at + 3


def read_token(words: memoryview, at: int) -> tuple[Token, int]:
    return Token(words[at], *halves(words[at + 1])), at + 2
