#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code that a document shows is code that is compiled and run: a C block under "<!-- from FILE -->" stands in FILE, line
# by line; README.md, the tutorial and patterns.md have no C block without such a line. Elsewhere a block without it is a
# sample of its own (docs/guide_lint.sh).
source "$(dirname "$0")/lint.sh"

# Prints "document<TAB>file<TAB>line number<TAB>line" for each line of each C block.
blocks() {
    awk -v OFS='\t' '
        /^<!-- from .* -->$/ { from = $3; next }
        /^```c$/             { inside = 1; first = 1; next }
        /^```$/ && inside    { inside = 0; from = ""; next }
        inside               { print FILENAME, from == "" ? "-" : from, first ? FNR : 0, $0; first = 0 }
    ' "$@"
}

document="" file="" at="" block="" checked=0
check_block() {
    [ -n "$block" ] || return 0
    [ "$file" = - ] || checked=$((checked + 1))
    if [ "$file" = - ]; then
        case $document in docs/tutorial/* | docs/patterns.md | README.md) ;; *) return 0 ;; esac
        complain "$document:$at: this block does not say which file it is from"
    elif [ ! -f "$file" ]; then
        complain "$document:$at: no file $file"
    elif [[ $(cat "$file")$'\n' != *"$block"* ]]; then
        complain "$document:$at: this block is not in $file"
    fi
}

mapfile -t documents < <(tree_files '*.md')
while IFS=$'\t' read -r in_document from line text; do
    if [ "$line" != 0 ]; then
        check_block
        document=$in_document file=$from at=$line block=""
    fi
    block+=$text$'\n'
done < <(blocks "${documents[@]}")
check_block
[ "$checked" -gt 0 ] || complain "found no block that says which file it is from"

finish
