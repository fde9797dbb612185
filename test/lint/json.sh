#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every key that enl prints in JSON stands in the section JSON of enl(1), and each name of a state or the like there, too.
source "$(dirname "$0")/lint.sh"

manual=docs/man/enl.1
words=$(sed -n '/^\.Sh JSON$/,/^\.Sh [^J]/p' "$manual" | grep -E '^\.(.* )?Cm ' | grep -oE '[a-z_0-9]+' | sort -u)

# launch.json of --vscode is VS Code's.
written=$(grep -rhoE '\\"[a-z_0-9]+\\":|show_number\("[a-z_]+"' enl --include='*.c' --exclude=serving.c | grep -oE '[a-z][a-z_0-9]*' |
    grep -vx show_number | sort -u)

# Rows of a snapshot, of those kinds that a command prints: their lists, and their fields.
kinds=$(sed -n '/^static const struct look_form forms/,/^};/p' enl/verbs/look.c | grep -oE 'KIND\([A-Z]+\)' | tr -d '()' |
    sed 's/KIND//' | sort -u)
rows=$(for kind in $kinds; do
    tr 'A-Z' 'a-z' <<<"$kind"
    sed -n "/^#define LOOK_$kind(N, T)/,/[^\\\\]\$/p" enl/inspect/look/look.h | grep -oE '\b[NT]\([a-z_0-9]+\)' | sed 's/^.(//; s/)//'
done)

for list in "$written" "$kinds" "$rows"; do
    [ -n "$list" ] || complain "$0 does not find what is printed any more"
done
for key in $(printf '%s\n' "$written" "$rows" | sort -u); do
    grep -qx "$key" <<<"$words" || complain "$manual: the section JSON does not name the key $key"
done

finish
