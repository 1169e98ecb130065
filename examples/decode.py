"""A language model, as small as can be, that writes word by word.

It knows which word follows which in its own documentation, and hands every word to a
streamer, as the models of Hugging Face do: the prompt first, then a token at a time,
then the end.  How fast they come:

    cunei record -o trace examples/decode.py && cunei report trace --tokens
"""

import random
import sys

import cunei

TEXT = (__doc__ + str(random.__doc__) + str(sys.__doc__)).split()


class Model:
    """Chooses each word among those that followed the last one in a text."""

    def __init__(self, words):
        self.following = {}
        for word, following in zip(words, words[1:]):
            self.following.setdefault(word, []).append(following)
        self.random = random.Random(7)

    def read(self, prompt):
        """What a model does with a prompt: it looks at all of it."""
        return [sorted(self.following.get(word, TEXT)) for word in prompt][-1]

    def next_token(self, choices):
        return self.random.choice(choices)

    def generate(self, prompt, streamer, most=100):
        streamer.put(prompt)
        choices = self.read(prompt)
        for _ in range(most):
            word = self.next_token(choices)
            streamer.put([word])
            choices = sorted(self.following.get(word, TEXT))
        streamer.end()


class Printer:
    """A streamer that shows the first words of what comes."""

    def __init__(self):
        self.words = []

    def put(self, value):
        self.words.extend(value)

    def end(self):
        print(" ".join(self.words[:12]), "…")
        self.words.clear()


def main():
    model = Model(TEXT)
    streamer = cunei.TokenStreamer("decode", Printer())
    for prompt in ("the", "This module", "A streamer"):
        with cunei.region("request"):
            cunei.parameter("prompt", prompt)
            model.generate(prompt.split(), streamer)


if __name__ == "__main__":
    main()
