#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Hosts that have no BCR: network and mount namespaces in which this build's directory is empty, reached by a command that passes
# its word on to a shell as sshd does, and at last by ssh itself. Without root or namespaces it is skipped.
set -euo pipefail

skip() {
    echo "skip test_push: $*"
    exit 77
}
fail() {
    echo "FAIL test_push: $*"
    exit 1
}

: "${SYS_CCE:?run by ctest}" "${BCR_ENL:?run by ctest}" "${BUILD_DIR:?run by ctest}"
PATH="$PATH:/usr/sbin:/sbin:${BCR_SSHD-}"
if [ "${1-}" != inside ]; then
    [ "$(id -u)" = 0 ] || skip "it makes namespaces, which needs root"
    unshare -n -m -p --fork --mount-proc true 2> /dev/null || skip "namespaces cannot be made here"
    exec unshare -n -m -p --fork --kill-child --mount-proc "$0" inside
fi

source "$(dirname "$0")/../../support/sshd.sh"
source "$(dirname "$0")/../../support/told.sh"
scratch=$(mktemp -d)
sshd=
trap '[ -z "$sshd" ] || kill "$sshd" 2> /dev/null; umount "$scratch/there"; rm -rf "$scratch"' EXIT
cd "$scratch"
for name in $(compgen -v BCR_ | grep -vx 'BCR_ENL\|BCR_CONNECTTIMEOUT'); do unset "$name"; done
# The pushed directory is made here unless the host says otherwise; nothing else may use these.
mkdir there here none tools ask
mount -t tmpfs none there
mkdir there/up
mount -t tmpfs none /mnt # for all machines
mkdir -m 700 /mnt/kept /mnt/shared /mnt/open /mnt/small
chmod 777 /mnt/open
export HOME="$scratch" BCR_TEMPDIR="$scratch/here" BCR_RSHPATH="$scratch/rsh-here" SYS_TELL="$scratch/tell"
mkfifo tell
exec 8<> tell
cp "$SYS_CCE" "$scratch/a program"
# The machine that is called: its name is how it differs.
cat > machine << end
mount -t tmpfs none "$BUILD_DIR"
mount --bind "$scratch/there" /var/tmp
TMPDIR=/var/tmp/up
BCR_TEMPDIR=/var/tmp
PATH=/usr/bin:/bin
case \$1 in
    noexec) mount -t tmpfs -o noexec none /mnt; TMPDIR=/mnt ;;
    nowhere) for t in /var/tmp /tmp /dev/shm; do mount -t tmpfs -o noexec none \$t; done; unset TMPDIR ;;
    full*)
        mount --bind $scratch /mnt/kept
        for t in /var/tmp /tmp /dev/shm; do mount -t tmpfs -o size=600k none \$t; done
        mkdir -p $scratch
        mount --bind /mnt/kept $scratch # what reaches others
        unset TMPDIR
        ;;
    taken) for t in /var/tmp /tmp /dev/shm; do mount -t tmpfs -o size=600k none \$t; done; unset TMPDIR; chown 1 /mnt/shared/* ;;
    apart) for t in /var/tmp /tmp /dev/shm; do mount -t tmpfs -o size=600k none \$t; done; unset TMPDIR; mount -t tmpfs none /mnt ;;
    odd) mkdir '/var/tmp/a b' 2> /dev/null; TMPDIR='/var/tmp/a b' ;;
    limited) ulimit -f 100 ;;
    other) PATH=$scratch/tools:\$PATH ;;
    bare) PATH=$scratch/none ;;
esac
export PATH TMPDIR BCR_TEMPDIR
end
printf '#!/bin/sh\necho sparc64\n' > tools/uname
cat > rsh-here << end
#!/bin/sh
[ "\$1" != -l ] || shift 2
exec env -i PATH=/usr/bin:/bin HOME=/ unshare -n -m /bin/sh -c '. "$scratch/machine"; cd /; exec /bin/sh -c "\$2"' sh "\$1" "\$2"
end
chmod 700 rsh-here tools/uname
printf 'n1\nn2\nn3\nn4\nn5\nodd\nnoexec\nnowhere\nfull\nfull2\ntaken\napart\nlimited\nother\nbare\nnamed enl=/there/is/none\nforeign abi=riscv64\n' > machines
chmod 600 machines

run() { # its status, and what it prints on both, are wanted
    local status=0 wanted=$1
    shift
    timeout 300 "$BCR_ENL" --push --output --hosts machines "./a program" "$@" > out 2> err || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted, of $*: $(cat out err)"
}
has() {
    grep -qF -- "$2" "$1" || fail "$1 is without \"$2\": $(cat out err)"
}
# Nothing is left on the machines.
clean() {
    for _ in $(seq 600); do
        [ -n "$(ls -A there/up)" ] || return 0
        sleep 0.1
    done
    fail "left after $1: $(ls -lR there)"
}
cannot() {
    run 0 at "$1" enlist "a program" 1
    [ "$(wc -l < err)" = 1 ] || fail "not one sentence: $(cat err)"
    has err "on $1 was not started: host $1 cannot be used: "
    has err "$2"
    clean "$1"
}

echo "-- hosts without enl, the program and its libraries run it, wherever it lies here"
SYS_CHILD="out hello" run 0 at n1 enlist /no/such/folder/"a program" 2 at n2 from 5 enlist "a program" 1
for ordinal in 1 2 5; do has out "[$ordinal] hello"; done
[ ! -s err ] || fail "said: $(cat err)"
clean "an end"

echo "-- hosts send it on to those that they start, the root to no more than four"
words=()
for n in 1 2 3 4 5; do words+=(at "n$n" from "$n" enlist "a program" 1); done
SYS_CHILD="out hello" run 0 "${words[@]}"
for ordinal in 1 2 3 4 5; do has out "[$ordinal] hello"; done
grep -q "host n5 is number 5, started by host n" "$(ls -t here/bcr.*.log | head -n 1)" || fail "the root has started all: $(cat here/*.log)"
clean "an end of five"

echo "-- all programs of a team are sent, those of one name once, and not if they are different ones"
cp "$SYS_CCE" another
mkdir -p of
cp "$SYS_CCE" "of/a program"
team() { timeout 300 "$BCR_ENL" --push --output --per-host 1 --hosts machines -n 1 "./a program" out hello : -n 1 ./another out hello : -n 1 "$1" out hello > out 2> err; }
team "$scratch/a program" || fail "a team ends with status $?: $(cat out err)"
for ordinal in 1 2; do has out "[$ordinal] hello"; done
clean "a team"
! team "of/a program" || fail "one of two programs of one name was sent"
has err "--push cannot send $scratch/of/a program: another program of the team has that name, too"
echo "-- a directory where no program may be run is passed over"
SYS_CHILD="out hello" run 0 at noexec enlist "a program" 1
has out "[1] hello"

echo "-- a directory of which the one that clears up could be told wrongly is passed over"
SYS_CHILD="out hello" run 0 at odd enlist "a program" 1
has out "[1] hello"
rmdir "there/a b" || fail "something was made in a directory with a blank"

echo "-- hosts that cannot take it: each is one sentence"
cannot nowhere "--push needs a directory there with "
has err "; no program may be run in /tmp (noexec); no program may be run in /dev/shm (noexec); set TMPDIR there to one, or install BCR there"
cannot full "KiB of room where programs may be run; /var/tmp has "
echo "-- with a file system that all have, one copy there is used where there is no room"
export PARALLEL_FILE_SYSTEM="/mnt/shared"
unused() { # the copy is removed, too
    for _ in $(seq 600); do
        [ -n "$(ls -A /mnt/shared)" ] || return 0
        sleep 0.1
    done
    fail "left after $1: $(ls -lR /mnt/shared)"
}
SYS_CHILD="out hello" run 0 at full enlist "a program" 1 at full2 from 5 enlist "a program" 1 at n1 from 9 enlist "a program" 1
for ordinal in 1 5 9; do has out "[$ordinal] hello"; done
[ "$(grep -c "has no room for what is pushed: the copy in /mnt/shared/bcr-push-[0-9a-f]* is used there" err)" = 2 ] || fail "not two sentences: $(cat err)"
[ "$(grep -o '/mnt/shared/bcr-push-[0-9a-f]*' err | sort -u | wc -l)" = 1 ] || fail "more than one copy: $(cat err)"
unused "an end"
BCR_FANOUT=1 SYS_CHILD="out hello" run 0 at full enlist "a program" 1 at full2 from 5 enlist "a program" 1
for ordinal in 1 5; do has out "[$ordinal] hello"; done
grep -q "host full2 is number 2, started by host full" "$(ls -t here/bcr.*.log | head -n 1)" || fail "the root has started both: $(cat here/*.log)"
unused "an end of a host that another has started"
run 0 at n1 enlist "a program" 1
[ ! -s err ] || fail "said: $(cat err)"
cannot taken "/bcr-push-"
has err " is not this user's alone here, or no program may be run there; set TMPDIR"
cannot apart " is not this user's alone here, or no program may be run there; set TMPDIR"
unused "a host that does not see it"
PARALLEL_FILE_SYSTEM=/mnt/open run 0 at full enlist "a program" 1
has err "no copy of what is pushed could be made in /mnt/open: other users could replace what is in it; hosts that have no room"
has err "KiB of room where programs may be run; /var/tmp has "
PARALLEL_FILE_SYSTEM="$scratch/a b" run 0 at n1 enlist "a program" 1
has err "could be made in $scratch/a b: its path is not absolute, or has other letters"
PARALLEL_FILE_SYSTEM=/nowhere run 0 at n1 enlist "a program" 1
has err "could be made in /nowhere: No such file or directory"
mount -t tmpfs -o size=600k none /mnt/small
PARALLEL_FILE_SYSTEM=/mnt/small run 0 at n1 enlist "a program" 1
has err "could be made in /mnt/small: No space left on device"
umount -l /mnt/small
echo "-- step 8 of a launch: so do jobs"
ln -s "$BCR_ENL" bcr-yod
printf 'n1\nfull\nfull2\n' > nodes
chmod 600 nodes
BCR_HOSTSFILE=$scratch/nodes BCR_PUSH=yes timeout 300 ./bcr-yod -sz 3 "./a program" out hello > out 2> err || fail "status $? of yod: $(cat out err)"
[ "$(grep -c hello out)" = 3 ] || fail "not from three: $(cat out err)"
[ "$(grep -c "the copy in /mnt/shared/" err)" = 2 ] || fail "not two sentences: $(cat err)"
unused "a job"
echo "-- nothing is left of a copy when the root is killed"
forget_told
SYS_CHILD="tell parent pause" "$BCR_ENL" --push --hosts machines "./a program" at full enlist "a program" 1 pause 2> err &
root=$!
wait_for_cces 1
[ -n "$(ls -A /mnt/shared)" ] || fail "there is no copy while it is used"
kill -9 "$root"
wait "$root" 2> /dev/null || :
unused "kill -9 of the root"
PARALLEL_FILE_SYSTEM=
cannot limited "bytes): make room there, or set TMPDIR there to another directory"
cannot other "this machine is sparc64, and what --push sends is for "
cannot bare "--push needs sh, and dd with iflag=fullblock: install BCR there"
cannot named "ended with status 127"
cannot foreign "ended with status 127"

# Starts a root that waits and a CCE on n1; $root and $daemon are the pids of the two enl.
start_one() {
    forget_told
    SYS_CHILD="tell parent pause" "$BCR_ENL" --push --hosts machines "./a program" at n1 enlist "a program" 1 pause 2> err &
    root=$!
    wait_for_cces 1
    [ -n "$(ls -A there/up)" ] || fail "the daemon there has no directory"
}
shell_of() { ps -o ppid= -p "$1" | tr -d ' '; }

echo "-- nothing is left of a daemon there that is killed,"
start_one
kill -9 "$daemon"
wait "$root" 2> /dev/null || :
clean "kill -9 of the daemon"
echo "-- nor if the shell before it is killed first, while it works on,"
start_one
kill -9 "$(shell_of "$daemon")"
sleep 0.2
[ -n "$(ls -A there/up)" ] || fail "it has lost its directory with the shell"
kill -STOP "$root" # which here, on the same machine, would end all that it inherits
kill -9 "$daemon"
clean "kill -9 of the shell, then of the daemon"
kill -CONT "$root"
wait "$root" 2> /dev/null || :
echo "-- nor of the root,"
start_one
kill -9 "$root"
wait "$root" 2> /dev/null || :
clean "kill -9 of the root"
echo "-- also while it sends"
for _ in 1 2 3; do
    "$BCR_ENL" --push --hosts machines "./a program" at n1 enlist "a program" 1 pause 2> err &
    root=$!
    for _ in $(seq 600); do
        [ -z "$(ls -A there/up)" ] || break
        sleep 0.01
    done
    kill -9 "$root"
    wait "$root" 2> /dev/null || :
    clean "kill -9 of the root while it sends"
done

echo "-- what cannot be sent is told before anything is started"
status=0
BCR_HOSTSFILE="$scratch/machines" BCR_PUSH=perhaps "$BCR_ENL" ./a\ program > out 2> err || status=$?
[ "$status" = 2 ] || fail "status $status: $(cat err)"
has err "push must be one of no, yes, not"

for tool in sshd ssh ssh-keygen ip; do
    command -v "$tool" > /dev/null || { echo "ok test_push, but for ssh: there is no $tool"; exit; }
done
echo "-- through ssh, where the login shell is what runs it"
ip link set lo up
sshd_prepare "$scratch" 'Port 7022' 'ListenAddress 127.0.0.1' "ForceCommand $scratch/force"
printf '#!/bin/sh\nexec unshare -n -m /bin/sh -c ". %s/machine; exec $SHELL -c \\"\\$SSH_ORIGINAL_COMMAND\\"" sh n1\n' "$scratch" > force
chmod 700 force
echo "it $(cat hostkey.pub)" > known
printf '#!/bin/sh\nexec ssh -F none -oHostName=127.0.0.1 -p 7022 -i "%s/userkey" -oHostKeyAlias=it -oUserKnownHostsFile="%s/known" "$@"\n' \
    "$scratch" "$scratch" > ssh-here
chmod 700 ssh-here
sshd_start "$scratch" sshd.log || fail "sshd does not start: $(cat sshd.log)"
export BCR_RSHPATH="$scratch/ssh-here"
SYS_CHILD="out hello" run 0 at n1 enlist "a program" 1 at n2 from 5 enlist "a program" 1
has out "[1] hello"
has out "[5] hello"
clean "an end over ssh"
start_one
pkill -9 -x ssh -P "$root"
wait "$root" 2> /dev/null || :
clean "a connection that is cut"
echo "ok test_push"
