#!/bin/sh
# SPDX-License-Identifier: MIT
# example_drain.sh ENL DRAIN -- SIGTERM ends the server only when it has served all that it has accepted, and the program
# with status 0. The signal goes to the server itself: enl would follow it with SIGKILL, and a busy machine make that a race.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAIL $1"
    cat "$folder/said" "$folder/told"
    exit 1
}

check() {
    : >"$folder/said"
    "$@" >"$folder/said" 2>"$folder/told" &
    program=$!
    until server=$(sed -n 's/^drain: serving in process //p' "$folder/said") && [ -n "$server" ]; do
        kill -0 "$program" 2>/dev/null || fail "$*: ended before it served"
        sleep 0.05
    done
    kill -TERM "$server"
    wait "$program" || fail "$*: status $?"
    grep -q 'accepted, .* served' "$folder/said" || fail "$*: has not said what it served"
}

check "$1" "$2"
check "$2"
echo "drain: what was accepted is served, under enl and without"
