#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hosts.sh -- runs a program on two hosts: network namespaces joined by a veth pair, the root on the first core, the
# other host on the second. Needs root, or a kernel that lets users make namespaces of their own.
#
#   sh test/bench/hosts.sh ENL PROGRAM [ARGUMENT...]
#
# The program finds two machines in its list: `away`, and `here`, where its root is. BCR_SECURITY=none measures
# without encryption.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: sh $0 ENL PROGRAM [ARGUMENT...]" >&2
    exit 2
fi
if [ "${BENCH_HOSTS_INSIDE-}" = "" ]; then
    export BENCH_HOSTS_INSIDE=1
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount -- sh "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount -- sh "$0" "$@"
fi

work=$(mktemp -d)
far=
trap '[ -z "$far" ] || kill "$far"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
. "$(dirname "$0")/networks.sh"
join_networks

# In the place of ssh: [-l LOGIN] HOST COMMAND
cat >"$work/there" <<THERE
#!/bin/sh
[ "\$1" != -l ] || shift 2
shift
exec $there taskset -c 1 sh -c "\$*"
THERE
chmod +x "$work/there"
ln -s "$(realpath "$1")" "$work/enl" # words of a hosts file have no blanks, and folders may
printf 'away addr=10.177.0.2 enl=%s\nhere addr=10.177.0.1\n' "$work/enl" >"$work/hosts"
enl=$1
shift
BCR_RSHPATH="$work/there" taskset -c 0 "$enl" --hosts "$work/hosts" "$@"
