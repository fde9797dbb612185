#!/bin/sh
# SPDX-License-Identifier: MIT
# example_publisher.sh ENL PUBLISHER -- subscribers of both kinds come, one is killed, one comes late; the publisher hears of all, and
# ends when they are gone. It runs under `onfail abort`.
set -eu
enl=$1
publisher=$2
name=publisher-$$
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAIL $1"
    cat "$folder"/*
    exit 1
}

"$enl" --name "$name" "$publisher" 4 >"$folder/publisher" 2>&1 &
program=$!
until "$publisher" enter "$name" 5 >"$folder/first" 2>&1; do
    kill -0 "$program" 2>/dev/null || fail "the publisher has ended"
    grep -q "no such program\|has not begun" "$folder/first" || fail "the first subscriber"
    sleep 0.05
done
"$publisher" enter "$name" 100 >"$folder/killed" 2>&1 &
killed=$!
"$enl" --enter "$name" "$publisher" subscribe 30 >"$folder/second" 2>&1 || fail "the second subscriber"
kill -9 "$killed"
"$enl" --enter "$name" "$publisher" subscribe >"$folder/third" 2>&1 || fail "the third subscriber"
wait "$program" || fail "the publisher: status $?"
grep -q "5 values" "$folder/first" && grep -q "30 values" "$folder/second" && grep -q "5 values" "$folder/third" || fail "values"
grep -q "4 subscribers have come and gone" "$folder/publisher" || fail "the publisher"
echo "publisher: four subscribers, one of them killed"
