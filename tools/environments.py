"""The Pythons of this machine, and environments with cunei installed for each."""

import shutil

from builds import BUILD, ROOT, path_with, run


def pythons():
    """(version, path) of every Python that cunei can be installed for, newest first."""
    lines = run("tools/python.sh").splitlines()
    rows = (line.split(maxsplit=2) for line in lines)
    return [(version, path) for version, state, path in rows if state == "ready"]


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
