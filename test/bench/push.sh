#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# push.sh -- what `enl --push` takes, from the command to its end, to one host and to many: network namespaces of this
# machine, each with an sshd (test/system/hosts/with_hosts.sh). Needs root.
#
#   bash test/bench/push.sh BUILD [--tiny | HOSTS MEGABYTES RATE ROUNDS]
#
# The program has MEGABYTES; enl and libraries come to it. RATE, of tc(8), is what each host may send in a second, such as
# 1gbit; 0: no limit. Each round runs, one after the other:
#   one     to one host
#   many    to HOSTS hosts, which pass it on
#   wide    the same, all by the first machine
#   there1  nothing is pushed to one host, which has all of it
#   there   nothing is pushed to HOSTS hosts
# HOSTS_SSH= BCR_SSHD= in the environment: daemons are started without ssh, unless sshd is installed.
# Printed are the medians, in ms, with the least and the most.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: bash push.sh BUILD [--tiny | HOSTS MEGABYTES RATE ROUNDS]}
build=$(cd "$build" && pwd)
shift
[ "${1-}" != --tiny ] || set -- 2 1 1gbit 1
hosts=${1:-16} megabytes=${2:-6} rate=${3:-0} rounds=${4:-9}
export BCR_ENL=$build/enl/enl CABLE=$build/test/system/hosts/cable BCR_SSHD=${BCR_SSHD-$build/sshd/usr/sbin}
if [ -z "${HOSTS_IN-}" ]; then
    names=$(seq -s, -f 'n%g' "$hosts")
    HOSTS_TEST=push.sh HOSTS_SSH=${HOSTS_SSH-needed} exec "$here/../system/hosts/with_hosts.sh" "$names" \
        bash "$0" "$build" "$hosts" "$megabytes" "$rate" "$rounds"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BCR_TEMPDIR=$work BCR_CONNECTTIMEOUT=120000 BCR_HOSTTIMEOUT=60000
# Bytes behind what the loader reads are the program's, too.
cat "$build/test/bench/bench_start" <(head -c $((megabytes * 1000000)) /dev/urandom) > "$work/program"
chmod 700 "$work/program"
sed 's/ enl=.*//' "$BCR_HOSTSFILE" > "$work/without"
cp "$BCR_HOSTSFILE" "$work/with"
for list in with without; do head -n 1 "$work/$list" > "$work/${list}1"; done
chmod 600 "$work"/with*

# shellcheck source=send_rate.sh
. "$here/send_rate.sh"
limit_send_rate "$rate" push.sh

run() { "$BCR_ENL" --start-hosts all --hosts "$work/$1" "${@:2}" "$work/program"; }
one() { run without1 --push; }
many() { run without --push; }
wide() { run without --push --fanout "$hosts"; }
there1() { run with1; }
there() { run with; }
# shellcheck source=by_turns.sh
. "$here/by_turns.sh"
by_turns "$rounds" one many wide there1 there
echo "# $hosts hosts, a program of $megabytes MB, rate $rate, $rounds rounds; ms"
print_medians one many wide there1 there
