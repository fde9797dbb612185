# SPDX-License-Identifier: MIT
#
# mangen.awk -- makes the manual pages of section 3 from the public headers and the table of sources.
#
#     awk -v outdir=DIR -v version=0.1.0 -v date=2026-01-31 -f mangen.awk \
#         bcr.h bcr/program.h bcr/error.h bcr/types.h bcr/desc.h sources.txt
#
# One page for each block "/* bcr_<routine>[, bcr_<routine>...] -- ..." of bcr.h, named for its first routine, with
# what the block only refers to filled in: the text of codes that it names (from the list at the top of bcr.h, or from
# the block that "as bcr_..." names), what a missing label means, the source.  bcr_errors.3 from bcr/error.h;
# bcr_types.3 and bcr_desc.3 from the heads of those headers.  All other names of the interface get a page that leads
# to the one on which they stand.  lint.awk beside this file checks the form.  POSIX awk, no extensions.

BEGIN {
    labels = split("Shape Owns Returns Errors Blocks Order Crash Source", label)
    heading["Shape"] = "DESCRIPTION"
    heading["Owns"] = "OWNERSHIP"
    heading["Returns"] = "RETURN VALUE"
    heading["Errors"] = "ERRORS"
    heading["Blocks"] = "BLOCKING"
    heading["Order"] = "ORDERING"
    heading["Crash"] = "CRASH SAFETY"
    heading["Source"] = "SOURCE"
    # Parameters whose names are also words of the text.
    split("cell cells cce buffer offset flags priority handler", word)
    for (i in word) plain[word[i]] = 1
    alias["bcr_region"] = alias["bcr_cce_id"] = "man3/bcr_types.3"
    code_entry = "^ \\*         bcrE_[A-Z]+  "
}

# bcr/program.h goes on where bcr.h ends.
FNR == 1 && !(FILENAME ~ /program\.h$/) { file_nr++ }
FNR == 1 { state = ""; header = FILENAME ~ /program\.h$/ ? "bcr/program.h" : "bcr.h" }

# ---- bcr.h: the list of common codes at the top ----

file_nr == 1 && blocks == 0 { sub(/ \*\/$/, "") }
file_nr == 1 && blocks == 0 && /^ \*     bcrE_[A-Z]+  / {
    common[$2] = $0
    sub(/^ \* +bcrE_[A-Z]+ +/, "", common[$2])
    last_common = $2
    next
}
file_nr == 1 && blocks == 0 && last_common != "" && /^ \*          / {
    rest = $0
    sub(/^ \* +/, " ", rest)
    common[last_common] = common[last_common] rest
}

# ---- bcr.h: one block, then the declarations and macros it belongs to ----

file_nr == 1 && /^\/\* bcr_[a-z0-9_, ]+ -- / {
    b = ++blocks
    summary[b] = names[b] = $0
    sub(/^\/\* [a-z0-9_, ]+ -- /, "", summary[b])
    sub(/\.$/, "", summary[b])
    sub(/^\/\* /, "", names[b])
    sub(/ -- .*/, "", names[b])
    n = split(names[b], list, /, /)
    first[b] = list[1]
    header_of[b] = header
    for (i = 1; i <= n; i++) {
        block_of[list[i]] = b
        if (i > 1) alias[list[i]] = "man3/" first[b] ".3"
    }
    codes_of[b] = 0
    current = "Shape"
    state = "block"
    next
}

# The last line of a block closes the comment.
file_nr == 1 && closing { state = "decl"; closing = 0 }
file_nr == 1 && state == "block" && sub(/ \*\/$/, "") { closing = 1 }

file_nr == 1 && state == "block" && /^ \*$/ { text[b, current] = text[b, current] "\n"; next }

