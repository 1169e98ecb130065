# SPDX-License-Identifier: MIT
"""What a cunei says that was built without the libraries it can do without."""

import subprocess
import sys

WANTED = {
    "otf2": "libotf2 (Debian: libotf2-trace-dev)",
    "pprof": "zlib (Debian: zlib1g-dev)",
}


def main():
    for form, library in WANTED.items():
        done = subprocess.run(
            [sys.argv[1], "export", "none", "--to", form],
            capture_output=True,
            text=True,
        )
        wanted = (
            f"cunei: cannot export to {form}: cunei was built without {library}; "
            "install that, then install cunei again\n"
        )
        got = (done.returncode, done.stdout, done.stderr)
        assert got == (1, "", wanted), got


main()
