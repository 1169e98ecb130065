"""Checks of the sources: format, style, types, layers, headers.

Each is a row in QUICK or SLOW and counts as one test; `make test` runs the quick ones.
clang-tidy takes minutes, so clean files are remembered by the content of all that they
include.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig

import builds
from builds import ROOT, Failed, run
from steps import Steps

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
# Shared by all clones: the key is all that clang-tidy sees of a file.
REMEMBERED = CACHE / "cunei" / "tidy"


def c_files(*endings):
    """Our C files, those of the tests and benchmarks included."""
    folders = ("src", "include", "tests", "bench")
    files = (file for name in folders for file in (ROOT / name).rglob("*.[ch]"))
    return sorted(file for file in files if file.suffix in endings)


def in_parallel(function, items):
    """Call the function for each item; raise the failures together."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(function, items) if text]
    if problems:
        raise Failed("".join(problems))


def check_format():
    run("clang-format", "--dry-run", "--Werror", *c_files(".c", ".h"))


def check_tidy():
    folder = builds.configure("clang")
    run("ninja", "-C", folder, "src/export/pagebytes.h")
    commands = json.loads((folder / "compile_commands.json").read_text())
    once = {entry["file"]: entry for entry in commands}
    REMEMBERED.mkdir(parents=True, exist_ok=True)
    settings = (ROOT / ".clang-tidy").read_text() + run("clang-tidy", "--version")
    resources = run("clang", "-print-resource-dir").strip()

    def tidy(entry):
        file = pathlib.Path(entry["directory"], entry["file"]).resolve()
        clean = REMEMBERED / fingerprint(entry, settings)
        if clean.exists():
            return None
        extra = f"--extra-arg=-resource-dir={resources}"
        try:
            run("clang-tidy", "--quiet", "-p", folder, extra, file)
        except Failed as error:
            return str(error)
        clean.touch()
        return None

    in_parallel(tidy, once.values())


def fingerprint(entry, settings):
    """A hash of all that clang-tidy sees of a file, with macros and comments."""
    words = shlex.split(entry["command"])
    words = words[: words.index("-MD")]
    text = subprocess.run(
        [*words, "-E", "-C", "-dD", entry["file"]],
        cwd=entry["directory"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    return hashlib.sha256(text + f"{settings}{words}".encode()).hexdigest()


# Only for Pythons before 3.12, whose frames they look into.
OLDER_NAMES = ("compat_311", "evaluator", "exception_legacy")


def check_headers():
    include = sysconfig.get_path("include")
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    flags += ["-fsyntax-only", f"-I{ROOT / 'src'}", f"-isystem{include}", "-xc"]

    def alone(header):
        try:
            run("gcc", *flags, header)
        except Failed as error:
            return str(error)
        return None

    headers = [file for file in c_files(".h") if "tests" not in file.parts]
    others = OLDER_NAMES if sys.version_info >= (3, 12) else ()
    in_parallel(
        alone,
        [
            file
            for file in headers
            if not {file.stem, file.parent.name}.intersection(others)
        ],
    )


def check_layers():
    run(sys.executable, "tools/layers.py")


def check_links():
    run(sys.executable, "tools/links.py")


def check_python():
    run("ruff", "check", ".")


def check_python_format():
    run("ruff", "format", "--check", "--diff", ".")


def check_types():
    """The package, and a program that uses it."""
    run("mypy", "--strict", "python/cunei", "tests/types")


QUICK = {
    "clang-format": check_format,
    "ruff check": check_python,
    "ruff format": check_python_format,
    "mypy": check_types,
    "layers": check_layers,
    "links": check_links,
    "headers": check_headers,
}
SLOW = {"clang-tidy": check_tidy}


def main():
    steps = Steps()
    for name, check in {**QUICK, **SLOW}.items():
        steps.run(f"lint: {name}", check)
    return steps.finish()


if __name__ == "__main__":
    sys.exit(main())
