#!/bin/sh
# SPDX-License-Identifier: MIT
# example_logscript.sh LOGSCRIPT ENL PROGRAM [args]
#
# Runs the program with LOGSCRIPT as its startscript and endscript, and looks at what is left; then has it play its
# part on another machine, with a copy command that needs no other machine.
set -eu

logscript=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME="$dir"
unset BCR_TEMPDIR BCR_STARTSCRIPT BCR_ENDSCRIPT

fail() {
    echo "example_logscript.sh: $1" >&2
    ls -lR "$dir" >&2
    exit 1
}

# As bcrrc(5) shows it: nothing but a file of settings.
printf '%s\n' "tempdir $dir" "startscript $logscript" "endscript $logscript" >"$dir/.bcrrc"
"$@" || fail "the program ended with status $?"
set -- "$dir"/bcr.*.logs
[ -d "$1" ] || fail "there is no directory of logs"
[ $# -eq 1 ] || fail "there are several directories of logs"
[ -s "$1/$(uname -n).log" ] || fail "this machine's log is not in it"
set -- "$dir"/bcr.*.log
[ ! -e "$1" ] || fail "a log is still outside of it"

export BCR_TEMPDIR="$dir"
cat >"$dir/copy" <<'COPY'
#!/bin/sh
cp "$1" "${2#*:}"
COPY
chmod +x "$dir/copy"
mkdir "$dir/bcr.far.logs"
echo "from afar" >"$dir/bcr.far.log"
"$logscript" 0 far 192.0.2.1 0
LOGSCRIPT_COPY=$dir/copy "$logscript" 1 far 192.0.2.1 0
grep -q "from afar" "$dir/bcr.far.logs/$(uname -n).log" || fail "another machine's log was not copied"
[ ! -e "$dir/bcr.far.log" ] || fail "another machine's log was left there"

echo "logscript: the logs are in one directory, and only there"
