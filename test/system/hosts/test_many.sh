#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Many hosts that start each other by ssh, all at once: every CCE comes up on its own host. And where only the root's
# host gets into the others. BCR_TEST_FULL: 16 hosts of 8 CCEs.
set -euo pipefail

: "${SYS_CCE:?run by ctest}" "${CABLE:?run by ctest}"
hosts=5 cces=3 fanout=2
[ -z "${BCR_TEST_FULL-}" ] || hosts=16 cces=8 fanout=4
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_many_hosts HOSTS_SSH=needed exec "$(dirname "$0")/with_hosts.sh" "$(seq -s, -f 'n%g' $hosts)" "$0" "$@"
fi

fail() {
    echo "FAIL test_many_hosts: $*"
    cat "$folder"/err "$folder"/bcr.*.log
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/tell"
exec 5<> "$folder/tell"
export BCR_TEMPDIR=$folder BCR_CONNECTTIMEOUT=120000 SYS_TELL=$folder/tell SYS_CHILD="out hello"

# The words of a root that enlists on all hosts, then what is to be in its log, and how often at least.
run() {
    local words=() ordinal=1 name
    for name in $(seq -f 'n%g' $hosts); do
        words+=(at "$name" from "$ordinal" enlist "$SYS_CCE" "$cces")
        ordinal=$((ordinal + cces))
    done
    rm -f "$folder"/bcr.*
    timeout 240 "$BCR_ENL" --output --start-hosts all --fanout $fanout "$SYS_CCE" "${words[@]}" \
        > "$folder/out" 2> "$folder/err" || fail "status $?"
    [ "$(sort -u "$folder/out" | grep -c '^\[[0-9]*\] hello$')" = $((hosts * cces)) ] || fail "$(cat "$folder/out")"
    [ "$(cat "$folder"/bcr.*.log | grep -c "$1")" -ge "$2" ] || fail "the log has not \"$1\" $2 times"
}

echo "-- $hosts hosts, $cces CCEs on each, no daemon starts more than $fanout"
run 'is number [0-9]*, started by host n' $((hosts - fanout))

echo "-- the same where hosts do not get into each other"
cat > "$folder/ssh-from-root" << end
#!/bin/sh
ip -o address show dev cable | grep -qF ' 10.178.0.1/' || { echo 'Permission denied' >&2; exit 255; }
exec "$BCR_RSHPATH" "\$@"
end
chmod 700 "$folder/ssh-from-root"
rshpath=$BCR_RSHPATH
export BCR_RSHPATH=$folder/ssh-from-root
run 'is number [0-9]*, started by this one' $hosts
grep -q 'Permission denied.*it is started by another daemon' "$folder"/bcr.*.log || fail "nobody was refused"

echo "-- a daemon that has started others by ssh is killed, and those go on"
rm -f "$folder"/bcr.*
mkfifo "$folder/go"
exec 6<> "$folder/go"
export BCR_RSHPATH=$rshpath SYS_GO=$folder/go SYS_CHILD="tell wait out hello"
words=()
for i in $(seq $hosts); do words+=(at "n$i" from "$i" enlist "$SYS_CCE" 1); done
timeout 240 "$BCR_ENL" --onfail isolate --output --start-hosts all --fanout $fanout "$SYS_CCE" "${words[@]}" wait \
    > "$folder/out" 2> "$folder/err" &
enl=$!
declare -A cces_of=()
while [ ${#cces_of[@]} -lt $hosts ]; do
    read -t 200 -r ordinal pid group <&5 || fail "not all CCEs tell"
    [ "$ordinal" = enlist ] || cces_of[$ordinal]=$pid
    : "$group"
done
starter=$(grep -oh 'started by host n[0-9]*' "$folder"/bcr.*.log | sed -n '1s/.*host n//p')
victim=${cces_of[$starter]}
read -r -a stat < <(sed 's/.*) //' "/proc/$victim/stat")
kill -9 "${stat[1]}"
tail --pid="$victim" -f /dev/null # or it might take what is for another
printf "%${hosts}s" "" >&6
wait $enl || fail "status $?"
grep -q "host n$starter is lost" "$folder/err" || fail "n$starter is not lost: $(cat "$folder/err")"
[ "$(sort -u "$folder/out" | grep -c '^\[[0-9]*\] hello$')" = $((hosts - 1)) ] || fail "$(cat "$folder/out")"
