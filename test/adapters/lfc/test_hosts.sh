#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# LFC programs that are started one by one, by HOSTS and -lfc-hosts, in any order; and what is wrong with such a start.
set -euo pipefail

: "${LFC_LATENCY:?run by ctest}" "${LFC_MEMBERS:?run by ctest}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch BCR_AWAITTIMEOUT=20000
here=$(hostname)
fail() {
    cat "$scratch"/said* 2> /dev/null || true
    echo "FAIL test_lfc_hosts: $*"
    exit 1
}

# by_hand NAME FIRST LAST PROGRAM WORD...: ranks from FIRST to LAST, or back
by_hand() {
    local name=$1 first=$2 last=$3 program=$4 rank pids=()
    shift 4
    for rank in $(seq "$first" $((first < last ? 1 : -1)) "$last"); do
        "$program" "$rank" 3 "$@" > "$scratch/said$rank" 2>&1 &
        pids+=($!)
    done
    for rank in "${pids[@]}"; do wait "$rank" || fail "$name"; done
    echo "ok $name"
}
export HOSTS="$here $here,$here"
by_hand started_in_order 0 2 "$LFC_MEMBERS" all_to_all 50
by_hand started_in_the_reverse_order 2 0 "$LFC_MEMBERS" all_to_all 50
grep -q . "$scratch"/said* && fail "a start by hand says something"
other=${here%%.*} # the same name with a domain, or without
[ "$other" != "$here" ] || other=$here.example
HOSTS="$other $other $other" by_hand the_list_may_name_this_host_with_another_domain 2 0 "$LFC_MEMBERS" all_to_all 50
BCR_AWAIT=one by_hand a_job_of_its_own_key 0 2 "$LFC_MEMBERS" interrupts 20 &
job=$!
BCR_AWAIT=two by_hand two_jobs_at_once 0 2 "$LFC_MEMBERS" groups 20
wait $job || fail "two jobs at once"

# refuses SENTENCE COMMAND...
refuses() {
    local sentence=$1
    shift
    if "$@" > "$scratch/said" 2>&1; then fail "$* is not refused"; fi
    grep -q "$sentence" "$scratch/said" || fail "$* is refused without \"$sentence\""
}
refuses 'rank (the first argument) is a number from 0 to 1, not 2' "$LFC_MEMBERS" 2 2 shown
refuses 'number of processes (the second argument) is a number from 1 to 3, not 4' "$LFC_MEMBERS" 0 4 shown
refuses 'number of processes (the second argument) is a number from 1 to 3, not shown' "$LFC_MEMBERS" 0 shown
refuses 'not missing' "$LFC_MEMBERS"
refuses 'is in the list twice' "$LFC_MEMBERS" -lfc-use-hosts shown
unset HOSTS
refuses 'is not in the list' "$LFC_MEMBERS" -lfc-hosts=elsewhere,nowhere shown
refuses '1 to 65000 names' "$LFC_MEMBERS" -lfc-hosts=, shown
[ "$("$LFC_MEMBERS" "-lfc-hosts=$here" shown a)" = "[$LFC_MEMBERS][shown][a]" ] || fail "a list of this host alone"
echo "ok what is wrong is told"
HOSTS="$here elsewhere $here" refuses 'stands in the list in two places' "$LFC_MEMBERS" 0 3 shown
HOSTS="$here $here" BCR_AWAITTIMEOUT=300 refuses . "$LFC_MEMBERS" 1 2 shown
echo "ok who is not come for ends"
HOSTS="$here $here" BCR_AWAITTIMEOUT=300 refuses . "$LFC_MEMBERS" 0 2 shown
echo "ok process 0 ends if another one never starts"

export HOSTS="$here $here $here" BCR_AWAITTIMEOUT=2000
pids=()
for rank in 0 1 1; do
    "$LFC_MEMBERS" $rank 3 shown > "$scratch/said.$rank.${#pids[@]}" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    if wait "$pid"; then fail "a rank that is there twice"; fi
done
grep -q 'another process waits as member 1' "$scratch"/said.1.* || fail "a rank that is there twice is not told of"
echo "ok a rank that is there twice ends the program"
unset HOSTS BCR_AWAITTIMEOUT
HOSTS=nowhere "$BCR_ENL" -n 2 "$LFC_LATENCY" -nsend 10 > "$scratch/said" || fail "HOSTS under enl -n"
echo "ok under enl -n HOSTS has no meaning"
