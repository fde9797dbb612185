#!/bin/sh
# SPDX-License-Identifier: MIT
#
# link_peers.sh -- the traffic of bench_links through other libraries, where they are installed, between two network
# namespaces joined by veth, one core each; and links themselves in the same run, before and after.
#
#   sh test/bench/link_peers.sh [--tiny] [--cores A,B] [--links bench_links]
#
# ZeroMQ:   peer_zmq.c beside this script, with CURVE (Debian: libzmq3-dev). Its bandwidth is that of sealed links.
# Open MPI: peer_mpi.c, over TCP (Debian: openmpi-bin libopenmpi-dev).
# MPICH:    peer_mpi.c, over TCP (Debian: mpich libmpich-dev).
# --tiny runs ZeroMQ only and compiles the others: MPI's processes spin, and take minutes on cores that are busy.
# What is missing is named and left out; the exit status is 0 then, and 1 only if a peer that is there fails. Needs root,
# for the namespaces. Lines: name value unit - - - -   (the fields of bench_links --lines, which has more of them)
set -u

here=$(cd "$(dirname "$0")" && pwd)
cores=0,1
links=
tiny=
seconds=3
latency_count=20000
rate_count=200000
if [ "${LINK_PEERS_NETWORK:-}" != own ]; then
    if ! unshare -n -m true 2>/dev/null; then
        echo "# all left out: no network namespace may be made here (needs root)"
        exit 0
    fi
    LINK_PEERS_NETWORK=own exec unshare -n -m sh "$0" "$@"
fi
while [ $# -gt 0 ]; do
    case $1 in
    --tiny)
        tiny=yes
        seconds=0.01
        ;;
    --cores)
        cores=${2:?--cores needs A,B}
        shift
        ;;
    --links)
        links=${2:?--links needs a program}
        shift
        ;;
    *)
        echo "usage: sh $0 [--tiny] [--cores A,B] [--links bench_links]" >&2
        exit 2
        ;;
    esac
    shift
done
first_core=${cores%,*}
second_core=${cores#*,}

work=$(mktemp -d) || exit 1
far=
clean_up()
{
    [ -z "$far" ] || kill "$far" 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

. "$here/networks.sh"
if ! { mount -t sysfs sysfs /sys && join_networks; } 2>"$work/errors"; then
    echo "# all left out: $(tail -n 1 "$work/errors")"
    exit 0
fi

# How a launcher starts what is to run on the other host: "agent HOST COMMAND...".
cat >"$work/agent" <<END
#!/bin/sh
shift
exec $there unshare -u -m sh -c "mount -t sysfs sysfs /sys; hostname far; \$*"
END
chmod +x "$work/agent"
failed=0

ours()
{
    for figure in ${links:+link.stream.1M link.rate}; do
        "$links" --rounds 9 --only "$figure" --lines "$work/ours" >/dev/null && cat "$work/ours" || failed=1
    done
}

zmq()
{
    if ! echo '#include <zmq.h>' | cc -E - >"$work/errors" 2>&1; then
        echo "# ZeroMQ left out: no zmq.h (Debian package libzmq3-dev)"
    elif ! { cc -std=c11 -O2 "$here/peer_zmq.c" -o "$work/peer_zmq" -lzmq &&
        timeout 120 "$work/peer_zmq" "/proc/$far/ns/net" 10.177.0.2 "$first_core" "$second_core" "$seconds"; }; then
        failed=1
    fi
}

openmpi()
{
    if ! command -v mpirun.openmpi >/dev/null 2>&1 ||
        ! echo '#include <mpi.h>' | mpicc.openmpi -E - >"$work/errors" 2>&1; then
        echo "# Open MPI left out: no mpicc.openmpi and mpirun.openmpi (Debian packages openmpi-bin libopenmpi-dev)"
    elif ! { mpicc.openmpi -std=c11 -O2 "$here/peer_mpi.c" -o "$work/peer_openmpi" &&
        { [ -n "$tiny" ] || OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            timeout 120 mpirun.openmpi --mca plm_rsh_agent "$work/agent" --mca pml ob1 --mca btl tcp,self \
            --mca btl_tcp_if_include v0 --mca oob_tcp_if_include v0 --bind-to none -np 2 -H "$(hostname):1,far:1" \
            "$work/peer_openmpi" "$first_core" "$second_core" "$latency_count" "$rate_count" openmpi_tcp; }; }; then
        failed=1
    fi
}

# MPICH takes two processes of one kernel for neighbours and uses shared memory unless it is told not to; its UCX looks
# for interfaces in /sys.
mpich()
{
    if ! command -v mpicc.mpich >/dev/null 2>&1 || ! command -v mpiexec.mpich >/dev/null 2>&1 ||
        ! echo '#include <mpi.h>' | mpicc.mpich -E - >"$work/errors" 2>&1; then
        echo "# MPICH left out: no mpicc.mpich and mpiexec.mpich (Debian packages mpich libmpich-dev)"
    elif ! { mpicc.mpich -std=c11 -O2 "$here/peer_mpi.c" -o "$work/peer_mpich" 2>"$work/errors" &&
        { [ -n "$tiny" ] || MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self UCX_NET_DEVICES=v0 \
            timeout 120 mpiexec.mpich -launcher rsh -launcher-exec "$work/agent" -iface v0 \
            -hosts 10.177.0.1,10.177.0.2 -n 2 \
            "$work/peer_mpich" "$first_core" "$second_core" "$latency_count" "$rate_count" mpich_tcp; }; }; then
        failed=1
    fi
}

ours
zmq
openmpi
mpich
ours
exit $failed
