#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pair.sh ROOT THERE [full] -- all behaviours (../behaviour) in programs whose root is on one kind of machine, and the cells on
# another: `native`, that of this build, i386, s390x. Run by ctest in the native build, whose folder is BCR_BUILD_DIR; the
# foreign builds are those of foreign.sh.
#
# Without BCR_TEST_FULL nothing runs of a pair that is `full`, and every third behaviour of one with an emulated machine.
set -euo pipefail

root=$1
there=$2
here=$(dirname "$(readlink -f "$0")")
native=${BCR_BUILD_DIR:?ctest sets it}
foreign=$native/foreign

build_of() { [ "$1" = native ] && echo "$native" || echo "$foreign/$1"; }

if [ "${3-}" = full ] && [ -z "${BCR_TEST_FULL:-}" ]; then
    echo "skip foreign_pair_${root}_$there: ./check --all runs the behaviours of this pair"
    exit 77
fi
for machine in "$root" "$there"; do
    if [ ! -x "$(build_of "$machine")/test/behaviour/behave_actor" ]; then
        echo "skip foreign_pair_${root}_$there: nothing is built for $machine; test/foreign/prepare.sh $foreign says why"
        exit 77
    fi
done

emulated=
case $root-$there in *s390x*) emulated=yes ;; esac
step=1
wrapper=()
if [ -n "$emulated" ]; then
    export BCR_TEST_TIME_FACTOR=10
    [ -n "${BCR_TEST_FULL:-}" ] || step=3
fi
if [ "$root" = s390x ]; then
    wrapper=("$native/test/foreign/foreign_reaper")
fi
BCR_TEST_EXCEPTIONS=$foreign/exceptions-$root-$there
for machine in "$root" "$there"; do "$here/foreign.sh" exceptions "$machine" -; done >"$BCR_TEST_EXCEPTIONS"
export BCR_TEST_EXCEPTIONS
BCR_ENL=$(build_of "$root")/enl/enl
export BCR_ENL BCR_ENLISTPATH=$BCR_ENL
BEHAVE_ACTOR=$(build_of "$root")/test/behaviour/behave_actor
BEHAVE_THERE=$(build_of "$there")
export BEHAVE_ACTOR BEHAVE_THERE

status=0 count=0
for source in "$here"/../behaviour/test_*.c; do
    name=$(basename "$source" .c)
    program=$(build_of "$root")/test/behaviour/behaviour_${name#test_}
    names=()
    while IFS= read -r behaviour; do
        [ $((count++ % step)) != 0 ] || names+=("$behaviour")
    done < <("$program" --list | grep '@host$')
    [ ${#names[@]} = 0 ] || "${wrapper[@]}" "$program" "${names[@]}" || status=1
done
[ $step = 1 ] || echo "skip foreign_pair_${root}_$there: two of three behaviours; ./check --all runs them all"
exit $status
