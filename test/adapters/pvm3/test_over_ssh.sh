#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A virtual machine of this machine and three that ssh reaches, which the console adds, uses and takes away.
set -euo pipefail

: "${BCR_PVM:?run by ctest}" "${PVM_MEMBERS:?run by ctest}" "${BCR_ENL:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_pvm3_over_ssh HOSTS_SSH=needed exec "$BCR_SOURCE_DIR/test/system/hosts/with_hosts.sh" n1,n2,n3 "$0" "$@"
fi
folder=$(mktemp -d)
hosts=$BCR_HOSTSFILE
unset BCR_HOSTSFILE
export BCR_CONNECTTIMEOUT=60000 BCR_HOSTTIMEOUT=3000 BCR_TEMPDIR=$folder BCR_LOGDIR=$folder HOME=$folder PVM_VMID=ssh$$
trap '"$BCR_ENL" kill "pvm-machine-$PVM_VMID" >"$folder/killed" 2>&1 || true; rm -rf "$folder"' EXIT
fail() {
    echo "FAIL test_pvm3_over_ssh: $*"
    cat "$folder/said"
    exit 1
}
console() {
    timeout 200 "$BCR_PVM" "$@" >"$folder/said" 2>&1 || fail "status $? of the console"
}

console "$hosts" <<C
conf
spawn -> -n1 "$PVM_MEMBERS" speaks 1
spawn -> -n3 "$PVM_MEMBERS" speaks 1
spawn -4 "$PVM_MEMBERS" spawned 2
ps
C
grep -q '^4 hosts, 1 data format$' "$folder/said" || fail "there are not four hosts"
[ "$(grep -cE '^\[t4[0-9a-f]+\] (one|two|three|rest)$' "$folder/said")" = 8 ] || fail "not all that tasks print has come"
for host in n1 n2 n3; do # a task that has printed may be there still
    grep -qE "^ +$host .*pvm_members\$" "$folder/said" || fail "there is no task on $host"
done
echo "ok hosts are added, and have tasks"

"$PVM_MEMBERS" puts_number >"$folder/said" 2>&1 || fail "puts_number"
# On another host there is the same virtual machine.
"$HOSTS_IN/n2" "$PVM_MEMBERS" finds_number >"$folder/said" 2>&1 || fail "finds_number on n2"
echo "ok tasks from the shell enter on each host"

# n3, the fourth host, is not heard of any more, and then it is again.
cable() {
    echo "$*" >"$HOSTS_CABLE"
    read -r _ <"$HOSTS_ANSWER"
}
mkfifo "$folder/watching"
"$PVM_MEMBERS" sees_loss >"$folder/watching" 2>"$folder/said" &
seer=$!
read -r _ <"$folder/watching"
cable '* 4 lost=1000'
cable '4 * lost=1000'
wait $seer || fail "sees_loss"
cable '* *'
console <<C
add "$(grep -E '^n3( |$)' "$hosts")"
spawn -n3 "$PVM_MEMBERS" spawned 2
C
grep -q '^1 successful$' "$folder/said" || fail "n3 is not used again"
echo "ok a host that is lost is told of, and added again"

console <<'C'
delete n2
conf
ps
C
grep -q '^3 hosts' "$folder/said" || fail "there are not three hosts"
[ "$(grep -cE '^ +n2 ' "$folder/said")" = 0 ] || fail "n2 is there"
for host in n1 n3; do
    grep -qE "^ +$host .*pvm_members\$" "$folder/said" || fail "the task on $host has ended"
done
console <<<halt
echo "ok a host is taken away with its tasks"
