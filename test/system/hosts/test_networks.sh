#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bcr-scrun -network: hosts with two cables between them, of which the one that data go by is that of the network that was asked for,
# as its interface counts. So between n1 and n2, and between the host where the job is started and n1.
set -euo pipefail

: "${SCORE_TOOLS:?run by ctest}" "${BCR_ENL:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=test_networks exec "$(dirname "$0")/with_hosts.sh" n1,n2 "$0" "$@"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export BCR_CONNECTTIMEOUT=60000 BCR_TEMPDIR=$folder HOME=$folder
ln -s "$BCR_ENL" bcr-scrun
pid() { sed -n 's|.*/proc/\([0-9]*\)/ns/net.*|\1|p' "$HOSTS_IN/$1"; }
if ! ip link add v0 netns "$(pid n1)" type veth peer name v0 netns "$(pid n2)" 2> why ||
    ! ip link add v1 type veth peer name v1 netns "$(pid n1)" 2> why; then
    echo "skip test_networks: a second cable: $(cat why)"
    exit 77
fi
for n in 1 2; do
    "$HOSTS_IN/n$n" ip address add 10.179.0.$((n + 1))/24 dev v0
    "$HOSTS_IN/n$n" ip link set v0 up
done
ip address add 10.181.0.1/24 dev v1
ip link set v1 up
"$HOSTS_IN/n1" ip address add 10.181.0.2/24 dev v1
"$HOSTS_IN/n1" ip link set v1 up
sed -e '/^n1/s/$/ net=10.178.0.2@old+10.179.0.2@new+10.180.0.2@lone+10.181.0.2@own group=own+far/' -e '/^n2/s/$/ net=10.178.0.3@old+10.179.0.3@new group=far/' \
    "$BCR_HOSTSFILE" > hosts
sed -i '1i here addr=10.178.0.1 net=10.178.0.1@old+10.181.0.1@own group=own' hosts
chmod 600 hosts
export BCR_HOSTSFILE=$folder/hosts
head -c 2000000 /dev/urandom > data

fail() {
    echo "FAIL test_networks: $*: $(cat err)"
    exit 1
}
# moved CABLE: bytes that n1 has received and sent by it
# shellcheck disable=SC2016 # awk's
moved() { "$HOSTS_IN/n1" awk -v cable="$1:" '$1 == cable {print $2 + $10}' /proc/net/dev; }
# goes CABLE OPTIONS: how many bytes go by that cable, in bytes, while the data are copied from the first host to the second
goes() {
    local before
    before=$(moved "$1")
    timeout 300 ./bcr-scrun -nodes=2x1,message=quiet,"$2" "$SCORE_TOOLS/scatter" :: cat := /dev/null < data > out 2> err ||
        fail "status $? with $2"
    bytes=$(($(moved "$1") - before))
}
goes v0 network=new,group=far
[ $bytes -gt 2000000 ] || fail "of 2 MB $bytes bytes have gone by the new network"
goes v0 network=old+new,group=far
[ $bytes -lt 100000 ] || fail "$bytes bytes have gone by the new network, and not the old one"
goes v0 network=lone+new+old,group=far
[ $bytes -gt 2000000 ] || fail "of 2 MB $bytes bytes have gone by the first network that both have"
head -c 200000 /dev/urandom > data
goes v1 network=new+own,group=own
[ $bytes -gt 200000 ] || fail "of 200 kB $bytes bytes have gone by the network of the job's own host"
goes v1 network=old+own,group=own
[ $bytes -lt 50000 ] || fail "$bytes bytes have gone by the network that comes second"

# A host that is added while the job runs has its networks, too, if their addresses are in digits.
# adds ADDRESS CODE WORDS: n1's process adds n2 with that address on the new network, and does what the words say
adds() {
    local before
    sed '/^n2/d' hosts > without
    chmod 600 without
    : > told
    before=$(moved v0)
    BCR_HOSTSFILE=$folder/without SYS_TELL=$folder/told timeout 300 ./bcr-scrun -nodes=1x1,message=quiet,network=new,group=far \
        "$SYS_CHANGES" add "n2 enl=$BCR_ENL net=10.178.0.3@old+$1@new" "${@:3}" > out 2> err || fail "status $? with n2 added"
    bytes=$(($(moved v0) - before))
    grep -q "^$2$" told || fail "n2 is added with $1: $(cat told)"
}
adds 10.179.0.3 'talk 0' fetch n2 2000000
[ $bytes -gt 2000000 ] || fail "of 2 MB from a host that was added $bytes bytes have gone by the new network"
adds nowhere.invalid 'add 2'
grep -q 'host n2 is nowhere.invalid on network new (net= in the hosts file): ' err || fail "another sentence of an added host"

# refuses NETWORK SENTENCE
refuses() {
    local status=0
    ./bcr-scrun -network="$1" true 2> err || status=$?
    [ $status = 2 ] || fail "status $status of network=$1"
    grep -q "$2" err || fail "another sentence than: $2"
}
refuses lost 'network lost: no host has it; there is: old, own, new, lone'
sed -i 's/10.179.0.3@new/nowhere.invalid@new/' hosts
refuses new 'host n2 is nowhere.invalid on network new'
export BCR_BINDADDR=10.178.0.0/24
refuses old 'network old cannot be had with bindaddr'
