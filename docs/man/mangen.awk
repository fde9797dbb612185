# SPDX-License-Identifier: MIT
#
# mangen.awk -- makes the manual pages of section 3 from the blocks in bcr.h and the list in bcr/error.h.
#
#     awk -v outdir=DIR -v version=0.1.0 -v date=2026-01-31 -f mangen.awk bcr.h bcr/error.h
#
# One page bcr_<routine>.3 per block "/* bcr_<routine> -- ...", and bcr_errors.3.  What a block looks like is
# said at the top of bcr.h; lint.awk beside this file checks that each one does.  POSIX awk, no extensions.

BEGIN {
    split("Shape Owns Returns Blocks Order Crash Source", label)
    heading["Shape"] = "DESCRIPTION"
    heading["Owns"] = "OWNERSHIP"
    heading["Returns"] = "RETURN VALUE"
    heading["Blocks"] = "BLOCKING"
    heading["Order"] = "ORDERING"
    heading["Crash"] = "CRASH SAFETY"
    heading["Source"] = "SOURCE"
    # Parameters whose names are also words of the text.
    split("cell cells cce buffer offset flags", word)
    for (i in word) plain[word[i]] = 1
}

FNR == 1 { file_nr++ }

# ---- bcr.h: one block, then the declaration or macro it belongs to ----

file_nr == 1 && /^\/\* bcr_[a-z0-9]+ -- / {
    name = $2
    summary = $0
    sub(/^\/\* bcr_[a-z0-9]+ -- /, "", summary)
    sub(/\.$/, "", summary)
    for (i in label) text[label[i]] = ""
    errors = 0
    current = ""
    decl = ""
    state = "block"
    next
}

file_nr == 1 && state == "block" && /^ \*\/$/ { state = "decl"; next }

file_nr == 1 && state == "block" && /^ \* [A-Z][a-z]+ *: / {
    current = $2
    rest = $0
    sub(/^ \* [A-Z][a-z]+ *: /, "", rest)
    text[current] = rest
    next
}

file_nr == 1 && state == "block" && /^ \*$/ { text[current] = text[current] "\n"; next }

file_nr == 1 && state == "block" && /^ \*           bcrE_[A-Z]+  / {
    errors++
    error_name[errors] = $2
    rest = $0
    sub(/^ \* +bcrE_[A-Z]+ +/, "", rest)
    error_text[errors] = rest
    named_by[$2] = named_by[$2] " " name
    next
}

file_nr == 1 && state == "block" {
    rest = $0
    indent = match(rest, /[^ *]/)
    sub(/^ \* +/, "", rest)
    if (current == "Returns" && errors > 0 && indent > 14)
        error_text[errors] = error_text[errors] " " rest
    else if (rest ~ /^(n [<>]=|1:|-1: |0 and -[12])/)
        text[current] = text[current] "\n" rest
    else
        text[current] = text[current] " " rest
    next
}

file_nr == 1 && state == "decl" {
    rest = $0
    sub(/^ +/, " ", rest)
    decl = decl rest
    if (decl ~ /;$/ || decl ~ /^#define/) {
        sub(/^BCR_API (BCR_MUST_USE )?/, "", decl)
        page()
        state = ""
    }
}

# ---- bcr/error.h ----

file_nr == 2 && /^ \* +[0-9]+\.\.  / {
    groups++
    group_from[groups] = $2 + 0
    group_text[groups] = $0
    sub(/^ \* +[0-9]+\.\. +/, "", group_text[groups])
}

