#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The walks of docs/architecture.md are true. A walk is a table below a heading "### A walk: ...":
#
#    | file | functions | what happens |
#    | `cells/put.c` | `bcr_put`, `put_giving` | ... |
#
# Each file is there, and each function is defined in it; a function that the walk has named before it calls it (or hands its
# name on). A walk goes through at most six files and returns to none that it has left. The last lines make sure that this
# script finds each of these faults.
source "$(dirname "$0")/lint.sh"

# The body of function $2 in file $1, from its name to the closing brace.
body() {
    awk -v name="$2" '
        !inside && /^[A-Za-z]/ && $0 ~ "(^|[ *])" name "\\(" { inside = 1; text = "" }
        inside { text = text $0 "\n" }
        inside && /;$/ && text !~ /{/ { inside = 0 }        # a declaration
        inside && /^}/ { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text); printf "%s", text; exit }' "$1"
}

# Prints what is wrong with the walks of page $1.
faults() {
    local page=$1 walk='' file functions name text known='' files=() last='' count=0
    while IFS= read -r line; do
        case $line in
        '### A walk: '*)
            walk=${line#'### A walk: '} known='' files=() last='' count=$((count + 1)) ;;
        '#'*)
            walk='' ;;
        '| `'*)
            [ -n "$walk" ] || continue
            IFS='|' read -r _ file functions _ <<<"$line"
            file=$(tr -d '` ' <<<"$file")
            if [ ! -f "$file" ]; then
                echo "$walk: no $file"
                continue
            fi
            if [[ $file != "$last" && " ${files[*]} " == *" $file "* ]]; then
                echo "$walk: back to $file, which it has left"
            fi
            [ "$file" = "$last" ] || files+=("$file")
            last=$file
            [ ${#files[@]} -le 6 ] || echo "$walk: $file is file ${#files[@]}"
            for name in $(tr -d '`,' <<<"$functions"); do
                text=$(body "$file" "$name")
                if [ -z "$text" ]; then
                    echo "$walk: $file does not define $name"
                elif [ -n "$known" ] && ! grep -qwF -- "$name" <<<"$known"; then
                    echo "$walk: nothing before it calls $name of $file"
                fi
                known+=${text#*"$name"}
            done ;;
        esac
    done <"$page"
    [ $count -gt 0 ] || echo "no walk"
}

page=docs/architecture.md
while IFS= read -r fault; do
    complain "$page: $fault"
done < <(faults $page)

# Does this script see a spoiled walk? $1: what is to be found, $2: the sed script that spoils it.
spoiled=$(mktemp)
trap 'rm -f "$spoiled"' EXIT
spoil() {
    sed "$2" $page >"$spoiled"
    grep -q "$1" <<<"$(faults "$spoiled")" || complain "lint_walk does not see: $1"
}
put='^| `cells\/put\.c`'
spoil 'no cells/puts\.c' "/$put/s/put\.c/puts.c/"
spoil 'does not define put_slowly' "/$put/s/\`put_fast\`/\`put_slowly\`/"
spoil 'nothing before it calls is_open' "/$put/s/\`put_fast\`, //"
spoil 'back to cells/put\.c' "/$put/{p; s/.*/| \`cells\/zap.c\` | | |/; p; s/.*/| \`cells\/put.c\` | | |/}"
spoil 'is file 7' "/$put/{p; s/.*/| \`cells\/zap.c\` | | |\n| \`cells\/fd.c\` | | |\n| \`cells\/copy.c\` | | |\n| \`cells\/own.c\` | | |\n| \`cells\/drop.c\` | | |\n| \`cells\/area.c\` | | |/}"
spoil 'no walk' '/^### A walk/d'
finish
