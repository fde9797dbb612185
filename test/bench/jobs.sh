#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# jobs.sh -- what a job of bcr-scrun carries between its processes, by turns:
#
#   bash test/bench/jobs.sh BUILD [--tiny | MEGABYTES ROUNDS [RATE]]
#
# With a RATE, of tc(8), such as 1gbit, the hosts are network namespaces that may send so much in a second each, which needs root;
# without, all are this machine. Each round runs, one after the other:
#   pipe    cat of MEGABYTES * 20 == cat: a pipe that the daemon has made
#   shell   the same two programs and bytes, joined by the shell
#   link    scatter of MEGABYTES to a second host, over UDP
#   four    the same to four hosts, each of which passes it on
#   none    a job of four hosts that carries nothing
# Printed are the medians, in ms, with the least and the most, and both ratios without what a job takes that carries nothing.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: bash jobs.sh BUILD [--tiny | MEGABYTES ROUNDS]}
build=$(cd "$build" && pwd)
shift
[ "${1-}" != --tiny ] || set -- 1 1
megabytes=${1:-100} rounds=${2:-9} rate=${3:-0}
if [ "$rate" != 0 ] && [ -z "${HOSTS_IN-}" ]; then
    export BCR_ENL=$build/enl/enl CABLE=$build/test/system/hosts/cable BCR_SSHD=
    HOSTS_TEST=jobs.sh HOSTS_SSH= exec "$here/../system/hosts/with_hosts.sh" a,b,c,d bash "$0" "$build" "$megabytes" "$rounds" "$rate"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BCR_TEMPDIR=$work HOME=$work
ln -s "$build/enl/enl" "$work/bcr-scrun"
if [ "$rate" != 0 ]; then
    # shellcheck source=send_rate.sh
    . "$here/send_rate.sh"
    limit_send_rate "$rate" jobs.sh
    sed 's/$/ slots=1/' "$BCR_HOSTSFILE" > "$work/hosts"
else
    printf '%s local slots=1\n' a b c d > "$work/hosts"
fi
export BCR_HOSTSFILE=$work/hosts
chmod 600 "$work/hosts"
head -c $((megabytes * 1000000)) /dev/urandom > "$work/data"
for _ in $(seq 20); do cat "$work/data"; done > "$work/much"
PATH=$build/adapters/score/tools:$PATH

job() { "$work/bcr-scrun" -message=quiet,nodes="$1" "${@:2}"; }
pipe() { job 1x1 cat "$work/much" == sh -c 'cat > /dev/null'; }
shell() { sh -c 'cat "$1" | cat > /dev/null' sh "$work/much"; }
link() { job 2x1 scatter < "$work/data" == sh -c 'cat > /dev/null'; }
four() { job 4x1 scatter < "$work/data" == sh -c 'cat > /dev/null'; }
none() { job 4x1 true == true; }
one() { job 1x1 true == true; }
# shellcheck source=by_turns.sh
. "$here/by_turns.sh"
by_turns "$rounds" pipe shell link four none one
echo "# $megabytes MB, $rounds rounds; ms"
print_medians pipe shell link four none one
awk -v pipe="$(median pipe)" -v shell="$(median shell)" -v link="$(median link)" -v four="$(median four)" -v none="$(median none)" \
    -v one="$(median one)" 'BEGIN { printf "pipe: %.2f of the shell'"'"'s rate\nfour: %.2f times one link\n", shell / (pipe - one), (four - none) / (link - one) }'
