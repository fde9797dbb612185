#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every routine and routine-like macro of bcr.h has a manual page whose prototype is that of the header; every page
# describes something that exists and is well-formed roff.
source "$(dirname "$0")/lint.sh"

page_of() {
    find docs/man -name "$1.[1-8]" 2>/dev/null | head -n 1
}

# What remains of a page or a prototype once fonts, macros, quotes and spaces are gone.
bare() {
    sed -E -e 's/\\f[BIRP]|\\f\(..|\\f\[[^]]*\]//g' -e 's/\\-/-/g' -e 's/\\&//g' -e 's/^\.[A-Z]+//' |
        tr -d ' \t\n"' | tr -d '\\'
}

# Follows one .so line, as man does.
page_text() {
    local target
    target=$(sed -n 's/^\.so  *//p' "$1" | head -n 1)
    if [ -n "$target" ]; then
        page_text "$(page_of "$(basename "$target" | sed 's/\.[1-8]$//')")"
    else
        cat "$1"
    fi
}

described=()
while IFS= read -r prototype; do
    name=$(grep -oE 'bcr_[a-z0-9_]+ ?\(' <<<"$prototype" | head -n 1 | tr -d ' (')
    case $name in
    *_location) continue ;; # behind the globals, which are described, not they
    esac
    described+=("$name")
    page=$(page_of "$name")
    if [ -z "$page" ]; then
        complain "$name: no manual page"
    elif ! page_text "$page" | bare | grep -qF "$(bare <<<"$prototype")"; then
        complain "$page: the prototype differs from the header's: $prototype"
    fi
done < <(public_prototypes)

while IFS= read -r name; do
    described+=("$name")
    [ -n "$(page_of "$name")" ] || complain "$name: a macro of bcr.h without a manual page"
done < <(grep -oE '^#define bcr_[a-z0-9_]+\(' core/include/bcr.h | sed -E 's/^#define //; s/\(//' | grep -v _location)

for name in bcr_errors $([ -f enl/CMakeLists.txt ] && echo enl bcrrc); do
    described+=("$name")
    [ -n "$(page_of "$name")" ] || complain "$name: no manual page"
done

while IFS= read -r page; do
    name=$(basename "$page" | sed 's/\.[1-8]$//')
    if [[ $name == bcr_* && $page == *.3 ]] && ! printf '%s\n' "${described[@]}" | grep -qx "$name" &&
        ! grep -qE "\b$name\b" core/include/bcr.h core/include/bcr/types.h; then
        complain "$page: describes what bcr.h does not have"
    fi
    if command -v groff >/dev/null; then
        (cd "$(dirname "$page")/.." && groff -man -ww -z "$BCR_SOURCE_DIR/$page" 2>&1) | grep -v 'can.t find font\|can.t open' |
            while IFS= read -r line; do echo "$page: $line"; done >/tmp/bcr_manual.$$ || true
        if [ -s /tmp/bcr_manual.$$ ]; then
            complain "$(cat /tmp/bcr_manual.$$)"
        fi
        rm -f /tmp/bcr_manual.$$
    fi
done < <(find docs/man -name '*.[1-8]' 2>/dev/null | sort)

finish
