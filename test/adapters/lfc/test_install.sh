#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The guide's program and Makefile with what is installed, as they stand, in a folder that was moved; and with pkg-config.
set -euo pipefail

if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip test_lfc_install: a program would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch
unset BCR_ENLISTPATH
fail() {
    echo "FAIL test_lfc_install: $*"
    exit 1
}
"$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first" > "$scratch/log" || { cat "$scratch/log" && fail "cmake --install"; }
mv "$scratch/first" "$scratch/moved"
lfc=$(dirname "$(find "$scratch/moved" -path '*/lfc/include' -type d)")
enl=$scratch/moved/bin/enl
mkdir "$scratch/work"
cp "$scratch/moved/share/bcr/examples/lfc/"* "$scratch/work"
cd "$scratch/work"

runs() {
    local said
    for count in 1 2; do
        said=$("$enl" -n $count "$@" -nsend 50) || fail "status $? of $*"
        [[ $said == *"polling: 1"*"polling: 0"* ]] || fail "$* said $said"
    done
}

for conf in optimized debug; do
    make LFC="$lfc" CONF=$conf > "$scratch/log" 2>&1 || { cat "$scratch/log" && fail "the guide's Makefile, CONF=$conf"; }
    ldd latency | grep -q libbcr && fail "a program of LFC's Makefile needs libbcr.so"
    runs ./latency
    make LFC="$lfc" clean > "$scratch/log"
    [ ! -e latency ] || fail "make clean"
    echo "ok the guide's Makefile, CONF=$conf"
done

pkg=$(dirname "$(find "$scratch/moved" -name bcr-lfc.pc)")
export PKG_CONFIG_PATH=$pkg
# shellcheck disable=SC2046
"$CC" $(pkg-config --cflags bcr-lfc) latency.c $(pkg-config --libs bcr-lfc) -Wl,-rpath,"$(dirname "$pkg")" -o latency ||
    fail "pkg-config bcr-lfc"
runs ./latency
echo "ok pkg-config bcr-lfc"
