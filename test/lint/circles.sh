#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# circles.sh BUILD: no files of a folder call each other in a circle (of enl/, whose subfolders are parts of their own: no files
# of a subfolder), but those that the folder's README lists:
#
#    ## Circles
#    - `a.c`, `b.c`: why they are one idea
#
# What a file calls is read from its object (nm). The last lines make sure that this script finds a circle.
source "$(dirname "$0")/lint.sh"
[ -d "${1-}" ] || skip "no build folder"
build=$1
[ -n "$(find "$build/cells" -name '*.c.o' -print -quit 2>/dev/null)" ] || skip "no objects in $build"

# CALLER CALLEE, sources both, a line for each pair within a folder.
calls() {
    find "$build"/{core,copydesc,transports,cells,handlers,enl} -path '*.dir/*.c.o' 2>/dev/null | sort | xargs nm -A 2>/dev/null |
        awk -v build="$build/" '
            function source(object) {
                sub(/:.*/, "", object)
                object = substr(object, length(build) + 1)
                sub(/CMakeFiles\/[^\/]*\.dir\//, "", object)
                sub(/\.o$/, "", object)
                return object
            }
            function is_there(file,    line) { # not so: an object from before its source was moved
                if (!(file in known)) {
                    known[file] = (getline line <file) >= 0
                    close(file)
                }
                return known[file]
            }
            $(NF - 1) ~ /^[TDBRVW]$/ && is_there(source($1)) { home[$NF] = source($1) }
            $(NF - 1) == "U" && is_there(source($0)) { uses[source($0), $NF] = 1 }
            function folder(file) {
                sub(file ~ /^enl/ ? "[^/]*$" : "/.*$", "", file)
                return file
            }
            END {
                for (pair in uses) {
                    split(pair, at, SUBSEP)
                    if ((at[2] in home) && home[at[2]] != at[1] && folder(at[1]) == folder(home[at[2]]))
                        print at[1], home[at[2]]
                }
            }' | sort -u
}

# FILE GROUP for each file of a circle that a README allows.
allowed() {
    local folder
    for folder in core copydesc transports cells handlers enl; do
        awk -v folder="$folder" '
            /^## / { here = $0 == "## Circles" }
            here && /^- `/ {
                group++
                sub(/:.*/, "")
                while (match($0, /`[^`]*`/)) {
                    print folder "/" substr($0, RSTART + 1, RLENGTH - 2), folder "-" group
                    $0 = substr($0, RSTART + RLENGTH)
                }
            }' $folder/README.md
    done
}

# Prints the files of each circle among the calls that it reads.
circles() {
    { allowed | sed 's/^/allowed /'; cat; } |
        awk '$1 == "allowed" { group[$2] = $3; next }
            { a = ($1 in group) ? group[$1] : $1; b = ($2 in group) ? group[$2] : $2; if (a != b) print a, b }' |
        sort -u | tsort 2>&1 >/dev/null | sed -n 's/^tsort: \([^ :]*\)$/\1/p'
}

all=$(calls)
while IFS= read -r file; do
    complain "$file: in a circle of files that call each other"
done < <(circles <<<"$all" | sort -u)
while read -r file group; do
    [ -f "$file" ] || complain "${file%%/*}/README.md: no $file"
    grep -q "^$file " <<<"$all" || complain "$file: calls no file of its folder, but the README has it in a circle"
done < <(allowed)
[ -n "$(circles <<<"$all
cells/put.c cells/no.c
cells/no.c cells/put.c")" ] || complain "lint_circles does not see a circle"
[ "$(wc -l <<<"$all")" -gt 100 ] || complain "lint_circles sees hardly any calls"
finish
