# SPDX-License-Identifier: MIT
#
# lint.awk -- holds bcr.h to the form that it promises at its top, so that every routine has a full manual page.
#
#     awk -f lint.awk bcr.h bcr/error.h
#
# Each routine and macro has a block of its own, directly above it, with the labels Shape, Returns, Blocks, Crash,
# Source (and Owns where it has to do with region IDs), in the order of bcr.h, none twice, none unknown.  Each
# error code that a block names exists, and each that exists is named.  Prints what is wrong; status 1 if anything.

BEGIN {
    labels = split("Shape Owns Returns Blocks Order Crash Source", label)
    for (i = 1; i <= labels; i++) position[label[i]] = i
    bad = 0
    routines = 0
}

function complain(what)
{
    printf "%s:%d: %s\n", FILENAME, FNR, what
    bad = 1
}

FNR == 1 { file_nr++ }

file_nr == 1 {
    rest = $0
    while (match(rest, /bcrE_[A-Z]+/)) {
        used[substr(rest, RSTART, RLENGTH)] = FNR
        rest = substr(rest, RSTART + RLENGTH)
    }
}

file_nr == 1 && /^\/\* bcr_[a-z0-9]+ -- / {
    if (in_block) complain("block of " name " is not closed")
    if (pending) complain("block of " name " has no declaration below it")
    name = $2
    in_block = 1
    pending = 1
    last_position = 0
    for (i in seen) delete seen[i]
    if ($0 !~ /\.$/) complain(name ": the first line is no sentence")
    next
}

file_nr == 1 && in_block && /^ \* [A-Z][a-z]+ *: / {
    if (!($2 in position)) {
        complain(name ": unknown label " $2)
        next
    }
    if ($2 in seen) complain(name ": label " $2 " twice")
    if (position[$2] < last_position) complain(name ": label " $2 " out of order")
    last_position = position[$2]
    seen[$2] = 1
    next
}

file_nr == 1 && in_block && /^ \*\/$/ { in_block = 0; next }

file_nr == 1 && /^BCR_API / && !/_location\(void\);$/ { declaration = $0; kind = "routine"; decl_line = FNR }
# A macro right below the prototype of its name is that routine over again, for speed.
file_nr == 1 && /^#define bcr_[a-z0-9]+\(/ && index($0, "#define " declared "(") == 1 { next }
file_nr == 1 && /^#define bcr_[a-z0-9]+\(/ { declaration = $0; kind = "macro"; decl_line = FNR }
file_nr == 1 && declaration != "" && FNR > decl_line { declaration = declaration $0 }
file_nr == 1 && declaration != "" && (kind == "macro" || declaration ~ /;$/) {
    routines++
    rest = declaration
    sub(/^#define /, "", rest)
    match(rest, /bcr_[a-z0-9]+ *\(/)
    declared = substr(rest, RSTART, RLENGTH - 1)
    if (!pending || declared != name)
        complain(declared ": no block directly above it")
    else {
        split("Shape Returns Blocks Crash Source", wanted)
        for (i in wanted) if (!(wanted[i] in seen)) complain(name ": label " wanted[i] " is missing")
        if (declaration ~ /bcr_region|rgid/ && !("Owns" in seen)) complain(name ": label Owns is missing")
    }
    pending = 0
    declaration = ""
}

file_nr == 2 && /^ +X\(/ {
    code = $0
    sub(/^ +X\(/, "", code)
    sub(/,.*/, "", code)
    exists["bcrE_" code] = 1
    codes++
}

END {
    for (code in used) if (code != "bcrE_OK" && !(code in exists)) {
        printf "bcr.h:%d: %s is no code of bcr/error.h\n", used[code], code
        bad = 1
    }
    for (code in exists) if (!(code in used)) {
        printf "bcr/error.h: %s is named by no routine in bcr.h\n", code
        bad = 1
    }
    if (routines == 0 || codes == 0) {
        print "found no routines or no codes: has the form of the headers changed?"
        bad = 1
    }
    if (!bad) printf "%d routines and macros, %d codes: all described\n", routines, codes
    exit bad
}
