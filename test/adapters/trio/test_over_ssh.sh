#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of NX, PVM 2.4 and PVM 3 that start others on this machine and three that ssh reaches, and are told of hosts and ends.
set -euo pipefail

: "${TRIO_nx:?run by ctest}" "${TRIO_pvm2:?run by ctest}" "${TRIO_pvm3:?run by ctest}" "${FAR_pvm3:?run by ctest}"
: "${BCR_ENL:?run by ctest}" "${EARL_EXEC:?run by ctest}" "${NX_HOST:?run by ctest}" "${PVM_MEMBERS:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_earl_trio_over_ssh HOSTS_SSH=needed exec "$BCR_SOURCE_DIR/test/system/hosts/with_hosts.sh" n1,n2,n3 "$0" "$@"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BCR_CONNECTTIMEOUT=60000 BCR_TEMPDIR=$folder
PATH=$(dirname "$TRIO_pvm2"):$PATH

scene() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$folder/said" 2>"$folder/told" || { echo "FAIL $name: status $?: $(cat "$folder/said" "$folder/told")"; exit 1; }
    echo "ok $name"
}
says() { # NAME LINE
    [ "$(cat "$folder/said")" = "$2" ] || { echo "FAIL $1: not \"$2\": $(cat "$folder/said" "$folder/told")"; exit 1; }
}
result=$(unset BCR_HOSTSFILE && "$TRIO_pvm3" 4 7)
scene nx_nodes_on_four_hosts "$BCR_ENL" --per-host 2 --map cyclic -n 7 "$TRIO_nx" 4
says nx_nodes_on_four_hosts "$result"
scene pvm2_initiates_on_four_hosts "$BCR_ENL" "$TRIO_pvm2" 4 7
says pvm2_initiates_on_four_hosts "$result"
scene pvm3_spawns_on_four_hosts "$BCR_ENL" "$TRIO_pvm3" 4 7
says pvm3_spawns_on_four_hosts "$result"
scene nx_cubes_on_four_hosts "$BCR_ENL" "$NX_HOST" host loads
scene pvm3_tasks_where_they_are_wanted "$BCR_ENL" "$PVM_MEMBERS" places 4
scene pvm3_notices "$BCR_ENL" "$PVM_MEMBERS" notices 4
scene pvm3_groups "$BCR_ENL" --per-host 2 --map cyclic -n 7 "$PVM_MEMBERS" groups 0

# Of four, one comes later, by ssh as the others.
grep -v '^n3 ' "$BCR_HOSTSFILE" >"$folder/hosts"
chmod 600 "$folder/hosts"
BCR_HOSTSFILE=$folder/hosts scene pvm3_adds_a_host "$BCR_ENL" "$FAR_pvm3" n3 "n3 enl=$BCR_ENL"
says pvm3_adds_a_host "4 hosts, 4 ends"
