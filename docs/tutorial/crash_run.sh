#!/bin/sh
# SPDX-License-Identifier: MIT
# crash_run.sh ENL AVERAGE CHAPTER -- the program of the chapter does what its consoles show. Numbers that differ from run to run are
# replaced.
set -eu
enl=$1
average=$2
chapter=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

plain() {
    sed -E -e 's|pid [0-9]+|pid N|; s|\) on [^ ,]+|) on HOST|; s|0x[0-9a-f]+|ADDRESS|; s|\([^ ]*/average|(./average|; s|\([^ ]*/[^/ ]*:|(average.c:|'
}

cd "$(dirname "$average")"
status=0
"$enl" ./average 4 >"$scratch/averages" 2>"$scratch/out" </dev/null || status=$?
[ "$status" = 136 ] || { echo "FAIL enl ./average 4: status $status"; cat "$scratch/out"; exit 1; }
plain <"$scratch/out" >"$scratch/got"
sed -n '/^\$ enl \.\/average 4 >averages$/,/^```$/p' "$chapter" | sed '1d; $d' | plain >"$scratch/wanted"
if ! diff "$scratch/wanted" "$scratch/got"; then
    echo "FAIL enl ./average 4 does not print what the chapter shows"
    exit 1
fi

grep -q '^0 numbers$' "$scratch/averages" || { echo "FAIL CCE 4 has printed nothing"; exit 1; }

"$enl" --onfail isolate ./average 16 >"$scratch/out" 2>&1 </dev/null
killed=$(grep -c 'was killed by signal 8' "$scratch/out")
[ "$killed" = 4 ] || { echo "FAIL $killed of 16 workers died, not 4"; cat "$scratch/out"; exit 1; }
grep -q '^enl: crash: .*signal 8' "$scratch/out" || { echo "FAIL no report"; cat "$scratch/out"; exit 1; }
echo "tutorial 4: the program does what is said there"
