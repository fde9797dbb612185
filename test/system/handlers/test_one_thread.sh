#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two threads of a CCE that call BCR at once, and a signal handler that calls it in the midst of a call, are told of in one
# sentence, by builds with internal assertions. Threads that take turns are not, whatever handlers wait meanwhile.
set -euo pipefail

: "${BCR_ENL:?run by ctest}" "${ONE_THREAD_CCE:?run by ctest}" "${ASSERT_LEVEL:?run by ctest}"
BCR_TEMPDIR=$(mktemp -d) # for the logs
export BCR_TEMPDIR
trap 'rm -rf "$BCR_TEMPDIR"' EXIT

# ends_with WHAT REGEX: one line of what it says
ends_with() {
    local said
    if said=$("$BCR_ENL" "$ONE_THREAD_CCE" "$1" 2>&1); then
        echo "$said" && echo "FAIL $1: it ended well" && exit 1
    fi
    [ "$(grep -cE "$2" <<< "$said")" = 1 ] || { echo "$said" && echo "FAIL $1: another sentence" && exit 1; }
    echo "ok $1"
}

said=$("$BCR_ENL" "$ONE_THREAD_CCE" turns 2>&1) && [ "$said" = fine ] || { echo "$said" && echo 'FAIL turns' && exit 1; }
echo 'ok turns'
[ "$ASSERT_LEVEL" -ge 2 ] || { echo "skip two, signal: this build has no internal assertions (BCR_ASSERT_LEVEL)" && exit 0; }
ends_with two '^bcr: one_thread_cce: thread [0-9]+ has called bcr_[a-z]+ while thread [0-9]+ of the same CCE was in (bcr_[a-z]+|another call): '
ends_with signal '^bcr: one_thread_cce: thread [0-9]+ has called bcr_rglen in the midst of its own bcr_[a-z]+: a signal handler '
