"""Runs named steps one after the other, shows them, and counts what passed."""

import dataclasses
import time
import traceback
import xml.etree.ElementTree

from builds import Failed


@dataclasses.dataclass
class Count:
    """Results of a step: a test is one, and so is a step that holds no tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
        )

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {self.skipped} skipped" if self.skipped else text


def count_junit(path):
    """The results in a JUnit file, as meson and pytest write it."""
    count = Count()
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif case.find("skipped") is not None:
            count.skipped += 1
        else:
            count.passed += 1
    return count


class Steps:
    def __init__(self):
        self.count = Count()
        self.began = time.monotonic()

    def run(self, name, function, *arguments):
        """Run a step: it returns a Count or nothing, and raises when it failed.

        A test step that failed may have counted its tests: they come with the
        exception, as its attribute `count`.
        """
        print(f"{name:<36}", end="", flush=True)
        began = time.monotonic()
        output = ""
        try:
            count = function(*arguments) or Count(passed=1)
        except Failed as error:
            count = getattr(error, "count", None) or Count()
            count.failed = count.failed or 1
            output = str(error)
        except Exception:
            count = Count(failed=1)
            output = traceback.format_exc()
        took = time.monotonic() - began
        print(f"{'FAILED' if count.failed else 'ok':<7}{took:6.1f} s   {count}")
        if count.failed:
            print(f"{output.rstrip()}\n", flush=True)
        self.count += count
        return not count.failed

    def finish(self):
        """Print the sum as the last line and return the exit status."""
        print(f"\n{time.monotonic() - self.began:.0f} s in all")
        print(self.count, flush=True)
        return 1 if self.count.failed else 0
