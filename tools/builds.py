"""The build folders that lint, test and soak share, and how commands run in them."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

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


# What runs at the moment, each in a process group of its own.
running = set()
stopped = threading.Event()


class Failed(Exception):
    """A command that went wrong; the text is what it printed."""


def path_with(folder):
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def run(*command, timeout=1200, **variables):
    """Run a command in the project's folder and return what it printed."""
    if stopped.is_set():
        raise Failed(f"{command[0]} was not started any more\n")
    environment = os.environ | {"PATH": path_with(BIN)} | variables
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
    running.add(process)
    try:
        output, _ = process.communicate(timeout=timeout)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            output += f"\n{command[0]} was stopped after {timeout} s\n"
            raise Failed(output) from None
        raise
    finally:
        running.discard(process)
    if process.returncode:
        raise Failed(f"{output}\n{command[0]} ended with {process.returncode}\n")
    return output


def stop_all():
    """Stop what other threads have running, and let them start nothing more."""
    stopped.set()
    for process in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def configure(name):
    """Make the build folder of that name, anew if its settings changed."""
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
