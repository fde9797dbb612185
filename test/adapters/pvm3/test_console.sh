#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bcr-pvm, and virtual machines that are held: tasks from the shell enter them, and pvm_halt ends them.
set -euo pipefail

: "${BCR_PVM:?run by ctest}" "${PVM_MEMBERS:?run by ctest}" "${BCR_ENL:?run by ctest}" "${EARL_EXEC:?run by ctest}"
folder=$(mktemp -d)
export PVM_VMID=test$$ HOME=$folder BCR_TEMPDIR=$folder BCR_LOGDIR=$folder
machine=pvm-machine-$PVM_VMID
trap '"$BCR_ENL" kill "$machine" >"$folder/killed" 2>&1 || true; rm -rf "$folder"' EXIT
fail() {
    echo "FAIL test_pvm3_console: $*"
    [ -f "$folder/said" ] && cat "$folder/said"
    exit 1
}
# console STATUS [ARGUMENT...] does the lines of stdin; what it says is in `said`.
console() {
    local status=0
    timeout 100 "$BCR_PVM" "${@:2}" >"$folder/said" 2>&1 || status=$?
    [ $status = "$1" ] || fail "status $status of the console, not $1"
}
says() {
    grep -qE -- "$1" "$folder/said" || fail "it does not say \"$1\""
}
silent() {
    ! grep -qE -- "$1" "$folder/said" || fail "it says \"$1\""
}
member() {
    timeout 100 "$PVM_MEMBERS" "$@" >"$folder/said" 2>&1 || fail "$1: status $?"
}
# The machine has ended, or is about to.
is_gone() {
    for _ in $(seq 600); do
        "$BCR_ENL" ps 2>&1 | grep -q "^$machine " || return 0
        sleep 0.1
    done
    fail "the virtual machine has not ended"
}

for arguments in --help --version; do
    console 0 $arguments </dev/null
done
console 2 --nothing </dev/null
console 2 one two </dev/null
is_gone
console 0 <<<'id'
says '^t40002$'
console 0 <<'C'
# It is there still.
id
version
conf
quit
echo not this
C
says '^t40003$'
says '^3\.4\.6$'
says '^1 host, 1 data format$'
silent 'not this'
echo "ok the machine stays when the console ends"

member puts_number
member finds_number
PVM_VMID=other$$ member misses_number
"$BCR_ENL" -n 2 "$PVM_MEMBERS" misses_number || fail "a team has entered"
echo "ok tasks from the shell enter it, and others do not"

cat >"$folder/.pvmrc" <<'C'
alias say echo "a  word" b\ c
setenv PVM_TEST_WORD 'there it is'
C
console 0 <<'C'
say 'd e' # and no more
setenv PVM_TEST_WORD
alias
help alias
unalias say
alias
C
says '^a  word b c d e$'
says '^PVM_TEST_WORD=there it is$'
says '^say echo a  word b c$'
rm "$folder/.pvmrc"
echo "ok words, quotes and aliases"

console 0 <<C
add "one local" "two local slots=2"
conf
mstat one two
spawn -2 -one "$PVM_MEMBERS" spawned 2
ps
C
says '^3 hosts, 1 data format$'
[ "$(grep -cE ' (one|two) ok$' "$folder/said")" = 2 ] || fail "mstat"
says '^2 successful$'
[ "$(grep -cE '^ +one +4[0-9a-f]+ +4[0-9a-f]+ +[0-9]+  pvm_members$' "$folder/said")" = 2 ] || fail "ps"
first=$(grep -m 1 -E '^t4' "$folder/said")
second=$(grep -E '^t4' "$folder/said" | tail -n 1)
console 1 <<C
kill $first
sig 9 ${second#t}
pstat t80000
delete one
mstat one
ps -a
C
says 'one no such host'
silent pvm_members
says '  -$'
echo "ok hosts and tasks"

console 0 <<C
spawn -> "$PVM_MEMBERS" speaks 1
spawn ->$folder/first "$PVM_MEMBERS" speaks 1
spawn ->>$folder/first "$PVM_MEMBERS" speaks 1
C
says '^\[t4[0-9a-f]+\] one$'
[ "$(grep -c '^\[t4.* rest$' "$folder/said")" = 1 ] || fail "it says what goes to a file"
[ "$(grep -c '^\[t4.* EOF$' "$folder/first")" = 2 ] || fail "the file has not what two tasks print"
echo "ok what tasks print"

console 1 <<'C'
nothing
add
kill x
kill t7ffff
sig x t40002
spawn
spawn -0 a
spawn -nowhere /bin/true
spawn /no/such/program
delete nowhere
"open
setenv =
unalias none
help none
C
for line in 'nothing: no such command' 'usage: add HOST' 'kill: "x" is no tid' 'kill: t7ffff: Bad parameter' 'sig: "x" is no signal' \
    'usage: spawn' '"-0" is no number of tasks' 'spawn: No such host' 'spawn: No such file' 'delete: nowhere: No such host' 'a quote is not closed' \
    'is no name of a variable' 'none stands for nothing' 'none: no such command'; do
    says "^bcr-pvm: .*$line"
done
echo "ok bad input"

console 0 <<C
spawn -> "$PVM_MEMBERS" ignores_terms
spawn "$PVM_MEMBERS" spawned 2
quit
C
mkfifo "$folder/spared"
"$PVM_MEMBERS" stays_on >"$folder/spared" 2>&1 &
read -r _ <"$folder/spared"
console 0 <<'C'
reset
ps
C
[ "$(grep -c pvm_members "$folder/said")" = 1 ] || fail "not one task is left"
console 0 <<C
spawn "$PVM_MEMBERS" ignores_terms
halt
echo not this
C
silent 'not this'
is_gone
echo "ok reset and halt"

printf '# hosts\none local\n* ep=/opt\n\ntwo local # the last\n' >"$folder/hosts"
console 0 "$folder/hosts" <<<conf
says '^3 hosts'
console 1 /no/such/file <<<id
says 'cannot be read'
member halts_machine
is_gone
HOSTS=$folder/hosts member starts_machine
member puts_number
member finds_number
member halts_machine
is_gone
echo "ok hosts of a file, and machines that programs begin"

# Begun at the same time it is one.
for i in 1 2 3; do
    echo id | timeout 100 "$BCR_PVM" >"$folder/id$i" 2>&1 &
done
wait
[ "$(sort -u "$folder"/id? | grep -cE '^t4[0-9a-f]+$')" = 3 ] || { cat "$folder"/id? && fail "of three that begin it not all are in it"; }
console 0 <<<halt
is_gone
echo "ok of several that begin it one does"

BCR_ENLISTPATH=/no/such/enl console 1 <<<id
says 'enl'
says '^bcr-pvm: there is no way into a virtual machine'
echo "ok without enl"
