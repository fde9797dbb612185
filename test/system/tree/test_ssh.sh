#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs on hosts that are reached by ssh: an sshd on the loopback of a network namespace of its own, behind which
# each enl gets a further namespace, and so is another host to the first one. Without root, sshd or namespaces it is skipped.
set -euo pipefail

skip() {
    echo "skip test_ssh: $*"
    exit 77
}

fail() {
    echo "FAIL test_ssh: $*"
    exit 1
}

: "${SYS_CCE:?run by ctest}" "${BCR_ENL:?run by ctest}"
PATH="$PATH:/usr/sbin:/sbin:${BCR_SSHD-}"
if [ "${1-}" != inside ]; then
    [ "$(id -u)" = 0 ] || skip "it makes namespaces, which needs root"
    for tool in sshd ssh ssh-keygen ip unshare; do
        command -v "$tool" > /dev/null || skip "there is no $tool"
    done
    unshare -n -m -p --fork --mount-proc true 2> /dev/null || skip "namespaces cannot be made here"
    exec unshare -n -m -p --fork --kill-child --mount-proc "$0" inside
fi

source "$(dirname "$0")/../../support/sshd.sh"
source "$(dirname "$0")/../../support/told.sh"
scratch=$(mktemp -d)
sshd=
trap '[ -z "$sshd" ] || kill "$sshd" 2> /dev/null || :; rm -rf "$scratch"' EXIT
cd "$scratch"
for name in $(compgen -v BCR_ | grep -vx 'BCR_ENL\|BCR_CONNECTTIMEOUT'); do unset "$name"; done
export HOME="$scratch" BCR_TEMPDIR="$scratch" BCR_RSHPATH="$scratch/ssh-here" SYS_TELL="$scratch/tell" SYS_GO="$scratch/go"

ip link set lo up
mount -t tmpfs none /dev/shm # of this mount namespace
sshd_prepare "$scratch" 'Port 7022' 'ListenAddress 127.0.0.1'
cat > ssh_config << end
Host nobody.invalid
  HostName nobody.invalid
Host far
  HostName 192.0.2.1
Host refuses part
  Port 7023
Host asks
  PubkeyAuthentication no
Host *
  HostName 127.0.0.1
  Port 7022
  IdentityFile $scratch/userkey
  IdentitiesOnly yes
  HostKeyAlias it
  UserKnownHostsFile $scratch/known
end
printf '#!/bin/sh\nexec ssh -F "%s/ssh_config" "$@"\n' "$scratch" > ssh-here
printf '#!/bin/sh\nBCR_TEMPDIR="%s" exec unshare -n "%s" "$@"\n' "$scratch" "$BCR_ENL" > enl-elsewhere
chmod 700 ssh-here enl-elsewhere
cat > machines << end
n1 enl=$scratch/enl-elsewhere
n2 enl=$scratch/enl-elsewhere
same login=root enl=$BCR_ENL
bare enl=/there/is/none
refuses
asks
far
nobody.invalid
part enl=$scratch/enl-elsewhere
end
chmod 600 machines
mkfifo tell go
exec 8<> tell # a CCE's tell never waits
sshd_start "$scratch" sshd.log || fail "sshd does not start: $(cat sshd.log)"

# The program's words; its status, and parts of what it prints on both, are wanted.
run() {
    local status=0 wanted=$1
    shift
    timeout 300 "$BCR_ENL" --output --hosts machines "$SYS_CCE" "$@" > out 2> err || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted, of $*: $(cat out err)"
}
has() {
    grep -qF -- "$2" "$1" || fail "$1 is without \"$2\": $(cat out err)"
}

echo "-- a host whose key nobody knows"
run 0 at n1 enlist "$SYS_CCE" 1
has err "Host key verification failed; ssh does not know that machine's key"
echo "it $(cat hostkey.pub)" > known

echo "-- CCEs on two hosts, and on this one by a name of its own"
SYS_CHILD="out hello err world" run 0 at n1 enlist "$SYS_CCE" 2 at n2 from 5 enlist "$SYS_CCE" 1 at same from 7 \
    enlist "$SYS_CCE" 1
for ordinal in 1 2 5 7; do
    has out "[$ordinal] hello"
    has err "[$ordinal] world"
done
[ ! -e bcr.*.3.log ] || fail "the name of this machine has a daemon of its own"

echo "-- hosts that ssh does not reach, or that do not let it in: each is one sentence, the reason"
cannot() {
    run 0 at "$1" enlist "$SYS_CCE" 1
    [ "$(wc -l < err)" = 1 ] || fail "not one sentence: $(cat err)"
    has err "on $1 was not started: host $1 cannot be used: "
    has err "$2"
    has err "; the command was: "
}
cannot refuses "Connection refused; no sshd listens there"
cannot asks "ssh must let you in without a question"
cannot far "unreachable; the machine is down, or addr= in the hosts file is wrong"
cannot nobody.invalid "addr= in the hosts file says where a host is"

