# SPDX-License-Identifier: MIT
#
# lint.awk -- holds bcr.h to the form that it promises at its top, so that every routine has a full manual page.
#
#     awk -f lint.awk bcr.h bcr/program.h bcr/error.h sources.txt
#
# Each routine and macro is named by the block directly above it, and each name of a block is declared below it.  A
# block has a description, then the labels that it needs: Returns; Owns where a region ID is given or taken; Errors
# where a call can fail; Blocks where a routine has a time or a cell of any CCE; Crash where it does block or run
# handlers: in the order of bcr.h, none twice, none unknown.  A label is missing only where what bcr.h says of its
# absence is right, which the lists below tell, and it is missing where it would say just that.  Each code that a block
# names exists, and each that exists is named; a code without a text of its own has one at the top; "as bcr_..." names
# an earlier block.  Each routine has a source.  Prints what is wrong; status 1 if anything.

BEGIN {
    labels = split("Owns Returns Errors Blocks Order Crash", label)
    for (i = 1; i <= labels; i++) position[label[i]] = i
    by_default("Owns", "bcr_rgrealloc bcr_rglen bcr_rgshared bcr_rgkind")
    by_default("Returns", "bcr_cafree bcr_rgalloc bcr_rgalloc_within bcr_rgmod bcr_rgfree bcr_rgrealloc bcr_acqrl bcr_putwait " \
               "bcr_handler bcr_getpriority bcr_watch bcr_publish")
    by_default("Blocks", "bcr_putwait")
    by_default("Crash", "bcr_start bcr_arch bcr_enlist bcr_host bcr_hostinfo bcr_hostof bcr_cagrow bcr_put bcr_put_within bcr_zap bcr_putdone bcr_fd bcr_priority bcr_allow")
    bad = 0
    routines = 0
}

# The blocks, by their first routine, that lack a label since its absence says what is so.
function by_default(what, which,    i, n, list)
{
    n = split(which, list, / /)
    for (i = 1; i <= n; i++) defaults[what, list[i]] = 1
}

function lacks(what)
{
    return !(what in seen) && !((what, first) in defaults)
}

function complain(what)
{
    printf "%s:%d: %s\n", FILENAME, FNR, what
    bad = 1
}

# bcr/program.h goes on where bcr.h ends.
FNR == 1 { file_nr += !(FILENAME ~ /program\.h$/); pending = 0 }

file_nr == 1 {
    rest = $0
    while (match(rest, /bcrE_[A-Z]+/)) {
        used[substr(rest, RSTART, RLENGTH)] = FNR
        rest = substr(rest, RSTART + RLENGTH)
    }
}

file_nr == 1 && !in_block && /^ \*     bcrE_[A-Z]+  / { common[$2] = 1 }

# ---- blocks ----

# What a block must have depends on what is declared below it, so it is judged when the next begins.
function judge(    i, n, list)
{
    if (block == "") return
    n = split(block, list, /, /)
    for (i = 1; i <= n; i++)
        if (!(list[i] in declared)) complain(list[i] ": not declared below its block")
    first = list[1]
    if (!described) complain(block ": the description is missing")
    for (i = 1; i <= labels; i++)
        if ((label[i] in seen) && ((label[i], first) in defaults)) complain(block ": label " label[i] " stands by default")
    if (lacks("Returns")) complain(block ": label Returns is missing")
    if (prototypes ~ /bcr_region/ && lacks("Owns")) complain(block ": label Owns is missing")
    if (!("Errors" in seen) && !says_no_failure) complain(block ": label Errors is missing")
    if (prototypes ~ /int msec|bcr_cce_id cce,|cells,/ && lacks("Blocks"))
        complain(block ": label Blocks is missing")
    if (("Blocks" in seen) && lacks("Crash")) complain(block ": label Crash is missing")
    for (i in seen) delete seen[i]
    for (i in declared) delete declared[i]
    block = ""
    prototypes = ""
    says_no_failure = described = 0
}

file_nr == 1 && /^\/\* bcr_[a-z0-9_, ]+ -- / {
    if (in_block) complain("block of " block " is not closed")
    judge()
    block = $0
    sub(/^\/\* /, "", block)
    sub(/ -- .*/, "", block)
    in_block = 1
    pending = 1
    last_position = 0
    if ($0 !~ /\.$/) complain(block ": the first line is no sentence")
    next
}

file_nr == 1 && in_block && /no failure/ { says_no_failure = 1 }
file_nr == 1 && in_block && last_position == 0 && /^ \* [^ ]/ && !/^ \* [A-Z][a-z]+(, [A-Z][a-z]+)*: / { described = 1 }

# The last line of a block closes the comment.
file_nr == 1 && closing { in_block = closing = 0; current = "" }
file_nr == 1 && in_block && sub(/ \*\/$/, "") { closing = 1 }

