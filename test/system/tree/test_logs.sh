#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The logs of all hosts at the root, and as one: hosts of this machine, each with a tempdir and a clock of its own.
set -euo pipefail

fail() {
    echo "FAIL test_logs: $*"
    exit 1
}
source "$(dirname "$0")/../../support/told.sh"

: "${SYS_CCE:?run by ctest}" "${BCR_ENL:?run by ctest}" "${OTHER_CLOCK_LIB:?run by ctest}"
if [ "${1-}" = full ]; then # within a mount namespace: with a directory that is soon full
    mount -t tmpfs -o size=48k none small || exit 77
    "$BCR_ENL" --hosts machines --log-dir small "$SYS_CCE" at near enlist "$SYS_CCE" 1 2> err
    ls small > listed
    exit
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for name in $(compgen -v BCR_ | grep -vx 'BCR_ENL\|BCR_CONNECTTIMEOUT'); do unset "$name"; done
export HOME="$scratch" BCR_TEMPDIR="$scratch/here" SYS_TELL="$scratch/tell" SYS_GO="$scratch/go" BCR_OUTPUT=none # so that it is in the logs
mkdir here there
mkfifo tell go
exec 8<> tell 9<> go
# A preloaded library comes before a sanitizer's own.
host() {
    printf '#!/bin/sh\nexport BCR_TEMPDIR="%s/there" OTHER_CLOCK=%s LD_PRELOAD="%s" ASAN_OPTIONS=verify_asan_link_order=0\nexec "%s" "$@"\n' \
        "$scratch" "$1" "$OTHER_CLOCK_LIB" "$BCR_ENL"
}
host 0 > enl-near
host 7200 > enl-ahead
host -90000 > enl-behind
chmod 700 enl-near enl-ahead enl-behind
for name in near ahead behind; do echo "$name local enl=$scratch/enl-$name"; done > machines
chmod 600 machines
has() {
    grep -qF -- "$2" "$1" || fail "$1 is without \"$2\": $(head -c 4000 "$1"; cat err)"
}
has_not() {
    ! grep -qF -- "$2" "$1" || fail "$1 has \"$2\": $(head -c 4000 "$1")"
}

echo "-- one file for each host, whole, and those that were there stay"
SYS_CHILD="out one exit 0" "$BCR_ENL" --hosts machines --log-dir logs "$SYS_CCE" at near enlist "$SYS_CCE" 1 \
    at ahead from 2 enlist "$SYS_CCE" 1 at behind from 3 enlist "$SYS_CCE" 1 2> err || fail "$(cat err)"
[ ! -s err ] || fail "said: $(cat err)"
[ "$(ls logs | wc -l)" = 4 ] || fail "not four logs: $(ls logs)"
[ "$(ls logs/*.log | wc -l)" = 4 ] || fail "parts are left: $(ls logs)"
[ "$(stat -c %a logs/* | sort -u)" = 600 ] || fail "others may read them: $(ls -l logs)"
root=$(basename here/bcr.*.log .log)
cmp "here/$root.log" "logs/$root.log" || fail "the root's log is not its own"
for k in 1 2 3; do # its last record is about what is sent
    size=$(stat -c %s "logs/$root.$k.log")
    cmp -n "$size" "there/$root.$k.log" "logs/$root.$k.log" || fail "the log of host $k is not its own"
    has "logs/$root.$k.log" "host $k ends, and sends this log to the root"
done

echo "-- a directory of a longer name than a host is told settings of"
long=$(printf '%0200d' 0)
long=$long/$long/$long/$long/$long/$long
mkdir -p "$long"
SYS_CHILD="exit 0" "$BCR_ENL" --local 1 --log-dir "$scratch/$long" "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 2> err ||
    fail "$(cat err)"
[ "$(find "$long" -name '*.log' | wc -l)" = 2 ] || fail "not two logs: $(find "$long" -type f; cat err)"

