#!/bin/sh
# Installs what a make target needs; does nothing if it is there.
#
#     tools/setup.sh build    a C compiler, a Python with headers, .venv to build in
#     tools/setup.sh test     and clang, ccache, cmocka, babeltrace2, otf2, valgrind, …
#
# As root it installs system packages with apt-get; otherwise it prints which to
# install.  pip uses the settings of the machine.  Without a browser, tests that need one
# are skipped.
set -eu
cd "$(dirname "$0")/.."
level=$1

fail() {
    echo "cunei: $*" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

compiles() {
    echo 'int LLVMFuzzerTestOneInput(const char *, long);
          int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
        "$@" -x c -o /dev/null - >/dev/null 2>&1
}

has_header() {
    echo "#include <$2>" | "$1" -E -x c - >/dev/null 2>&1
}

# The packages that are missing, by their Debian names.
missing_tools() {
    has gcc || echo gcc
    { has gcc && has_header gcc stdio.h; } || echo libc6-dev
    [ "$level" = test ] || return 0
    has ccache || echo ccache
    has clang || echo clang
    { ! has clang || compiles clang -fsanitize=fuzzer; } ||
        echo "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    has pkg-config || echo pkg-config
    { has pkg-config && pkg-config --exists cmocka; } || echo libcmocka-dev
    has babeltrace2 || echo babeltrace2
    { has pkg-config && pkg-config --exists zlib; } || echo zlib1g-dev
    { has pkg-config && pkg-config --exists otf2; } || echo libotf2-trace-dev
    { has pkg-config && pkg-config --exists ncursesw; } || echo libncurses-dev
    has otf2-print || echo otf2-tools
    ! has dpkg || dpkg -s python3-otf2 >/dev/null 2>&1 || echo python3-otf2
    has valgrind || echo valgrind
    ! has dpkg || dpkg -s libc6-dbg >/dev/null 2>&1 || echo libc6-dbg
}

has_browser() {
    [ "$level" != test ] || has chromium || has chromium-browser
}

# Packages that make the distribution's Python ready; tests need all of its Pythons.
missing_python() {
    tools/python.sh | if [ "$level" = test ]; then cat; else head -n 1; fi |
        while read -r version state path; do
            case "$state $path" in
            "bare /usr/bin/"*) echo "python${version%.*}-dev python${version%.*}-venv" ;;
            esac
        done
}

ready_python() {
    tools/python.sh | awk '$2 == "ready" { print $3; exit }'
}

# Quiet unless it fails: the lists may be missing, or older than the mirror.
install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    install="apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends"
    # shellcheck disable=SC2086
    $install "$@" >/dev/null 2>&1 || { apt-get update -qq && $install "$@" >/dev/null; }
}

if [ "$(id -u)" = 0 ] && has apt-get; then
    # Twice: the version of clang decides which libclang-rt is needed.
    for _ in 1 2; do
        packages=$(echo $(missing_tools) $(missing_python))
        [ -n "$packages" ] || break
        echo "installing $packages" >&2
        # shellcheck disable=SC2086
        install_packages $packages || fail "apt-get could not install $packages"
    done
    if ! has_browser; then
        echo "installing chromium" >&2
        install_packages chromium || :
    fi
fi
has_browser || echo "no chromium: tests of web pages are skipped" >&2

python=$(ready_python)
packages=$(echo $(missing_tools) $([ -n "$python" ] || missing_python))
[ -z "$packages" ] || fail "please install (Debian names): $packages"
[ -n "$python" ] || fail "no CPython 3.8 or newer with headers in PATH or pyenv:" \
    "install one, name it with make PYTHON=/path/to/python3, or try make pythons"

# Recreate the environment if its Python is gone or another one is chosen.
if [ "$(.venv/bin/python -c 'import os, sys; print(os.path.realpath(sys.executable))' \
    2>/dev/null)" != "$python" ]; then
    rm -rf .venv build/run
    "$python" -m venv .venv || fail "$python could not make a virtual environment"
fi
.venv/bin/python -m pip install --quiet --upgrade pip -r "tools/$level.txt" ||
    fail "pip could not install tools/$level.txt"
touch ".venv/$level"
