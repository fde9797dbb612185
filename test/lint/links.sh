#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every relative link of a Markdown page leads somewhere, and to a heading that is there.
source "$(dirname "$0")/lint.sh"

# Headings as the pages' readers make anchors of them.
anchors() {
    sed -n 's/^##* *//p' "$1" | tr 'A-Z' 'a-z' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

for page in $(tree_files '*.md'); do
    while IFS= read -r link; do
        case $link in
        '' | *://* | mailto:*) continue ;;
        esac
        target=${link%%#*}
        file=$page
        [ -z "$target" ] || file=$(dirname "$page")/$target
        if [ ! -e "$file" ]; then
            complain "$page: a link to $link, which is not there"
        elif [[ $link == *'#'* && -f $file ]] && ! anchors "$file" | grep -qxF "${link#*#}"; then
            complain "$page: a link to $link, but $target has no such heading"
        fi
    done < <(sed '/^ *```/,/^ *```/d; s/`[^`]*`//g' "$page" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//')
done

finish
