# SPDX-License-Identifier: MIT
"""As window.py, but with all that cProfile knows of calls.

    callers.py --c-calls [MODULE:]WORKLOAD DIRECTORY

Prints a JSON list, one row for each order: of each function its label, calls and
recursive calls, and the same of each that it called.
"""

import sys

import window


def label(code):
    """As pstats knows it; cProfile has a function for this, here and there."""
    if isinstance(code, str):
        return "~", 0, code
    return code.co_filename, code.co_firstlineno, code.co_name


def list_entries(profile):
    return [
        [
            *(label(entry.code), entry.callcount, entry.reccallcount),
            [
                [label(called.code), called.callcount, called.reccallcount]
                for called in entry.calls or ()
            ],
        ]
        for entry in profile.getstats()
    ]


if __name__ == "__main__":
    window.count_calls = list_entries
    window.main(*sys.argv[2:], c_calls=True)
