#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The walks of docs/architecture.md are true. A walk is a table below a heading "### A walk: ..." or "### A long walk: ...":
#
#    | file | functions | what happens |
#    | `cells/put.c` | `bcr_put`, `put_giving` | ... |
#    | *the link thread* | | ... |                          what follows happens there: nothing that stands before is its caller
#
# A row is one entry into a file: the reader comes there by a call, or back there by a return. Each file is there, and each
# function is defined in it. A function is called by one that is still under way: by its name, by the name that a table of
# functions has for it (.begin = it), or by whoever is under way when its name was handed on. One that is named again is
# returned to. So no return can be left out: where the caller of the next function is in a file that was left, a row has to
# say so. A walk goes through at most six files and enters none more than three times; a long walk goes through as many as it
# needs, and enters none more than twice. The last lines make sure that this script finds each of these faults.
source "$(dirname "$0")/lint.sh"

# What is wrong with the walks of page $1. With $2: the figures of each walk instead.
faults() {
    tree_files '*.c' '*.h' | grep -E '^(core|cells|handlers|transports|copydesc|enl)/' | xargs grep -hoE '\.[a-z_]+ = [a-z_0-9]+\b' |
        sort -u | awk -v figures="${2-}" '
        # TEXT of function `name` in `file`, from its name to the closing brace, without comments; "" if it is not defined there.
        function body(file, name,    line, inside, text) {
            if ((file, name) in bodies)
                return bodies[file, name]
            while ((getline line <file) > 0) {
                if (!inside && line ~ /^[A-Za-z]/ && line ~ "(^|[ *])" name "\\(") {
                    inside = 1
                    text = ""
                }
                if (inside)
                    text = text line "\n"
                if (inside && line ~ /;$/ && text !~ /\{/)
                    inside = 0 # a declaration
                if (inside && line ~ /^\}/)
                    break
            }
            close(file)
            if (!inside)
                text = ""
            sub(name, "", text)
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
            return bodies[file, name] = text
        }
        function has(text, word) { # \< and \> are not in every awk
            return text ~ "(^|[^A-Za-z0-9_])" word
        }
        function calls(at, name) { return has(body(in_file[at], under_way[at]), name "\\(") }
        function hands_on(at, name) { return has(body(in_file[at], under_way[at]), name "([^A-Za-z0-9_(]|$)") }
        function calls_by_table(at, name,    i, n, field) {
            n = split(fields[name], field, " ")
            for (i = 1; i <= n; i++)
                if (body(in_file[at], under_way[at]) ~ "(->|\\.)" field[i] "\\(")
                    return 1
            return 0
        }
        function complain(text) { if (figures == "") print walk ": " text }
        # What is still under way when `name` is called; 0: nothing, which is said.
        function caller(file, name,    at, handed) {
            for (at = depth; at > 0; at--) {
                if (calls(at, name) || calls_by_table(at, name))
                    return at
                if (hands_on(at, name))
                    return depth
            }
            complain("nothing that is under way calls " name " of " file)
            return depth
        }
        function visit(file, name,    at) {
            for (at = depth; at > 0; at--)
                if (in_file[at] == file && under_way[at] == name)
                    break
            if (at > 0) { # returned to
                depth = at
            } else if (body(file, name) == "") {
                complain(file " does not define " name)
                return
            } else {
                if (depth > 0)
                    depth = caller(file, name)
                if (depth > 0 && in_file[depth] != here && in_file[depth] != file)
                    complain("a return to " under_way[depth] " of " in_file[depth] ", which calls " name ", has no row")
                in_file[++depth] = file
                under_way[depth] = name
                functions++
            }
            here = file
        }
        function end_walk(    file, most) {
            if (walk == "")
                return
            for (file in entries)
                if (entries[file] > most)
                    most = entries[file]
            if (figures != "")
                printf "%s: %d files, %d functions, no file entered more than %d times\n", walk, files, functions, most
            walk = ""
        }
        function is_there(file,    line, found) {
            found = (getline line <file) >= 0
            close(file)
            return found
        }
        FILENAME == "-" { # .field = name
            fields[$3] = fields[$3] " " substr($1, 2)
            next
        }
        /^#/ { end_walk() }
        /^### A (long )?walk: / {
            long = /^### A long/
            walk = $0
            sub(/^### A (long )?walk: /, "", walk)
            depth = files = functions = 0
            last = here = ""
            split("", entries)
            walks++
        }
        /^\| *[^-` ]/ && walk != "" && !/^\| file / { depth = 0; here = last = "" }
        /^\| `/ && walk != "" {
            split($0, column, "|")
            file = column[2]
            gsub(/[` ]/, "", file)
            if (!is_there(file)) {
                complain("no " file)
                next
            }
            if (file != last && ++entries[file] == 1 && ++files > 6 && !long)
                complain(file " is file " files)
            if (file != last && entries[file] == (long ? 3 : 4))
                complain(file " is entered more than " (long ? "twice" : "three times"))
            last = file
            gsub(/[`,]/, "", column[3])
            count = split(column[3], names, " ")
            if (count == 0)
                complain("a row of " file " names no function")
            for (i = 1; i <= count; i++)
                visit(file, names[i])
        }
        END {
            end_walk()
            if (walks == 0)
                print "no walk"
        }' - "$1"
}

page=docs/architecture.md
while IFS= read -r fault; do
    complain "$page: $fault"
done < <(faults $page)
[ "${1-}" != --figures ] || faults $page figures

# Does this script see a spoiled walk? $1: what is to be found, $2: the sed script that spoils it.
spoiled=$(mktemp)
trap 'rm -f "$spoiled"' EXIT
spoil() {
    sed "$2" $page >"$spoiled"
    grep -q "$1" <<<"$(faults "$spoiled")" || complain "lint_walk does not see: $1"
}
put='^| `cells\/put\.c`'
back='^| `cells\/get\.c` | `get_resume` '
file() { echo "| \`cells\\/$1.c\` | \`x\` | |"; }
spoil 'no cells/puts\.c' "/$put/s/put\.c/puts.c/"
spoil 'does not define put_slowly' "/$put/s/\`put_fast\`/\`put_slowly\`/"
spoil 'nothing that is under way calls is_open' "/$put/s/\`put_fast\`, //"
spoil 'a return to get_resume of cells/get\.c, which calls bcri_request_await, has no row' "/$back/d"
spoil 'cells/get\.c is entered more than three times' "/$back/{p; s/.*/$(file zap)\n$(file get)/}"
spoil 'is file 7' "/$put/{p; s/.*/$(file zap)\n$(file fd)\n$(file copy)\n$(file own)\n$(file drop)\n$(file area)/}"
spoil 'cells/get\.c is entered more than twice' 's/^### A walk/### A long walk/'
spoil 'names no function' "/$back/s/\`get_resume\`//"
spoil 'nothing that is under way calls work_on' '/^| \*the worker/d'
spoil 'no walk' '/^### A.* walk/d'
finish
