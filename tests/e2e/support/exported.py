# SPDX-License-Identifier: MIT
"""What the tests of `cunei export` share: a program with a bit of everything."""

import json
import re
from collections import Counter

# A name with all that a format might stumble over.
ODD = 'say "hi", <b>; \\ naïve 木\n\t\0 end'
RECORDED = ODD.replace("\0", "\\x00")

PROGRAM = f"""\
import sys
import threading

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def naïve():
    return (lambda: fib(5))()

def numbers(n):
    for i in range(n):
        yield i

def walk(depth):
    yield depth
    if depth:
        yield from walk(depth - 1)

def ping(n):
    return n and pong(n - 1)

def pong(n):
    return n and ping(n - 1)

def fail():
    raise ValueError

def odd():
    names = dict(co_name={ODD!r}, co_qualname={ODD!r})
    if sys.version_info < (3, 11):
        del names["co_qualname"]
    fib.__code__ = fib.__code__.replace(**names)
    return fib(1)

def main():
    naïve()
    assert sum(numbers(10)) == 45
    assert len(list(walk(5))) == 6
    ping(9)
    try:
        fail()
    except ValueError:
        pass

main()
thread = threading.Thread(target=main, name="work\\u00e9r")
thread.start()
thread.join()
odd()
"""

# Long enough for its stream to be cut into pieces, in the middle of what it does.
DEEP = """\
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def ping(n):
    fib(18)
    return n and pong(n - 1)

def pong(n):
    return n and ping(n - 1)

for i in range(4):
    ping(12)
"""


def record(cunei, *options, program=PROGRAM, name="trace"):
    cunei.write("app.py", program)
    done = cunei("record", "-q", "-o", name, *options, "app.py")
    assert done.returncode == 0, done.stderr


def export(cunei, form, *options, name="trace", folds=False):
    """The path of the file that was written, with the import system unless `folds`."""
    path = cunei.folder / f"exported.{form}"
    words = [*options, *([] if folds else ["--no-fold"])]
    done = cunei("export", "--force", name, "--to", form, "-o", path, *words)
    assert done.returncode == 0, done.stderr
    return path


def page_of(path):
    """The data of a page."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>',
        path.read_text(encoding="utf-8"),
        re.S,
    )
    page = json.loads(found.group(1))
    if "rise" in page["tree"]:
        page["tree"]["parent"] = parents_of(page["tree"].pop("rise"))
    return page


def parents_of(rise):
    """Each node is so many levels above the one before it; 0: below that."""
    parents = [0]
    for i in range(1, len(rise)):
        above = i - 1
        for _ in range(rise[i]):
            above = parents[above]
        parents.append(above)
    return parents


def slices_of(thread):
    """(start, duration, depth, function) of each that a page draws."""
    rows = zip(*(iter(thread["slices"]),) * 4)
    start = 0
    return [((start := start + row[0]), *row[1:]) for row in rows]


def report(cunei, *options, name="trace"):
    done = cunei("report", "--json", name, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def visible(text):
    """As formats write it that are lines of text."""
    raw = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        f"\\x{ord(char):02x}" if char < " " or char == "\x7f" else char for char in raw
    )


def name_of(function):
    return f"{function['module']}:{function['qualname']}"


def totals(functions, key):
    """By name, as several formats know no more of a function."""
    counts = Counter()
    for function in functions:
        counts[visible(name_of(function))] += function[key]
    return counts


def differences(got, wanted):
    keys = got.keys() | wanted.keys()
    return {key: (got[key], wanted[key]) for key in keys if got[key] != wanted[key]}
