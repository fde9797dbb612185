#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Teams on hosts that ssh reaches: the scenarios of ../enl/sys_team.c with members on this machine and three others.
set -euo pipefail

: "${SYS_TEAM:?run by ctest}" "${BCR_ENL:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_team_over_ssh HOSTS_SSH=needed exec "$(dirname "$0")/with_hosts.sh" n1,n2,n3 "$0" "$@"
fi

folder=$(mktemp -d) said=$folder/said
trap 'rm -rf "$folder"' EXIT
export BCR_CONNECTTIMEOUT=60000 BCR_TEMPDIR=$folder

# scene NAME LINES COMMAND...: it ends well, and prints so many lines
scene() {
    local name=$1 lines=$2
    shift 2
    "$@" > "$said" 2>&1 || { cat "$said" && echo "FAIL: $name" && exit 1; }
    [ "$(grep -c 'of .* on host' "$said" || true)" = "$lines" ] || { cat "$said" && echo "FAIL: $name" && exit 1; }
    echo "ok $name"
}

team=("$BCR_ENL" --per-host 4)
scene members_of_four_hosts_know_each_other 13 "${team[@]}" -n 13 "$SYS_TEAM" whole
grep -q 'this machine is not in the list of hosts: member 0 runs here' "$said" || { echo "FAIL: nothing is said of this machine" && exit 1; }
scene members_are_dealt_out_one_by_one 10 "${team[@]}" --map cyclic -n 10 "$SYS_TEAM" whole
scene rounds_end_for_all_alike 0 "${team[@]}" --map cyclic -n 7 "$SYS_TEAM" rounds
scene handlers_run_meanwhile 0 "${team[@]}" --map cyclic -n 4 "$SYS_TEAM" handlers
scene a_signal_reaches_the_team 0 "${team[@]}" --map cyclic -n 5 "$SYS_TEAM" signalled
scene the_living_see_the_same 0 "$BCR_ENL" --onfail isolate "$SYS_TEAM" deaths n1 n2
