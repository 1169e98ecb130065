# SPDX-License-Identifier: MIT
"""The table of the slowest tests.

A line too long for the terminal loses folders of the test's path, then a function, and
is broken into two; names are never shortened.  (PYTEST_DONT_REWRITE)
"""

from cunei._command import duration, short_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
del TYPE_CHECKING

# How many functions are named per test, and from which share of its time on.
_MOST_NAMED = 3
_LEAST_NAMED = 2
_LEAST_SHARE = 0.01

_TIME = 8  # the width of the first column
_GAP = "  "


def _time_ns(region: "dict[str, Any]") -> int:
    """How long a test took; the total includes forked child processes."""
    longest = region["max_ns"] if region["count"] == 1 else 0
    return int(longest or region["total_ns"])


def _spent(region: "dict[str, Any]", most: int, rest: str) -> "list[str]":
    """The functions that took most of a test, each with its share, and the others."""
    whole = sum(each["self_ns"] for each in region["functions"])
    whole = max(whole, region["total_ns"], 1)
    words, left = [], 1.0
    for each in region["functions"][:most]:
        share = each["self_ns"] / whole
        if share < _LEAST_SHARE:
            break
        name = each["qualname"]
        words.append(f"{rest if name is None else short_name(name)} {share:.0%}")
        left -= share
    if words and left >= _LEAST_SHARE:
        words.append(f"others {left:.0%}")
    return [word.replace("%", " %") for word in words]


def _forms(name: str) -> "list[str]":
    """The name of a test with ever less of its path; the last has no path."""
    path, colons, test = name.partition("::")
    folders = path.split("/")
    forms = [name]
    forms += [f"…/{'/'.join(folders[i:])}::{test}" for i in range(1, len(folders))]
    return forms + [test] if colons else [name]


def _fit(forms: "list[str]", width: int) -> str:
    """The first form that fits, or else the shortest one, without its parameters."""
    for form in forms:
        if len(form) <= width:
            return form
    head, bracket, parameters = forms[-1].partition("[")
    kept = width - len(head) - len("[…]")
    return f"{head}[{parameters[: max(kept, 0)]}…]" if bracket else forms[-1]


def _broken(words: "list[str]", width: int) -> "list[str]":
    """The words with commas between them, in lines."""
    lines: list[str] = []
    for word in words:
        text = f"{lines[-1]}, {word}" if lines else word
        if lines and len(text) < width:
            lines[-1] = text
            continue
        if lines:
            lines[-1] += ","
        lines.append(word)
    return lines


def _in_columns(
    tests: "list[dict[str, Any]]", most: int, width: int, rest: str
) -> "list[str] | None":
    """One line per test; None: they do not fit, even without the folders."""
    spent = [", ".join(_spent(each, most, rest)) for each in tests]
    left = width - _TIME - 2 * len(_GAP) - max(map(len, spent))
    forms = [_forms(each["name"]) for each in tests]
    # With its file, a test can be run.
    least = max(len(form[-2] if len(form) > 1 else form[0]) for form in forms)
    if least > left:
        return None
    names = [_fit(form, left) for form in forms]
    room = max(map(len, names))
    lines = [f"{'time':>{_TIME}}{_GAP}{'test':{room}}{_GAP}spent in"]
    for each, name, words in zip(tests, names, spent):
        time = f"{duration(_time_ns(each)):>{_TIME}}"
        lines.append(f"{time}{_GAP}{name:{room}}{_GAP}{words}".rstrip())
    return lines


def _in_blocks(tests: "list[dict[str, Any]]", width: int, rest: str) -> "list[str]":
    """A line per test, and below it those of its functions."""
    lines = [f"{'time':>{_TIME}}{_GAP}test, and what it spent its time in"]
    left = width - _TIME - len(_GAP)
    for each in tests:
        time = f"{duration(_time_ns(each)):>{_TIME}}"
        lines.append(f"{time}{_GAP}{_fit(_forms(each['name']), left)}")
        for most in (_MOST_NAMED, _LEAST_NAMED):
            spent = _broken(_spent(each, most, rest), left - len(_GAP))
            if len(spent) <= 1:
                break
        lines += [f"{'':{_TIME}}{2 * _GAP}{words}" for words in spent]
    return lines


def lines(
    regions: "list[dict[str, Any]]", limit: int, width: int, rest: str
) -> "list[str]":
    """The slowest tests; ``rest`` names the time that no function was recorded in."""
    tests = sorted(regions, key=_time_ns, reverse=True)
    shown = tests[:limit] if limit > 0 else tests
    if not shown:
        return ["No test was recorded."]
    table = (
        _in_columns(shown, _MOST_NAMED, width, rest)
        or _in_columns(shown, _LEAST_NAMED, width, rest)
        or _in_blocks(shown, width, rest)
    )
    if len(shown) < len(tests):
        table.append(f"{'':{_TIME}}{_GAP}… and {len(tests) - len(shown)} more")
    return table
