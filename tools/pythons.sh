#!/usr/bin/env bash
# Installs the CPythons for tests that this machine lacks: prints one line for each.  The
# exit status is 0 even if some could not be installed.
#
#     tools/pythons.sh [NAME …]     default: 3.15 3.14 3.13t
#
# They go to $XDG_CACHE_HOME/cunei/pythons, one folder each, where tools/python.sh finds
# them.  3.14 and later are Debian's own builds, unpacked and made to run where they lie,
# with the C library they were built for: no root, no chroot.  3.13t, the free-threaded
# one, is compiled from Debian's copy of the sources, which takes minutes.  All of it
# comes from the mirror in this machine's apt sources, checked against its keys.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cunei/pythons
binaries=forky
sources=trixie
proof='import ctypes, ensurepip, sqlite3, ssl, venv'

# All other output goes to a log.
say() {
    printf '%-6s %s\n' "$name" "$*" >&3
}

# Ends the part for one Python, which runs in a subshell of its own.
give_up() {
    say "not installed: $*"
    exit 0
}

has() {
    command -v "$1" >/dev/null
}

# apt-get for another release of Debian, with state of its own under $work, so that the
# machine's stays as it is.  An empty status file makes it fetch every dependency.
apt() {
    apt-get --quiet --yes --no-install-recommends \
        -o Dir::Etc::SourceList="$work/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" \
        -o Dir::Cache="$work/apt" -o Acquire::Languages=none \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o Acquire::Check-Valid-Until=false -o APT::Update::Error-Mode=any "$@"
}

# Reads the index of a suite: packages (deb) or sources (deb-src).
look_into() {
    local kind=$1 suite=$2 mirror
    has apt-get || give_up "it needs apt-get of Debian"
    mirror=$(tools/mirror.sh)
    [ -n "$mirror" ] || give_up "this machine's apt sources name no Debian mirror"
    mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
    touch "$work/apt/status"
    echo "$kind $mirror $suite main" >"$work/apt/sources"
    apt update || give_up "the mirror does not answer for $suite, see $log"
}

