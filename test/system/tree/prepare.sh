#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# prepare.sh FOLDER -- Debian's sshd for test_ssh, unpacked into FOLDER, where this system has none: the installed package
# would start a server. Status 0 if there is an sshd; else 1, with a line that says why not. test_ssh then skips itself.
set -euo pipefail

folder=$(mkdir -p "${1:?usage: prepare.sh FOLDER}" && cd "$1" && pwd)
PATH="$PATH:/usr/sbin:/sbin"
! command -v sshd >/dev/null || exit 0
[ ! -x "$folder/usr/sbin/sshd" ] || exit 0
if ! command -v apt-get >/dev/null; then
    echo "test_ssh: there is no sshd, and none can be fetched without apt-get" >&2
    exit 1
fi
echo "Fetching Debian's sshd into $folder"
new=$(mktemp -d "$folder/new.XXXXXX")
if (cd "$new" && apt-get -q -o APT::Sandbox::User= download openssh-server && dpkg -x openssh-server_*.deb .) \
    >"$folder/log" 2>&1; then
    rm -rf "$folder/usr"
    mv "$new/usr" "$folder/usr"
    rm -rf "$new"
else
    tail -n 5 "$folder/log" >&2
    echo "test_ssh: Debian's sshd cannot be downloaded: $folder/log" >&2
    rm -rf "$new"
    exit 1
fi
