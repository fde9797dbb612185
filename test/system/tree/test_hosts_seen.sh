#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program of several hosts as its user sees and ends it, from the root's machine and from another.
set -euo pipefail

fail() {
    echo "FAIL test_hosts_seen: $*"
    exit 1
}

: "${SYS_CCE:?run by ctest}" "${BCR_ENL:?run by ctest}"
scratch=$(mktemp -d)
root=
# SIGTERM: so that the others end, too
trap 'kill "$root" 2> /dev/null || :; rm -rf "$scratch"' EXIT
cd "$scratch"
for name in $(compgen -v BCR_ | grep -vx 'BCR_ENL\|BCR_CONNECTTIMEOUT'); do unset "$name"; done
export HOME="$scratch" BCR_TEMPDIR="$scratch" SYS_TELL="$scratch/tell" BCR_ONFAIL=isolate BCR_CONNECTTIMEOUT=86400000
mkfifo tell held
exec 8<> tell
printf '#!/bin/sh\nread word < "%s/held"\n' "$scratch" > enl-held # a host that stays in its start
apart=()
[ "$(id -u)" != 0 ] || ! unshare -n true 2> /dev/null || apart=(unshare -n)
printf '#!/bin/sh\nSEEN_AS=apart exec %s "%s" "$@"\n' "${apart[*]}" "$BCR_ENL" > enl-apart # a machine of its own
chmod 700 enl-held enl-apart
printf 'here local\nbad local enl=/there/is/none\napart local enl=%s/enl-apart\nheld local enl=%s/enl-held\n' "$scratch" "$scratch" > machines
chmod 600 machines
has() {
    grep -qF -- "$2" "$1" || fail "$1 is without \"$2\": $(cat "$1" err)"
}
# Waits until what the command prints has that text.
shows() {
    local text=$1
    shift
    for _ in $(seq 600); do
        "$@" > shown 2>&1 || :
        ! grep -qE -- "$text" shown || return 0
        sleep 0.1
    done
    fail "$* does not show \"$text\": $(cat shown err)"
}
# Starts CCE 1 "here" and CCE 2 "apart", and one that never starts on "held"; $here and $there are their daemons.
start() {
    SYS_CHILD="tell parent pause" "$BCR_ENL" --hosts machines "$SYS_CCE" at bad enlist "$SYS_CCE" 1 at here enlist "$SYS_CCE" 1 \
        at apart from 2 enlist "$SYS_CCE" 1 at held from 3 enlist "$SYS_CCE" 1 2> err &
    root=$!
    here='' there=''
    while [ -z "$here" ] || [ -z "$there" ]; do
        read -r word pid _ <&8
        [ "$word" = parent ] || continue
        if grep -qazx SEEN_AS=apart "/proc/$pid/environ"; then there=$pid; else here=$pid; fi
    done
    name=$(uname -n | tr -c 'a-zA-Z0-9._\n-' -).$root
}

echo "-- hosts that start, are up, are lost or could not be started, by their names"
start
shows '^ +[0-9]+ +0  starting  held$' "$BCR_ENL" ps "$name"
cp shown all
grep -qE '^ +0 +1  up        ' all || fail "without the root's host: $(cat all)"
grep -qE '^ +[0-9]+ +1  up        here$' all || fail "without here: $(cat all)"
grep -qE '^ +[0-9]+ +1  up        apart$' all || fail "without apart: $(cat all)"
grep -qE '^ +[0-9]+ +0  failed    bad  \(' all || grep -q "host bad cannot be used" err || fail "bad is not told: $(cat all err)"
shows "^$name +2 other hosts up, .*held starting.*; enl ps $name shows all" "$BCR_ENL" ps
kill -9 "$here"
shows '^ +[0-9]+ +0  lost      here  \(.*was killed by signal 9 \(Killed\)\)$' "$BCR_ENL" ps "$name"
"$BCR_ENL" ps --json "$name" | grep -q '"cces":0,"standing":"lost","name":"here","why":"' || fail "not in the JSON: $("$BCR_ENL" ps --json "$name")"
"$BCR_ENL" kill "$name" || fail "enl kill has failed"
wait "$root" 2> /dev/null || [ $? = 137 ] || fail "status $?"
touch shown

if [ ${#apart[@]} = 0 ]; then
    echo "ok test_hosts_seen, but for another machine: no network namespace can be made here"
    exit
fi

echo "-- a machine where only another daemon of the program runs lists it, and ends all of it"
start
on() { nsenter -t "$there" -n "$@"; }
shows "^$name +2 +[0-9]+  alive" on "$BCR_ENL" ps
shows "^ +[0-9]+ +2 +[0-9]+ " on "$BCR_ENL" ps "$name"
has shown "program $name was started on another machine, ${name%.*}; its daemon here is $name:"
BCR_ENTER=$name on "$SYS_CCE" out inside > shown 2>&1 || fail "the program is not entered there: $(cat shown)"
has shown inside
on "$BCR_ENL" --enter "$name" "$SYS_CCE" out again > shown 2>&1 || fail "nor by enl --enter: $(cat shown)"
has shown "its daemon here is $name:"
has shown again
on "$BCR_ENL" kill "$name" 2> killed || fail "enl kill has failed there: $(cat killed)"
has killed "its daemon here is $name:"
status=0
wait "$root" 2> /dev/null || status=$?
[ "$status" = 137 ] || fail "status $status: $(cat err)"
has err "program $name is ended by enl kill"
for _ in $(seq 600); do
    kill -0 "$there" 2> /dev/null || break
    sleep 0.1
done
! kill -0 "$there" 2> /dev/null || fail "the daemon there is left"

echo "-- there it is the only program, too"
start
on "$BCR_ENL" audit > shown 2>&1 || [ $? = 1 ] || fail "enl audit does not find it there: $(cat shown)"
on "$BCR_ENL" kill --all > killed 2>&1 || fail "enl kill --all has failed there: $(cat killed)"
has killed "program $name:"
wait "$root" 2> /dev/null || [ $? = 137 ] || fail "status $?: $(cat err)"
root=
echo "ok test_hosts_seen"
