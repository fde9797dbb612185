#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What enl prints as JSON is JSON whatever the names of programs, hosts and files are made of: bytes that are no UTF-8,
# control characters, and what JSON itself uses. A parser that is not ours reads it.
set -euo pipefail

fail() {
    echo "FAIL test_json: $*"
    exit 1
}

: "${SYS_CCE:?run by ctest}" "${BCR_ENL:?run by ctest}"
command -v python3 > /dev/null || {
    echo "skip test_json: there is no python3"
    exit 77
}
scratch=$(mktemp -d)
root=
trap '[ -z "$root" ] || kill "$root" 2> /dev/null || :; rm -rf "$scratch"' EXIT
cd "$scratch"
for name in $(compgen -v BCR_ | grep -vx 'BCR_ENL\|BCR_CONNECTTIMEOUT'); do unset "$name"; done
export HOME="$scratch" BCR_TEMPDIR="$scratch" SYS_TELL="$scratch/tell" BCR_CONNECTTIMEOUT=120000
mkfifo tell
exec 8<> tell
# As a name, and as it is to be read: é and a face stay, the byte ff and half of a sequence are told. A setting has no
# quotes and control characters.
odd=$'a"\\\x01\t\x1b\x7f\xff\xe2\x82\xc3\xa9\xf0\x9f\x98\x80z'
plain=$'a\xff\xe2\x82\xc3\xa9\xf0\x9f\x98\x80z'
cat > read.py << 'end'
import json, sys

def no_constant(word):
    raise ValueError(word)

known = {'odd': 'a"\\\x01\t\x1b\x7f\\xff\\xe2\\x82\u00e9\U0001f600z', 'plain': 'a\\xff\\xe2\\x82\u00e9\U0001f600z'}
text = sys.stdin.buffer.read()
assert all(byte == 10 or 32 <= byte < 127 for byte in text), "not printable"
rows = [json.loads(line, parse_constant=no_constant) for line in text.decode('ascii').splitlines()]
assert rows, "nothing"
# Where the name must be found: in any text of it.
def texts(value):
    if isinstance(value, dict):
        for key in value:
            yield from texts(value[key])
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, str):
        yield value
if len(sys.argv) > 1:
    wanted = known[sys.argv[1]]
    assert any(wanted in one for one in texts(rows)), "without %r: %r" % (wanted, rows)
end
# FILE [odd | plain]: it is JSON, one value on each line, with that name in some text.
is_json() {
    python3 read.py "${@:2}" < "$1" > said 2>&1 || fail "$1 is no JSON: $(tail -n 1 said): $(cat -v "$1" | head -c 4000)"
}

echo "-- enl hosts, with odd commands, and machines that say odd things"
cat > "rsh$plain" << 'end'
#!/bin/sh
case $1 in
    said) printf 'a"\\\001\033\377\n' >&2; exit 3 ;;
    facts) printf 'bcr host facts 1\nprotocol 1\nversion 0.1.0\nabi x86_64\nhostname a\377b\ncores 1\nend\n' ;;
    *) exec sh -c "$2" ;;
esac
end
chmod 700 "rsh$plain"
printf 'said\nfacts\nnamed enl=%s/no\xff\xe2\x82z\ngood enl=%s\n' "$scratch" "$BCR_ENL" > machines
chmod 600 machines
BCR_RSHPATH="$scratch/rsh$plain" "$BCR_ENL" hosts --json machines > hosts.json 2> err || [ $? = 1 ] || fail "$(cat err)"
is_json hosts.json plain
grep -qF '"name":"good","slots":1,"usable":true,"version":"' hosts.json || fail "without good: $(cat hosts.json)"

echo "-- a program with an odd name, on this host, and one whose host cannot be started"
cp "$SYS_CCE" "$odd"
printf 'bad local enl=%s/no\xff\xe2\x82z\n' "$scratch" > machines
SYS_CHILD="tell pause" "$BCR_ENL" --hosts machines "./$odd" at bad enlist "./$odd" 1 at "" enlist "./$odd" 1 pause 2> err &
root=$!
while read -r word _ <&8 && [[ ! $word =~ ^[0-9]+$ ]]; do :; done # a CCE is there
name=$(uname -n | tr -c 'a-zA-Z0-9._\n-' -).$root
for command in ps cells regions waits stats why; do
    "$BCR_ENL" "$command" --json "$name" > "$command.json" 2> look.err || fail "$command: $(cat look.err)"
    is_json "$command.json"
done
is_json ps.json odd
grep -q '"standing":"' ps.json || fail "no hosts: $(cat ps.json)"

echo "-- logs, with lines of any bytes"
kill "$root"
wait "$root" || :
root=
mkdir logs
cp bcr.*.log logs
log=$(ls logs/bcr.*.log | head -n 1)
{
    printf '2026-03-01T12:34:56.789Z info  h\377"\\\001st/77/007 %s\n' "$odd"
    printf '%s\n' "$odd"
    head -c 20000 /dev/urandom
    echo
} >> "$log"
"$BCR_ENL" logs --json "$log" > logs.json 2> err || fail "$(cat err)"
is_json logs.json odd
grep -qF '"pid":77,"cce":7,' logs.json || fail "without CCE 7: $(cat -v logs.json)"
echo "ok test_json"
