#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# jobs.sh MACHINE -- jobs of bcr-yod and bcr-scrun on four hosts that ssh reaches, of which one is a machine of another kind.
set -euo pipefail

machine=$1
JOBS_THERE=${BCR_BUILD_DIR:?ctest sets it}/foreign/$machine
JOBS_TEST=foreign_jobs_$machine JOBS_ABI=$machine
export JOBS_THERE JOBS_TEST JOBS_ABI
if [ ! -x "$JOBS_THERE/adapters/score/tools/scatter" ] || [ ! -x "$JOBS_THERE/enl/enl" ]; then
    echo "skip $JOBS_TEST: nothing is built for $machine; test/foreign/prepare.sh ${JOBS_THERE%/*} says why"
    exit 77
fi
exec "$(dirname "$0")/../system/hosts/test_jobs.sh"
