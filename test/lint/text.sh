#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What text shows without being understood: a licence line at the head of each source, no path of one machine, no
# note of unfinished work, no trailing space, no tab in C, no folder without README.md.
source "$(dirname "$0")/lint.sh"

each_line() {
    local why=$1
    while IFS= read -r line; do
        complain "$line: $why"
    done
}

sources=$(tree_files '*.c' '*.h' '*.cc' '*.sh' '*.cmake' 'CMakeLists.txt' '*.pml')
text="$sources $(tree_files '*.md' '*.in' '*.[1-8]' 'Makefile' 'CMakePresets.json') check demo"

# shellcheck disable=SC2086
for file in $sources; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT' || complain "$file: no SPDX line at its head"
done

# In brackets so that this file does not find itself.
# shellcheck disable=SC2086
{
    each_line "unfinished work belongs into an issue" < \
        <(grep -HnoE '\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b|\bfor[ ]now\b' $text)
    each_line "a path of one machine" < <(grep -HnoE '(^|[^A-Za-z0-9_./$}~*-])/(w[o]rk|r[o]ot)/[A-Za-z0-9_./-]*' $text)
    each_line "space at the end of the line" < <(grep -HnoE '[ 	]+$' $text | sed 's/:[ 	]*$//')
    each_line "a tab" < <(grep -HnoE '	' $(tree_files '*.c' '*.h') | sed 's/:[ 	]*$//')
}
case $BCR_SOURCE_DIR in
/*/*/*)
    # shellcheck disable=SC2086
    each_line "the path of this very tree" < <(grep -HnoF "$BCR_SOURCE_DIR" $text) ;;
esac

for folder in core copydesc transports cells handlers enl adapters examples test; do
    [ ! -f $folder/CMakeLists.txt ] || [ -f $folder/README.md ] || complain "$folder: no README.md"
done

finish
