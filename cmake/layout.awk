# SPDX-License-Identifier: MIT
# layout.awk -- what the headers named say about shared memory, one line each, for the layout signature (bcri/layout.h):
#
#   STRUCT(bcri_head_shm)         each struct whose name ends in _shm
#   FIELD(bcri_head_shm, lock)    each of its fields
#   FLEXIBLE(bcri_cell_shm, ring) its last one, without a length
#   VALUE(BCRI_OP_PUT)            each constant of an enum; each macro without arguments that has a value
#
# Conditions inside a struct are passed on. It reads C as this project writes it (clang-format): definitions begin in the
# first column. What it takes for a field or a constant and is none does not compile.

function uncomment(line,   from, to)
{
    for (;;) {
        if (in_comment) {
            to = index(line, "*/")
            if (to == 0)
                return ""
            line = substr(line, to + 2)
            in_comment = 0
        }
        from = index(line, "/*")
        if (from == 0)
            return line
        to = index(substr(line, from + 2), "*/")
        if (to == 0) {
            in_comment = 1
            return substr(line, 1, from - 1)
        }
        line = substr(line, 1, from - 1) " " substr(line, from + 2 + to + 1)
    }
}

function count_of(text, char)
{
    return gsub(char, char, text)
}

function last_word(text)
{
    sub(/[ \t]+$/, "", text)
    return match(text, /[A-Za-z_][A-Za-z_0-9]*$/) ? substr(text, RSTART) : ""
}

# The fields that `text`, some whole declarations, declares.
function fields(text,   decl, decls, i, name, names, n, j, open)
{
    gsub(/(struct|union)[ \t]*\{/, "", text)
    gsub(/\}/, "", text)
    gsub(/alignas\([^)]*\)/, "", text)
    n = split(text, decls, ";")
    for (i = 1; i <= n; i++) {
        decl = decls[i]
        open = decl ~ /\[[ \t]*\]/
        gsub(/\[[^]]*\]/, "", decl)
        j = split(decl, names, ",")
        for (j = 1; j in names; j++) {
            name = last_word(names[j])
            if (name != "")
                print (open ? "FLEXIBLE(" : "FIELD(") type ", " name ")"
        }
    }
}

function constants(text,   parts, n, i)
{
    sub(/^[^{]*\{/, "", text)
    sub(/\}.*$/, "", text)
    n = split(text, parts, ",")
    for (i = 1; i <= n; i++)
        if (match(parts[i], /[A-Za-z_][A-Za-z_0-9]*/))
            print "VALUE(" substr(parts[i], RSTART, RLENGTH) ")"
}

FNR == 1 { in_comment = 0; type = ""; enum = "" }

{
    line = uncomment($0)
    while (line ~ /\\$/ && (getline more) > 0)
        line = substr(line, 1, length(line) - 1) " " uncomment(more)
}

line ~ /^[ \t]*#/ {
    if (type != "" && line ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)/) {
        fields(body)
        body = ""
        print line
    } else if (type == "" && line ~ /^#define[ \t]+[A-Za-z_][A-Za-z_0-9]*[ \t]+[^ \t]/) {
        split(line, words, /[ \t]+/)
        print "VALUE(" words[2] ")"
    }
    next
}

type == "" && line ~ /^struct [a-z0-9_]+_shm \{/ {
    type = line
    sub(/^struct /, "", type)
    sub(/ .*$/, "", type)
    print "STRUCT(" type ")"
    depth = 1
    body = ""
    next
}

type != "" {
    depth += count_of(line, "{") - count_of(line, "}")
    if (depth == 0) {
        fields(body)
        type = ""
    } else
        body = body line " "
    next
}

enum == "" && line ~ /^enum( [a-z0-9_]+)? \{/ { enum = " " }

enum != "" {
    enum = enum line " "
    if (line ~ /\}/) {
        constants(enum)
        enum = ""
    }
}
