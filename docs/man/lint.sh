#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh -- checks the manual: every routine described (lint.awk), every page there, complete, and rendering without
# warnings.
#     lint.sh SOURCE_DIR FOLDER_OF_THE_MADE_PAGES AWK
set -eu

source_dir=$1
pages=$2
awk=$3
header=$source_dir/core/include/bcr.h
program=$source_dir/core/include/bcr/program.h
codes=$source_dir/core/include/bcr/error.h
types=$source_dir/core/include/bcr/types.h
desc=$source_dir/core/include/bcr/desc.h
lint=$source_dir/docs/man/lint.awk
sources=$source_dir/docs/man/sources.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

"$awk" -f "$lint" "$header" "$program" "$codes" "$sources" || fail "bcr.h and bcr/program.h are not what the top promises"

# The check itself must notice what it is there for: each of these spoils one thing in a copy of FILE.
spoil_file() {
    file=$1
    what=$2
    shift 2
    cp "$header" "$program" "$sources" "$scratch/"
    sed "$@" "$file" >"$scratch/$(basename "$file")"
    if cmp -s "$file" "$scratch/$(basename "$file")"; then
        fail "cannot spoil $file: $what"
    elif "$awk" -f "$lint" "$scratch/bcr.h" "$scratch/program.h" "$codes" "$scratch/sources.txt" >/dev/null; then
        fail "lint.awk does not notice $what"
    fi
}
spoil() { spoil_file "$header" "$@"; }
for label in Owns Returns Errors Blocks Crash; do
    spoil "a missing label $label" -e "/bcr_get, .* -- /,/\*\//s/^ \* $label: / *     /"
done
spoil "a block without a description" -e '/bcr_putwait, .* -- /,/\*\//{/^ \* [a-z]/d}'
spoil "a label that says the default" -e '/bcr_put, .* -- /,/\*\//s/ \*\/$/\n * Crash: wholly or not at all. *\//'
spoil "an unknown label" -e '/bcr_put, .* -- /,/\*\//s/^ \* Order: / * Ordering: /'
spoil "labels out of order" -e '/bcr_put, .* -- /,/\*\//{s/^ \* Blocks: / * Order: /;t;s/^ \* Order: / * Blocks: /}'
spoil "a second label with a text of its own" -e '/bcr_recv -- /,/\*\//s/^ \* Blocks, Order: as bcr_get\./& May run handlers./'
spoil "a label twice" -e '/bcr_put, .* -- /,/\*\//s/^ \* Order: / * Blocks: /'
spoil "an unknown code" -e 's/bcrE_OWNERDEAD/bcrE_OWNERGONE/'
spoil "a code that no block has" -e 's/bcrE_OWNERDEAD/bcrE_TIMEOUT/'
spoil "a code without a text" -e '/^ \*     bcrE_DEAD  /d'
spoil "a reference to what is not there" -e 's/^ \* Errors: as bcr_get\./ * Errors: as bcr_got./'
spoil "a reference to a label that is not there" -e '/^\/\* bcr_get, /,/\*\//s/^ \* Order: / *     /'
spoil "a routine without a block" -e 's/bcr_zap, /bcr_zip, /'
spoil "a routine that its block does not name" -e 's/^\/\* bcr_zap, bcr_celllen --/\/* bcr_zap --/'
spoil "a block of two routines of which one is gone" -e '/^BCR_API int bcr_celllen(/d'
spoil "a declaration that is gone" -e '/^BCR_API int bcr_zap(/d'
spoil "a global without a block" -e 's/ bcr_cceord, / /'
spoil_file "$program" "a routine of the second header without a block" -e 's/bcr_rgkind --/bcr_rgkinds --/'
spoil_file "$sources" "a routine without a source" -e 's/^bcr_get, bcr_zap: /bcr_get: /'
spoil_file "$sources" "a source of what is no routine" -e 's/^bcr_get, bcr_zap: /bcr_get, bcr_zap, bcr_zip: /'
spoil_file "$sources" "two sources of one routine" -e 's/^bcr_get, bcr_zap: /bcr_get, bcr_put, bcr_zap: /'