file_nr == 2 && /^ +X\(/ { entry = "" }
file_nr == 2 && (/^ +X\(/ || entry != "") {
    entry = entry $0
    sub(/ *\\$/, " ", entry)
    if (entry ~ /"\) *$/) {
        gsub(/^ +X\(|"\) *$/, "", entry)
        codes++
        code_name[codes] = "bcrE_" substr(entry, 1, index(entry, ",") - 1)
        sub(/^[A-Z]+, */, "", entry)
        code_number[codes] = entry + 0
        sub(/^[0-9]+, *"/, "", entry)
        code_text[codes] = entry
        entry = ""
    }
}

END { errors_page() }

# ---- output ----

# Text for troff: names in bold, parameters in italics, dashes that are minus signs, nothing taken for a request.
function roff(s,    out, token, before, last)
{
    gsub(/\\/, "\\e", s)
    out = ""
    last = " "
    while (match(s, /[A-Za-z_][A-Za-z_0-9]*/)) {
        before = substr(s, 1, RSTART - 1)
        token = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        out = out minus(before)
        if (before != "") last = substr(before, length(before))
        if (token ~ /^bcr(E|T|_op|_)/)
            out = out "\\fB" token "\\fR"
        else if ((token in param) && !(token in plain) && last !~ /[-\/]/)
            out = out "\\fI" token "\\fR"
        else
            out = out token
        last = "a"
    }
    out = out minus(s)
    if (out ~ /^[.']/) out = "\\&" out
    return out
}

function minus(s)
{
    gsub(/-/, "\\-", s)
    return s
}

function capital(s,    first)
{
    first = s
    sub(/[^A-Za-z_0-9].*/, "", first)
    if (first in param || first ~ /_/ || length(first) == 1) return s
    return toupper(substr(s, 1, 1)) substr(s, 2)
}

function paragraphs(s, out,    n, part, i)
{
    n = split(s, part, "\n")
    for (i = 1; i <= n; i++) {
        sub(/^ +/, "", part[i])
        gsub(/  +/, " ", part[i])
        if (part[i] == "") continue
        if (i > 1) print ".PP" > out
        print sentences(roff(capital(part[i]))) > out
    }
}

# troff wants each sentence to begin a line.
function sentences(s)
{
    gsub(/\. /, ".\n", s)
    gsub(/\n\./, "\n\\\\\\&.", s)
    return s
}

function head(out, title, what)
{
    printf "" > out
    print ".\\\" Made from bcr.h and bcr/error.h by docs/man/mangen.awk; change those." > out
    print ".TH " toupper(title) " 3 " date " \"BCR " version "\" \"BCR Programmer's Manual\"" > out
    print ".SH NAME" > out
    print title " \\- " what > out
}

function page(    out, i, n, k, list, seen, rest, item, see, common)
{
    out = outdir "/" name ".3"
    for (i in param) delete param[i]
    if (decl !~ /^#define/) {
        rest = decl
        sub(/^[^(]*\(/, "", rest)
        sub(/\).*/, "", rest)
        n = split(rest, list, ",")
        for (i = 1; i <= n; i++) {
            sub(/.*[ *]/, "", list[i])
            param[list[i]] = 1
        }
    }
    head(out, name, roff(summary))
    print ".SH SYNOPSIS\n.nf\n.B #include <bcr.h>\n.PP" > out
    rest = decl
    gsub(/\\/, "\\e", rest)
    print ".B " rest > out
    print ".fi\n.PP\nCompile and link with the output of \\fBpkg\\-config \\-\\-cflags \\-\\-libs bcr\\fR." > out
    for (i = 1; i in label; i++) {
        k = label[i]
        if (text[k] != "") {
            print ".SH " heading[k] > out
            paragraphs(text[k], out)
        }
        if (k != "Returns" || text[k] ~ /no failure/) continue
        print ".SH ERRORS" > out
        for (n = 1; n <= errors; n++) {
            gsub(/  +/, " ", error_text[n])
            print ".TP\n.B " error_name[n] > out
            print sentences(roff(capital(error_text[n]))) > out
        }
        common = (name == "bcr_init") ? "" : "\\fBbcrE_NOINIT\\fR before \\fBbcr_init\\fR(3), "
        if (errors == 0 && match(text[k], /(as|those of) bcr_[a-z0-9]+/)) {
            rest = substr(text[k], RSTART, RLENGTH)
            sub(/.* /, "", rest)
            print "Those of \\fB" rest "\\fR(3)." > out
        }
        if (errors > 0) print ".PP" > out
        print "As in every routine: " common "\\fBbcrE_FORK\\fR in the child of a fork," > out
        print "\\fBbcrE_INTERNAL\\fR if the cell's memory is corrupt." > out
        print "Unless said otherwise a call that fails changes nothing." > out
    }
    print ".SH \"SEE ALSO\"" > out
    see = ""
    rest = ""
    for (i = 1; i in label; i++) rest = rest " " text[label[i]]
    for (n = 1; n <= errors; n++) rest = rest " " error_text[n]
    rest = rest " " decl
    while (match(rest, /bcr_[A-Za-z0-9_]+/)) {
        item = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (item == name || (item in seen) || !is_routine(item)) continue
        seen[item] = 1
        see = see ".BR \\%" item " (3),\n"
    }
    print see ".BR bcr_errors (3),\n.BR bcr (7)" > out
    close(out)
}

# Names with these endings or capitals are globals, constants and flags, which bcr(7) explains.
function is_routine(s)
{
    if (s ~ /[A-Z]/ || s ~ /^bcr_op_/) return 0
    return s !~ /^bcr_(cce|enlistor|cceord|archtype|errno|inorder|user_ca|errors|reliable|timeout|handlers|gc|implemented)$/
}

function errors_page(    out, i, g, n, list, k)
{
    out = outdir "/bcr_errors.3"
    head(out, "bcr_errors", "the values of bcr_errno")
    print ".SH SYNOPSIS\n.nf\n.B #include <bcr.h>\n.fi" > out
    print ".SH DESCRIPTION" > out
    print "A routine of BCR that fails sets \\fBbcr_errno\\fR to one of these codes." > out
    print "\\fBbcr_strerror\\fR(3) returns the sentence that stands beside it here." > out
    print "\\fBbcrE_OK\\fR, 0, is no error; a routine that succeeds leaves \\fBbcr_errno\\fR alone." > out
    g = 0
    for (i = 1; i <= codes; i++) {
        if (g < groups && code_number[i] >= group_from[g + 1]) {
            while (g < groups && code_number[i] >= group_from[g + 1]) g++
            print ".SS \"Lost: " group_text[g] "\"" > out
        }
        print ".TP\n.BR " code_name[i] " \" (" code_number[i] ")\"" > out
        print capital(roff(code_text[i])) "." > out
        n = split(named_by[code_name[i]], list, " ")
        print ".br" > out
        print (n == 0) ? "Any routine that needs a CCE." : "Named in" > out
        for (k = 1; k <= n; k++) print ".BR \\%" list[k] " (3)" (k < n ? "," : ".") > out
    }
    print ".SH \"SEE ALSO\"\n.BR bcr_strerror (3),\n.BR bcr_rgerror (3),\n.BR bcr (7)" > out
    close(out)
}
