#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Three hosts, each started by the one before, between which UDP does not pass, or in one direction alone, from the beginning or
# from when they are up: what they and the root say to each other goes by the connections between daemons, and no host is lost.
set -euo pipefail

: "${BCR_ENL:?run by ctest}" "${CABLE:?run by ctest}" "${SYS_CCE:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_no_udp exec "$(dirname "$0")/with_hosts.sh" a,b,c "$0" "$@"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BCR_CONNECTTIMEOUT=60000 BCR_HOSTTIMEOUT=3000 BCR_TEMPDIR=$folder
export SYS_GO=$folder/go SYS_TELL=$folder/tell SYS_CHILD="tell wait out hello"
mkfifo "$SYS_GO" "$SYS_TELL"
exec 5<> "$SYS_TELL" 6<> "$SYS_GO"

fail() {
    echo "FAIL: $*"
    cat "$folder/err"
    exit 1
}

tell_cables() {
    local line
    for line in "$@"; do
        echo "$line" > "$HOSTS_CABLE"
        read -r _ < "$HOSTS_ANSWER"
    done
}

# try WHEN LINES...: the cables' lines are told before the program starts, or when its hosts are up. What has happened by the time that
# both sides would have lost each other, twice, does so no more.
try() {
    local when=$1 enl told=0
    shift
    echo "-- $when: $*"
    [ "$when" = later ] || tell_cables "$@"
    timeout 100 "$BCR_ENL" --onfail isolate --output --fanout 1 --start-hosts all "$SYS_CCE" at a from 1 enlist "$SYS_CCE" 1 \
        at b from 2 enlist "$SYS_CCE" 1 at c from 3 enlist "$SYS_CCE" 1 wait > "$folder/out" 2> "$folder/err" 6<&- &
    enl=$!
    while [ $told -lt 3 ]; do
        read -t 60 -r line <&5 || fail "not all CCEs tell"
        case $line in enlist*) ;; *) told=$((told + 1)) ;; esac
    done
    [ "$when" = before ] || tell_cables "$@"
    sleep 7
    printf '    ' >&6
    wait $enl || fail "status $?"
    [ "$(sort "$folder/out" | tr '\n' ' ')" = "[1] hello [2] hello [3] hello " ] || fail "$(cat "$folder/out")"
    ! grep -q 'is lost' "$folder/err" || fail "a host is lost"
    grep -q 'started by host b' "$folder"/bcr.*.log || fail "there are no three levels"
    rm -f "$folder"/bcr.*
    tell_cables '* *'
}

try later '* * lost=1000 udp=1'
try later '1 3 lost=1000 udp=1' '1 4 lost=1000 udp=1' # what the root says
try before '3 1 lost=1000 udp=1' '4 1 lost=1000 udp=1'
