"""The Pythons of this machine, and environments with cunei installed for each."""

import os
import shutil

from builds import BUILD, ROOT, path_with, run

# Those that cunei is meant for: of each series the GIL's build, and one without a GIL.
SERIES = ["3.15", "3.14", "3.13", "3.12", "3.13t"]


def pythons():
    """(version, path) of every Python that cunei can be installed for.

    The default one is the first, then the newest first, those without a GIL last.
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


def absent(versions):
    """The series that are not among these; none where the user named the Python."""
    if os.environ.get("PYTHON"):
        return []
    there = {series(version) for version in versions}
    return [name for name in SERIES if name not in there]


def install(purpose, version, path):
    """Install cunei for that Python as a user would: for real, from the sources.

    The environment also has what tools/PURPOSE.txt names.  Returns its Python.
    """
    folder = BUILD / f"{purpose}-{version}"
    python = folder / "bin" / "python"
    names = f"tools/{purpose}.txt"
    wanted = f"{path}\n{(ROOT / names).read_text()}"
    stamp = folder / "settings"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run(path, "-m", "venv", folder)
        pip = [python, "-m", "pip", "install", "--quiet", "--upgrade"]
        run(*pip, "pip", "-r", names)
        stamp.write_text(wanted)
    pip = [python, "-m", "pip", "install", "--quiet", "--no-build-isolation"]
    build = f"-Cbuild-dir={BUILD / f'install-{version}'}"
    run(*pip, "--no-deps", build, ".", PATH=path_with(python.parent))
    return python
