"""A parser by recursive descent: methods, a generator of tokens, syntax errors."""

import re

TOKEN = re.compile(r"\s*(?:(\d+)|(.))")


class FormulaError(ValueError):
    """The text is not a formula."""


def tokens(text):
    for number, sign in TOKEN.findall(text):
        yield int(number) if number else sign
    yield "end"


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.token = next(self.tokens)

    def parse(self):
        value = self.sum()
        self.expect("end")
        return value

    def sum(self):
        value = self.product()
        while self.token in ("+", "-"):
            sign = self.take()
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self):
        value = self.atom()
        while self.token == "*":
            self.take()
            value *= self.atom()
        return value

    def atom(self):
        if self.token == "(":
            self.take()
            value = self.sum()
            self.expect(")")
            return value
        if isinstance(self.token, int):
            return self.take()
        raise FormulaError(f"unexpected {self.token!r}")

    def take(self):
        token = self.token
        self.token = next(self.tokens, "end")
        return token

    def expect(self, token):
        if self.take() != token:
            raise FormulaError(f"expected {token!r}")


def formulas(count):
    """Formulas; in every tenth the last bracket is missing."""
    for i in range(count):
        nested = "(" * (i % 7) + str(i) + " + 1)" * (i % 7)
        text = f"2 * {nested} - ({i} * 3 + {nested})"
        yield text if i % 10 else text[:-1]


def total(texts):
    """The sum of the formulas; what does not parse counts as 0."""
    return sum(value_or_zero(text) for text in texts)


def value_or_zero(text):
    try:
        return Parser(text).parse()
    except FormulaError:
        return 0