# The label Errors: a list of names, then entries "bcrE_X  text"; the first entry may stand on the label's line.
file_nr == 1 && state == "block" && (/^ \* Errors: bcrE_[A-Z]+  / || (current == "Errors" && $0 ~ code_entry)) {
    current = "Errors"
    rest = $0
    sub(/^ \* Errors: /, " * ", rest)
    split(rest, list)
    nth = ++codes_of[b]
    code_of[b, nth] = list[2]
    sub(/^ \* +bcrE_[A-Z]+ +/, "", rest)
    own_text[b, nth] = rest
    next
}

# One label, or several that refer to the same block: "Order, Crash: as bcr_get."
file_nr == 1 && state == "block" && /^ \* [A-Z][a-z]+(, [A-Z][a-z]+)*: / {
    rest = substr($0, 4)
    n = split(substr(rest, 1, index(rest, ":") - 1), list, ", ")
    sub(/^[A-Za-z, ]+: /, "", rest)
    for (i = 1; i <= n; i++) text[b, list[i]] = rest
    current = list[n]
    next
}

file_nr == 1 && state == "block" {
    rest = $0
    sub(/^ \* +/, "", rest)
    if (current == "Errors" && codes_of[b] > 0)
        own_text[b, nth] = own_text[b, nth] " " rest
    else if (rest ~ /^(n [<>]=|1:|0:|0 and -[12])/)
        text[b, current] = text[b, current] "\n" rest
    else
        text[b, current] = text[b, current] " " rest
    next
}

# A struct that a routine of the block is given.
file_nr == 1 && state == "decl" && /^struct bcr_[a-z]+ \{$/ { in_struct = 1 }
file_nr == 1 && in_struct {
    decls[b] = decls[b] $0 "\n"
    if (/^};$/) in_struct = 0
    next
}

