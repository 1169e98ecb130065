"""The Pythons of this machine, and environments with cunei installed for each."""

import os
import shutil

from builds import BUILD, ROOT, Failed, path_with, run

# The series that cunei supports, and a free-threaded build.
SERIES = ["3.15", "3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8", "3.13t"]


def pythons():
    """(version, path) of every Python that cunei can be installed for.

    The default first, then by version, newest first, free-threaded builds last.
    """
    lines = run("tools/python.sh").splitlines()
    rows = (line.split(maxsplit=2) for line in lines)
    found = {}
    for version, state, path in rows:
        if state == "ready":
            found.setdefault(version, path)
    return list(found.items())


def series(version):
    """3.13t of 3.13.5t."""
    threaded = "t" if version.endswith("t") else ""
    return ".".join(version.split(".")[:2]) + threaded


def one_of_each():
    """The newest of each series."""
    found = {}
    for version, path in pythons():
        found.setdefault(series(version), (version, path))
    return list(found.values())


def absent(versions):
    """The series that are missing; none if the user chose the Python."""
    if os.environ.get("PYTHON"):
        return []
    there = {series(version) for version in versions}
    return [name for name in SERIES if name not in there]


def install(purpose, version, path, *more):
    """Install cunei for that Python as a user would: for real, from the sources.

    The environment also has the packages of tools/PURPOSE.txt, and those of
    tools/PURPOSE-optional.txt and tools/PURPOSE-MORE.txt that have a wheel.  Returns
    its Python.
    """
    folder = BUILD / f"{purpose}-{version}"
    python = folder / "bin" / "python"
    names = ROOT / "tools" / f"{purpose}.txt"
    optional = [
        name for kind in ("optional", *more) for name in optional_names(purpose, kind)
    ]
    wanted = f"{path}\n{names.read_text()}{optional}"
    stamp = folder / "settings"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run(path, "-m", "venv", folder)
        # Python compiles what it imports, which is little of it.
        pip = [python, "-m", "pip", "install", "--quiet", "--upgrade", "--no-compile"]
        run(*pip, "pip", "-r", names)
        install_wheels(pip, optional)
        stamp.write_text(wanted)
    pip = [python, "-m", "pip", "install", "--quiet", "--no-build-isolation"]
    build = f"-Cbuild-dir={BUILD / f'install-{version}'}"
    run(*pip, "--no-deps", build, ".", PATH=path_with(python.parent))
    return python


def optional_names(purpose, kind):
    file = ROOT / "tools" / f"{purpose}-{kind}.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return [line for line in lines if line and not line.startswith("#")]


def install_wheels(pip, names):
    """Install them together, or if that fails one by one."""
    if not names:
        return
    try:
        run(*pip, "--only-binary", ":all:", *names)
    except Failed:
        if len(names) > 1:
            for name in names:
                install_wheels(pip, [name])
