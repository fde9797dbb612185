#!/bin/sh
# SPDX-License-Identifier: MIT
# windows_run.sh ENL AVERAGE CHAPTER -- the chapter's script, written by its own command, does for every CCE what is said there.
set -eu
enl=$1
program=$2
chapter=$3
command -v gdb >/dev/null || { echo "skip tutorial_windows: there is no gdb"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR="$scratch"
cd "$scratch"

fail() {
    cat out
    echo "FAIL $*"
    exit 1
}

sed -n 's/^\$ \(printf .* > script\)$/\1/p' "$chapter" >write
[ -s write ] || { : >out; fail "the chapter has no command that writes a script"; }
. ./write
"$enl" -d 'gdb -nx' -D batch:script "$program" 3 >out 2>&1 </dev/null || fail "enl has ended with status $?"
! grep -q 'Error in sourced command file' out || fail "the script has failed in a CCE"
for cce in 1 2 3; do
    grep -qF "[$cce] #0  average (" out || fail "no backtrace of CCE $cce"
    grep -qF "[$cce] their average is " out || fail "CCE $cce has not gone on"
done
grep -q '^\[0\] .*exited normally' out || fail "CCE 0 has not exited"
echo "tutorial 5: the script runs in every CCE"
