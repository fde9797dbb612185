#!/bin/sh
# SPDX-License-Identifier: MIT
#
# peers.sh -- the same traffic through other libraries, where they are installed: one way at several sizes, and
# 8-byte messages per second, between two spinning processes on two cores.
#
#   sh test/bench/peers.sh [--tiny] [--cores A,B]
#
# UCX:      its own ucx_perftest (Debian: ucx-utils), tag matching over shared memory.  Its median is taken, since
#           its averages include whatever else the machine did.
# Open MPI: peer_mpi.c beside this script, compiled with mpicc (Debian: openmpi-bin libopenmpi-dev).
# What is missing is named and left out; the exit status is 0 then, and 1 only if a peer that is there fails.
# Lines: name value unit - - - -   (the fields of bench_cells --lines)
set -u

here=$(cd "$(dirname "$0")" && pwd)
cores=0,1
latency_count=1000000
rate_count=5000000
failed=0
while [ $# -gt 0 ]; do
    case $1 in
    --tiny)
        latency_count=1000
        rate_count=1000
        ;;
    --cores)
        cores=${2:?--cores needs A,B}
        shift
        ;;
    *)
        echo "usage: sh $0 [--tiny] [--cores A,B]" >&2
        exit 2
        ;;
    esac
    shift
done
first_core=${cores%,*}
second_core=${cores#*,}

work=$(mktemp -d) || exit 1
server=
clean_up()
{
    [ -z "$server" ] || kill "$server" 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# ucx TEST SIZE COUNT: the median in microseconds, as ucx_perftest's CSV has it in its second column.
# The server needs a moment until it listens and tells nobody when; a client that is too early is started again.
ucx()
{
    port=$(awk 'BEGIN { srand(); print 20000 + int(rand() * 20000) }')
    port=$((port + $$ % 1000))
    UCX_TLS=posix,self timeout 120 ucx_perftest -c "$first_core" -p "$port" >"$work/server" 2>&1 &
    server=$!
    tries=0
    while [ $tries -lt 50 ] && kill -0 "$server" 2>/dev/null; do
        if UCX_TLS=posix,self timeout 120 ucx_perftest -c "$second_core" -p "$port" -f -v 127.0.0.1 \
            -t "$1" -s "$2" -n "$3" >"$work/client" 2>"$work/client_errors"; then
            wait "$server"
            server=
            awk -F, '$1 + 0 > 0 { print $2 }' "$work/client"
            return 0
        fi
        tries=$((tries + 1))
        sleep 0.1
    done
    kill "$server" 2>/dev/null
    server=
    cat "$work/server" "$work/client_errors" >&2
    return 1
}

if ! command -v ucx_perftest >/dev/null 2>&1; then
    echo "# UCX left out: no ucx_perftest (Debian package ucx-utils)"
else
    for size in 8 1024 65536 1048576; do
        count=$latency_count
        [ $size -lt 65536 ] || count=$((latency_count / 100 + 10))
        if value=$(ucx tag_lat $size $count) && [ -n "$value" ]; then
            echo "peer.ucx.oneway.$size $value us - - - -"
        else
            failed=1
        fi
    done
    if value=$(ucx tag_bw 8 $rate_count) && [ -n "$value" ]; then
        echo "peer.ucx.stream.8 $(awk -v t="$value" 'BEGIN { printf "%.4g", 1 / t }') M/s - - - -"
    else
        failed=1
    fi
fi

if ! command -v mpirun >/dev/null 2>&1 || ! echo '#include <mpi.h>' | mpicc -E - >/dev/null 2>&1; then
    echo "# Open MPI left out: no mpicc and mpirun (Debian packages openmpi-bin libopenmpi-dev)"
elif ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "# Open MPI left out: mpirun is another MPI's"
elif mpicc -std=c11 -O2 "$here/peer_mpi.c" -o "$work/peer_mpi" &&
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout 300 mpirun --mca btl self,vader --mca pml ob1 --oversubscribe --bind-to none -np 2 \
        "$work/peer_mpi" "$first_core" "$second_core" "$latency_count" "$rate_count" openmpi; then
    :
else
    failed=1
fi
exit $failed
