#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The behaviours of ../../behaviour with every cell on another host: four hosts of with_hosts.sh, reached by ssh. One of each
# program unless BCR_TEST_FULL is set.
set -euo pipefail

: "${BEHAVIOURS:?run by ctest}" "${CABLE:?run by ctest}"
if [ "${1-}" != inside ]; then
    HOSTS_TEST=test_behaviours_over_ssh HOSTS_SSH=shared exec "$(dirname "$0")/with_hosts.sh" elsewhere,second,third "$0" inside
fi

export BCR_CONNECTTIMEOUT=60000 # on a loaded machine ssh takes its time
status=0
for program in $BEHAVIOURS; do
    mapfile -t names < <("$program" --list | grep '@host$')
    [ -n "${BCR_TEST_FULL-}" ] || names=("${names[0]}")
    "$program" "${names[@]}" || status=1
done
exit $status
