# SPDX-License-Identifier: MIT
# Sourced by the tests of this folder: a folder of their own, waits with a deadline, and what may not be left behind.
set -Eeuo pipefail
trap 'fail "line $LINENO of $0 went wrong"' ERR

test_name=$(basename "$0" .sh)
skip() {
    echo "skip $test_name: $*"
    exit 77
}
fail() {
    echo "FAIL $test_name: $*"
    for file in "$scratch"/*.out; do
        [ ! -e "$file" ] || { echo "-- $file:"; tail -n 40 "$file"; }
    done
    exit 1
}
# need TOOL...: without one of them the test is skipped.
need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" > /dev/null || skip "there is no $tool"
    done
}
# Whether gdb can start programs of this build here.
need_gdb() {
    need gdb
    [[ $(gdb -q -nx -batch -ex run "$SYS_PLAIN" < /dev/null 2>&1) =~ plain$'\n' ]] ||
        skip "gdb cannot run programs of this build"
}

: "${SYS_CCE:?run by ctest}" "${SYS_PLAIN:?run by ctest}" "${BCR_ENL:?run by ctest}"
scratch=$(mktemp -d)
cd "$scratch"
for variable in $(compgen -v BCR_ | grep -v '^BCR_ENL$\|^BCR_DEADLINE$\|^BCR_TEST_FULL$\|^BCR_CONNECTTIMEOUT$'); do unset "$variable"; done
# All processes of this test have this variable, so that those which stay behind are found.
export HOME="$scratch" BCR_TEMPDIR="$scratch" TMUX_TMPDIR="$scratch" SYS_TELL="$scratch/tell" SYS_GO="$scratch/go"
export SYS_MARK="$scratch" DEBUGINFOD_URLS= ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # which a debugger forbids
unset TMUX DISPLAY
mkfifo tell go
exec 8<> tell 9<> go
enl=$BCR_ENL

marked() { # the processes of this test but this one's own
    local process
    for process in /proc/[0-9]*; do
        [ "${process#/proc/}" != $$ ] || continue
        if grep -qsazx "SYS_MARK=$scratch" "$process/environ" 2> /dev/null; then echo "${process#/proc/}"; fi
    done
}
remove() { # what is being killed may still write
    local i
    for i in 1 2 3 4 5 6 7 8 9; do
        ! rm -rf "$scratch" 2> /dev/null || return 0
        sleep 0.2
    done
}
end() {
    local process
    for process in ${started-}; do kill -KILL "$process" 2> /dev/null || :; done
    remove
}
trap end EXIT

# until_true COMMAND...: waits until it succeeds.
until_true() {
    local end=$((SECONDS + ${BCR_DEADLINE:-100}))
    until "$@" > /dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "waited in vain for: $*: $("$@" 2>&1)"
        sleep 0.05
    done
}
has() { grep -q -e "$2" "$1" 2> /dev/null; }
# What tmux, $outer, shows.
screen() { $outer capture-pane -p > screen.out && has screen.out "$1"; }
without_gdb() { $outer capture-pane -p > screen.out && ! has screen.out '^(gdb)'; }
# Types a command there when no debugger before it is to be seen any more, which would pass for its own.
afresh() {
    $outer send-keys clear Enter
    until_true without_gdb
    $outer send-keys "$1" Enter
}
# ends PID STATUS: the process, a child of this one, ends with that status.
ends() {
    local status=0
    wait "$1" || status=$?
    [ "$status" = "$2" ] || fail "process $1 ended with status $status, not $2"
}
nothing_but() { # PATTERN: no process is left whose command line does not match it
    local process command
    for process in $(marked); do
        command=$(tr '\0' ' ' 2> /dev/null < "/proc/$process/cmdline") || continue
        [ -z "$command" ] || [[ $command =~ $1 ]] || { echo "$command"; return 1; }
    done
}
# Nothing is left of the sessions: no debugger, window, tmux, CCE.
nothing_is_left() { until_true nothing_but "^(Xvfb|sleep|grep|tr|bash${1-})"; }
program() { # the newest one of this test
    local log
    for log in $(ls -t bcr.*.log); do
        log=${log#bcr.}
        echo "${log%.log}"
        return
    done
}

# An enl that is to end so, after that sentence. (test_debug_batch and test_debug_forbidden have one of their own.)
refused() { # STATUS SENTENCE WORD...
    local wanted=$1 sentence=$2 status=0
    shift 2
    "$enl" "$@" > refused.out 2>&1 < /dev/null || status=$?
    [ $status = "$wanted" ] || fail "enl $* ended with status $status"
    has refused.out "$sentence" || fail "enl $* did not say: $sentence"
}
