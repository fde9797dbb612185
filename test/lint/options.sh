#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Options and commands of enl: those that a document for users names exist and are for users; each that is for users is in enl(1), in
# what --help prints and, of a command, has a help of its own.
source "$(dirname "$0")/lint.sh"

source=enl/verbs/options.c
# What enl starts itself with; documents for users do not name it.
own='child look-host stacks-host root-socket root-pid pane windows held debug-host host-facts trace explain'
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
overlap srun
prefix cmake
preset cmake
system adduser
tool valgrind
unbuffered srun
unix-socket curl
'

options=$(sed '/enl_help\[\] =/,/^$/d' "$source" | grep -oE '"--[a-z-]+' | sed 's/"--//; s/-$//' | sort -u)
commands=$(sed -n '/^} commands\[\] = {/,/^};/p' "$source" | grep -oE '\{"[a-z-]+"' | tr -d '{"')
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

help=$(sed -n '/enl_help\[\] =/,/^$/p' "$source")
manual=$(named docs/man/enl.1)
for option in $users; do
    grep -qx "$option" <<<"$manual" || complain "docs/man/enl.1: --$option is missing"
    grep -qE -- "--$option\b" <<<"$help" || complain "$source: enl --help does not name --$option"
done
for command in $commands attach gdb-pipe; do
    grep -qE "^\.(It |Nm )?Cm (.* )?$command\b" docs/man/enl.1 || complain "docs/man/enl.1: command $command is missing"
    grep -qE "enl .*\b$command\b" <<<"$help" || complain "$source: enl --help does not name the command $command"
    grep -qF "{\"$command\"" enl/verbs/help.c || complain "enl/verbs/help.c: enl $command --help has nothing to say"
done

finish
