#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# start.sh -- how long a program on many hosts takes that does nothing, beside MPICH's launcher and ssh alone, by turns on
# the same hosts: network namespaces of this machine, each with an sshd (test/system/hosts/with_hosts.sh). Needs root.
#
#   bash test/bench/start.sh BUILD [--tiny | HOSTS CCES ROUNDS]
#
# Each round runs, one after the other:
#   all     enl --start-hosts all: CCES on each of HOSTS
#   use     the same with hosts that are started when they are first used
#   job     bcr-yod -quiet: as many processes as a job, which begin together
#   near    as many hosts and CCES as hosts of this machine (--local): what is not ssh's own
#   mpich   mpiexec.hydra with as many processes, which call MPI_Init and MPI_Finalize
#   ssh     one login to each host, that many at a time as enl makes (8)
#   sshs    the same, all at a time
# Printed are the medians, in ms, with the least and the most, and what `all` takes more than `mpich`.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: bash start.sh BUILD [--tiny | HOSTS CCES ROUNDS]}
build=$(cd "$build" && pwd)
shift
[ "${1-}" != --tiny ] || set -- 2 2 1
hosts=${1:-16} cces=${2:-8} rounds=${3:-9}
export BCR_ENL=$build/enl/enl CABLE=$build/test/system/hosts/cable BCR_SSHD=$build/sshd/usr/sbin
if [ -z "${HOSTS_IN-}" ]; then
    names=$(seq -s, -f 'n%g' "$hosts")
    HOSTS_TEST=start.sh HOSTS_SSH=needed exec "$here/../system/hosts/with_hosts.sh" "$names" \
        bash "$0" "$build" "$hosts" "$cces" "$rounds"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BCR_TEMPDIR=$work BCR_CONNECTTIMEOUT=120000 BCR_HOSTTIMEOUT=60000
program=$build/test/bench/bench_start
names=$(seq -s, -f 'n%g' "$hosts")
what="all job use near ssh sshs"
ln -s "$BCR_ENL" "$work/bcr-yod"
sed "s/\$/ slots=$cces/" "$BCR_HOSTSFILE" > "$work/slots"
chmod 600 "$work/slots"

all() { "$BCR_ENL" --start-hosts all "$program" "$cces"; }
job() { BCR_HOSTSFILE=$work/slots "$work/bcr-yod" -quiet -sz $((hosts * cces)) "$program" member; }
use() { "$BCR_ENL" "$program" "$cces"; }
near() { env -u BCR_HOSTSFILE "$BCR_ENL" --start-hosts all --local "$hosts" "$program" "$cces"; }
ssh() { tr , '\n' <<< "$names" | xargs -P 8 -I{} "$BCR_RSHPATH" -T -x -oBatchMode=yes {} true; }
sshs() { tr , '\n' <<< "$names" | xargs -P 0 -I{} "$BCR_RSHPATH" -T -x -oBatchMode=yes {} true; }
mpich() {
    mpiexec.hydra -launcher ssh -launcher-exec "$BCR_RSHPATH" -localhost 10.178.0.1 -hosts "$names" -ppn "$cces" \
        -n $((hosts * cces)) "$work/nothing"
}
if ! command -v mpiexec.hydra > /dev/null || ! command -v mpicc.mpich > /dev/null; then
    echo "# MPICH left out: no mpiexec.hydra and mpicc.mpich (Debian packages mpich libmpich-dev)"
else
    printf '#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n' > "$work/nothing.c"
    if mpicc.mpich -O2 "$work/nothing.c" -o "$work/nothing" 2> /dev/null && timeout 300 bash -c "$(declare -f mpich)
        work=$work names=$names cces=$cces hosts=$hosts; mpich" > "$work/said" 2>&1; then
        what="$what mpich"
    else
        echo "# MPICH left out: $(tail -n 1 "$work/said" 2> /dev/null)"
    fi
fi

# shellcheck source=by_turns.sh
. "$here/by_turns.sh"
# shellcheck disable=SC2086
by_turns "$rounds" $what
echo "# $hosts hosts, $cces CCEs or processes on each, $rounds rounds; ms"
# shellcheck disable=SC2086
print_medians $what
[ ! -e "$work/mpich.us" ] || echo "all - mpich: $(($(median all) - $(median mpich))) ms"
echo "all - ssh: $(($(median all) - $(median ssh))) ms"
