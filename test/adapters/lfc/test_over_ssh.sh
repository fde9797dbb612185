#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# LFC programs with processes on this machine and three that ssh reaches.
source "$(dirname "$0")/../over_ssh.sh" test_lfc_over_ssh
: "${LFC_MEMBERS:?run by ctest}" "${LFC_LATENCY:?run by ctest}"

scene each_packet_comes_once_and_in_order -n 7 "$LFC_MEMBERS" all_to_all 40 1 -lfc-ring-frames=4
scene without_upcalls_too -n 5 "$LFC_MEMBERS" all_to_all 40 0 -lfc-ring-frames=4
scene a_multicast_reaches_its_group -n 7 "$LFC_MEMBERS" groups 40
scene who_never_polls_is_interrupted -n 4 "$LFC_MEMBERS" interrupts 50
scene statistics_are_gathered -n 5 "$LFC_MEMBERS" statistics
scene fetch_and_add -n 5 "$LFC_MEMBERS" add 21
[ "$(grep -x '[0-9]*' "$folder/said" | sort -n | uniq | wc -l)" = $((5 * 21 * 2)) ] || { echo "FAIL: not a permutation" && exit 1; }
scene the_guides_program -n 2 "$LFC_LATENCY" -nsend 20
