"""The build folders that lint, test and soak share, and how commands run in them."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
BIN = pathlib.Path(sys.executable).parent

TESTED = ["-Dtests=true"]
SANITIZED = [*TESTED, "-Dbuildtype=debugoptimized", "-Db_lundef=false"]
BUILDS = {
    "gcc": ("gcc", TESTED),
    "clang": ("clang", [*SANITIZED, "-Db_sanitize=address,undefined"]),
    "tsan": ("clang", [*SANITIZED, "-Db_sanitize=thread"]),
    "fuzz": ("clang", [*SANITIZED, "-Dfuzz=true"]),
}


class Failed(Exception):
    """A command failed; the text is its output."""


def path_with(folder):
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def run(*command, timeout=1200, **variables):
    """Run a command in the project's folder and return what it printed."""
    environment = {**os.environ, "PATH": path_with(BIN), **variables}
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            output += f"\n{command[0]} was stopped after {timeout} s\n"
            raise Failed(output) from None
        raise
    if process.returncode:
        raise Failed(f"{output}\n{command[0]} ended with {process.returncode}\n")
    return output


def configure(name):
    """Make the build folder of that name, again if its settings changed."""
    compiler, options = BUILDS[name]
    folder = BUILD / name
    stamp = folder / "settings"
    settings = f"{sys.executable} {compiler} {options}"
    if not stamp.exists() or stamp.read_text() != settings:
        shutil.rmtree(folder, ignore_errors=True)
        run("meson", "setup", folder, "-Dwerror=true", *options, CC=compiler)
        stamp.write_text(settings)
    return folder


def compile(name):
    """Build everything in the folder of that name."""
    folder = configure(name)
    run("meson", "compile", "-C", folder)
    return folder
