#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_service.sh DRAIN -- the unit of examples/service, without systemd: its command runs with no terminal, no HOME, nothing to read and the
# environment of the unit only; SIGTERM to the main process alone (KillMode=mixed) ends it and all CCEs, with a status that the unit takes for
# success; a kill of it ends all CCEs. The same of the first process of a container. Where systemd-analyze is installed it verifies the unit.
set -euo pipefail

: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_ENL:?run by ctest}" "${SYS_CCE:?run by ctest}"
drain=$1
unit="$BCR_SOURCE_DIR/examples/service/drain.service"
scratch=$(mktemp -d)
main=
trap '[ -z "$main" ] || kill -KILL "$main" 2>/dev/null || :; rm -rf "$scratch"' EXIT

fail() {
    echo "FAIL test_service: $*"
    cat "$scratch"/out "$scratch"/err "$scratch"/log/*.log 2>/dev/null || :
    exit 1
}

setting() { sed -n "s/^$1=//p" "$unit"; }

# The unit with the programs and folders of this test.
sed -e "s|/usr/local/bin/enl|$BCR_ENL|; s|/usr/local/bin/drain|$drain|; s|/var/log/drain|$scratch/log|" "$unit" >"$scratch/drain.service"
if command -v systemd-analyze >/dev/null; then
    said=$(systemd-analyze verify "$scratch/drain.service" 2>&1) || fail "systemd-analyze verify: $said"
    ! grep -F drain.service <<<"$said" || fail "systemd-analyze verify finds the above"
else
    echo "skip test_service: what systemd says of the unit: there is no systemd-analyze"
fi
unit="$scratch/drain.service"
[ "$(setting KillMode)" = mixed ] || fail "the unit signals the CCEs too"
mkdir "$scratch/log" # LogsDirectory
mapfile -t environment < <(setting Environment)
for name in $(compgen -v BCR_ | grep -vE '^BCR_(SOURCE_DIR|ENL)$'); do unset "$name"; done

# start COMMAND...: as a unit's process; $main is its process id, since setsid(1) forks only where its process leads a group.
start() {
    (cd / && umask 022 && exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin "${environment[@]}" \
        setsid "$@" </dev/null >"$scratch/out" 2>"$scratch/err") &
    main=$!
}

# within ID: the processes of the session, which are all of the program: CCEs lead groups, but no sessions.
within() { ps -o pid= -s "$1" || :; }

# ends WANTED...: the main process ends with one of these statuses, and with it all others of its session.
ends() {
    local status=0
    wait "$main" || status=$?
    [[ " $* " == *" $status "* ]] || fail "status $status, not $*"
    while [ -n "$(within "$main")" ]; do sleep 0.05; done
    main=
}

eval "command=($(setting ExecStart))"
start "${command[@]}"
until grep -qs '^drain: serving' "$scratch/out"; do
    kill -0 "$main" 2>/dev/null || fail "it ended before it served"
    sleep 0.05
done
# The root serves as soon as it has enlisted the others, which may still be starting.
until [ "$(grep -cF " $drain" "$scratch/ps" 2>/dev/null)" = 3 ]; do
    BCR_TEMPDIR="$scratch/log" "$BCR_ENL" ps drain >"$scratch/ps" || fail "enl ps does not find it by its name"
done
kill -TERM "$main"
ends 0
grep -q 'accepted, .* served' "$scratch/out" || fail "not all that was accepted was served"
[ "$(cat "$scratch/err")" = "enl: program drain is ended by signal 15 (Terminated)" ] || fail "not only that was said on stderr"
[ -s "$scratch/log/bcr.drain.log" ] || fail "no log where the unit has one"

# A program that ends by the signal itself.
rm -f "$scratch/tell" "$scratch/go"
mkfifo "$scratch/tell" "$scratch/go"
exec 8<>"$scratch/tell" 9<>"$scratch/go"
environment+=("SYS_TELL=$scratch/tell" "SYS_GO=$scratch/go" "SYS_CHILD=parent wait")
start "$BCR_ENL" --name drain "$SYS_CCE" enlist "$SYS_CCE" 3 parent wait
for ((i = 0; i < 4; i++)); do read -r _ <&8; done
kill -TERM "$main"
ends 0 "$(setting SuccessExitStatus)"

# What is left of a unit whose main process was killed: nothing.
start "$BCR_ENL" --name drain "$SYS_CCE" enlist "$SYS_CCE" 3 parent wait
for ((i = 0; i < 4; i++)); do read -r _ <&8; done
kill -KILL "$main"
ends 137
# As the first process of a container, to which only signals get that it handles.
if unshare -p --fork true 2>/dev/null; then
    start unshare -p --fork "${command[@]}"
    until grep -qs '^drain: serving' "$scratch/out"; do
        kill -0 "$main" 2>/dev/null || fail "it ended before it served"
        sleep 0.05
    done
    kill -TERM "$(ps -o pid= --ppid "$main")"
    ends 0
    grep -q 'accepted, .* served' "$scratch/out" || fail "not all that was accepted was served"
else
    echo "skip test_service: enl as process 1: namespaces cannot be made here"
fi
echo "ok test_service"