# Keeps the files that the interpreter, extensions, virtual environments and valgrind
# need.
keep() {
    local from=$1 to=$2 triple=$3
    mkdir -p "$to/bin" "$to/include" "$to/lib" "$to/share"
    mv "$from/bin/python$name" "$from"/bin/*"python$name-config" "$to/bin"
    mv "$from/include/python$name" "$to/include"
    mv "$from/include/$triple/python$name/pyconfig.h" "$to/include/python$name"
    mv "$from/lib/python$name" "$from/lib/$triple" "$to/lib"
    mv "$from/share/python-wheels" "$to/share"
    mkdir "$to/lib/$triple/.debug"
    mv "$from"/lib/debug/.build-id/*/*.debug "$to/lib/$triple/.debug"
    rm -rf "$to/lib/$triple"/{gconv,*.a,*.o} "$to/lib/python$name"/config-*/*.a
    ln -s "python$name" "$to/bin/python3"
}

# Makes a build for /usr run in $folder.  A DT_RPATH, unlike a DT_RUNPATH, also
# holds for libraries of extension modules.  patchelf lays segments over each other when it
# does both steps in one.
relocate() {
    local tree=$1 triple=$2
    local loader parts
    loader=$(basename "$tree/lib/$triple"/ld-linux-*.so.*)
    local run=("$tree/lib/$triple/$loader" --library-path "$tree/lib/$triple")
    local patch=("${run[@]}" "$work/usr/bin/patchelf")
    "${patch[@]}" --force-rpath --set-rpath "$folder/lib/$triple" "$tree/bin/python3"
    "${patch[@]}" --set-interpreter "$folder/lib/$triple/$loader" "$tree/bin/python3"
    parts="/include|/lib/python|/lib/$triple|/share/python-wheels|/bin/python"
    sed -i -E "s#/usr($parts|(/bin|/lib)?['\"])#$folder\\1#g" \
        "$tree/lib/python$name"/_sysconfig*
    sed -i "s#^prefix=.*#prefix=$folder#" "$tree/lib/$triple"/pkgconfig/python-*.pc
    nice "${run[@]}" "$tree/bin/python3" -m compileall -q -x '/test/' \
        -s "$tree" -p "$folder" "$tree/lib/python$name" || true
    "${run[@]}" "$tree/bin/python3" -c "$proof"
}

fetch() {
    local package triple
    has dpkg-deb || give_up "it needs dpkg-deb"
    look_into deb $binaries
    apt install --download-only "python$name-venv" "python$name-dev" \
        "libpython$name-testsuite" libc6-dbg patchelf ||
        give_up "Debian $binaries on the mirror has no packages for this machine, see $log"
    for package in "$work"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$work"
    done
    triple=$(basename "$work"/usr/lib/*-linux-gnu*)
    keep "$work/usr" "$work/tree" "$triple"
    relocate "$work/tree" "$triple"
    mv "$work/tree" "$folder"
}

# Packages that are missing to compile CPython with the modules of pip, ctypes and coverage.
missing() {
    local header package
    has gcc || echo gcc libc6-dev
    has make || echo make
    has pkg-config || echo pkg-config
    has xz || echo xz-utils
    while read -r header package; do
        { has gcc && echo "#include <$header>" | gcc -E -x c -; } >/dev/null 2>&1 ||
            echo "$package"
    done <<-end
		zlib.h zlib1g-dev
		openssl/ssl.h libssl-dev
		ffi.h libffi-dev
		sqlite3.h libsqlite3-dev
	end
}

compile() {
    local packages
    packages=$(echo $(missing))
    if [ -n "$packages" ] && [ "$(id -u)" = 0 ] && has apt-get; then
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086
        { apt-get update && apt-get install -qq --no-install-recommends $packages; } || true
        packages=$(echo $(missing))
    fi
    [ -z "$packages" ] || give_up "please install (Debian names): $packages"
    look_into deb-src $sources
    cd "$work"
    apt source --download-only --tar-only "python${name%t}" ||
        give_up "Debian $sources on the mirror has no sources, see $log"
    say "compiling takes some minutes"
    mkdir sources
    tar -xf ./*.orig.tar.xz -C sources --strip-components=1
    cd sources
    nice ./configure --disable-gil --without-static-libpython --prefix="$folder"
    nice make -j "$(nproc)"
    nice make install DESTDIR="$work/root"
    "$work/root$folder/bin/python3" -c "$proof"
    mv "$work/root$folder" "$folder"
}

install_python() {
    work=$(mktemp -d "$cache/.new.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    case $name in
    *t) compile ;;
    *) fetch ;;
    esac
    say "$folder/bin/python3"
    rm "$log"
}

# The path of such a Python outside the cache.
elsewhere() {
    echo "$listed" | awk -v series="${name%t}." -v threaded="${name##*[0-9]}" '
        index($1, series) == 1 && $1 ~ (threaded ? "t$" : "[0-9]$") && $2 == "ready" {
            print $3
            exit
        }'
}

exec 3>&1
trap 'exit 1' HUP INT TERM
[ $# -gt 0 ] || set -- 3.15 3.14 3.13t

if ! mkdir -p "$cache" || ! [ -w "$cache" ]; then
    for name; do
        say "not installed: $cache cannot be written to"
    done
    exit 0
fi 2>/dev/null
exec 9>"$cache/.lock"
flock -n 9 || { echo "waiting for another make pythons" && flock 9; }
# Leftovers of an interrupted run: the lock excludes others.
rm -rf "$cache"/.new.*

for name; do
    folder=$cache/$name
    log=$folder.log
    if [ -e "$folder" ]; then
        say "$folder/bin/python3"
        continue
    fi
    : "${listed=$(tools/python.sh)}"
    found=$(elsewhere)
    if [ -n "$found" ]; then
        say "$found"
        continue
    fi
    # Not in a condition, where a command that fails would not end it.
    set +e
    (
        set -e
        install_python >"$log" 2>&1
    )
    [ $? = 0 ] || say "not installed: the build failed, see $log"
    set -e
done
