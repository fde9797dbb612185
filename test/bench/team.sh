#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# team.sh -- teams beside what they stand in place of, by turns on this machine:
#
#   bash test/bench/team.sh BUILD [--tiny | ROUNDS]
#
#   gate N    until N members are past the gate (enl -n N), beside a root that has the birthcries of N - 1 CCEs: 16 and 1,000
#   sync 8    a round of bcr_teamsync of 8 members, beside eight calls that enl answers at once
#   killed    from SIGKILL to a CCE until the handler runs by which another CCE watches it, beside the same to a child, and waitpid
#
# Both of a pair of the first kind begin with the start of enl. Printed are the medians, in us, with the least and the most, and their ratio.
set -euo pipefail

build=${1:?usage: bash team.sh BUILD [--tiny | ROUNDS]}
sizes="16 1000" rounds=${2:-11} most=2000
[ "${2-}" != --tiny ] || { sizes=4 rounds=1 most=20; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BCR_TEMPDIR=$work
enl=$build/enl/enl program=$build/test/bench/bench_team

# run NAME COMMAND...: its number goes to $work/NAME.us
run() {
    local name=$1
    shift
    BENCH_BEGIN_NS=$(date +%s%N) "$@" >> "$work/$name.us" 2> "$work/said" || { cat "$work/said" && exit 1; }
    rm -f "$work"/bcr.*
}

median() { sort -n "$work/$1.us" | awk '{ all[NR] = $1 } END { print (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2 }'; }
spread() { sort -n "$work/$1.us" | awk 'NR == 1 { least = $1 } { last = $1 } END { printf "%.0f to %.0f", least, last }'; }

# show WHAT NAME OTHER TIMES: the ratio of NAME to OTHER, so many times
show() {
    local one other
    one=$(median "$2") other=$(median "$3")
    printf '%-10s %10.1f (%s)   beside %10.1f x %d (%s): %.2f\n' "$1" "$one" "$(spread "$2")" "$other" "$4" \
        "$(spread "$3")" "$(awk -v a="$one" -v b="$other" -v n="$4" 'BEGIN { print a / (b * n) }')"
}

for _ in $(seq "$rounds"); do
    for size in $sizes; do
        run "gate$size" "$enl" -n "$size" "$program" gate
        run "cries$size" "$enl" "$program" cries "$size"
    done
    run sync "$enl" -n 8 "$program" sync "$most"
    run calls "$enl" "$program" calls "$most"
    run killed "$enl" "$program" killed "$((most / 20))"
    run buried "$enl" "$program" buried "$((most / 20))"
done
for size in $sizes; do
    show "gate $size" "gate$size" "cries$size" 1
done
show "sync 8" sync calls 8
show killed killed buried 1
