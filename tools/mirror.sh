#!/bin/sh
# Prints where this machine has Debian's own packages from, as a line of apt's sources
# wants it: "[signed-by=KEYRING] URI", or nothing where there is no such place.
set -u

uri=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
[ -n "$uri" ] || exit 0
for keyring in /usr/share/keyrings/debian-archive-keyring.pgp \
    /usr/share/keyrings/debian-archive-keyring.gpg; do
    [ ! -e "$keyring" ] || { echo "[signed-by=$keyring] $uri" && exit; }
done
echo "$uri"
