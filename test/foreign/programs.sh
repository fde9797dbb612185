#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# programs.sh MACHINE -- programs of PVM 3, PVM 2.4, NX and Earl's own routines with processes on this machine and on one of
# another kind. Run by ctest in the native build, whose folder is BCR_BUILD_DIR.
set -euo pipefail

machine=$1
native=${BCR_BUILD_DIR:?ctest sets it}
there=$native/foreign/$machine
if [ ! -x "$there/test/foreign/unlike_pvm3" ] || [ ! -x "$there/enl/enl" ]; then
    echo "skip foreign_programs_$machine: nothing is built for $machine; test/foreign/prepare.sh $native/foreign says why"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
export BCR_TEMPDIR=$folder HOME=$folder BCR_HOSTSFILE=$folder/machines
folders=()
for adapter in earl nx pvm2 pvm3 trio; do
    folders+=("$there/test/adapters/$adapter")
    PATH=$native/test/adapters/$adapter:$PATH
done
folders+=("$there/test/foreign" "$there/adapters/earl")
path=$(IFS=:; echo "${folders[*]}")
echo "$(hostname) enl=$native/enl/enl" >"$folder/machines"
echo "far local enl=$there/enl/enl path=$path" >>"$folder/machines"
chmod 600 "$folder/machines"

scene() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$folder/out" 2>&1 || { echo "FAIL $name: status $?: $(cat "$folder/out")"; exit 1; }
    echo "ok $name"
}
team() { # COUNT PROGRAM WORD...
    local count=$1
    shift
    "$native/enl/enl" --per-host "$count" --map cyclic -n "$count" "$@"
}
has() { # NAME COUNT LINE
    [ "$(grep -c -- "$3" "$folder/out")" = "$2" ] || { echo "FAIL $1: not $2 times \"$3\": $(cat "$folder/out")"; exit 1; }
}
case $machine in
i386) kind='a long of 4 bytes, the little end first' ;;
s390x) kind='a long of 8 bytes, the big end first' ;;
esac

adapters=$native/test/adapters
scene pvm3_values_and_a_long_that_does_not_fit team 4 "$native/test/foreign/unlike_pvm3"
has pvm3_values_and_a_long_that_does_not_fit 2 "$kind"
scene pvm2_values_and_a_long_that_does_not_fit team 4 "$native/test/foreign/unlike_pvm2" 4
has pvm2_values_and_a_long_that_does_not_fit 2 "$kind"
for scenario in types texts formats; do
    scene "pvm3_$scenario" team 3 "$adapters/pvm3/pvm_members" $scenario 1
done
scene pvm2_instances_are_initiated_there "$native/enl/enl" "$adapters/pvm2/pvm2_master" messages
scene typed_items_of_earl team 5 "$adapters/earl/earl_members" buffers 5
scene the_generic_set_builds_and_takes_apart team 3 "$adapters/earl/generic_members" built
result=$("$adapters/trio/trio_pvm3" 4 5)
scene pvm3_has_the_result_of_one_machine "$native/enl/enl" "$adapters/trio/trio_pvm3" 4 5
has pvm3_has_the_result_of_one_machine 1 "^$result\$"
scene pvm2_has_the_result_of_one_machine "$native/enl/enl" "$adapters/trio/trio_pvm2" 4 5
has pvm2_has_the_result_of_one_machine 1 "^$result\$"
# NX sends bytes as they are: its programs are right where both machines have the same.
if [ "$machine" = i386 ]; then
    scene nx_has_the_result_of_one_machine team 5 "$adapters/trio/trio_nx" 4
    has nx_has_the_result_of_one_machine 1 "^$result\$"
fi
