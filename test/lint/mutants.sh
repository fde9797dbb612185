#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The patches of test/mutants: each says its idea, its mistake and its tests; it applies to the tree, and ctest knows
# the tests. A change to code that a patch changes puts the same mistake into the new code (test/mutants/README.md).
#
# usage: mutants.sh BUILD-FOLDER
source "$(dirname "$0")/lint.sh"
source test/mutants/patches.sh

command -v patch >/dev/null || skip "there is no patch(1)"
# Not from ctest -N, which begins the log of the run anew in which this is a test.
known=$(find "$1/test" "$1/docs" "$1/examples" -name CTestTestfile.cmake -exec sed -nE 's/^add_test\(\[=*\[([^]]*)\].*/\1/p' {} +)
count=0
for file in test/mutants/*.patch; do
    count=$((count + 1))
    for word in Idea Mistake Tests; do
        [ -n "$(patch_head "$file" $word)" ] || complain "$file has no line that begins with \"$word: \""
    done
    patch_apply . "$file" --dry-run >/dev/null 2>&1 || complain "$file does not apply"
    for test in $(patch_head "$file" Tests); do
        grep -qx "$test" <<<"$known" || complain "$file names the test $test, which there is not"
    done
done
[ $count -ge 60 ] || complain "there are $count patches, fewer than 60"
finish
