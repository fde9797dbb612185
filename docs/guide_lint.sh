#!/bin/sh
# SPDX-License-Identifier: MIT
# guide_lint.sh -- every C sample of guide.md and handlers.md compiles, with all warnings, and every name that they use in
# the text exists.
#     guide_lint.sh SOURCE_DIR CC AWK
# The samples of a page are compiled together, in their order, so that a later one may use what an earlier one has defined; a
# complete program is compiled alone. Those that are from a file of the tree are compiled there.
set -eu

source_dir=$1
cc=$2
awk=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

for page in guide handlers; do
    mkdir "$scratch/$page"
    "$awk" -v dir="$scratch/$page" -v page="$page.md" '
        /^<!-- from .* -->$/ { elsewhere = 1; next }
        /^```c$/ && elsewhere { elsewhere = 0; next }
        /^```c$/ { n++; inside = 1; body = "#line " FNR + 1 " \"" page "\"\n"; next }
        inside && /^```$/ {
            inside = 0
            if (body ~ /int main\(/) print body > (dir "/program" n ".c")
            else pieces = pieces body
            next
        }
        inside { body = body $0 "\n" }
        END { print "#include <bcr.h>\n#include <bcr/program.h>\n#include <stddef.h>\n" pieces > (dir "/samples.c") }
    ' "$source_dir/docs/$page.md"
    grep -q '^#line' "$scratch/$page/samples.c" || { echo "FAIL found no samples in $page.md"; failed=1; }
done

for file in "$scratch"/*/*.c; do
    if ! "$cc" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-unused-function \
        -I"$source_dir/core/include" -fsyntax-only "$file"; then
        echo "FAIL a sample does not compile"
        failed=1
    fi
done
[ -e "$scratch"/guide/program1.c ] || { echo "FAIL found no program in guide.md"; failed=1; }

# The names that the documents use are names of the headers.
cat "$source_dir/core/include/bcr.h" "$source_dir/core/include/bcr/program.h" "$source_dir/core/include/bcr/error.h" "$source_dir/core/include/bcr/types.h" \
    >"$scratch/headers"
sed -n 's/^ *X(\([A-Z]*\),.*/bcrE_\1/p' "$source_dir/core/include/bcr/error.h" >>"$scratch/headers"
for document in guide.md handlers.md patterns.md if-you-know.md guide-2002.md glossary.md man/bcr.7; do
    for name in $(grep -oE '\bbcr[ET]?_[A-Za-z0-9_]+' "$source_dir/docs/$document" | sort -u); do
        case $name in bcr_errors | bcr_types | bcr_desc) continue ;; esac # manual pages
        if ! grep -qw "$name" "$scratch/headers"; then
            echo "FAIL $document names $name, which is in no public header"
            failed=1
        fi
    done
done

[ "$failed" = 0 ] && echo "guide: samples compile, names exist"
exit "$failed"
