#!/bin/sh
# SPDX-License-Identifier: MIT
# example_drain.sh ENL DRAIN -- SIGTERM ends the server only when it has served all that it has accepted, and the program
# with status 0: whether the server gets it, or enl, which passes it on and gives all CCEs the time of killafter.
set -eu
export BCR_KILLAFTER=60000

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAIL $1"
    cat "$folder/said" "$folder/told"
    exit 1
}

# check WHO COMMAND...: WHO gets the signal, "server" or "enl"
check() {
    who=$1
    shift
    : >"$folder/said"
    "$@" >"$folder/said" 2>"$folder/told" &
    program=$!
    until server=$(sed -n 's/^drain: serving in process //p' "$folder/said") && [ -n "$server" ]; do
        kill -0 "$program" 2>/dev/null || fail "$*: ended before it served"
        sleep 0.05
    done
    [ "$who" = enl ] && server=$program
    kill -TERM "$server"
    wait "$program" || fail "$*: status $?"
    grep -q 'accepted, .* served' "$folder/said" || fail "$*: has not said what it served"
}

for who in server enl; do
    check "$who" "$1" "$2"
    check "$who" "$2"
done
echo "drain: what was accepted is served, under enl and without"
