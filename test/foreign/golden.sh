#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# golden.sh ONE OTHER FOLDER -- golden bytes across two machines, given by their build folders. Files stay in FOLDER.
#
# What each machine makes natively, the other makes as regions of its archtype: the same bytes. Both also make the same for
# two machines that are not here. Each reads what the other made, and both refuse numbers that do not fit. golden.c says how.
set -euo pipefail

one=$1
other=$2
mkdir -p "$3"
cd "$3"
export BCR_TEMPDIR=$PWD

golden() {
    local build=$1
    shift
    BCR_ENLISTPATH=$build/enl/enl nice "$build/enl/enl" "$build/test/foreign/golden" "$@"
}

same() {
    if ! diff "$1" "$2" >difference; then
        head -n 20 difference
        echo "FAIL $3"
        exit 1
    fi
    echo "ok $3, $(wc -l <"$1") regions"
}

# refuses WHO ARCHTYPE WANTED: how many of int, long and double are narrower there.
refuses() {
    local count
    count=$(golden "$1" refuse "$2")
    if [ "$count" != "$3" ]; then
        echo "FAIL $4: $count kinds of numbers were too wide for $2, not $3"
        exit 1
    fi
    echo "ok $4"
}

one_arch=$(golden "$one" archtype)
other_arch=$(golden "$other" archtype)
[ "$one_arch" != "$other_arch" ]
# Ints of two bytes and doubles of four, aligned to 2 at most; one in each byte order.
small_little=$((0x02667655))
small_big=$((0x03667655))
golden "$one" identity >identity

golden "$one" make 0 identity >one
golden "$other" make 0 identity >other
golden "$one" make "$other_arch" identity >other-by-one
golden "$other" make "$one_arch" identity >one-by-other
same other other-by-one "the first machine makes what the second one does"
same one one-by-other "the second machine makes what the first one does"
for archtype in $small_little $small_big; do
    golden "$one" make $archtype identity >small-by-one
    golden "$other" make $archtype identity >small-by-other
    same small-by-one small-by-other "both make the same for archtype $archtype"
    golden "$one" read $archtype identity small-by-other
    golden "$other" read $archtype identity small-by-one
done

golden "$one" read "$other_arch" identity other
golden "$one" read "$one_arch" identity one-by-other
golden "$other" read "$one_arch" identity one
golden "$other" read "$other_arch" identity other-by-one
echo "ok each reads what the other made"

golden "$one" wide >wide-one
golden "$other" wide >wide-other
# Of int, long and double only the long differs between the machines here.
long_of() { echo $((1 << ($1 >> 8 & 3))); }
one_narrower=$(($(long_of "$one_arch") < $(long_of "$other_arch")))
other_narrower=$(($(long_of "$other_arch") < $(long_of "$one_arch")))
[ "$(golden "$one" narrow "$other_arch" wide-other)" = $one_narrower ]
[ "$(golden "$other" narrow "$one_arch" wide-one)" = $other_narrower ]
echo "ok each refuses to read the other's numbers that do not fit"
refuses "$one" "$other_arch" $other_narrower "the first machine refuses what the second has no room for"
refuses "$other" "$one_arch" $one_narrower "the second machine refuses what the first has no room for"
for build in "$one" "$other"; do
    archtype=$([ "$build" = "$one" ] && echo "$one_arch" || echo "$other_arch")
    refuses "$build" $small_big $((2 + ($(long_of "$archtype") > 4))) "$archtype refuses what a small machine has no room for"
done
