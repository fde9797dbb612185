#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs in jobs of a real Slurm: its controller and three nodes, all on this machine, each in a network namespace of its own on one
# bridge, so that they are four hosts. Without root, Slurm or namespaces it is skipped.
set -euo pipefail

skip() {
    echo "skip test_slurm: $*"
    exit 77
}

fail() {
    echo "FAIL test_slurm: $*"
    exit 1
}
source "$(dirname "$0")/../../support/told.sh"

: "${SYS_CCE:?run by ctest}" "${EXAMPLE_RING:?run by ctest}" "${BCR_ENL:?run by ctest}"
PATH="$PATH:/usr/sbin:/sbin"
if [ "${1-}" != inside ]; then
    [ "$(id -u)" = 0 ] || skip "it makes namespaces, which needs root"
    for tool in munged slurmctld slurmd srun salloc sbatch scancel unshare nsenter ip; do
        command -v "$tool" > /dev/null || skip "there is no $tool (Debian: munge slurmctld slurmd slurm-client iproute2)"
    done
    unshare -n -m -p -u --fork --mount-proc true 2> /dev/null || skip "namespaces cannot be made here"
    exec unshare -n -m -p -u --fork --kill-child --mount-proc "$0" inside
fi

# A status that becomes so without a word to wait for.
until_so() {
    for _ in $(seq 600); do
        ! "$@" > /dev/null 2>&1 || return 0
        sleep 0.1
    done
    return 1
}
scratch=$(mktemp -d)
trap 'kill -9 $(cat "$scratch"/run/*.pid 2> /dev/null) 2> /dev/null || :; until_so rm -rf "$scratch"' EXIT
cd "$scratch"
for name in $(compgen -v BCR_ | grep -vx 'BCR_ENL\|BCR_CONNECTTIMEOUT'; compgen -v SLURM); do unset "$name"; done
export HOME="$scratch" BCR_TEMPDIR="$scratch" SYS_TELL="$scratch/tell" SLURM_CONF="$scratch/slurm.conf"

hostname head
mount -t tmpfs none /dev/shm
mount -t tmpfs none /run # of this mount namespace
ip link set lo up
ip link add bridge type bridge
ip address add 192.0.2.9/24 dev bridge
ip link set bridge up
for i in 1 2 3; do
    ip netns add "n$i"
    ip link add "v$i" type veth peer name e netns "n$i"
    ip link set "v$i" master bridge up
    ip -n "n$i" address add "192.0.2.$i/24" dev e
    ip -n "n$i" link set e up
    ip -n "n$i" link set lo up
done
mkdir -p run state spool/n1 spool/n2 spool/n3
mkfifo tell
exec 8<> tell # a CCE's tell never waits
dd if=/dev/urandom of=munge.key bs=1024 count=1 status=none
chmod 600 munge.key
cat > slurm.conf << end
ClusterName=bcr
SlurmctldHost=head(192.0.2.9)
SlurmctldPort=17100
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/run/munge.sock
CredType=cred/munge
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool/%n
SlurmctldPidFile=$scratch/run/slurmctld.pid
SlurmdPidFile=$scratch/run/slurmd.%n.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
ReturnToService=2
NodeName=n[1-3] NodeHostname=head NodeAddr=192.0.2.[1-3] CPUs=4 RealMemory=100
PartitionName=all Nodes=n[1-3] Default=YES State=UP MaxTime=INFINITE
end

munged --force --key-file=munge.key --socket="$scratch/run/munge.sock" --pid-file="$scratch/run/munged.pid" \
    --log-file="$scratch/munged.log" --seed-file="$scratch/run/seed" 2> munged.err || fail "munged: $(cat munged.err)"
slurmctld || fail "slurmctld: $(tail slurmctld.log)"
for node in n1 n2 n3; do nsenter --net="/run/netns/$node" slurmd -N "$node" || fail "slurmd: $(tail "slurmd.$node.log")"; done
idle() { [ "$(sinfo -h -o %D -t idle)" = 3 ]; }
until_so idle || fail "the nodes do not come up: $(sinfo; tail ./*.log)"

# What a job's first process does; its status, and parts of what it prints on both, are wanted.
run() {
    local status=0 wanted=$1
    shift
    timeout 300 salloc -Q -w "n[1-${nodes-2}]" --overcommit "$@" > out 2> err || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted, of $*: $(cat out err)"
}
has() {
    grep -qF -- "$2" "$1" || fail "$1 is without \"$2\": $(cat out err)"
}
alone() {
    left() { ! pgrep -f "^$SYS_CCE|$BCR_ENL"; }
    until_so left || fail "left: $(pgrep -fa "^$SYS_CCE|$BCR_ENL")"
    [ -z "$(ls -A /dev/shm)" ] || fail "left: $(ls -A /dev/shm)"
}

echo "-- the hosts and slots of the job"
run 0 --ntasks-per-node=3 "$BCR_ENL" "$SYS_CCE" hosts
read -r line <&8
[ "$line" = "hosts n1:3 n2:3" ] || fail "not the nodes of the job: $line"

echo "-- CCEs on both nodes, which daemons that srun has started hold together"
SYS_CHILD="out hello err world" run 0 "$BCR_ENL" --output "$SYS_CCE" at n1 enlist "$SYS_CCE" 2 at n2 from 5 enlist "$SYS_CCE" 1
for ordinal in 1 2 5; do
    has out "[$ordinal] hello"
    has err "[$ordinal] world"
done
run 0 "$BCR_ENL" "$EXAMPLE_RING" 6 0 6 4
has out "1000000"
! grep -q UDP err || fail "the hosts do not reach each other: $(cat err)"
[ -n "$(ls bcr.*.1.log)" ] || fail "no daemon of another host: $(ls)"
grep -qF "/srun --quiet --nodes=1" bcr.*.log || fail "srun has not started them: $(cat bcr.*.log)"
alone

