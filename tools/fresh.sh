#!/usr/bin/env bash
# The README's two commands in a bare Debian 13, which has CPython 3.13, and in a bare
# Debian 12, which has 3.11: packages of this machine cannot hide a missing install
# step.  Needs root and mmdebstrap.
#
#     tools/fresh.sh [COMMAND …]     default: make run, then make test
#     SUITES=bookworm tools/fresh.sh  in Debian 12 alone
#
# A new system has only make, git and python3.  It gets this
# machine's package mirror, resolver, certificates and pip settings, and a clone of the
# committed files.  Mounts are in a namespace that ends with this script.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=${SUITES:-trixie bookworm}

fail() {
    echo "cunei: $*" >&2
    exit 1
}

# Variables for pip, git and TLS libraries.
settings() {
    env | grep -E '^(PIP_|SSL_CERT_|(https?|no|HTTPS?|NO)_(proxy|PROXY)=)' || true
    env | grep -E '^(REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CAINFO)=' || true
}

# Copies a file or folder of this machine to the same place in the new system.
carry() {
    [ -e "$1" ] || return 0
    mkdir -p "$tree$(dirname "$1")"
    cp -aL "$1" "$tree$(dirname "$1")"
}

enter() {
    local variables
    mapfile -t variables < <(settings)
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -euc '
        tree=$1
        shift
        mount -t proc proc "$tree/proc"
        mount --rbind /sys "$tree/sys"
        mount --rbind /dev "$tree/dev"
        exec chroot "$tree" "$@"' sh "$tree" \
        env -i "${variables[@]}" HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        sh -euc 'cd /home/cunei; exec "$@"' sh "$@"
}

[ "$(id -u)" = 0 ] || fail "make fresh needs root, to chroot into a new system"
command -v mmdebstrap >/dev/null || apt-get install -y --no-install-recommends mmdebstrap ||
    fail "please install (Debian names): mmdebstrap"
mirror=$(tools/mirror.sh)
[ -n "$mirror" ] || fail "this machine's apt sources name no Debian mirror"

tree=$(mktemp -d "${TMPDIR:-/tmp}/cunei-fresh.XXXXXX")
trap 'rm -rf --one-file-system "$tree"' EXIT
trap 'exit 1' HUP INT TERM

# ca-certificates now, because a later package would install it and rewrite the bundle.
make_system() {
    local suite=$1 file
    rm -rf --one-file-system "$tree"
    mmdebstrap --quiet --variant=minbase --include=make,git,python3,ca-certificates \
        --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$tree" \
        "deb $mirror $suite main"
    for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt /etc/pip.conf \
        ~/.config/pip ~/.pip "${SSL_CERT_FILE:-}" "${PIP_CERT:-}" \
        "${REQUESTS_CA_BUNDLE:-}" "${PIP_CONFIG_FILE:-}" ${PIP_FIND_LINKS:-}; do
        carry "$file"
    done
    git clone --quiet --no-local . "$tree/home/cunei"
}

git diff --quiet HEAD || echo "uncommitted changes are not tested" >&2
for suite in $suites; do
    make_system "$suite"
    echo "Debian $suite, $(enter python3 --version)"
    if [ $# -gt 0 ]; then
        enter "$@"
    else
        enter make run
        enter make test
    fi
done