echo "-- merged by one clock: each host's lines lie between the root's first and last"
"$BCR_ENL" logs logs > merged 2> err || fail "$(cat err)"
[ "$(wc -l < merged)" = "$(cat logs/* | wc -l)" ] || fail "lines are missing: $(cat merged)"
# A clock is known as well as a heartbeat's round trip allows: half of it is the most by which it can be wrong.
worst=$(sed -n 's/.* to the root.s, round trip \([0-9.]*\) s$/\1/p' logs/*.log | sort -n | tail -n 1)
[ -n "$worst" ] || fail "no clock was compared: $(cat logs/*.log)"
cat "logs/$root.log" - merged << end | awk -v worst="$worst" '
    function seconds(text) { split(substr(text, 12), part, /[:Z]/); return part[1] * 3600 + part[2] * 60 + part[3] }
    /^all:$/ { all = 1; slack = worst / 2 + 0.002; next }
    { at = seconds($1) }
    !all { if (first == "") first = at; last = at + (at < first ? 86400 : 0); next }
    { if (at < first - 43200) at += 86400 }
    at < first - slack || at > last + slack { print; bad = 1 }
    END { exit bad }' > outside || fail "worst $worst, outside of the program: $(cat outside merged)"
all:
end
LC_ALL=C sort -c -s -k 1,1 merged || fail "not in the order of time: $(cat merged)"
[ "$(cut -c 1-11 merged | sort -u | wc -l)" -le 2 ] || fail "times are days apart: $(cat merged)"
is_told() { # of host $1 that it is $2 s $3 the root's
    local told
    told=$(sed -n "s/^enl: host $1: its clock is \([0-9.]*\) s $3 the root's; times are corrected here: let NTP set it.*/\1/p" err)
    awk -v told="$told" -v is="$2" -v worst="$worst" 'BEGIN { off = told - is; exit told == "" || off * off > (worst / 2 + 0.051) ^ 2 }' ||
        fail "not told of host $1, or wrong by more than half of $worst s: $(cat err)"
}
is_told ahead 7200 "ahead of"
is_told behind 90000 behind
has_not err "host near"
"$BCR_ENL" logs --json logs/* > json 2> err || fail "$(cat err)"
[ "$(wc -l < json)" = "$(wc -l < merged)" ] || fail "not an object for each line"
if command -v python3 > /dev/null; then
    python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert {row["host"] for row in rows} >= {"near", "ahead", "behind"}, rows
assert all(row["time"][:4] == rows[0]["time"][:4] and row["level"] in ("info", "warn", "error", "debug") for row in rows)' < json ||
        fail "no JSON: $(head -n 3 json)"
fi
BCR_LOGDIR="$scratch/logs" "$BCR_ENL" logs 2> err | cmp - merged || fail "logdir is not looked into"

echo "-- of several programs in one directory the last"
sleep 0.01
BCR_LOGDIR="$scratch/logs" "$BCR_ENL" "$SYS_CCE" 2> err || fail "$(cat err)"
"$BCR_ENL" logs logs > merged 2> err
has err "logs has the logs of 2 programs; this is "
has_not merged "$root"

if [ "$(id -u)" = 0 ]; then
    echo "-- what others have written since in the same directory is theirs"
    cp -rp logs shared
    echo "of another user" > shared/bcr.theirs.1.log
    chown 65534 shared/bcr.theirs.1.log
    "$BCR_ENL" logs shared 2> err | cmp - merged || fail "another user's log is in the way: $(cat err)"
    rm shared/bcr.theirs.1.log
    chmod 755 . shared
    chmod 604 shared/*
    stranger=(setpriv --reuid 65533 --regid 65533 --clear-groups)
    if "${stranger[@]}" test -x "$BCR_ENL" 2> err; then
        "${stranger[@]}" "$BCR_ENL" logs shared 2> err | cmp - merged || fail "who has no log sees none: $(cat err)"
    fi
fi

echo "-- what cannot be merged"
for words in "nothing-there" "machines" "go logs" "there/.."; do
    # shellcheck disable=SC2086 # several words
    ! "$BCR_ENL" logs $words > merged 2> err < /dev/null || fail "enl logs $words: $(cat merged err)"
    [ "$(wc -l < err)" -ge 1 ] || fail "nothing was said of $words"
done
"$BCR_ENL" logs logs > merged 2> err
cp -rp logs some
last=$(ls -t some | head -n 1)
: > "some/${last%.log}.1.log" # of a host whose disk was full
echo nonsense > "some/${last%.log}.2.log"
cp merged wanted
! "$BCR_ENL" logs some > merged 2> err || fail "all is well with an empty log"
cmp wanted merged || fail "what can be merged was not: $(cat err)"
has err "${last%.log}.1.log: it is empty, as where the disk of its host was full"
has err "${last%.log}.2.log: this is no log of a BCR program"
! "$BCR_ENL" logs nothing-there "some/$last" > merged 2> err || fail "all is well with what is not there"
cmp wanted merged || fail "what is there was not shown: $(cat err)"
! "$BCR_ENL" --log-dir machines "$SYS_CCE" 2> err || fail "a file is no directory"
has err "machines cannot take logs (logdir): Not a directory"

echo "-- the log of a host that is lost is not there, and that is said"
forget_told
SYS_CHILD="tell parent pause" BCR_ONFAIL=isolate "$BCR_ENL" --hosts machines --log-dir lost "$SYS_CCE" at near \
    enlist "$SYS_CCE" 1 wait 2> err &
root=$!
wait_for_cces 1
kill -9 "$daemon"
for _ in $(seq 600); do
    ! grep -q "is lost" err || break
    sleep 0.1
done
echo >&9
wait "$root" || fail "$(cat err)"
has err "the log of host near is not in $scratch/lost: it has ended before it could send it; it is there, as bcr."
[ "$(ls lost | wc -l)" = 1 ] || fail "not the root's log alone: $(ls lost)"

echo "-- a log that has begun anew while it was written comes with what was before"
SYS_CHILD="flood 24000 exit 0" BCR_LOGSIZE=1 "$BCR_ENL" --hosts machines --log-dir large "$SYS_CCE" at near enlist "$SYS_CCE" 1 \
    2> err || fail "$(cat err)"
child=$(ls large/bcr.*.1.log)
[ "$(stat -c %s "$child")" -gt 1048576 ] || fail "only $(stat -c %s "$child") bytes"
"$BCR_ENL" logs "$child" > merged 2> err
has_not err "was never compared"
head -n 1 merged | grep -q "host 1, daemon 1 of this machine" || fail "begins with $(head -n 1 merged)"

echo "-- a disk that is full is told once, and the program ends as it would have"
if unshare -m true 2> /dev/null; then unshare=(unshare -m); else unshare=(unshare -r -m); fi
if "${unshare[@]}" true 2> /dev/null; then
    mkdir small
    SYS_CHILD="flood 3000 exit 0" "${unshare[@]}" "$0" full || fail "status $?: $(cat err)"
    has err "small (logdir) does not take the log of host near: No space left on device; logs that do not come stay"
    [ "$(wc -l < err)" = 1 ] || fail "not one sentence: $(cat err)"
    [ "$(grep -c . listed)" = 1 ] || fail "not the root's log alone: $(cat listed)"
else
    echo "without mount namespaces here no disk is full"
fi
echo "ok test_logs"
