#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PM and SCore programs with processes on this machine and three that ssh reaches.
source "$(dirname "$0")/../over_ssh.sh" test_pm_over_ssh
: "${PM_MEMBERS:?run by ctest}" "${SCORE_MEMBERS:?run by ctest}"
cd "$folder"

# Of SCore, what a node's end means for the program.
ends() {
    local wanted=$1 status=0
    shift
    "$BCR_ENL" --per-host 3 --map cyclic -n 4 "$SCORE_MEMBERS" "$@" > "$folder/said" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || { cat "$folder/said" && echo "FAIL: $*: status $status, wanted $wanted" && exit 1; }
    echo "ok $*"
}
ends 3 exits 0 3
ends 3 exits 2 3
ends 0 plain 0 # node 1 ends with status 1, and so on
ends 5 plain 5
ends 0 signals 10
ends 0 barriers
ends 0 threads
scene each_routine_has_its_codes -n 7 "$PM_MEMBERS" codes
scene composites -n 5 "$PM_MEMBERS" composites
scene messages_come_once_and_in_order -n 7 "$PM_MEMBERS" traffic 200
scene who_never_receives_gets_no_room -n 4 "$PM_MEMBERS" fill
scene no_wake_up_is_lost -n 5 "$PM_MEMBERS" blocking 50
scene codes_by_a_thread -n 5 "$PM_MEMBERS" codes_of_thread 1
scene threads -n 4 "$PM_MEMBERS" threads 50
scene memory_of_one_that_computes -n 6 "$PM_MEMBERS" remote 10
scene memory_that_is_gone -n 4 "$PM_MEMBERS" unmapped
scene no_message_overtakes_a_write -n 4 "$PM_MEMBERS" order 100
scene handles -n 4 "$PM_MEMBERS" handles 30
scene one_that_has_ended -n 4 "$PM_MEMBERS" ends
