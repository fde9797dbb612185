#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The behaviours of test_silent.c, whose programs say once that UDP does not pass.
set -euo pipefail

: "${BEHAVE_SILENT:?run by ctest}" "${CABLE:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_silent_cables exec "$(dirname "$0")/with_hosts.sh" elsewhere "$0" "$@"
fi

export BCR_CONNECTTIMEOUT=60000 BCR_HOSTTIMEOUT=8000 BCR_RECVPOOL=400
said=$(mktemp)
trap 'rm -f "$said"' EXIT
names=$("$BEHAVE_SILENT" --list)
for name in $names; do
    case $name in
    orders_*) echo '* * lost=1000 udp=1' > "$HOSTS_CABLE" ;;
    *) echo '* *' > "$HOSTS_CABLE" ;;
    esac
    read -r _ < "$HOSTS_ANSWER"
    "$BEHAVE_SILENT" "$name" 2> "$said" || { cat "$said" && exit 1; }
    cat "$said"
    [ "$(grep -c 'by UDP: .* dataport in bcrrc' "$said")" = 1 ] || { echo "FAIL: not told once" && exit 1; }
done
