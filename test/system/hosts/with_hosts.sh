#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# with_hosts.sh NAME,NAME... COMMAND [WORD...] -- runs COMMAND on a host of its own from which others with these names can
# be reached: network namespaces of this machine, joined by cable.c and by nothing else, each with an sshd. Its status is the
# command's, or 77, with the reason printed, where this cannot be had. What COMMAND finds in its environment:
#   BCR_HOSTSFILE, BCR_RSHPATH   the hosts, and how daemons get there
#   HOSTS_IN                     a folder: in it the program NAME runs a command in that host's network
#   HOSTS_CABLE                  what is written to that file is a line for cable.c: the command's host is 1, the others follow
#   HOSTS_ANSWER                 where the answers come
# Without sshd daemons are started directly, and what they say to their starter does not go over the cable. HOSTS_SSH=needed:
# then this cannot be had; HOSTS_SSH=shared: neither, and one connection to each host serves all that is started there.
set -euo pipefail

skip() {
    echo "skip $test: $*"
    exit 77
}

: "${CABLE:?run by ctest}" "${BCR_ENL:?run by ctest}"
test=${HOSTS_TEST:-with_hosts}
PATH="$PATH:/usr/sbin:/sbin:${BCR_SSHD-}"
names=${1:?names of hosts}
shift
if [ -z "${HOSTS_INSIDE-}" ]; then
    [ "$(id -u)" = 0 ] || skip "it makes namespaces, which needs root"
    for tool in ip unshare nsenter; do
        command -v "$tool" > /dev/null || skip "there is no $tool"
    done
    [ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
    unshare -n -m -p --fork --mount-proc true 2> /dev/null || skip "namespaces cannot be made here"
    HOSTS_INSIDE=1 exec unshare -n -m -p --fork --kill-child --mount-proc "$0" "$names" "$@"
fi
unset HOSTS_INSIDE
source "$(dirname "$0")/../../support/sshd.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/in"
mkfifo "$scratch/ready" "$scratch/cable" "$scratch/answer"
exec 7<> "$scratch/ready" 8<> "$scratch/cable" 9<> "$scratch/answer"

pids=($$)
for name in ${names//,/ }; do
    unshare -n sh -c 'echo >&7; exec sleep 1000000' 7>&7 &
    pids+=($!)
    read -r <&7
    printf '#!/bin/sh\nexec nsenter --net=/proc/%s/ns/net "$@"\n' $! > "$scratch/in/$name"
    chmod 700 "$scratch/in/$name"
done
"$CABLE" "${pids[@]}" < "$scratch/cable" > "$scratch/answer" 2> "$scratch/cable.err" &
cable=$!
while ! read -r -t 1 answer <&9; do
    kill -0 $cable 2> /dev/null || skip "$(cat "$scratch/cable.err")"
done
[ "$answer" = ok ] || skip "the cable says $answer"

has_sshd=$(command -v sshd) || [ -z "${HOSTS_SSH-}" ] || skip "there is no sshd"
number=1
if [ -n "$has_sshd" ]; then
    sshd_prepare "$scratch" 'MaxSessions 100' "SetEnv HOME=$scratch BCR_TEMPDIR=$scratch"
    echo "* $(cat "$scratch/hostkey.pub")" > "$scratch/known"
    printf '#!/bin/sh\nexec ssh -F "%s/ssh_config" "$@"\n' "$scratch" > "$scratch/ssh-there"
    chmod 700 "$scratch/ssh-there"
    export BCR_RSHPATH="$scratch/ssh-there"
else
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nname=$1\nshift\nexec env BCR_TEMPDIR="%s" "%s/in/$name" sh -c "$*"\n' "$scratch" "$scratch" > "$scratch/go-there"
    chmod 700 "$scratch/go-there"
    export BCR_RSHPATH="$scratch/go-there"
fi
for name in ${names//,/ }; do
    number=$((number + 1))
    echo "$name enl=$BCR_ENL" >> "$scratch/hosts"
    [ -n "$has_sshd" ] || continue
    printf '%s\n' "Host $name" "HostName 10.178.0.$number" "IdentityFile $scratch/userkey" 'IdentitiesOnly yes' \
        "UserKnownHostsFile $scratch/known" >> "$scratch/ssh_config"
    [ "${HOSTS_SSH-}" != shared ] || echo "ControlPath $scratch/shared-$name" >> "$scratch/ssh_config"
    sshd_start "$scratch" "$scratch/sshd.$name" "$scratch/in/$name" || skip "sshd does not start: $(cat "$scratch/sshd.$name")"
    [ "${HOSTS_SSH-}" != shared ] || "$scratch/ssh-there" -M -N -f "$name"
done
chmod 600 "$scratch/hosts"
export BCR_HOSTSFILE="$scratch/hosts" HOSTS_IN="$scratch/in" HOSTS_CABLE="$scratch/cable" HOSTS_ANSWER="$scratch/answer"
status=0
"$@" 7>&- 8>&- 9>&- || status=$?
exit $status
