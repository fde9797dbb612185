#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The behaviours of test_cut.c, each with a cable that is whole when it begins. Arguments: those to run.
set -euo pipefail

: "${BEHAVE_CUT:?run by ctest}" "${CABLE:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_cut_cables exec "$(dirname "$0")/with_hosts.sh" elsewhere,second,third "$0" "$@"
fi

[ $# -gt 0 ] || mapfile -t names < <("$BEHAVE_CUT" --list)
status=0
for name in "${@-"${names[@]}"}"; do
    echo '* *' > "$HOSTS_CABLE"
    read -r _ < "$HOSTS_ANSWER"
    "$BEHAVE_CUT" "$name" || status=1
done
exit $status
