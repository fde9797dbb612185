#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# layers.sh [FOLDER]: the parts of the daemon, folders of enl/ (or FOLDER), stand on each other: a part includes headers of those
# parts only that its README names in the line "May use:", none of these uses leads in a circle, and each header is named with
# its part ("tree/lease.h"). A part whose README has a line "System headers:" includes no
# others with <>. What does not keep to that yet stands in layers.exceptions, a line "FILE HEADER" each, and nothing
# else may stand there. The last lines make sure that this script finds each of these faults.
source "$(dirname "$0")/lint.sh"

enl=${1:-enl}
exceptions=${2:-test/lint/layers.exceptions}

# PART USED for each part that a README names.
uses() {
    local readme part
    for readme in "$enl"/*/README.md; do
        part=$(basename "$(dirname "$readme")")
        grep -m 1 '^May use:' "$readme" | grep -o '`[a-z]*`' | tr -d '`' | sed "s/^/$part /" || true
    done
}

# "FILE HEADER PART USED" for each include of a header of another part.
includes() {
    local file line header part used
    tree_files '*.c' '*.h' | grep "^$enl/" | xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' |
        while IFS=: read -r file line; do
            header=${line#*\"} header=${header%%\"*}
            part=${file#"$enl/"}
            [[ $part == */* ]] && part=${part%%/*} || part=enl # the files that hold all parts together
            case $header in
            bcri/* | bcr/*)
                used=$(find "$enl" -path "*/include/$header" -print -quit)
                used=${used#"$enl/"} ;;
            *)
                if [ ! -f "$enl/$header" ]; then
                    [ "$part" = client ] || echo "$file $header $part ?"
                    continue
                fi
                used=$header ;;
            esac
            [ -n "$used" ] || continue # of a folder below enl/
            [[ $used == */* ]] && used=${used%%/*} || used=enl
            [ "$used" = "$part" ] || echo "$file $header $part $used"
        done
}

# System headers that a part has and its README does not name.
system_headers() {
    local readme part named file header
    for readme in "$enl"/*/README.md; do
        named=$(grep -m 1 '^System headers:' "$readme" | grep -o '`[^`]*`' | tr -d '`') || continue
        part=$(basename "$(dirname "$readme")")
        grep -rHoE '^#include <[^>]*>' --include='*.[ch]' "$enl/$part" | sed 's/:#include </ /; s/>$//' |
            while read -r file header; do
                grep -qxF "$header" <<<"$named" || echo "$file: $part may not use <$header>"
            done
    done
}

faults() {
    system_headers
    local allowed circle file header part used excepted seen=''
    allowed=$(uses)
    circle=$(tsort <<<"$allowed" 2>&1 >/dev/null | sed -n 's/^tsort: \([a-z]*\)$/\1/p' | tr '\n' ' ')
    [ -z "$circle" ] || echo "$enl: parts in a circle: $circle"
    excepted=$(grep -v '^#' "$exceptions" || true)
    while read -r file header part used; do
        [ -n "$file" ] || continue
        if [ "$used" = '?' ]; then
            echo "$file: include \"$header\" by its part: no such file below $enl/"
        elif [ "$part" = enl ] || grep -qxF "$part $used" <<<"$allowed"; then
            continue
        elif grep -qxF "$file $header" <<<"$excepted"; then
            seen+="$file $header"$'\n'
        else
            echo "$file: $part may not use $used: $header"
        fi
    done <<<"$(includes)"
    while read -r file header; do
        [ -z "$file" ] || grep -qxF "$file $header" <<<"$seen" || echo "$exceptions: $file $header is no exception (any more)"
    done <<<"$excepted"
}

while IFS= read -r fault; do
    complain "$fault"
done < <(faults)

# Does this script see what is spoiled? $1: what is to be found.
spoiled=$(mktemp -d)
trap 'rm -rf "$spoiled"' EXIT
must_see() {
    local found
    found=$(cd "$spoiled" && tree_files() { find "$enl" -name '*.[ch]'; } && faults)
    grep -q "$1" <<<"$found" || complain "lint_layers does not see: $1"
}
mkdir -p "$spoiled/$enl/low" "$spoiled/$enl/high" "$spoiled/$(dirname "$exceptions")"
echo '#include "high/high.h"' >"$spoiled/$enl/low/low.c"
printf '#include "high.h"\n#include <uv.h>\n' >"$spoiled/$enl/high/high.c"
touch "$spoiled/$enl/high/high.h"
echo 'May use: nothing.' >"$spoiled/$enl/low/README.md"
printf 'May use: `low`.\nSystem headers: `stdint.h`.\n' >"$spoiled/$enl/high/README.md"
echo "$enl/high/high.c low/low.h" >"$spoiled/$exceptions"
must_see 'low may not use high'
must_see 'high may not use <uv.h>'
must_see 'high.h" by its part'
must_see 'is no exception'
echo 'May use: `high`.' >"$spoiled/$enl/low/README.md"
must_see 'in a circle: '
finish
