#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The guide's program and Makefile with what is installed, as they stand, in a folder that was moved; and with pkg-config.
source "$(dirname "$0")/../install.sh" test_lfc_install bcr-lfc
lfc=$(dirname "$(find "$scratch/moved" -path '*/lfc/include' -type d)")
cp "$scratch/moved/share/bcr/examples/lfc/"* .

runs() {
    for count in 1 2; do
        says '*polling: 1*polling: 0*' "$enl" -n $count ./latency -nsend 50
    done
}

for conf in optimized debug; do
    does "the guide's Makefile, CONF=$conf" make LFC="$lfc" CONF=$conf
    ldd latency | grep -q libbcr && fail "a program of LFC's Makefile needs libbcr.so"
    runs
    does "make clean" make LFC="$lfc" clean
    [ ! -e latency ] || fail "make clean"
    echo "ok the guide's Makefile, CONF=$conf"
done

compiles "$CC" latency.c latency
runs
echo "ok pkg-config bcr-lfc"
