"""Long tests: many crashes, many hostile traces, many threads.

    make soak                      1000 crashes, 10⁶ executions of each fuzz target, or
                                   as many as fit into half an hour
    make soak ARGS="--rounds 100 --runs 10000"

Crash tests read the number of rounds from CUNEI_ROUNDS.  New inputs of the
fuzzer go to build/soak.  An input that crashes stays there as crash-*; once the bug is
fixed, it belongs in the corpus.
"""

import argparse
import sys

import environments
from builds import BUILD, ROOT, run
from steps import Steps
from test import compile, counted

HOUR = 3600


def install(version, path):
    environments.install("e2e", version, path, "newest")


def long_tests(version, rounds, *chosen):
    report = BUILD / f"soak-{version}.xml"
    python = BUILD / f"e2e-{version}" / "bin" / "python"
    words = [python, "-m", "pytest", "tests", f"--junitxml={report}"]
    return counted(report, *words, *chosen, timeout=HOUR, CUNEI_ROUNDS=str(rounds))


def fuzz(target, runs):
    found = BUILD / "soak" / target.name
    found.mkdir(parents=True, exist_ok=True)
    corpus = ROOT / "tests" / "fuzz" / "corpus" / target.name[len("fuzz_") :]
    limits = [f"-runs={runs}", f"-max_total_time={HOUR // 2}", "-timeout=10"]
    limits += ["-rss_limit_mb=1024"]
    run(target, *limits, f"-artifact_prefix={found}/", found, corpus, timeout=HOUR)


def main():
    parser = argparse.ArgumentParser(prog="make soak ARGS=", add_help=False)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1_000_000)
    options = parser.parse_args()

    steps = Steps()
    (version, path), *others = environments.pythons()
    if steps.run(f"install: Python {version}", install, version, path):
        chosen = [version, options.rounds, "-m", "crash or soak"]
        steps.run(f"crashes: Python {version}", long_tests, *chosen)
    # Only without a GIL threads are in the probe at the same time.
    for version, path in [other for other in others if other[0].endswith("t")][:1]:
        if steps.run(f"install: Python {version}", install, version, path):
            chosen = [version, options.rounds, "-m", "soak", "-k", "threads_at_once"]
            steps.run(f"threads: Python {version}", long_tests, *chosen)
    if steps.run("build: fuzz targets", compile, "fuzz"):
        targets = (BUILD / "fuzz" / "tests" / "fuzz").glob("fuzz_*")
        for target in sorted(target for target in targets if target.is_file()):
            steps.run(f"fuzz: {target.name}", fuzz, target, options.runs)
    return steps.finish()


if __name__ == "__main__":
    sys.exit(main())
