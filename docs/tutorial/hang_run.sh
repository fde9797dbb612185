#!/bin/sh
# SPDX-License-Identifier: MIT
# hang_run.sh ENL TRANSFER CHAPTER -- the program of the chapter hangs, and enl why says what its console shows, but for
# the time.
set -eu
enl=$1
program=$2
chapter=$3
scratch=$(mktemp -d)
export BCR_TEMPDIR=$scratch
trap 'kill "$pid" 2>/dev/null || :; rm -rf "$scratch"' EXIT

plain() {
    sed -E 's|for [0-9.]+ s|for N s|'
}

sed -n '/^\$ enl why$/,/^```$/p' "$chapter" | sed '1d; $d' | plain >"$scratch/wanted"
# Of two CCEs that begin at quite different times the first has paid before the second wants to: then the program is started again.
for _ in $(seq 5); do
    rm -f "$scratch"/bcr.*.log
    "$enl" "$program" >"$scratch/out" 2>&1 </dev/null &
    pid=$!
    echo nothing yet >"$scratch/difference"
    for _ in $(seq 60); do # it takes a tenth of a second until both wait
        sleep 0.1
        name=$(cd "$scratch" && ls bcr.*.log 2>/dev/null | sed 's/^bcr\.//; s/\.log$//') || :
        if [ -n "$name" ]; then
            "$enl" why "$name" 2>&1 | plain >"$scratch/got" || :
            if diff "$scratch/wanted" "$scratch/got" >"$scratch/difference"; then break 2; fi
        fi
    done
    kill "$pid" 2>/dev/null || :
    wait "$pid" || :
done
if [ -s "$scratch/difference" ]; then
    cat "$scratch/difference" "$scratch/out"
    echo "FAIL enl why does not print what the chapter shows"
    exit 1
fi
"$enl" kill "$name" >"$scratch/killed" 2>&1
wait "$pid" || :
echo "tutorial 6: the program hangs as is said there"