echo "-- an interface of its own"
cannot part "Connection refused"
BCR_IFACESUFFIX=-fast SYS_CHILD="out hello" run 0 at part from 4 enlist "$SYS_CCE" 1
has out "[4] hello"

echo "-- a host without enl"
run 0 at bare enlist "$SYS_CCE" 1
has err "ssh-here ended with status 127"
has err "install BCR there, or say where enl is"

echo "-- what all of them are"
status=0
timeout 300 "$BCR_ENL" hosts machines > out 2> err || status=$?
[ "$status" = 1 ] || fail "status $status, not 1, of enl hosts: $(cat out err)"
abi=$(sed -n 's/^this machine  *[^ ]*  *\([a-z0-9_]*\) .*/\1/p' out) # of this build, which the kernel need not have
[ -n "$abi" ] || fail "enl hosts does not say what this machine is: $(cat out err)"
for line in "^n1 .* $abi " "^same .* $abi " "^far  *cannot be used" "^host refuses cannot be used: .*; no sshd listens there;" \
    "^host asks cannot be used: .*; ssh must let you in without a question" "^host bare cannot be used: .*; install BCR there"; do
    grep -q "$line" out || fail "enl hosts is without \"$line\": $(cat out err)"
done

echo "-- an end there ends the program with its status"
SYS_CHILD="err dying exit 7" run 7 at n1 enlist "$SYS_CCE" 1 pause
has err "on n1 exited with status 7; that ends the program (onfail abort)"

alone() {
    for _ in $(seq 600); do
        ! pgrep -f "^$SYS_CCE|$BCR_ENL" > /dev/null || { sleep 0.1; continue; }
        return
    done
    fail "left: $(pgrep -fa "^$SYS_CCE|$BCR_ENL")"
}

# Starts a root that waits and a CCE on n1; $root and $daemon are the pids of the two enl.
start_one() {
    forget_told
    SYS_CHILD="tell parent pause" "$BCR_ENL" --hosts machines "$SYS_CCE" at n1 enlist "$SYS_CCE" 1 "$@" 2> err &
    root=$!
    wait_for_cces 1
}
# The root ends with that status.
ends() {
    local status=0
    wait "$root" 2> /dev/null || status=$?
    [ "$status" = "$1" ] || fail "status $status, not $1: $(cat err)"
    touch out
}

echo "-- a root that is killed leaves nothing"
before=$(ls -A)
start_one pause
kill -9 "$root"
ends 137
alone
[ "$(ls -A | grep -v '^bcr\..*\.log$')" = "$(grep -v '^bcr\..*\.log$' <<< "$before")" ] || fail "left: $(ls -A)"
[ -z "$(ls -A /dev/shm)" ] || fail "left: $(ls -A /dev/shm)"
! grep -F "$(hostname).$root" /proc/net/unix || fail "a socket is left"

echo "-- an ssh that is killed is a host that is lost"
start_one pause
pkill -9 -x ssh -P "$root"
ends 1
has err "host n1 is lost: ssh-here was killed by signal 9 (Killed); 1 CCE was there"
alone

echo "-- a daemon there that is killed"
SYS_GO="$scratch/go" BCR_ONFAIL=isolate BCR_HOSTTIMEOUT=86400000 start_one wait
kill -9 "$daemon"
for _ in $(seq 600); do
    ! grep -q "is lost" err || break
    sleep 0.1
done
echo > go
ends 0
has err "host n1 is lost: ssh-here ended with status 137"
has err "1 CCE was there; the others go on (onfail isolate)"
alone

echo "-- an ssh that hangs is a host that is lost"
BCR_HOSTTIMEOUT=4000 start_one pause
pkill -STOP -x ssh -P "$root"
ends 1
has err "host n1 is lost: nothing came from it for 4000 ms (hosttimeout); 1 CCE was there"
alone

echo "-- a daemon there that is stopped is given up, and ends when it goes on"
BCR_HOSTTIMEOUT=4000 start_one pause
kill -STOP "$daemon"
ends 1
has err "host n1 is lost: nothing came from it for 4000 ms (hosttimeout); 1 CCE was there"
kill -CONT "$daemon"
alone

echo "-- an ssh that hangs does not hold the end of the program"
start_one pause
pkill -STOP -x ssh -P "$root"
kill "$root"
ends 143
alone
echo "ok test_ssh"
