#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs on Earl's routines with processes on this machine and three that ssh reaches.
set -euo pipefail

: "${EARL_MEMBERS:?run by ctest}" "${BCR_ENL:?run by ctest}" "${EARL_TOOL_COUNT:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_earl_over_ssh HOSTS_SSH=needed exec "$BCR_SOURCE_DIR/test/system/hosts/with_hosts.sh" n1,n2,n3 "$0" "$@"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BCR_CONNECTTIMEOUT=60000 BCR_TEMPDIR=$folder

scene() {
    local name=$1
    shift
    "$BCR_ENL" --per-host 3 --map cyclic "$@" > "$folder/said" 2>&1 || { cat "$folder/said" && echo "FAIL: $name" && exit 1; }
    echo "ok $name"
}
scene all_send_first -n 7 "$EARL_MEMBERS" all_first 24
EARL_INBOX=4 scene all_send_first_into_small_inboxes -n 7 "$EARL_MEMBERS" all_first 12
scene long_messages_too -n 5 "$EARL_MEMBERS" long_first 12
EARL_MEMORY=0 scene long_sends_wait_for_their_receive -n 4 "$EARL_MEMBERS" long_isends
scene typed_items -n 5 "$EARL_MEMBERS" buffers 5
scene who_computes_is_interrupted -n 4 "$EARL_MEMBERS" handlers 30
scene an_end_is_told_of -n 4 "$EARL_MEMBERS" ends
scene groups -n 7 "$EARL_MEMBERS" groups 5
scene tools_come_along --tool "$EARL_TOOL_COUNT" -n 5 "$EARL_MEMBERS" many
[ "$(grep -c 'receive 16 (' "$folder/said")" = 5 ] || { cat "$folder/said" && echo "FAIL: not every process has counted" && exit 1; }
