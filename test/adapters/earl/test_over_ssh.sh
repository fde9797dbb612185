#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs on Earl's routines with processes on this machine and three that ssh reaches.
source "$(dirname "$0")/../over_ssh.sh" test_earl_over_ssh
: "${EARL_MEMBERS:?run by ctest}" "${EARL_TOOL_COUNT:?run by ctest}"

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
