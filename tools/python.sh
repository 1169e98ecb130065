#!/bin/sh
# Lists the CPythons of this machine that cunei supports, one line each:
#
#     VERSION STATE PATH
#
# STATE is "ready", or "bare" if headers or ensurepip are missing, as in a
# distribution's plain python3.  Looks in PATH, in all versions of pyenv, and
# where tools/pythons.sh puts them; a virtual environment counts as the Python it was made
# from.  Newest first, then release candidates (3.16.0rc1), then free-threaded builds
# (3.13.5t); alphas and betas are left out.  If $PYTHON is set, it is the only one.
set -u

ask='
import importlib.util, os, sys, sysconfig
version = sys.version_info
early = version.releaselevel in ("alpha", "beta") and not os.environ.get("PYTHON")
if version < (3, 8) or early or sys.implementation.name != "cpython":
    raise SystemExit(1)
name = "%d.%d.%d" % version[:3]
final = version.releaselevel == "final"
if not final:
    short = {"alpha": "a", "beta": "b", "candidate": "rc"}[version.releaselevel]
    name += "%s%d" % (short, version.serial)
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
header = os.path.join(sysconfig.get_path("include"), "Python.h")
whole = os.path.exists(header) and importlib.util.find_spec("ensurepip")
path = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
rank = 2 * free + (not final)
print(rank, name + "t" * free, "ready" if whole else "bare", path)
'

candidates() {
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON"
        return
    fi
    # The shims of pyenv are slow; their Pythons are listed below.
    printf '%s\n' "$PATH" | tr ':' '\n' | grep -v '/shims/*$' | while read -r folder; do
        ls -d "$folder"/python3 "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9] \
            "$folder"/python3.[0-9][0-9]t
    done
    ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 \
        "${XDG_CACHE_HOME:-$HOME/.cache}"/cunei/pythons/*/bin/python3
}

candidates 2>/dev/null | while read -r python; do
    "$python" -I -c "$ask" 2>/dev/null
done | sort -u -k4 | sort -k1,1n -k2,2Vr | cut -d ' ' -f 2-
