# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# over_ssh.sh TEST -- sourced by tests of an interface whose programs have processes on this machine and three that ssh reaches:
# what follows in the test is run on the first of these hosts.
set -euo pipefail

: "${BCR_ENL:?run by ctest}"
if [ -z "${HOSTS_IN-}" ]; then
    HOSTS_TEST=$1 HOSTS_SSH=needed exec "$BCR_SOURCE_DIR/test/system/hosts/with_hosts.sh" n1,n2,n3 "$0"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BCR_CONNECTTIMEOUT=60000 BCR_TEMPDIR=$folder

# scene NAME WORD...: processes on all hosts end well; the words say how many, and of what.
scene() {
    local name=$1
    shift
    "$BCR_ENL" --per-host 3 --map cyclic "$@" > "$folder/said" 2>&1 || { cat "$folder/said" && echo "FAIL: $name" && exit 1; }
    echo "ok $name"
}
