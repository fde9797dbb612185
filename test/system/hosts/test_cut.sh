#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The behaviours of test_cut.c, each with a cable that is whole when it begins. Arguments: those to run. Without any, and
# without BCR_TEST_FULL, one host is lost and not two, since each takes its time.
set -euo pipefail

: "${BEHAVE_CUT:?run by ctest}" "${CABLE:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_cut_cables HOSTS_SSH=needed exec "$(dirname "$0")/with_hosts.sh" elsewhere,second,third "$0" "$@"
fi

export BCR_CONNECTTIMEOUT=60000
[ $# -gt 0 ] || mapfile -t names < <("$BEHAVE_CUT" --list | { [ -n "${BCR_TEST_FULL-}" ] && cat || grep -v '^a_host_to_'; })
status=0
for name in "${@-"${names[@]}"}"; do
    echo '* *' > "$HOSTS_CABLE"
    read -r _ < "$HOSTS_ANSWER"
    case $name in
    a_host_*) BCR_HOSTTIMEOUT=5000 "$BEHAVE_CUT" "$name" || status=1 ;;
    *) "$BEHAVE_CUT" "$name" || status=1 ;;
    esac
done
exit $status