# Every page is there, has a section for each label and a text for each code of its block.
blocks=$(sed -n 's/^\/\* \(bcr_[a-z0-9]*\)\(, bcr_[a-z0-9]*\)* -- .*/\1/p' "$header" "$program")
routines=$(sed -n 's/^\/\* \(bcr_[a-z0-9_, ]*\) -- .*/\1/p' "$header" "$program" | tr -d ',')
for name in $routines; do
    [ -s "$pages/$name.3" ] || fail "no page $name.3"
    grep -qE "Xr $name( |$)|Va $name( |$)" "$source_dir/docs/man/bcr.7" || fail "bcr.7 does not list $name"
done
for block in $blocks; do
    page=$pages/$block.3
    sed -n "/^\/\* $block\(,\| -- \)/,/\*\/$/p" "$header" "$program" >"$scratch/block"
    for section in NAME SYNOPSIS DESCRIPTION '"\{0,1\}RETURN VALUE' BLOCKING '"\{0,1\}CRASH SAFETY' SOURCE; do
        grep -q "^\.SH $section" "$page" || fail "$block.3 has no section $section"
    done
    sed -n '/^ \* Errors:/,/^ \* [BOC][a-z]*:\|\*\/$/p' "$scratch/block" | grep -oE 'bcrE_[A-Z]+' | sort -u |
        while read -r code; do
            "$awk" -v code="$code" '
                $0 == ".B " code { getline; found = $0 !~ /^\./ && length($0) > 10 }
                END { exit !found }' "$page" || echo "$block.3 has no text for $code"
        done >"$scratch/lacking"
    [ ! -s "$scratch/lacking" ] || fail "$(cat "$scratch/lacking")"
done
for name in $(grep -oE 'Xr bcr_[a-z0-9_]+ 3' "$source_dir/docs/man/bcr.7" | cut -d ' ' -f 2 | sort -u); do
    [ -s "$pages/$name.3" ] || fail "bcr.7 refers to $name(3), which is not there"
done
for code in $(sed -n 's/^ *X(\([A-Z]*\),.*/bcrE_\1/p' "$codes"); do
    grep -q "^\.BR $code " "$pages/bcr_errors.3" || fail "bcr_errors.3 lacks $code"
done
# What is no routine has a page that leads on, and bcr(7) says what each constant is for.
constants=$(sed -n 's/^    \(bcr_[A-Za-z_]*\) =.*/\1/p' "$header" "$program")
globals=$(sed -n 's/^#define \(bcr_[A-Za-z_]*\) .*/\1/p' "$header")
for name in $constants $globals \
    $(sed -n 's/^BCR_API extern int \(bcrT_[A-Z0-9]*\).*/\1/p; s/^ *\(bcrT_[A-Z_]*\) = .*/\1/p; s/^typedef .*[ *]\(bcr_[a-z_]*\);/\1/p' "$types") \
    $(sed -n 's/^#define \(bcrD_[A-Z]*\)(.*/\1/p' "$desc") $(sed -n 's/^ *X(\([A-Z]*\),.*/bcrE_\1/p' "$codes"); do
    [ -s "$pages/$name.3" ] || fail "no page $name.3"
done
for name in $constants $globals; do
    grep -qE "$name( |$)" "$source_dir/docs/man/bcr.7" || fail "bcr.7 does not name $name"
done

all_pages=
for page in "$pages"/*.3 "$source_dir"/docs/man/*.[1-8]; do
    target=$(sed -n '1s/^\.so man[37]\///p' "$page")
    if [ -z "$target" ]; then
        all_pages="$all_pages $page"
    elif [ ! -e "$pages/$target" ] && [ ! -e "$source_dir/docs/man/$target" ]; then
        fail "$page leads to $target, which is not there"
    fi
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

[ "$failed" = 0 ] && echo "manual: $(echo "$blocks" | wc -l) pages of $(echo "$routines" | wc -w) routines, complete"
exit "$failed"
