#!/bin/sh
# Lists the CPythons here that can carry cunei, newest first, one line each:
#
#     VERSION STATE PATH
#
# STATE is "ready", or "bare" where headers or ensurepip are missing, as they are in a
# distribution's plain python3.  Looks in PATH and in pyenv, whatever pyenv has selected;
# a virtual environment counts as the Python it was made from.  Alphas, betas and
# free-threaded builds are left out.  $PYTHON, where set, is the only one.
set -u

ask='
import importlib.util, os, sys, sysconfig
version = sys.version_info
if (
    version < (3, 12)
    or version.releaselevel != "final"
    or sys.implementation.name != "cpython"
    or sysconfig.get_config_var("Py_GIL_DISABLED")
):
    raise SystemExit(1)
header = os.path.join(sysconfig.get_path("include"), "Python.h")
whole = os.path.exists(header) and importlib.util.find_spec("ensurepip")
path = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
print("%d.%d.%d" % version[:3], "ready" if whole else "bare", path)
'

candidates() {
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON"
        return
    fi
    printf '%s\n' "$PATH" | tr ':' '\n' | while read -r folder; do
        ls -d "$folder"/python3 "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9]
    done
    ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3
}

candidates 2>/dev/null | while read -r python; do
    "$python" -I -c "$ask" 2>/dev/null
done | sort -u -k3,3 | sort -r -V
