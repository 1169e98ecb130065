# SPDX-License-Identifier: MIT
"""A recording shown in a notebook: a table, a flame graph, or the whole page.

All but the page is HTML and SVG without scripts, of bounded size, because it is saved
with the notebook.
"""

import html
import json
import os
import zlib

from cunei import Error
from cunei._command import ask, count, duration, several, short_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # The cell of a file, for example In[2]: cells are files of generated names.
    CellOf = Callable[[str], "str | None"]
del TYPE_CHECKING

REGION_FILE = "<cunei region>"

# Notebooks are stored, sent and compared as files: keep them small.
MOST_TREE_BYTES = 64 << 20
MOST_PAGE_BYTES = 8 << 20
MOST_BOXES = 500
MOST_LEVELS = 40

_WIDTH = 1000
_ROW = 18
_LETTER = 6.2

_CELL = "text-align:right;padding:1px 8px;font-family:monospace;white-space:nowrap"
_NAME = _CELL.replace("right", "left", 1)
_DIM = _NAME + ";opacity:.6"


class Shown:
    """HTML for notebooks, and text for front ends without HTML."""

    def __init__(self, text: str, rich: str) -> None:
        self._text = text
        self._rich = rich

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._rich


def text(words: str) -> Shown:
    """The output of the executable, unchanged."""
    style = "font-family:monospace;line-height:1.25;overflow-x:auto;white-space:pre"
    return Shown(words, f'<pre style="{style}">{html.escape(words)}</pre>')


def _place(function: "dict[str, Any]", cell_of: "CellOf") -> str:
    """File, or cell, and line of a function."""
    file = function["file"]
    if not file:
        return f"{function['module']} (C)"
    parts = file.split(os.sep)
    short = os.sep.join(parts[-2:] if parts[-1] == "__init__.py" else parts[-1:])
    return f"{cell_of(file) or short}:{function['line']}"


def read(directory: str) -> "dict[str, Any] | None":
    """The report with its call tree; None: it is too large."""
    words = ("report", "--json", "--regions", "--tree", directory)
    try:
        facts: dict[str, Any] = json.loads(ask(*words, most=MOST_TREE_BYTES))
    except OverflowError:
        return None
    return facts


def _has_begun(node: "dict[str, Any]") -> bool:
    """False for functions of the kernel that were running before the recording."""
    return bool(node["calls"] or node["resumes"])


def _key(each: "dict[str, Any]") -> "tuple[Any, ...]":
    return (each["module"], each["qualname"], each["file"], each["line"])


def _estimate(called: "list[dict[str, Any]]", known: "list[dict[str, Any]]") -> None:
    """Replace sums of functions that a budget sampled by their estimates."""
    guesses = {
        _key(each): each
        for each in known
        if each.get("estimated") or each.get("self_estimated")
    }
    for each in called:
        guess = guesses.get(_key(each))
        if guess is None:
            continue
        names = ["self_ns", "self_estimated"]
        if guess.get("estimated"):
            names += ["total_ns", "calls", "estimated"]
        each.update((name, guess[name]) for name in names if name in guess)


def functions(facts: "dict[str, Any]", region: "str | None") -> "list[dict[str, Any]]":
    """The functions of the cell and of threads started in it, with their sums."""
    tree = facts["tree"]
    below = _below(tree)
    level = _roots(tree, region)
    level += [root for root in below.get(0, []) if _has_begun(root)]
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    # Each node with its callers: of a recursion, only the outermost call counts.
    waiting: list[tuple[Any, frozenset[Any]]] = [(node, frozenset()) for node in level]
    while waiting:
        node, around = waiting.pop()
        key = _key(node)
        if node["file"] != REGION_FILE:
            sums = found.setdefault(key, dict(node, calls=0, self_ns=0, total_ns=0))
            sums["calls"] += node["calls"]
            sums["self_ns"] += node["self_ns"]
            if key not in around:
                sums["total_ns"] += node["total_ns"]
                around = around | {key}
        under = below.get(node["id"], [])
        waiting += [(each, around) for each in under if _has_begun(each)]
    called = list(found.values())
    _estimate(called, facts["functions"])
    return called


def calls_of(called: "list[dict[str, Any]]") -> str:
    """The number of calls, with `~` for an estimate."""
    sign = "~" if any(each.get("estimated") for each in called) else ""
    return sign + several(sum(each["calls"] for each in called), "call")


def rows(
    called: "list[dict[str, Any]]",
    whole_ns: int,
    limit: int,
    cell_of: "CellOf",
) -> "list[tuple[str, ...]]":
    """The functions with the most self time, as rows of a table."""
    called = sorted(called, key=lambda each: -int(each["self_ns"]))
    rows: list[tuple[str, ...]] = []
    for each in called[:limit] if limit > 0 else called:
        all_ = "~" if each.get("estimated") else ""
        own = "~" if all_ or each.get("self_estimated") else ""
        rows.append(
            (
                own + duration(each["self_ns"]),
                f"{100 * each['self_ns'] / max(whole_ns, 1):.1f}",
                all_ + duration(each["total_ns"]),
                all_ + count(each["calls"]),
                short_name(each["qualname"]),
                _place(each, cell_of),
            )
        )
    return rows


_HEADS = ("self", "%", "total", "calls", "function", "")