run 0 "$BCR_ENL" hosts
for node in n1 n2; do grep -qE "^$node +[0-9.]+ +[a-z0-9_]+ .* 1500 " out || fail "enl hosts is without $node: $(cat out err)"; done

echo "-- a job of bcr-yod has the nodes of Slurm's, and no more"
ln -s "$BCR_ENL" bcr-yod
ln -s "$BCR_ENL" bcr-scrun
run 2 --ntasks-per-node=1 "$scratch/bcr-yod" -sz 3 "$SYS_CCE" out three
has err "3 nodes are asked for, and there are 2"
run 0 --ntasks-per-node=1 "$scratch/bcr-yod" -sz 2 echo two
has err "yod: rank 1 on n2: exit code 0"
[ "$(cat out)" = $'two\ntwo' ] || fail "not two words: $(cat out err)"
run 2 --ntasks-per-node=2 "$scratch/bcr-scrun" -nodes=3x1 true
has err "3 hosts are asked for, and there are 2"
run 0 --ntasks-per-node=2 "$scratch/bcr-scrun" -nodes=4,message=quiet echo x == cat
[ "$(cat out)" = $'x\nx\nx\nx' ] || fail "not four words: $(cat out err)"
alone

echo "-- nodes that are sent enl and the program through srun"
BCR_PUSH=yes SYS_CHILD="out hello" run 0 "$BCR_ENL" --output "$SYS_CCE" at n1 enlist "$SYS_CCE" 2 at n2 from 5 enlist "$SYS_CCE" 1
for ordinal in 1 2 5; do has out "[$ordinal] hello"; done
grep -q "iflag=fullblock" bcr.*.log || fail "nothing was pushed: $(cat bcr.*.log)"
[ -z "$(compgen -G '/var/tmp/bcr-push-*')" ] || fail "left: $(ls -d /var/tmp/bcr-push-*)"

echo "-- a node that is started from another one"
rm -f bcr.*.log
nodes=3 BCR_FANOUT=2 BCR_STARTHOSTS=all SYS_CHILD="out hello" run 0 "$BCR_ENL" --output "$SYS_CCE" at n1 enlist "$SYS_CCE" 1 \
    at n2 from 4 enlist "$SYS_CCE" 1 at n3 from 6 enlist "$SYS_CCE" 1
has out "[6] hello"
grep -qh "host n[123] is number 3, started by host n" bcr.*.log || fail "no node has started another one: $(cat bcr.*.log)"

echo "-- two names of one node share a daemon"
printf 'a addr=n1\nb addr=n1\n' > twice
chmod 600 twice
rm -f bcr.*.log
BCR_RSHPATH=srun SYS_CHILD="out hello" run 0 "$BCR_ENL" --output --hosts twice "$SYS_CCE" at a enlist "$SYS_CCE" 1 at b from 4 enlist "$SYS_CCE" 1
has out "[4] hello"
[ "$(ls bcr.*.log | wc -l)" = 2 ] || fail "not a daemon here and one there: $(ls)"

echo "-- a node that the job does not have"
run 0 "$BCR_ENL" --host n1,n7 "$SYS_CCE" at n7 enlist "$SYS_CCE" 1
has err "host n7 cannot be used: srun"
has err "srun reaches the nodes of the job alone"

echo "-- an end there ends the program with its status"
SYS_CHILD="err dying exit 7" run 7 "$BCR_ENL" "$SYS_CCE" at n1 enlist "$SYS_CCE" 1 pause
has err "on n1 exited with status 7; that ends the program (onfail abort)"
alone

# A job whose root waits, and a CCE on each node; $job is its number, $root its first process, $daemon an enl.
begin() {
    forget_told
    SYS_CHILD="tell parent pause" "$@" &
    started=$!
    wait_for_cces 2
    job=$(squeue -h -t RUNNING -o %i) # the one before may not have been cleared up yet
    root=$(pgrep -f "^$SYS_CCE at" | head -n 1)
    root=$(ps -o ppid= -p "$root" | tr -d ' ')
}
pausing=("$BCR_ENL" "$SYS_CCE" at n1 enlist "$SYS_CCE" 1 at n2 from 4 enlist "$SYS_CCE" 1 pause)
over() { [ -z "$(squeue -h)" ]; }

echo "-- a job that is cancelled leaves nothing"
printf '#!/bin/sh\nexec %s\n' "${pausing[*]}" > job.sh
begin sbatch -Q -w "n[1-2]" --overcommit -o "$scratch/job.out" job.sh
scancel "$job"
until_so over || fail "the job goes on: $(squeue)"
alone
# Slurm ends the steps of a job in any order: that of n2 may be gone before the root's daemon has its SIGTERM.
grep -qE "has ended with status (143|1)$" bcr.*."$root".log || fail "the program did not end by itself: $(cat bcr.*."$root".log)"
wait "$started"

echo "-- a root that is killed leaves nothing"
begin salloc -Q -w "n[1-2]" --overcommit "${pausing[@]}" > out 2> err
kill -9 "$root"
until_so over || fail "the job goes on: $(squeue)"
wait "$started" || :
alone

echo "-- a daemon there that is killed is a host that is lost"
begin salloc -Q -w "n[1-2]" --overcommit "${pausing[@]}" > out 2> err
kill -9 "$daemon"
! wait "$started" || fail "the program ended well: $(cat out err)"
has err "is lost: srun ended with status 137; 1 CCE was there; that ends the program (onfail abort)"
alone
echo "ok test_slurm"
