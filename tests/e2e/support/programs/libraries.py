# SPDX-License-Identifier: MIT
"""Programs for tests that count calls: the library at work; see workloads.py."""

import _pydecimal
import argparse
import ast
import configparser
import contextlib
import copy
import csv
import dataclasses
import difflib
import email.message
import email.parser
import fnmatch
import fractions
import html.parser
import inspect
import io
import json
import json.decoder
import json.encoder
import json.scanner
import logging
import pickle
import pprint
import re
import shlex
import statistics
import string
import sys
import textwrap
import tokenize
import unittest
import urllib.parse
import xml.etree.ElementTree
import zipfile


def run_json():
    """json with its scanner, string and container code in Python."""
    text = json.dumps(
        {"a": [1, 2.5, None, True, "é\n"], "b": {"c": [[]] * 5}}, indent=1
    )
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    value = decoder.decode(text)
    for _ in range(20):
        encode = json.encoder._make_iterencode(
            None,
            json.JSONEncoder().default,
            json.encoder.py_encode_basestring,
            " ",
            float.__repr__,
            ": ",
            ", ",
            True,
            False,
            False,
        )
        "".join(encode(value, 0))
    with contextlib.suppress(json.JSONDecodeError):
        decoder.decode("[1, 2")


def run_re():
    """The compiler of regular expressions."""
    re.purge()
    for source in (r"(?P<a>a|b)*?(?P=a)[^x-z]{2,5}$", r"\b(?:[a-c]|\d+)(?<!q)", "("):
        with contextlib.suppress(re.error):
            re.sub(source, lambda match: match[0].upper(), "abcab 12 q")


def run_ast():
    """Parse a module of the library, change it, write it out again."""

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.copy_location(ast.Name(node.id.upper(), node.ctx), node)

    tree = ast.parse(inspect.getsource(fnmatch))
    tree = ast.fix_missing_locations(Rename().visit(tree))
    getattr(ast, "unparse", ast.dump)(tree)


def run_decimal():
    """Arithmetic of the decimal module in Python: deep, with many contexts."""
    number = _pydecimal.Decimal
    with _pydecimal.localcontext() as context:
        context.prec = 30
        total = sum((number(i) / 7 for i in range(1, 30)), number(0))
        total.sqrt() + total.ln() - (total % number("0.3")).quantize(number("0.01"))
        with contextlib.suppress(_pydecimal.InvalidOperation):
            number("-1").sqrt()
    str(fractions.Fraction(3, 7) ** 5)


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list, compare=False)

    def __post_init__(self):
        self.x = int(self.x)


def run_pickle():
    """The pickler and unpickler in Python; deep copies."""
    value = {"points": [Point(i, [i]) for i in range(5)], "shared": [Point(1)] * 3}
    value["self"] = value
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = io.BytesIO()
        pickle._Pickler(data, protocol).dump(value)
        pickle._Unpickler(io.BytesIO(data.getvalue())).load()
    copy.deepcopy(value)
    with contextlib.suppress(AttributeError, pickle.PicklingError):
        pickle._Pickler(io.BytesIO()).dump(lambda: None)


def run_difflib():
    """Differences of two texts: generators in generators."""
    before = inspect.getsource(Point).splitlines(True)
    after = [line.replace("int", "float") for line in before] + ["\n"]
    list(difflib.unified_diff(before, after))
    list(difflib.ndiff(before, after))
    difflib.get_close_matches("appel", ["ape", "apple", "peach"])
    next(difflib._mdiff(before, after))


def run_parsers():
    """tokenize, configparser, shlex, csv, argparse."""
    source = inspect.getsource(sys.modules[__name__]).encode()
    whole = source[: source.index(b"\n\n\n", 4000)]
    list(tokenize.tokenize(io.BytesIO(whole).readline))
    with contextlib.suppress(tokenize.TokenError):
        list(tokenize.tokenize(io.BytesIO(b"(").readline))
    config = configparser.ConfigParser()
    config.read_string("[a]\nx = 1\ny = %(x)s0\n[b : a]\n")
    config.getint("a", "y")
    with contextlib.suppress(configparser.NoOptionError):
        config.get("a", "z")
    shlex.split('a \'b c\' "d\\"" # e')
    list(csv.DictReader(io.StringIO("a,b\n1,2\n3,4\n")))
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=3)
    parser.add_argument("names", nargs="*")
    parser.parse_args(["--number", "4", "a", "b"])
    if sys.version_info >= (3, 9):
        parser.exit_on_error = False
        with contextlib.suppress(argparse.ArgumentError):
            parser.parse_args(["--number", "x"])


def run_templates():
    """string.Template and string.Formatter in a loop."""
    template = string.Template("$who owes ${what} $$")
    for i in range(50):
        template.safe_substitute(who=i)
        with contextlib.suppress(KeyError):
            template.substitute(who=i)
        string.Formatter().format("{0!r:>{width}} {x[0]}", i, width=5, x=[i])


def run_html():
    """An HTML parser that calls back, and an XML tree."""

    class Links(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.found = []

        def handle_starttag(self, tag, attrs):
            self.found += [value for name, value in attrs if name == "href"]

    links = Links()
    for piece in ("<p>a &amp; b<a hr", "ef='x'>y</a><!-- c --><br/>", "<b") * 5:
        links.feed(piece)
    links.close()
    root = xml.etree.ElementTree.fromstring("<a><b x='1'/><b>t</b></a>")
    xml.etree.ElementTree.tostring(root)
    list(root.iter("b"))


def run_text():
    """textwrap, pprint, statistics, fnmatch, urllib."""
    text = " ".join(word for word in dir(sys))
    textwrap.shorten(text, 100)
    textwrap.dedent(textwrap.indent(textwrap.fill(text, 30), "  "))
    pprint.pformat({"a": [text.split()] * 2, "b": {1: (2, {3})}}, width=40)
    statistics.quantiles([1.5, 2.5, 4.5, 8.5])
    statistics.harmonic_mean([1, 2, 3])
    fnmatch.filter(["a.py", "b.c"], "*.py")
    urllib.parse.urlsplit(urllib.parse.urlunsplit(("http", "a:1", "/b c", "d=e", "")))
    urllib.parse.parse_qs(urllib.parse.urlencode({"a": [1, 2]}, doseq=True))


def run_mail():
    """email and logging: old code, many small methods."""
    message = email.message.EmailMessage()
    message["Subject"] = "é" * 50
    message["To"] = "a@example.org, B <b@example.org>"
    message.set_content("text\n" * 10)
    email.parser.BytesParser().parsebytes(bytes(message)).as_string()
    logger = logging.Logger("own")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    for i in range(10):
        logger.warning("number %d", i)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a", "b")


def run_unittest():
    """A test suite within the program."""

    class Case(unittest.TestCase):
        def test_good(self):
            self.assertEqual([1], [1])

        def test_bad(self):
            self.assertEqual({"a": 1}, {"a": 2})

        @unittest.skip("never")
        def test_skipped(self):
            pass

        def test_subtests(self):
            for i in range(3):
                with self.subTest(i=i):
                    self.assertLess(i, 2)

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
    unittest.TextTestRunner(io.StringIO()).run(suite)