def _text_table(rows: "list[tuple[str, ...]]") -> "list[str]":
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    lines = []
    for row in rows:
        numbers = [cell.rjust(width) for cell, width in zip(row[:4], widths)]
        names = [cell.ljust(width) for cell, width in zip(row[4:], widths[4:])]
        lines.append("  ".join(numbers + names).rstrip())
    return lines


def _html_table(rows: "list[tuple[str, ...]]") -> str:
    styles = [_CELL] * 4 + [_NAME, _DIM]
    lines = []
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        cells = [
            f'<{tag} style="{style}">{html.escape(cell)}</{tag}>'
            for cell, style in zip(row, styles)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def table(title: str, rows: "list[tuple[str, ...]]") -> Shown:
    """A table of functions."""
    if not rows:
        rest = "No Python function was called."
        return Shown(f"{title}\n{rest}", f"<div>{html.escape(title)}<br>{rest}</div>")
    lines = [title, "", *_text_table([_HEADS, *rows])]
    rich = f"<div>{html.escape(title)}{_html_table([_HEADS, *rows])}</div>"
    return Shown("\n".join(lines), rich)


def _colour(function: "dict[str, Any]") -> str:
    """One colour per module, the same in every flame graph."""
    if function["file"] == REGION_FILE:
        return "hsl(210,60%,80%)"
    number = zlib.crc32((function["module"] or "").encode(errors="replace"))
    return (
        f"hsl({number % 50 + 5},{number // 50 % 25 + 60}%,{number // 1250 % 12 + 68}%)"
    )


class _Picture:
    """Boxes, level by level: where there are too many, the deepest are left out."""

    def __init__(self, cell_of: "CellOf") -> None:
        self._cell_of = cell_of
        self._boxes: list[str] = []
        self._levels = 0

    def _add(self, node: "dict[str, Any]", x: float, width: float) -> None:
        name = short_name(node["qualname"] or "?")
        is_region = node["file"] == REGION_FILE
        where = "region" if is_region else _place(node, self._cell_of)
        facts = f"{name}  {where}\n{duration(node['total_ns'])}"
        facts += f", {100 * width / _WIDTH:.1f} %, {several(node['calls'], 'call')}"
        if node.get("demoted"):
            facts += " in samples, because of the budget"
        y = self._levels * _ROW
        box = (
            f"<g><title>{html.escape(facts)}</title>"
            f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, 0.5):.1f}" '
            f'height="{_ROW - 1}" rx="2" fill="{_colour(node)}"/>'
        )
        letters = int((width - 6) / _LETTER)
        if letters >= 3:
            label = name if len(name) <= letters else name[: letters - 1] + "…"
            box += f'<text x="{x + 3:.1f}" y="{y + 13}">{html.escape(label)}</text>'
        self._boxes.append(box + "</g>")

    def draw(
        self, roots: "list[dict[str, Any]]", below: "dict[int, list[Any]]"
    ) -> None:
        whole = max(sum(root["total_ns"] for root in roots), 1)
        level = [(0.0, roots)]
        while level and self._levels < MOST_LEVELS and len(self._boxes) < MOST_BOXES:
            following = []
            for x, nodes in level:
                for node in nodes:
                    width = _WIDTH * node["total_ns"] / whole
                    if width >= 1 and len(self._boxes) < MOST_BOXES:
                        self._add(node, x, width)
                        following.append((x, below.get(node["id"], [])))
                        x += width
            self._levels += 1
            level = [each for each in following if each[1]]

    def svg(self) -> str:
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="100%" '
            f'viewBox="0 0 {_WIDTH} {self._levels * _ROW}" font-size="11" '
            f'font-family="sans-serif" fill="#222">{"".join(self._boxes)}</svg>'
        )


def _below(tree: "list[dict[str, Any]]") -> "dict[int, list[dict[str, Any]]]":
    below: dict[int, list[dict[str, Any]]] = {}
    for node in tree:
        below.setdefault(node["parent"], []).append(node)
    return below


def _roots(
    tree: "list[dict[str, Any]]", region: "str | None"
) -> "list[dict[str, Any]]":
    """The nodes of a region."""
    return [
        node
        for node in tree
        if node["qualname"] == region and node["file"] == REGION_FILE
    ]


def flame(
    directory: str,
    facts: "dict[str, Any] | None",
    region: "str | None",
    cell_of: "CellOf",
) -> Shown:
    """The call tree, or that of a region, as a flame graph."""
    next_ = f"cunei export {directory} --to html"
    if facts is None:
        raise Error(f"the call tree is too large for a flame graph; try: {next_}")
    below = _below(facts["tree"])
    picture = _Picture(cell_of)
    picture.draw(_roots(facts["tree"], region) or below.get(0, []), below)
    return Shown(f"a flame graph: {next_}", picture.svg())


def page(directory: str) -> Shown:
    """The page of ``cunei export --to html``, in a frame."""
    next_ = f"cunei export {directory} --to html"
    try:
        whole = ask(
            "export", directory, "--to", "html", "-o", "-", most=MOST_PAGE_BYTES
        )
    except OverflowError:
        raise Error(f"the page is too large for a notebook; try: {next_}") from None
    frame = (
        '<iframe style="width:100%;height:600px;border:1px solid #8886" '
        f'srcdoc="{html.escape(whole)}"></iframe>'
    )
    return Shown(f"a page: {next_}", frame)
