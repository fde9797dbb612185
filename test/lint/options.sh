#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Options and commands of enl, which are rows of option_table.c: those that a document for users names exist and are for users; each that is
# for users is in enl(1) and in what --help prints.
source "$(dirname "$0")/lint.sh"

source=enl/verbs/option_table.c
# What enl starts itself with; documents for users do not name it.
own='await child look-host stacks-host root-socket root-pid pane windows held keep-tempdir gate debug-host host-facts trace explain'
# Options of other programs that documents for users show, with the program.
others='
all ./check
args gdb
build cmake
cflags pkg-config
group adduser
install cmake
libs pkg-config
ntasks-per-node sbatch
nodes sbatch
now systemctl
only bench_cells
overlap srun
prefix cmake
preset cmake
system adduser
tool valgrind
unbuffered srun
unix-socket curl
variable pkg-config
'

rows=$(tr '\n' ' ' <"$source" | sed 's/ {"/\n{"/g')
options=$(grep -oE '^\{"--[a-z-]+' <<<"$rows" | sed 's/{"--//' | sort -u)
commands=$(grep -oE '^\{"[a-z][a-z-]*"' <<<"$rows" | tr -d '{"')
[ -n "$options" ] || complain "$source: no options found"
[ -n "$commands" ] || complain "$source: no commands found"
users=$(grep -vxF "$(tr ' ' '\n' <<<"$own")" <<<"$options")
known=$(printf '%s\n' "$users" "$(awk 'NF { print $1 }' <<<"$others")")

documents=$(ls docs/man/*.[1-8] docs/tutorial/*.md docs/{guide,guide-2002,patterns,if-you-know,handlers,descriptors,performance,glossary}.md \
    README.md CHANGELOG.md examples/README.md examples/*/README.md 2>/dev/null)
# mdoc writes --word as .Fl -word; several may follow it.
named() {
    case $1 in
    *.[1-8]) sed -E '/^\.(It |Op |Oo )*.*Fl /s/(^| )-([a-z])/\1--\2/g' "$1" ;;
    *) cat "$1" ;;
    esac | grep -oE '(^|[^-[:alnum:]])--[a-z][a-z-]*[a-z]' | grep -oE '[a-z].*' | sort -u
}
for document in $documents; do
    for option in $(named "$document" | grep -vxF "$known" || true); do
        complain "$document: --$option is no option of enl for users, and not among those of other programs ($0)"
    done
done

usage=$(sed -n '/^static const char usage/,/;$/p' enl/verbs/help.c)
manual=$(named docs/man/enl.1)
for option in $users; do
    grep -qx "$option" <<<"$manual" || complain "docs/man/enl.1: --$option is missing"
    grep -qE "^\{\"--$option\".*[.]help = \"" <<<"$rows" || grep -qE -- "--$option\b" <<<"$usage" || [ "$option" = help ] || [ "$option" = version ] ||
        complain "$source: --$option has no help"
done
for command in $commands; do
    grep -qE "^\.(It |Nm )?Cm (.* )?$command\b" docs/man/enl.1 || complain "docs/man/enl.1: command $command is missing"
    grep -qE "enl .*\b$command\b" <<<"$usage" || complain "enl/verbs/help.c: enl --help does not name the command $command"
    grep -qE "^\{\"$command\".*\"usage: enl $command\b" <<<"$rows" || complain "$source: enl $command --help does not tell its usage"
done

finish
