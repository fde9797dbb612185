#!/bin/sh
# SPDX-License-Identifier: MIT
# guide_run.sh ENL HELLO -- the first program of guide.md hears from its three workers, under enl and without.
set -eu

wanted='worker 1 is there
worker 2 is there
worker 3 is there'

check() {
    how=$1
    shift
    if ! output=$("$@" </dev/null); then
        echo "FAIL $how: status is not 0"
        exit 1
    fi
    if [ "$(echo "$output" | sort)" != "$wanted" ]; then
        echo "FAIL $how: wanted"
        echo "$wanted"
        echo "got"
        echo "$output"
        exit 1
    fi
}

check "under enl" "$1" "$2"
check "started directly" "$2"
echo "guide: the first program does what is said there"
