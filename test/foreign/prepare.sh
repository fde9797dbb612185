#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# prepare.sh FOLDER -- what the foreign tests of the build in FOLDER's parent need beside Debian packages: the libraries
# of each foreign machine in FOLDER/sysroot-MACHINE, and an emulator that the kernel knows.
#
# The compilers and the emulator are packages (.ci/packages). Foreign libraries are downloaded by apt with lists of its
# own and unpacked: no foreign architecture is added to this system, and root is not needed. A sysroot that has all of them
# is left alone. Status 0 if all is there; else 1, each line saying what is missing and why. Tests then skip themselves.
set -euo pipefail

folder=$(mkdir -p "${1:?usage: prepare.sh FOLDER}" && cd "$1" && pwd)
libraries="libc6 libgcc-s1 libstdc++6 libuv1 libuv1-dev libsodium23 libsodium-dev libmsgpackc2 libmsgpack-dev libboost-context1.74-dev"
complete=yes

missing() {
    echo "foreign tests: $*" >&2
    complete=no
}

# sysroot MACHINE: unpacks beside its place and moves it there when it is whole.
sysroot() {
    local machine=$1 root=$folder/sysroot-$1 new
    [ "$(cat "$root/libraries" 2>/dev/null)" != "$libraries" ] || return 0
    if ! command -v apt-get >/dev/null; then
        missing "$machine libraries come from Debian by apt-get, which is not here"
        return 0
    fi
    echo "Fetching Debian's $machine libraries into $root"
    new=$(mktemp -d "$folder/sysroot-$machine.XXXXXX")
    if fetch "$machine" "$new" >"$folder/sysroot-$machine.log" 2>&1; then
        rm -rf "$new/apt" "$root"
        echo "$libraries" >"$new/libraries"
        mv "$new" "$root"
    else
        tail -n 5 "$folder/sysroot-$machine.log" >&2
        missing "Debian's $machine libraries cannot be downloaded: $folder/sysroot-$machine.log"
        rm -rf "$new"
    fi
}

fetch() {
    local machine=$1 new=$2 try package
    mkdir -p "$new/apt/lists/partial" "$new/apt/cache/archives/partial" "$new/apt/packages"
    : >"$new/apt/status"
    local options=(-q -o APT::Architecture="$machine" -o APT::Architectures="$machine"
        -o Dir::State::lists="$new/apt/lists" -o Dir::State::status="$new/apt/status" -o Dir::Cache="$new/apt/cache"
        -o APT::Sandbox::User= -o Acquire::Languages=none)
    # A mirror in the middle of its own update complains once; one list of several may be enough.
    for try in 1 2 3; do
        echo "update $try"
        ! apt-get "${options[@]}" update || break
    done
    # shellcheck disable=SC2086
    (cd "$new/apt/packages" && apt-get "${options[@]}" download $libraries) || return
    for package in "$new"/apt/packages/*.deb; do
        dpkg -x "$package" "$new" || return
    done
}

# emulator MACHINE PROCESSOR: the kernel starts its programs by qemu, as the package qemu-user-static has it done where
# systemd runs.
emulator() {
    local table=/proc/sys/fs/binfmt_misc name=qemu-$2 rule=/usr/lib/binfmt.d/qemu-$2.conf as_root=()
    if [ ! -x "/usr/bin/$name-static" ] || [ ! -f "$rule" ]; then
        missing "no emulator of $1: package qemu-user-static"
        return
    fi
    [ ! -f $table/"$name" ] || return 0
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    if [ ! -f $table/register ]; then
        "${as_root[@]}" mount -t binfmt_misc binfmt_misc $table 2>/dev/null || true
    fi
    "${as_root[@]}" tee $table/register <"$rule" >/dev/null 2>&1 || true
    [ -f $table/"$name" ] || missing "the kernel's list of emulators (binfmt_misc) cannot be changed here: as root, run
    mount -t binfmt_misc binfmt_misc $table; cat $rule >$table/register"
}

sysroot i386
sysroot s390x
sysroot arm64
emulator s390x s390x
emulator arm64 aarch64
[ $complete = yes ]
