# SPDX-License-Identifier: MIT
"""A report of many events takes little memory."""

# A small process starts it: what one has taken counts for what it becomes.
MEASURE = """\
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(status, used.ru_maxrss)
"""


def test_many_marks_take_little_memory(cunei):
    text = "import cunei\nfor i in range(300_000):\n    cunei.mark(f'name {i}', i)\n"
    cunei.write("app.py", text)
    done = cunei("record", "-q", "--instrumenter", "none", "-o", "trace", "app.py")
    assert done.returncode == 0, done.stderr

    words = (cunei.executable, "report", "--marks", "trace")
    done = cunei.run(cunei.python, "-S", "-c", MEASURE, *words)

    *shown, measured = done.stdout.splitlines()
    status, kilobytes = map(int, measured.split())
    assert status == 0 and any("name 7 " in line for line in shown)
    assert kilobytes < 60 << 10  # to keep all values of each took 110 MB
