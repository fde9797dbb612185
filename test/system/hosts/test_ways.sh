#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The behaviours of test_ways.c: two programs at once on the same hosts, each with its own ports of one range; and a host
# with two interfaces, of which the one that data goes by goes away.
set -euo pipefail

: "${BEHAVE_WAYS:?run by ctest}" "${CABLE:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_ways exec "$(dirname "$0")/with_hosts.sh" elsewhere "$0" "$@"
fi

export BCR_CONNECTTIMEOUT=60000 BCR_RECVPOOL=400
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
weather() {
    echo "$*" > "$HOSTS_CABLE"
    read -r _ < "$HOSTS_ANSWER"
}

# Each waits in its midst until the other is as far.
mkfifo "$folder/meet1" "$folder/meet2"
two=()
weather '* *'
for n in 1 2; do
    WAYS_MEET="echo >$folder/meet$n & read -r _ <$folder/meet$((3 - n))" BCR_DATAPORT=7100-7101 \
        "$BEHAVE_WAYS" a_program_has_its_hosts_beside_another@host 2> "$folder/said$n" &
    two+=($!)
done
for n in 1 2; do
    wait "${two[n - 1]}" || { cat "$folder/said$n" && exit 1; }
done

# By the cable UDP does not pass until the other interface is gone.
pid=$(sed -n 's|.*/proc/\([0-9]*\)/ns/net.*|\1|p' "$HOSTS_IN/elsewhere")
if ! ip link add v0 type veth peer name v0 netns "$pid" 2> "$folder/why"; then
    echo "skip a second interface: $(cat "$folder/why")"
    exit 0
fi
ip address add 10.179.0.1/24 dev v0
ip link set v0 up
"$HOSTS_IN/elsewhere" ip address add 10.179.0.2/24 dev v0
"$HOSTS_IN/elsewhere" ip link set v0 up
weather '* * lost=1000 udp=1'
BCR_HOSTTIMEOUT=3000 WAYS_DOWN="echo '* *' >$HOSTS_CABLE && read -r _ <$HOSTS_ANSWER && ip link set v0 down" \
    "$BEHAVE_WAYS" orders_go_on_when_an_interface_goes_away@host 2> "$folder/said" || { cat "$folder/said" && exit 1; }
cat "$folder/said"
[ "$(grep -c 'by UDP' "$folder/said")" -le 1 ] || { echo "FAIL: told more than once" && exit 1; }
