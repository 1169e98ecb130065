# SPDX-License-Identifier: MIT
"""``python -m cunei …`` is ``cunei …`` with this Python as the default.

``python -m cunei app.py`` is ``cunei run app.py``.
"""

import os
import sys
import sysconfig
from importlib import metadata


def find_executable() -> "str | None":
    """The executable that was installed together with this package."""
    found = []
    try:
        files = metadata.files("cunei") or []
        found += [str(f.locate()) for f in files if f.name == "cunei"]
    except metadata.PackageNotFoundError:
        pass
    schemes = ["posix_prefix", "posix_user"]
    if sys.version_info >= (3, 10):
        schemes = [sysconfig.get_preferred_scheme(key) for key in ("prefix", "user")]
    for scheme in schemes:
        scripts = sysconfig.get_path("scripts", scheme)
        found.append(os.path.join(scripts, "cunei"))
    for path in found:
        path = os.path.realpath(path)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def own_words() -> "list[str]":
    """The whole command line of this process."""
    if sys.version_info >= (3, 10):
        return sys.orig_argv
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


def python_words(words: "list[str]") -> "list[str]":
    """The options of this Python itself, before ``-m``."""
    kept: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word.startswith("--"):
            takes_next = word == "--check-hash-based-pycs"
        else:
            # Letters may be joined; the rest of the word may be the value of the last.
            at = next((i for i, c in enumerate(word) if i and c in "cmWX"), len(word))
            letter = word[at : at + 1]
            if letter in ("c", "m") or not word.startswith("-"):
                return kept + ([word[:at]] if letter == "m" and at > 1 else [])
            takes_next = bool(letter) and at + 1 == len(word)
        kept.append(word)
        if takes_next:
            kept += [value for value in [next(rest, None)] if value is not None]
    return kept


def main() -> int:
    executable = find_executable()
    if executable is None:
        sys.stderr.write(
            "cunei: cannot find the executable 'cunei' that belongs to this package; "
            f"reinstall it: {sys.executable} -m pip install --force-reinstall "
            "cunei\n"
        )
        return 1
    words = ["cunei", f"--from-python={sys.executable}"]
    words += [f"--python-word={word}" for word in python_words(own_words())]
    words += sys.argv[1:]
    try:
        os.execv(executable, words)
    except OSError as error:
        sys.stderr.write(f"cunei: cannot run {executable!r}: {error.strerror}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
