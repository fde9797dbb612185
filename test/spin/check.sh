#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check.sh holds|long|breaks MODEL [spin arguments, such as -DNO_MEMBARRIER] [--reduced spin arguments] -- searches all states of
# a Promela model. The arguments behind --reduced stand in place of those before it unless BCR_TEST_FULL is set.
#
#   holds    no assertion fails, nobody is left waiting, and the search was complete
#   long     the same, and the search takes long: unless BCR_TEST_FULL is set, a third of these is searched, drawn by the day
#   breaks   the rule that the -D leaves out is needed: the search must find an error, and prints the first steps to it. Unless
#            BCR_TEST_FULL is set, a seventh of these is searched, drawn by the day (BCR_SPIN_DAY, a number, else today's)
#
# To see the steps of an error:  SPIN_TRAIL=1 test/spin/check.sh holds test/spin/lock.pml -DNO_MEMBARRIER
set -euo pipefail

want=$1
one_of=1
case $want in
breaks) one_of=7 ;;
long) want=holds one_of=3 ;;
esac
model=$(readlink -f "$2")
shift 2
full=() reduced=() size=full
for argument in "$@"; do
    if [ "$argument" = --reduced ]; then
        size=reduced
    elif [ $size = full ]; then
        full+=("$argument")
    else
        reduced+=("$argument")
    fi
done
if [ $size = reduced ] && [ -z "${BCR_TEST_FULL:-}" ]; then
    set -- "${reduced[@]}"
else
    set -- "${full[@]}"
fi
name=$(basename "$model" .pml)
day=${BCR_SPIN_DAY:-$(date +%s | awk '{print int($1 / 86400)}')}
if [ -z "${BCR_TEST_FULL:-}${SPIN_TRAIL:-}" ] &&
    [ $((($(printf '%s' "$name $*" | cksum | cut -d' ' -f1) + day) % one_of)) != 0 ]; then
    echo "skip spin_$name $*: not drawn on day $day; it is on one day of $one_of, and in ./check --all"
    exit 77
fi
if ! command -v spin >/dev/null; then
    echo "skip spin_$name: spin is not installed (Debian package spin)"
    exit 77
fi

here=$(dirname "$model")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bcr-spin.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$here"/*.pml "$here"/*.inc . 2>/dev/null || cp "$here"/*.pml .

spin "$@" -a "$name.pml" >spin.log || {
    cat spin.log
    exit 1
}
grep -i "error" spin.log && exit 1
# SAFETY: assertions and states in which everybody waits. No cycles are looked for.
optimize=-O2
# An error is found sooner than gcc can optimize, and so is that there is none in a small model.
[ $one_of = 3 ] || [ -n "${BCR_TEST_FULL:-}" ] || optimize=-O0
"${CC:-cc}" $optimize -w -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM="${SPIN_MEGABYTES:-2000}" -o pan pan.c
./pan -m"${SPIN_DEPTH:-200000}" -w22 -n >pan.log 2>&1 || true

grep -E 'errors:|states, stored|transitions|total actual memory|elapsed' pan.log || true
complete=yes
if grep -qE 'out of memory|max search depth too small|Search not completed|aborted' pan.log; then
    complete=no
fi
errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
if [ "${errors:-none}" = 0 ] && [ $complete = yes ]; then
    result=holds
elif [ -f "$name.pml.trail" ]; then
    result=breaks
else
    cat pan.log
    echo "$name $*: the search did not come to an end"
    exit 1
fi
if [ $result = breaks ]; then
    grep -E '^pan:' pan.log | head -n 2
    if [ "$want" = holds ] || [ -n "${SPIN_TRAIL:-}" ]; then
        spin "$@" -t -p "$name.pml" | grep -E '^ *[0-9]+:|assert|MSC:' | head -n "${SPIN_STEPS:-400}" || true
    fi
fi
echo "$name $*: $result, expected: $want"
[ $result = "$want" ]
