# SPDX-License-Identifier: MIT
"""``%%cunei``, ``%cunei`` and ``%cunei_report``, after ``%load_ext cunei``."""

import argparse
import ast
import io
import os
import shlex

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand
from IPython.display import display

import cunei
from cunei import _notebook
from cunei._command import ask, duration, report, several
from cunei._probe import _tool_begin, _tool_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn
del TYPE_CHECKING

_display: "Any" = display
# As for %prun, braces and dollars belong to the statement.
_no_var_expand: "Any" = no_var_expand

# The modules that run the cells: they are not measured, and have threads.
_KERNEL = (
    "IPython",
    "ipykernel",
    "ipykernel_launcher",
    "jupyter_client",
    "traitlets",
    "tornado",
    "zmq",
    "cunei",
)


_VALUE = "<value>"  # the name of the value of a cell's last expression


class _Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of ending the process."""

    def error(self, message: str) -> "NoReturn":
        hint = f"%{self.prog.strip('%')} --help lists the options"
        raise UsageError(f"{self.prog}: {message}; {hint}")

    def exit(self, status: int = 0, message: "str | None" = None) -> "NoReturn":
        raise _Helped


class _Helped(Exception):
    """The help was printed."""


def _recording_parser(name: str, what: str) -> _Parser:
    parser = _Parser(name, description=f"Record {what}, and show its functions.")
    put = parser.add_argument
    put("-o", "--output", metavar="DIR", help="the directory to record to")
    put(
        "-n",
        "--limit",
        type=int,
        default=10,
        metavar="N",
        help="show N rows (default 10); 0 shows all",
    )
    put("--no-flame", action="store_true", help="show only the table")
    put(
        "--page",
        action="store_true",
        help="show the page, not a flame graph",
    )
    put("--include", action="append", default=[], metavar="PATTERN")
    put("--exclude", action="append", default=[], metavar="PATTERN")
    put("--filter", action="append", default=[], metavar="FILE")
    put("--only-project", action="store_true")
    put("--c-calls", action="store_true", help="also record calls of C functions")
    put("--args", action="append", default=[], metavar="PATTERN")
    put("--return", action="append", default=[], metavar="PATTERN", dest="return_")
    put("--lines", action="append", default=[], metavar="PATTERN")
    put("--max-size", metavar="SIZE")
    put("--budget", metavar="PCT", help="limit the cost of recording, for example 5%%")
    return parser


def _parsers() -> "tuple[_Parser, _Parser, _Parser]":
    cell = _recording_parser("%%cunei", "the cell")
    line = _recording_parser("%cunei", "the statement")
    line.add_argument(
        "statement",
        nargs=argparse.REMAINDER,
        help="what to run; write -- before one that begins with a minus",
    )
    later = _Parser(
        "%cunei_report",
        description="Show the last recording again; also has the options of "
        "'cunei report': --tree, --callers NAME, --regions, …",
    )
    later.add_argument("-d", "--directory", metavar="DIR", help="show this recording")
    later.add_argument("--flame", action="store_true", help="show a flame graph")
    later.add_argument("--page", action="store_true", help="show the whole page")
    return cell, line, later


class Magics:
    """The commands of one shell, and its last recording."""

    def __init__(self, shell: "Any") -> None:
        self._shell = shell
        self._cell, self._line, self._later = _parsers()
        self._count = 0
        self._directory = ""  # absolute: a cell may change the current directory
        self._region: str | None = None

    def _name(self, what: str) -> "tuple[str, str]":
        """A new directory, and the name of the cell or statement in it."""
        while True:
            self._count += 1
            path = os.path.join(f"cunei-notebook-{os.getpid()}", str(self._count))
            if not os.path.exists(path):
                return path, f"{what} {self._count}"

    def _cell_of(self, file: str) -> "str | None":
        # From IPython 8.0 on.
        format_ = getattr(self._shell.compile, "format_code_name", lambda file: None)
        kind, name = format_(file) or ("", None)
        return name if kind == "Cell" else None

    def _code(self, source: str) -> "Any":
        """The code of a cell, which stores the value of its last expression."""
        shell = self._shell
        # Tracebacks and --lines find the source by that name.
        number = len(shell.user_ns.get("In", [""])) - 1
        name = shell.compile.cache(source, number)
        tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
        # One code object for one cell: the last expression is assigned to a name that
        # no program can use.
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = tree.body[-1]
            kept = ast.copy_location(ast.Name(_VALUE, ast.Store()), last)
            tree.body[-1] = ast.copy_location(ast.Assign([kept], last.value), last)
        try:
            return compile(tree, name, "exec")
        except SyntaxError as error:
            if "await" in str(error) or "'async" in str(error):
                raise UsageError(
                    "cunei cannot record a top-level await here; put the code "
                    "between cunei.start('trace') and cunei.stop()"
                ) from None
            raise

    def _run(self, code: "Any", region: str) -> "Any":
        __tracebackhide__ = True
        names = self._shell.user_ns
        _tool_begin(region)
        try:
            exec(code, names)
        finally:
            _tool_end(region)
            value = names.pop(_VALUE, None)
        return value

    def record_cell(self, line: str, cell: str) -> "Any":
        """Record the cell, and show its functions."""
        __tracebackhide__ = True
        try:
            options = self._cell.parse_args([word for word, _ in _split(line)])
        except _Helped:
            return None
        # The line with %%cunei is the first line of the cell.
        source = "\n" + self._shell.transform_cell(cell)
        return self._record(source, "cell", options)

    @_no_var_expand  # type: ignore[untyped-decorator]
    def record_statement(self, line: str) -> "Any":
        """Record the statement, and show its functions."""
        __tracebackhide__ = True
        words = _split(line, is_statement=True)
        try:
            options = self._line.parse_args([word for word, _ in words])
        except _Helped:
            return None
        # The statement itself is not a list of words: take it from the line.
        rest = options.statement[options.statement[:1] == ["--"] :]
        if not rest:
            raise UsageError("%cunei: needs a statement; %%cunei records a cell")
        statement = line[words[len(words) - len(rest)][1] :]
        source = self._shell.transform_cell(statement)
        return self._record(source, "statement", options)

    def _record(self, source: str, what: str, options: "Any") -> "Any":
        __tracebackhide__ = True
        code = self._code(source)
        directory, region = self._name(what)
        directory = options.output or directory
        is_quiet = source.rstrip().endswith(";")
        if cunei.is_recording():
            value = self._run(code, region)
            print(f"cunei: this is the region '{region}' of the current recording")
            return None if is_quiet else value
        path = os.path.abspath(directory)
        _start(directory, options)
        try:
            value = self._run(code, region)
        finally:
            cunei.stop()
            self._directory, self._region = path, region
            self._show(options)
        return None if is_quiet else value

    def _show(self, options: "Any") -> None:
        directory = _shown(self._directory)
        try:
            facts = _notebook.read(directory)
            self._table(directory, facts, options.limit)
            if options.page:
                _display(_notebook.page(directory))
            elif not options.no_flame:
                flame = (directory, facts, self._region, self._cell_of)
                _display(_notebook.flame(*flame))
        except (cunei.Error, ValueError) as error:
            # Do not hide the cell's exception or value behind this error.
            print(f"cunei: {error}")

    def _table(
        self, directory: str, facts: "dict[str, Any] | None", limit: int
    ) -> None:
        if facts is None:
            facts = report(directory, "--regions")
            called = facts["functions"]
        else:
            called = _notebook.functions(facts, self._region)
        own = [each for each in facts["regions"] if each["name"] == self._region]
        whole = own[0]["total_ns"] if own else facts["duration_ns"]
        rows = _notebook.rows(called, whole, limit, self._cell_of)
        title = f"{duration(whole)}, {_notebook.calls_of(called)}"
        if facts["lost"]:
            title += f", {several(facts['lost'], 'event')} lost"
        _display(_notebook.table(f"{title} · {directory}", rows))

    def show(self, line: str) -> "_notebook.Shown | None":
        """Show the last recording again, or another recording."""
        try:
            options, words = self._later.parse_known_args(
                [word for word, _ in _split(line)]
            )
        except _Helped:
            return None
        directory = options.directory or _shown(self._directory)
        if not directory:
            raise UsageError(
                "%cunei_report: nothing was recorded yet; start a cell with %%cunei, "
                "or name a trace: %cunei_report --directory DIR"
            )
        own = None if options.directory else self._region
        try:
            if options.page:
                return _notebook.page(directory)
            if options.flame:
                facts = _notebook.read(directory)
                return _notebook.flame(directory, facts, own, self._cell_of)
            # After the directory, an option with an optional value is not ambiguous.
            return _notebook.text(ask("report", directory, *words, width=100))
        except cunei.Error as error:
            raise UsageError(f"%cunei_report: {error}") from None


def _split(line: str, is_statement: bool = False) -> "list[tuple[str, int]]":
    """The words as a shell reads them, each with the index of its first character.

    Statements may have single quotes that a shell does not allow.
    """
    text = io.StringIO(line)
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[tuple[str, int]] = []
    begin = 0
    try:
        for word in lexer:
            begin = len(line) - len(line[begin:].lstrip())
            words.append((word, begin))
            begin = text.tell()
    except ValueError as error:
        if not is_statement:
            raise UsageError(f"cunei: cannot read the options: {error}") from None
        begin = len(line) - len(line[begin:].lstrip())
        words.append((line[begin:], begin))
    return words


def _shown(path: str) -> str:
    """The directory, relative to the current one; "" stays ""."""
    try:
        relative = os.path.relpath(path) if path else ""
    except OSError:  # the current directory was removed
        return path
    return path if relative.startswith("..") else relative


def _start(directory: str, options: "Any") -> None:
    if os.path.isdir(directory) and os.listdir(directory):
        raise UsageError(
            f"cunei: {directory!r} is not empty; remove it, or choose another with -o"
        )
    # --include may select functions of the kernel.
    own = [] if options.include else list(_KERNEL)
    try:
        os.makedirs(os.path.dirname(os.path.abspath(directory)), exist_ok=True)
        cunei.start(
            directory,
            include=options.include,
            exclude=options.exclude + own,
            filter=options.filter,
            only_project=options.only_project,
            c_calls=options.c_calls,
            args=options.args,
            return_=options.return_,
            lines=options.lines,
            max_size=options.max_size,
            budget=options.budget,
        )
    except OSError as error:
        sentence = f"cannot record to {directory!r}: {error.strerror}"
        raise UsageError(f"cunei: {sentence}") from None
    except (cunei.Error, ValueError) as error:
        raise UsageError(f"cunei: {error}") from None


def load(shell: "Any") -> None:
    magics = Magics(shell)
    shell.register_magic_function(magics.record_cell, "cell", "cunei")
    shell.register_magic_function(magics.record_statement, "line", "cunei")
    shell.register_magic_function(magics.show, "line", "cunei_report")


def unload(shell: "Any") -> None:
    shell.magics_manager.magics["cell"].pop("cunei", None)
    for name in ("cunei", "cunei_report"):
        shell.magics_manager.magics["line"].pop(name, None)
