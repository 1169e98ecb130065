# SPDX-License-Identifier: MIT
"""Tokens of a model that takes a streamer, as those of Hugging Face do."""

from cunei import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cunei._probe import Tokens
del TYPE_CHECKING


def _count(value: "Any") -> int:
    """How many tokens a model handed over: a tensor, an array, a list, or one."""
    for name in ("numel", "size"):
        size = getattr(value, name, None)
        if callable(size):
            size = size()
        if isinstance(size, int):
            return size
    return len(value) if isinstance(value, (list, tuple)) else 1


class TokenStreamer:
    """A streamer (``put``, ``end``) that tells when each token came::

        model.generate(**inputs, streamer=cunei.TokenStreamer("decode"))

    What a model puts first is its prompt: there the stream begins, so that the time to
    the first token is that of the prompt's processing.  With ``has_prompt`` false all
    that is put is tokens, and the stream begins at once.  After ``end`` another one
    begins in the same way.  What comes is handed on to ``streamer``, if there is one.
    """

    def __init__(
        self, name: "str | bytes", streamer: "Any" = None, *, has_prompt: bool = True
    ) -> None:
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"name must be a str or bytes, not {type(name).__name__}")
        self._name = name
        self._streamer = streamer
        self._has_prompt = has_prompt
        self._tokens: Tokens | None = None if has_prompt else tokens(name)

    def put(self, value: "Any") -> None:
        """The prompt, or tokens."""
        if self._tokens is None:
            self._tokens = tokens(self._name)
            if not self._has_prompt:
                self._tokens.tick(_count(value))
        else:
            self._tokens.tick(_count(value))
        if self._streamer is not None:
            self._streamer.put(value)

    def end(self) -> None:
        """There are no more."""
        if self._tokens is not None:
            self._tokens.end()
            self._tokens = None
        if self._streamer is not None:
            self._streamer.end()
