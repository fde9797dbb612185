#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# there.sh MACHINE always|full PROGRAM -- a test program of ../system/enl, with the build for MACHINE on the hosts that it has
# by --local (RUN_THERE of run.c). `full`: only with BCR_TEST_FULL.
set -euo pipefail

machine=$1
program=$3
name=foreign_there_${machine}_$(basename "$program")
RUN_THERE=${BCR_BUILD_DIR:?ctest sets it}/foreign/$machine
export RUN_THERE

if [ "$2" = full ] && [ -z "${BCR_TEST_FULL:-}" ]; then
    echo "skip $name: ./check --all runs it"
    exit 77
fi
if [ ! -x "$RUN_THERE/test/system/enl/sys_cce" ]; then
    echo "skip $name: nothing is built for $machine; test/foreign/prepare.sh ${RUN_THERE%/*} says why"
    exit 77
fi
[ "$machine" != s390x ] || export BCR_TEST_TIME_FACTOR=10
exec "$program"
