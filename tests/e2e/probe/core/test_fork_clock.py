# SPDX-License-Identifier: MIT
"""A fork while the clock passes a multiple of 2⁴⁰ ticks, which begins a trace.

Events hold the lower 40 bits of a tick.  A child that reads its clock just before such
a multiple and starts recording just after it has an event from before tick 0.
"""

import json
import shutil

import pytest

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler"),
]

# Without the counter of the processor, a tick is a nanosecond of CLOCK_MONOTONIC.  In
# each child it passes the multiple at another reading of the clock.
CLOCK = """
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MULTIPLE ((int64_t)3 << 40)
#define SECOND   INT64_C(1000000000)

bool cunei_clock_has_counter(const char **reason)
{
    if (reason)
        *reason = "a test";
    return false;
}

static pid_t parent;
static int64_t begin, readings;
int readings_before = -1; /* of a child, to come before the multiple */

static int64_t read_clock(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

/* The parent has 100 s before the multiple, its children none. */
static int64_t shift(int64_t now)
{
    if (!parent) {
        parent = getpid();
        begin = now;
    }
    if (getpid() == parent)
        return MULTIPLE - 100 * SECOND + now - begin;
    readings++;
    return readings <= readings_before ? MULTIPLE - 1000 + readings
                                       : MULTIPLE + now - begin;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    int64_t now = shift(read_clock());
    time->tv_sec = now / SECOND;
    time->tv_nsec = now % SECOND;
    return 0;
}
"""

CHILDREN = 60

PROGRAM = f"""
import ctypes, os

clock = ctypes.c_int.in_dll(ctypes.CDLL(os.environ["LD_PRELOAD"]), "readings_before")

def child():
    pass

def fork(readings):
    clock.value = readings
    if os.fork() == 0:
        child()
        os._exit(0)
    os.wait()

for readings in range({CHILDREN}):
    fork(readings)
"""


def test_an_event_from_before_tick_0_is_readable(cunei):
    library = cunei.folder / "clock.so"
    words = ["cc", "-shared", "-fPIC", "-o", library, cunei.write("clock.c", CLOCK)]
    built = cunei.run(*words)
    assert built.returncode == 0, built.stderr
    cunei.write("app.py", PROGRAM)
    env = {"CUNEI_RECORD": str(cunei.folder / "trace"), "LD_PRELOAD": str(library)}

    done = cunei.run(cunei.python, "app.py", env=env)

    assert (done.returncode, done.stderr) == (0, "")
    shown = cunei("report", "--json", "trace")
    assert shown.stderr == ""
    report = json.loads(shown.stdout)
    calls = {each["qualname"]: each["calls"] for each in report["functions"]}
    assert (report["damaged"], report["lost"], calls["child"]) == ([], 0, CHILDREN)
    read = cunei("dump", "trace")
    assert (read.returncode, read.stderr) == (0, "")
