#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hetero.sh -- the example hetero in one program of this machine and all others that are built: i386, s390x, and arm64 with
# BCR_TEST_FULL; and where entries of the hosts file do not say what they are. Run by ctest in the native build, whose folder
# is BCR_BUILD_DIR.
set -euo pipefail

native=${BCR_BUILD_DIR:?ctest sets it}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
machines=0
for machine in i386 s390x arm64; do
    build=$native/foreign/$machine
    if [ -x "$build/examples/hetero" ] && [ -x "$build/enl/enl" ]; then
        echo "far-$machine local abi=${machine/arm64/aarch64} enl=$build/enl/enl path=$build/examples"
        machines=$((machines + 1))
    fi
done >"$folder/machines"
if [ ! -s "$folder/machines" ]; then
    echo "skip foreign_hetero: nothing is built for other machines; test/foreign/prepare.sh $native/foreign says why"
    exit 77
fi
chmod 600 "$folder/machines"
rounds=200
[ -z "${BCR_TEST_FULL:-}" ] || rounds=100000
BCR_TEMPDIR=$folder "$native/enl/enl" --hosts "$folder/machines" "$native/examples/hetero" $rounds | tee "$folder/out"
grep -q "^hetero: $rounds rounds among $((machines + 1)) CCEs: .*; all right$" "$folder/out"
# Each CCE has worked on tables in place and on translated ones.
grep -q 'used in place by a CCE of archtype 0x02faffa5\|used in place by a CCE of archtype 0x02babaa5' "$folder/out"
echo "ok hetero_among_all_machines"

# The same of the small program of the patterns: each of the machines computes, and so does this one.
echo "$(hostname) enl=$native/enl/enl" >>"$folder/machines"
BCR_TEMPDIR=$folder "$native/enl/enl" --hosts "$folder/machines" "$native/examples/kinds" | tee "$folder/out"
grep -q "^kinds: $((machines + 1)) machines computed the same$" "$folder/out"
[ ! -x "$native/foreign/i386/examples/kinds" ] || grep -q '^kinds: far-i386: the little end first, a long of 4 bytes, ' "$folder/out"
[ ! -x "$native/foreign/s390x/examples/kinds" ] || grep -q '^kinds: far-s390x: the big end first, a long of 8 bytes, ' "$folder/out"
echo "ok kinds_among_all_machines"

# By a command that stands for ssh: two names of this machine for one enl of another architecture, which they do not say, so
# that the second is found to be the first; and one for this one's.
build=$native/foreign/i386
if [ -x "$build/examples/hetero" ]; then
    printf '#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n' >"$folder/ssh"
    chmod +x "$folder/ssh"
    rm -f "$folder"/bcr.*
    cat >"$folder/machines" <<HOSTS
$(hostname) enl=$build/enl/enl path=$build/examples
again addr=127.0.0.1 enl=$build/enl/enl path=$build/examples
own addr=127.0.0.1 abi=x86_64 enl=$build/enl/enl
HOSTS
    BCR_TEMPDIR=$folder BCR_RSHPATH=$folder/ssh "$native/enl/enl" --hosts "$folder/machines" "$native/examples/hetero" 20 \
        >"$folder/out"
    grep -q "^hetero: 20 rounds among 4 CCEs: .*; all right$" "$folder/out"
    [ "$(grep -c 'used in place by a CCE of archtype 0x02babaa5' "$folder/out")" = 2 ]
    ls "$folder"/bcr.*.1.log >/dev/null
    [ -z "$(ls "$folder"/bcr.*.[23].log 2>/dev/null)" ]
    echo "ok an_entry_without_abi_is_what_its_enl_is"
fi
