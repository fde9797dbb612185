#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# getcube, load, waitcube, killcube, relcube, cubeinfo: cubes that last from one command to the next, and a host program that attaches.
set -euo pipefail

work=$(mktemp -d)
export HOME=$work BCR_TEMPDIR=$work NX_PROGRAM=nx-$$
PATH=$NX_COMMANDS:$PATH
cd "$work"
trap 'relcube -a >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

says() { # STATUS SENTENCE COMMAND...
    local status=$1 sentence=$2 got=0
    shift 2
    "$@" >said 2>&1 || got=$?
    [[ $got = "$status" && $(cat said) == *"$sentence"* ]] || fail "$*: status $got, not $status; not \"$sentence\": $(cat said)"
}

ended() { # the program that holds cubes ends by itself
    for _ in $(seq 300); do
        "$ENL" ps 2>/dev/null | grep -q "^$NX_PROGRAM " || return 0
        sleep 0.1
    done
    fail "$NX_PROGRAM runs still: $("$ENL" ps)"
}

says 1 'there is no cube: getcube gets one' load "$NX_HOST" word
[ -z "$(cubeinfo)" ]
says 1 '"d" is no type of a cube' getcube -t d
getcube -c shell -t d1 >nodes 2>errors
grep -q '^shell: 2 nodes$' nodes || fail "$(cat nodes errors)"
says 1 'there is a cube "shell" already' getcube -c shell
getcube -c other -t 3 >/dev/null
cubeinfo >said
[ "$(grep -c -e '^shell  *2 nodes$' -e '^other  *3 nodes$' said)" = 2 ] || fail "$(cat said)"

# Loaded twice: as two process IDs.
load -c shell "$NX_HOST" word
load -c shell -p 3 "$NX_HOST" again
says 5 'node 1, process 0: status 5' waitcube -c shell -p 0
says 5 'node 1, process 3: status 5' waitcube -c shell
for _ in $(seq 100); do
    [ "$(grep -c 'sum' nodes)" = 2 ] && break
    sleep 0.1
done
[ "$(grep -c -e '^word: 2 nodes, sum 3$' -e '^again: 2 nodes, sum 3$' nodes)" = 2 ] || fail "$(cat nodes errors)"

# A host program from the shell, which waits while a command begins the program that holds cubes, or ends it; and nodes that wait
# for it, which are killed.
exec {lock}<"$HOME"
flock "$lock"
"$NX_HOST" host attaches &
host=$!
until grep -q -- "-> FLOCK .* $host " /proc/locks; do
    kill -0 "$host" 2>/dev/null || fail "the host program has not waited"
    sleep 0.05
done
flock -u "$lock"
wait "$host" || fail "the host program, which has waited: status $?"
sleep 3 # until enl has given back all of the host program's
load -c shell -p 2 "$NX_HOST" orphan
says 5 'node 1, process 2: status 5' waitcube -c shell -p 2
load -c other "$NX_HOST"
says 1 'process 0 runs already there' load -c other -n 1 "$NX_HOST"
killcube -c other -n 1
says 137 'node 1, process 0: signal 9' waitcube -c other -n 1
relcube -c other
says 1 'there is no cube "other"' waitcube -c other
says 1 'there is no such program' load -c shell /no/such/program
says 1 '"x" is no node' load -c shell -n x "$NX_HOST"
says 2 'usage: load' load
says 2 'usage: cubeinfo' cubeinfo more
says 0 'usage: getcube [-c NAME] [-t TYPE]' getcube --help
relcube -c shell
ended
says 1 'there is no cube: getcube gets one' relcube -c shell
[ -z "$(cubeinfo)" ]

# What never becomes a process of NX is told of; and a program that ends is no place for the next cube.
getcube -c a -t 1 >/dev/null
load -c a /bin/true
says 1 'node 0, process 0: /bin/true ended without a call of NX' waitcube -c a
for i in 1 2 3 4 5 6; do
    relcube -a
    says 0 "a: $i node" getcube -c a -t "$i"
    load -c a "$NX_HOST"
    [ "$(cubeinfo | wc -l)" = 1 ] || fail "round $i: $(cubeinfo)"
done
(
    relcube -a
) &
getcube -c b >/dev/null
wait $!
relcube -a || true
ended

# Two at once: one begins, the other enters.
getcube -c a >/dev/null &
getcube -c b >/dev/null
wait $!
[ "$(cubeinfo | wc -l)" = 2 ]
relcube -a
ended
