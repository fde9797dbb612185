#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every error code of bcr/error.h stands in the manual, and some test provokes it.
source "$(dirname "$0")/lint.sh"

page=$(find "${BCR_BUILD_DIR:-build}/docs" docs/man -name 'bcr_errors.[1-8]' 2>/dev/null | head -n 1)
[ -n "$page" ] || complain "no page bcr_errors, neither in the build folder nor in docs/man"

codes=$(grep -oE '^ *X\([A-Z0-9]+, *[0-9]+' core/include/bcr/error.h | sed -E 's/^ *X\(//; s/,.*//')
[ -n "$codes" ] || complain "core/include/bcr/error.h: no BCR_ERROR_MAP found"

for code in $codes; do
    if [ -n "$page" ] && ! grep -qE "bcrE_$code\b" "$page"; then
        complain "bcrE_$code: not in $page"
    fi
    # bcr_strerror's test lists all codes; it provokes none.
    if ! grep -rlE "bcrE_$code\b" test --include='*.c' --include='*.cc' --include='*.inc' 2>/dev/null |
        grep -vE 'strerror|test_error\.c' | grep -q .; then
        complain "bcrE_$code: no test provokes it"
    fi
done

# And nothing is documented or tested that is not in the table.
for used in $(grep -rhoE 'bcrE_[A-Z0-9]+\b' docs test examples --include='*.c' --include='*.[1-8]' --include='*.md' 2>/dev/null |
    sort -u); do
    [ "$used" = bcrE_OK ] || grep -qx "${used#bcrE_}" <<<"$codes" || complain "$used: named in the tree, but no code of bcr/error.h"
done

finish
