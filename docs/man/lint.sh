#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh -- checks the manual: every routine described (lint.awk), every page there and rendering without warnings.
#     lint.sh SOURCE_DIR FOLDER_OF_THE_MADE_PAGES AWK
set -eu

source_dir=$1
pages=$2
awk=$3
header=$source_dir/core/include/bcr.h
codes=$source_dir/core/include/bcr/error.h
lint=$source_dir/docs/man/lint.awk
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

"$awk" -f "$lint" "$header" "$codes" || fail "bcr.h is not what its top promises"

# The check itself must notice what it is there for: each of these spoils one thing.
spoil() {
    what=$1
    shift
    sed "$@" "$header" >"$scratch/bcr.h"
    if cmp -s "$header" "$scratch/bcr.h"; then
        fail "cannot spoil bcr.h: $what"
    elif "$awk" -f "$lint" "$scratch/bcr.h" "$codes" >/dev/null; then
        fail "lint.awk does not notice $what"
    fi
}
for label in Shape Returns Blocks Crash Source Owns; do
    spoil "a missing label $label" -e "/bcr_put -- /,/\*\//s/^ \* $label *: / *           /"
done
spoil "an unknown label" -e '/bcr_put -- /,/\*\//s/^ \* Order   : / * Ordering: /'
spoil "labels out of order" -e '/bcr_put -- /,/\*\//s/^ \* Blocks  : / * Source  : /'
spoil "an unknown code" -e 's/bcrE_OWNERDEAD/bcrE_OWNERGONE/'
spoil "a routine without a block" -e 's/bcr_zap -- /bcr_zip -- /'
spoil "a declaration that is gone" -e '/^BCR_API int bcr_zap(/d'

# Every page is there, names every code of its block, and renders silently.
routines=$(sed -n 's/^\/\* \(bcr_[a-z0-9]*\) -- .*/\1/p' "$header")
for routine in $routines; do
    [ -s "$pages/$routine.3" ] || fail "no page $routine.3"
    sed -n "/^\/\* $routine -- /,/^ \*\//s/^ \*           \(bcrE_[A-Z]*\)  .*/\1/p" "$header" |
        while read -r code; do
            grep -qx "\.B $code" "$pages/$routine.3" || echo "$routine.3 lacks $code"
        done >"$scratch/lacking"
    [ ! -s "$scratch/lacking" ] || fail "$(cat "$scratch/lacking")"
done
for routine in $routines; do
    grep -qE "Xr $routine( |$)" "$source_dir/docs/man/bcr.7" || fail "bcr.7 does not list $routine"
done
for routine in $(grep -oE 'Xr bcr_[a-z0-9]+ 3' "$source_dir/docs/man/bcr.7" | cut -d ' ' -f 2 | sort -u); do
    [ -s "$pages/$routine.3" ] || fail "bcr.7 refers to $routine(3), which is not there"
done
for code in $(sed -n 's/^ *X(\([A-Z]*\),.*/bcrE_\1/p' "$codes"); do
    grep -q "^\.BR $code " "$pages/bcr_errors.3" || fail "bcr_errors.3 lacks $code"
done

all_pages="$pages/*.3"
for page in "$source_dir"/docs/man/*.[1-8]; do
    [ ! -e "$page" ] || all_pages="$all_pages $page"
done
if command -v groff >/dev/null; then
    for page in $all_pages; do
        warnings=$(groff -ww -z -man -Tutf8 "$page" 2>&1) || true
        [ -z "$warnings" ] || fail "groff: $warnings"
    done
else
    echo "skip: pages not rendered, there is no groff (package groff-base)"
fi
if command -v mandoc >/dev/null; then
    # shellcheck disable=SC2086
    warnings=$(mandoc -Tlint -W warning $all_pages 2>&1) || true
    [ -z "$warnings" ] || fail "mandoc: $warnings"
else
    echo "skip: pages not checked by mandoc, which is not installed (package mandoc)"
fi

[ "$failed" = 0 ] && echo "manual: $(echo "$routines" | wc -l) routines, pages complete"
exit "$failed"
