"""What recording and reading cost, beside cProfile, VizTracer and babeltrace2.

    make bench                            every Python found
    make bench ARGS="--python 3.13 --rounds 100 --json figures.json"

Figures are ratios to what is measured in the same run; each bar of the project stands
next to what was found.  A bar that does not hold fails nothing: look, and measure on a
quiet machine.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))

import outside
import tables
from builds import BUILD, ROOT, Failed, run
from environments import install, pythons

FOLDER = BUILD / "bench"
FLAGS = ["-O3", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}"]
SHARED = [*FLAGS, "-shared", "-fPIC"]


def build_helpers(python, version):
    """Compile the floor, the discarding write and the bare decoder."""
    folder = FOLDER / version
    folder.mkdir(parents=True, exist_ok=True)
    where = "import sysconfig; print(sysconfig.get_path('include'))"
    include = f"-isystem{run(python, '-c', where).strip()}"
    bench = ROOT / "bench"
    run("gcc", *SHARED, include, bench / "floor.c", "-o", folder / "cunei_floor.so")
    run("gcc", *SHARED, bench / "discard.c", "-o", folder / "discard.so")
    layers = (ROOT / "src" / name for name in ("base", "wire", "trace"))
    sources = [file for layer in layers for file in layer.glob("*.c")]
    decode = [bench / "decode.c", *sources, "-o", folder / "decode", "-pthread"]
    run("gcc", *FLAGS, "-DNDEBUG", *decode)
    return folder


class Python:
    """A Python with cunei installed, in which parts of measure.py run."""

    def __init__(self, version, path):
        self.version = version
        self.path = install("bench", version, path)
        self.cunei = self.path.parent / "cunei"
        self.folder = build_helpers(self.path, version)
        self.decode = self.folder / "decode"

    def measure(self, part, scratch=None, **variables):
        with tempfile.TemporaryDirectory(dir=FOLDER) as temporary:
            script = ROOT / "bench" / "measure.py"
            output = run(
                self.path,
                script,
                part,
                scratch or temporary,
                PYTHONPATH=str(self.folder),
                **variables,
            )
        return json.loads(output)


def parts(python):
    """What is measured, by name."""
    preload = str(python.folder / "discard.so")
    yield "calls", lambda: python.measure("calls", LD_PRELOAD=preload)
    for part in ("first sight", "churn", "size"):
        yield part, lambda part=part: python.measure(part)
    yield "alone", lambda: outside.measure_alone(python)
    yield "startup", lambda: outside.measure_startup(python, FOLDER)
    yield "reader", lambda: outside.measure_reader(python, FOLDER)


def measure(python, with_reader):
    figures = {"python": python.version, "failed": {}}
    for name, part in parts(python):
        if name == "reader" and not with_reader:
            continue
        try:
            figures[name] = part()
        except (Failed, subprocess.SubprocessError) as error:
            figures["failed"][name] = str(error).strip()
    return figures


def arguments():
    parser = argparse.ArgumentParser(prog="make bench ARGS=", add_help=False)
    parser.add_argument("--python", default="", help="only versions that begin so")
    parser.add_argument("--rounds", help="turns of each variant; the default is 25")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures there")
    return parser.parse_args()


def main():
    options = arguments()
    chosen = [row for row in pythons() if row[0].startswith(options.python)]
    if not chosen:
        sys.exit(f"cunei: no Python {options.python} here")
    if options.rounds:
        os.environ["CUNEI_BENCH_ROUNDS"] = options.rounds
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    found = []
    for number, (version, path) in enumerate(chosen):
        figures = measure(Python(version, path), with_reader=number == 0)
        tables.show(figures)
        found.append(figures)
    if options.json:
        report = {"version": 1, "machine": platform.machine(), "pythons": found}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