file_nr == 1 && state == "decl" && /^(BCR_API|#define|  )/ {
    rest = $0
    if (rest ~ /^#define/) {
        split(rest, list, /[ (]+/)
        if (!((b, list[2]) in has_prototype))
            decls[b] = decls[b] rest "\n"
        else {
            # A macro over the prototype of its name says what the routine is short for.
            sub(/^#define /, "", rest)
            sub(/\) +/, ") is ", rest)
            text[b, "Shape"] = text[b, "Shape"] "\n" rest "."
            rest = $0
        }
        if (list[2] ~ /^bcr_/ && rest ~ /^#define bcr_[a-z]+ /) is_global[list[2]] = 1
        next
    }
    sub(/^ +/, " ", rest)
    sub(/^BCR_API (BCR_MUST_USE )?/, "", rest)
    decl = decl rest
    if (decl ~ /;$/) {
        match(decl, /bcr_[a-z0-9_]+\(/)
        has_prototype[b, substr(decl, RSTART, RLENGTH - 1)] = 1
        decls[b] = decls[b] decl "\n"
        decl = ""
    }
    next
}
file_nr == 1 && state == "decl" && /^$/ { state = "" }

# Constants stand in bcr(7). The flag bcr_errors has the name of another page, which leads there, too.
file_nr == 1 && state == "" && /^    bcr_[A-Za-z_]+ =/ && $1 != "bcr_errors" { alias[$1] = "man7/bcr.7" }

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
        alias[code_name[codes]] = "man3/bcr_errors.3"
        sub(/^[A-Z]+, */, "", entry)
        code_number[codes] = entry + 0
        sub(/^[0-9]+, *"/, "", entry)
        code_text[codes] = entry
        entry = ""
    }
}

# ---- bcr/types.h and bcr/desc.h: the head, and the declarations of the first ----

file_nr == 3 || file_nr == 4 {
    what = (file_nr == 3) ? "types" : "desc"
    if (FNR == 1) part = ""
    if (part == "" && /^ \* bcr\/[a-z]+\.h -- /) {
        head_summary[what] = $0
        sub(/^ \* bcr\/[a-z]+\.h -- /, "", head_summary[what])
        part = "summary"
        next
    }
    if (part == "summary" && /^ \*$/) { part = "head"; next }
    if (part == "summary") { sub(/^ \* */, " "); head_summary[what] = head_summary[what] $0; next }
    if (part == "head") {
        last = /\*\/$/
        sub(/ *\*\/$/, "")
        sub(/^ \* ?/, "")
        head_text[what] = head_text[what] $0 "\n"
        if (last) part = "code"
        next
    }
    if (what == "types" && /^BCR_API extern int|^    bcrT_/) {
        match($0, /bcrT_[A-Z0-9_]+/)
        alias[substr($0, RSTART, RLENGTH)] = "man3/bcr_types.3"
    }
    if (what == "desc" && /^#define bcrD_[A-Z]+\(/) {
        match($0, /bcrD_[A-Z]+/)
        alias[substr($0, RSTART, RLENGTH)] = "man3/bcr_desc.3"
    }
    if (part == "code" && /^extern "C"/) { part = "body"; skip = 2; next }
    if (part == "body" && /^#ifdef __cplusplus/) part = "end"
    if (part == "body" && skip > 0) { skip--; next }
    if (part == "body") head_code[what] = head_code[what] $0 "\n"
}

# ---- sources.txt ----

file_nr == 5 && /^bcr_/ {
    rest = $0
    sub(/^[a-z0-9_, ]+: /, "", rest)
    sub(/: .*/, "")
    n = split($0, list, /, /)
    for (i = 1; i <= n; i++) source[list[i]] = rest
}

END {
    for (b = 1; b <= blocks; b++) resolve(b)
    for (b = 1; b <= blocks; b++) page(b)
    errors_page()
    header_page("types")
    header_page("desc")
    for (name in alias) {
        out = outdir "/" name ".3"
        print ".so " alias[name] > out
        close(out)
    }
}

# ---- filling in ----

function add_code(b, code, what,    i)
{
    for (i = 1; i <= page_codes[b]; i++) if (page_code[b, i] == code) return
    page_codes[b]++
    page_code[b, page_codes[b]] = code
    page_text[b, code] = what
    named_by[code] = named_by[code] " " first[b]
}

# Every code of a block with its text: own entries, names of the list, then those of the blocks that "as" names.
function resolve(b,    i, k, n, list, rest, other)
{
    n = split(text[b, "Errors"], list, /[,.;]? +|\.$/)
    for (i = 1; i <= codes_of[b]; i++) own[b, code_of[b, i]] = own_text[b, i]
    for (i = 1; i <= n; i++)
        if (list[i] ~ /^bcrE_/ && !((b, list[i]) in own)) add_code(b, list[i], common[list[i]])
    for (i = 1; i <= codes_of[b]; i++) {
        rest = own_text[b, i]
        if (rest ~ /^As bcr_[a-z0-9]+\.$/) {
            other = block_of[substr(rest, 4, length(rest) - 4)]
            rest = text_of(other, code_of[b, i])
        }
        add_code(b, code_of[b, i], rest)
    }
    for (i = 1; i <= n; i++)
        if (list[i] ~ /^bcr_/) {
            other = block_of[list[i]]
            for (k = 1; k <= page_codes[other]; k++)
                add_code(b, page_code[other, k], page_text[other, page_code[other, k]])
        }
}

# A block may refer to a later one.
function text_of(b, code,    i)
{
    for (i = 1; i <= codes_of[b]; i++) if (code_of[b, i] == code) return own_text[b, i]
    return common[code]
}

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
        if (token ~ /^bcr(D|E|T|_op|_)/)
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

function capital(s,    head)
{
    head = s
    sub(/[^A-Za-z_0-9].*/, "", head)
    if (head in param || head ~ /_/ || (length(head) == 1 && head != "a")) return s
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

function verbatim(s, out,    n, part, i)
{
    n = split(s, part, "\n")
    print ".nf" > out
    for (i = 1; i <= n; i++) {
        if (part[i] == "" && i == n) break
        gsub(/\\/, "\\e", part[i])
        if (part[i] ~ /^[.']/) part[i] = "\\&" part[i]
        print (part[i] == "") ? ".sp" : minus(part[i]) > out
    }
    print ".fi" > out
}

function page_head(out, title, shown, what)
{
    printf "" > out
    print ".\\\" Made from the public headers by docs/man/mangen.awk; change those." > out
    print ".TH " toupper(title) " 3 " date " \"BCR " version "\" \"BCR Programmer's Manual\"" > out
    print ".SH NAME" > out
    print shown " \\- " what > out
}

# "as bcr_get." with the text that it refers to.
function written_out(s, k,    name, other, rest)
{
    if (!match(s, /^as bcr_[a-z0-9]+\./)) return s
    name = substr(s, 4, RLENGTH - 4)
    rest = substr(s, RLENGTH + 1)
    other = written_out(text[block_of[name], k], k)
    if (rest != "" && index(other, substr(rest, 2)) > 0) rest = ""
    return "as " name ": " other rest
}

# The label's text, or what its absence means.
function text_for(b, k)
{
    if (k == "Owns" || k == "Blocks" || k == "Order" || k == "Crash") {
        if (text[b, k] != "") return written_out(text[b, k], k)
    }
    if (text[b, k] != "") {
        if (k == "Returns" && page_codes[b] > 0 && text[b, k] !~ /-1|-2/)
            return text[b, k] "\nOn failure the value is " (decls[b] ~ /^bcr_region/ ? "NULL" : "-1") \
                   ", and bcr_errno says why."
        return text[b, k]
    }
    if (k == "Owns" && decls[b] ~ /bcr_region/) return "borrows the region until it returns."
    if (k == "Returns") return decls[b] ~ /^bcr_region/ ? "the region ID, or NULL on failure; bcr_errno says why then." \
                                                        : "0, or -1 on failure; bcr_errno says why then."
    if (k == "Blocks") return "The routine neither waits nor runs handlers."
    if (k == "Crash") return "What is shared is changed wholly or not at all, if at all, and what a dead CCE held is freed."
    return ""
}

function errors_of(b, out,    n, code)
{
    if (page_codes[b] == 0) return
    print ".SH ERRORS" > out
    for (n = 1; n <= page_codes[b]; n++) {
        code = page_code[b, n]
        gsub(/  +/, " ", page_text[b, code])
        print ".TP\n.B " code > out
        print sentences(roff(capital(page_text[b, code]))) > out
    }
    print ".PP\nAs in every routine: " (first[b] == "bcr_init" ? "" : "\\fBbcrE_NOINIT\\fR before \\fBbcr_init\\fR(3), ") > out
    print "\\fBbcrE_FORK\\fR in the child of a fork," > out
    if (text_for(b, "Blocks") ~ /ay run handlers/)
        print "\\fBbcrE_LONGJMP\\fR if a handler was left by longjmp," > out
    print "\\fBbcrE_INTERNAL\\fR if the cell's memory is corrupt." > out
    print "Unless said otherwise a call that fails changes nothing." > out
}

function source_of(b, out,    n, list, i)
{
    n = split(names[b], list, /, /)
    print ".SH SOURCE" > out
    for (i = 1; i <= n; i++) {
        if (i > 1 && source[list[i]] == source[list[i - 1]]) continue
        if (i > 1) print ".PP" > out
        if (n > 1 && (i > 1 || source[list[1]] != source[list[n]])) {
            print sentences("\\fB" list[i] "\\fR: " roff(source[list[i]])) > out
        } else
            print sentences(roff(capital(source[list[i]]))) > out
    }
}

function see_also(b, out,    rest, item, see, seen, i, n)
{
    see = ""
    rest = decls[b]
    for (i = 1; i <= labels; i++) rest = rest " " text[b, label[i]]
    for (n = 1; n <= page_codes[b]; n++) rest = rest " " page_text[b, page_code[b, n]]
    while (match(rest, /bcr_[A-Za-z0-9_]+/)) {
        item = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if ((item in seen) || !(item in block_of) || block_of[item] == b || (item in is_global)) continue
        seen[item] = 1
        see = see ".BR \\%" item " (3),\n"
    }
    print ".SH \"SEE ALSO\"" > out
    print see ".BR bcr_errors (3),\n.BR bcr (7)" > out
}

function page(b,    out, i, n, k, list, rest)
{
    out = outdir "/" first[b] ".3"
    for (i in param) delete param[i]
    rest = decls[b]
    while (match(rest, /\([^()]*\)/)) {
        n = split(substr(rest, RSTART + 1, RLENGTH - 2), list, ",")
        for (i = 1; i <= n; i++) {
            sub(/.*[ *]/, "", list[i])
            param[list[i]] = 1
        }
        rest = substr(rest, 1, RSTART - 1) substr(rest, RSTART + RLENGTH)
    }
    page_head(out, first[b], names[b], roff(summary[b]))
    print ".SH SYNOPSIS\n.nf\n.B #include <" header_of[b] ">\n.PP" > out
    rest = decls[b]
    gsub(/\\/, "\\e", rest)
    n = split(rest, list, "\n")
    for (i = 1; i < n; i++) print (list[i] ~ /^ / ? ".B \"" list[i] "\"" : ".B " list[i]) > out
    print ".fi\n.PP\nCompile and link with the output of \\fBpkg\\-config \\-\\-cflags \\-\\-libs bcr\\fR." > out
    for (i = 1; i <= labels; i++) {
        k = label[i]
        if (k == "Errors") errors_of(b, out)
        else if (k == "Source") source_of(b, out)
        else if (text_for(b, k) != "") {
            print ".SH " heading[k] > out
            paragraphs(text_for(b, k), out)
        }
    }
    see_also(b, out)
    close(out)
}

function errors_page(    out, i, g, n, list, k)
{
    for (i in param) delete param[i]
    out = outdir "/bcr_errors.3"
    page_head(out, "bcr_errors", "bcr_errors", "the values of bcr_errno")
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
    print ".SH \"SEE ALSO\"\n.BR bcr_strerror (3),\n.BR bcr_rgerror (3),\n.BR bcr_init (3)\nfor the flag of this name,\n.BR bcr (7)" > out
    close(out)
}

# A header's head: paragraphs, and what is indented or drawn as it stands.
function header_page(what,    out, n, line, i, prose, code)
{
    for (i in param) delete param[i]
    out = outdir "/bcr_" what ".3"
    page_head(out, "bcr_" what, "bcr_" what, roff(head_summary[what]))
    print ".SH SYNOPSIS\n.nf\n.B #include <bcr/" what ".h>\n.fi\n.SH DESCRIPTION" > out
    n = split(head_text[what], line, "\n")
    prose = code = ""
    for (i = 1; i <= n + 1; i++) {
        if (i <= n && line[i] != "" && line[i] !~ /^ /) {
            if (code != "") { verbatim(code, out); print ".PP" > out; code = "" }
            prose = prose " " line[i]
            continue
        }
        if (prose != "") { paragraphs(prose, out); prose = "" ; print (line[i] == "" && line[i + 1] ~ /^[^ ]/) ? ".PP" : ".sp" > out }
        if (i <= n && (line[i] != "" || code != "")) code = code line[i] "\n"
    }
    sub(/\n+$/, "\n", code)
    if (code != "") verbatim(code, out)
    if (head_code[what] != "") {
        print ".SH DECLARATIONS" > out
        verbatim(head_code[what], out)
    }
    print ".SH \"SEE ALSO\"\n.BR bcr_copyfm (3),\n.BR bcr_descshow (3),\n.BR bcr (7)" > out
    close(out)
}