function label_begins(name,    i, n, list)
{
    current = name
    if (!(name in position)) {
        complain(block ": unknown label " name)
        return
    }
    if (name in seen) complain(block ": label " name " twice")
    if (position[name] < last_position) complain(block ": label " name " out of order")
    last_position = position[name]
    seen[name] = 1
    n = split(block, list, /, /)
    for (i = 1; i <= n; i++) has[list[i], name] = 1
}

# Several labels at once have the same reference, and nothing else.
file_nr == 1 && in_block && /^ \* [A-Z][a-z]+(, [A-Z][a-z]+)*: / {
    rest = substr($0, 4)
    count = split(substr(rest, 1, index(rest, ":") - 1), joined, ", ")
    for (k = 1; k <= count; k++) label_begins(joined[k])
    if (count > 1 && $0 !~ /: as bcr_[a-z0-9]+\.$/) complain(block ": several labels, but no reference alone")
}

# "as bcr_get." means the same label of another block.
file_nr == 1 && in_block && /^ \* ((Owns|Blocks|Order|Crash)(, )?)+: as bcr_[a-z0-9]+\./ {
    rest = $0
    sub(/^.*: as /, "", rest)
    sub(/\..*/, "", rest)
    for (k = 1; k <= count; k++) {
        reference[++references] = rest SUBSEP joined[k]
        reference_line[references] = FNR
    }
}

# The list of Errors: names, then "as" and blocks; a line that begins with a name and two spaces is an entry.
file_nr == 1 && in_block && current == "Errors" {
    rest = $0
    sub(/^ \* (Errors: )?/, "", rest)
    sub(/^ +/, "", rest)
    if (rest !~ /^bcrE_[A-Z]+  / && $0 !~ /^ \*          /) {
        n = split(rest, list, /[,.]? +|[,.]$/)
        for (i = 1; i <= n; i++)
            if (list[i] ~ /^bcrE_/) {
                if (!(list[i] in common)) complain(block ": " list[i] " has no text, neither here nor at the top")
            } else if (list[i] ~ /^bcr_/) {
                if (!(list[i] in known)) complain(block ": refers to " list[i] ", which has no earlier block")
            } else if (list[i] != "" && list[i] != "as")
                complain(block ": a list of codes with the word " list[i])
    }
}


# ---- declarations ----

function declare(name)
{
    routines++
    if (index(", " block ", ", ", " name ", ") == 0 || !pending)
        complain(name ": the block above it does not name it")
    declared[name] = 1
    known[name] = 1
    if (!(name in all)) order[++names] = name
    all[name] = FNR
}

file_nr == 1 && /^BCR_API / { declaration = ""; in_declaration = 1 }
file_nr == 1 && in_declaration {
    declaration = declaration $0 " "
    if (/;$/) {
        in_declaration = 0
        prototypes = prototypes declaration
        match(declaration, /bcr_[a-z0-9_]+ *\(/)
        name = substr(declaration, RSTART, RLENGTH - 1)
        if (name !~ /_location$/) declare(name)
        else if (!pending) complain(name ": no block above it")
    }
}
# A macro below the prototype of its name is that routine over again, for speed.
file_nr == 1 && /^#define bcr_[a-z0-9]+(\(| +\(\*)/ {
    match($0, /bcr_[a-z0-9]+/)
    name = substr($0, RSTART, RLENGTH)
    if (!(name in declared)) declare(name)
}
# Whatever stands between a block and what it describes ends it.
file_nr == 1 && !in_block && /^\/\* -/ { judge(); pending = 0 }

# ---- the other files ----

file_nr == 2 && FNR == 1 { judge() }
file_nr == 2 && /^ +X\(/ {
    code = $0
    sub(/^ +X\(/, "", code)
    sub(/,.*/, "", code)
    exists["bcrE_" code] = 1
    codes++
}

file_nr == 3 && /^bcr_/ {
    rest = $0
    if (rest !~ /^[a-z0-9_, ]+: .*\.$/) complain("no line of the form \"names: a sentence.\"")
    sub(/: .*/, "", rest)
    n = split(rest, list, /, /)
    for (i = 1; i <= n; i++) {
        if (list[i] in source) complain(list[i] " has a source already")
        source[list[i]] = 1
        if (!(list[i] in all)) complain(list[i] " is no routine of bcr.h")
    }
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
    for (i = 1; i <= names; i++) if (!(order[i] in source)) {
        printf "bcr.h:%d: %s has no line in sources.txt\n", all[order[i]], order[i]
        bad = 1
    }
    for (i = 1; i <= references; i++) if (!(reference[i] in has)) {
        split(reference[i], list, SUBSEP)
        printf "bcr.h:%d: refers to %s of %s, which is not there\n", reference_line[i], list[2], list[1]
        bad = 1
    }
    if (routines == 0 || codes == 0) {
        print "found no routines or no codes: has the form of the headers changed?"
        bad = 1
    }
    if (!bad) printf "%d routines, macros and globals, %d codes: all described\n", names, codes
    exit bad
}
