#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The behaviour of test_sizes.c on paths that carry small packets and no large ones: a hop on the way drops them without a word
# (the cable), or the device itself refuses them (EMSGSIZE); from the beginning, or from some moment on. Where the least does
# not pass, the program says so.
set -euo pipefail

: "${BEHAVE_SIZES:?run by ctest}" "${CABLE:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_packet_sizes exec "$(dirname "$0")/with_hosts.sh" elsewhere "$0" "$@"
fi

export BCR_CONNECTTIMEOUT=60000 BCR_RECVPOOL=400
said=$(mktemp)
trap 'rm -f "$said"' EXIT
cable="echo '* * %s' > $HOSTS_CABLE && read -r _ < $HOSTS_ANSWER"
device="ip link set cable mtu %s && $HOSTS_IN/elsewhere ip link set cable mtu %s"

# scene NAME FIRST THEN WHY [SENTENCE]: the path is changed by FIRST before the program, and by THEN in its midst
scene() {
    eval "$2"
    SIZES_THEN=$3 SIZES_WHY=$4 "$BEHAVE_SIZES" regions_arrive_whatever_size_of_packets_passes@host 2> "$said" ||
        { cat "$said" && echo "FAIL: $1" && exit 1; }
    cat "$said"
    [ -z "${5-}" ] || grep -q "$5" "$said" || { echo "FAIL: $1 is not told" && exit 1; }
    eval "$all"
    eval "$usual"
    echo "ok $1"
}
# shellcheck disable=SC2059
drop() { printf "$cable" "most=$1 udp=1"; }
# shellcheck disable=SC2059
mtu() { printf "$device" "$1" "$1"; }
# shellcheck disable=SC2059
all=$(printf "$cable" '')
usual=$(mtu 1500)
narrow='packets of 256 bytes from .* do not arrive at host .* raise the MTU'

scene dropped_from_the_beginning "$(drop 700)" true 'bytes: no larger ones arrive'
scene dropped_from_some_moment_on true "$(drop 1000)" 'bytes: no larger ones arrive'
scene dropped_the_least_from_the_beginning "$(drop 200)" true 'though smaller ones do' "$narrow"
scene dropped_the_least_from_some_moment_on true "$(drop 200)" 'though smaller ones do' "$narrow"
scene refused_from_the_beginning "$(mtu 600)" true 'bytes: no larger ones arrive'
scene refused_from_some_moment_on true "$(mtu 600)" 'bytes: no larger ones arrive'
scene refused_the_least_from_some_moment_on true "$(mtu 250)" 'though smaller ones do' "$narrow"
