# SPDX-License-Identifier: MIT
"""A streamer for models with that interface, such as those of Hugging Face."""

from cunei import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cunei._probe import Tokens
del TYPE_CHECKING


def _count(value: "Any") -> int:
    """The number of tokens in a tensor, an array, a list, or a single token."""
    for name in ("numel", "size"):
        size = getattr(value, name, None)
        if callable(size):
            size = size()
        if isinstance(size, int):
            return size
    return len(value) if isinstance(value, (list, tuple)) else 1


class TokenStreamer:
    """A streamer (``put``, ``end``) that records the time of each token::

        model.generate(**inputs, streamer=cunei.TokenStreamer("decode"))

    The first ``put`` is the prompt and starts the stream, so that the time to the first
    token is the time that the prompt took.  With ``has_prompt=False`` the stream starts
    at once, and every ``put`` has tokens.  After ``end`` the next stream starts in the
    same way.  All values are passed on to ``streamer``, if it is given.
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
        """Receive the prompt, or tokens."""
        if self._tokens is None:
            self._tokens = tokens(self._name)
            if not self._has_prompt:
                self._tokens.tick(_count(value))
        else:
            self._tokens.tick(_count(value))
        if self._streamer is not None:
            self._streamer.put(value)

    def end(self) -> None:
        """End the stream."""
        if self._tokens is not None:
            self._tokens.end()
            self._tokens = None
        if self._streamer is not None:
            self._streamer.end()
