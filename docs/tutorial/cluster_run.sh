#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster_run.sh ENL RING CHAPTER SUPPORT -- the commands that make a second computer of a namespace do so, as they stand in the
# chapter. They are run as root in namespaces of their own; without these the test is skipped. SUPPORT is test/support.
set -euo pipefail
enl=$1
ring=$2
chapter=$3
support=$4

skip() {
    echo "skip tutorial_cluster: $*"
    exit 77
}

fail() {
    echo "FAIL tutorial_cluster: $*"
    exit 1
}

PATH="$PATH:/usr/sbin:/sbin:${BCR_SSHD-}"
home=$(getent passwd root | cut -d : -f 6) # where ssh looks
if [ "${5-}" != inside ]; then
    [ "$(id -u)" = 0 ] || skip "it makes namespaces, which needs root"
    for tool in sshd ssh ssh-keygen ssh-keyscan ip unshare; do
        command -v "$tool" > /dev/null || skip "there is no $tool"
    done
    unshare -n -m -p --fork --mount-proc true 2> /dev/null || skip "namespaces cannot be made here"
    # Only a folder that is there can be hidden.
    [ -d "$home/.ssh" ] || { mkdir "$home/.ssh" && trap 'rmdir "$home/.ssh"' EXIT; }
    status=0
    unshare -n -m -p --fork --kill-child --mount-proc "$0" "$@" inside || status=$?
    exit $status
fi

# What the commands write of the user's and of the system's is hidden by folders that go with the namespace.
source "$support/sshd.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for name in $(compgen -v BCR_ | grep -vx 'BCR_CONNECTTIMEOUT'); do unset "$name"; done
export HOME="$home" BCR_TEMPDIR="$scratch"
sshd_prepare "$scratch"
mount -t tmpfs none "$home/.ssh"
mount -t tmpfs none /etc/ssh
mount -t tmpfs none /usr/local/bin
mount -t tmpfs none /dev/shm
ssh-keygen -q -A
printf '%s\n' 'UsePAM no' 'UseDNS no' 'StrictModes no' > /etc/ssh/sshd_config
ln -s "$enl" /usr/local/bin/enl
printf '#!/bin/sh\nexec "$@"\n' > /usr/local/bin/sudo
chmod +x /usr/local/bin/sudo
ln -s "$ring" "$scratch/ring"
cd "$scratch"
ip link set lo up

section=$(sed -n '/^## Without a second computer$/,/^## Another architecture$/p' "$chapter")
commands=$(sed -n 's/^\$ //p' <<< "$section" | sed "s|/usr/sbin/sshd|$(command -v sshd)|")
[ "$(wc -l <<< "$commands")" -ge 15 ] || fail "the chapter has only these commands: $commands"
export PATH="/usr/local/bin:$PATH"
while IFS= read -r command <&3; do
    echo "\$ $command"
    eval "$command" > out 2>&1 < /dev/null || fail "status $?: $(cat out)"
    case $command in
    "ssh 10.77.0.2 enl --version") grep -q "^$(sed -n 's/^enl (BCR)/&/p' <<< "$section" | tail -n 1)$" out || fail "not what is shown: $(cat out)" ;;
    "enl hosts machines") grep -q '^10.77.0.2 ' out || fail "no line of 10.77.0.2: $(cat out)" ;;
    *./ring*) grep -q 'ns\|us\|/s' out || fail "no figures: $(cat out)" ;;
    esac
done 3<<< "$commands"
[ ! -e /run/netns/other ] || fail "the namespace is still there"
echo "tutorial 7: the commands make a second computer"
