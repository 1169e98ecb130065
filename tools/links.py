#!/usr/bin/env python3
"""Check that the pages link to what exists: files, headings, paths of the tree."""

import pathlib
import re
import sys

LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)")
PATH = re.compile(r"`((?:src|tests|tools|bench|docs|python|examples|web)/[\w./-]+)`")


def headings(page):
    """The fragments by which its headings are linked to, as GitHub makes them."""
    for line in re.findall(r"^#+ (.*)$", page.read_text(), re.M):
        yield re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-")


def problems(page):
    text = page.read_text()
    for name, fragment in LINK.findall(text):
        target = page.parent / name if name else page
        if not target.exists():
            yield f"{name} does not exist"
        elif fragment and fragment not in headings(target):
            yield f"{target.name} has no heading #{fragment}"
    for name in PATH.findall(text):
        if not re.search("[A-Z]{4}", name) and not pathlib.Path(name).exists():
            yield f"{name} does not exist"


found = [
    f"{page}: {problem}"
    for page in [*pathlib.Path().glob("*.md"), *pathlib.Path("docs").rglob("*.md")]
    for problem in problems(page)
]
print("\n".join(found), end="\n" * bool(found))
sys.exit(bool(found))
