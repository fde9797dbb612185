#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# enl -D batch:FILE with real gdb and lldb, and what is refused before anything is started.
source "$(dirname "$0")/common.sh"

refused() { # SENTENCE WORD...
    local sentence=$1 status=0
    shift
    PATH=${tools-$PATH} "$enl" "$@" > refused.out 2>&1 < /dev/null || status=$?
    [ $status = 2 ] || fail "enl $* ended with status $status"
    has refused.out "$sentence" || fail "enl $* did not say: $sentence"
}
printf 'break bcr_enlist\nrun\nbt\ncontinue\n' > script
refused "no debugger: there is no program no-such-debugger" -d no-such-debugger -D batch:script "$SYS_CCE"
refused "takes an X display such as :0, tmux, server" -D elsewhere "$SYS_CCE"
refused "the script cannot be read" -d true -D batch:none "$SYS_CCE"
refused "runs scripts of gdb and lldb, not of true" -d true -D batch:script "$SYS_CCE"
refused "under a debugger or under a wrapper" -d true -D tmux --wrap nice "$SYS_CCE"
refused "is for gdb, which true is not" -d true -D server "$SYS_CCE"
refused "debug-ccs takes ordinals" -d true -D tmux --debug-ccs 3-1 "$SYS_CCE"
refused "debug-ccs needs -d or -D" --debug-ccs 1 "$SYS_CCE"
mkdir empty
ln -s "$(type -P true)" empty/gdb
tools=$scratch/empty
refused "no program tmux" -d gdb -D tmux "$SYS_CCE"
refused "no program gdbserver" -d gdb -D server "$SYS_CCE"
BCR_XTERMPATH=/none refused "no program /none" -d gdb -D :9 "$SYS_CCE"
unset tools

need_gdb
export SYS_CHILD="exit 0"
"$enl" -D batch:script "$SYS_CCE" enlist "$SYS_CCE" 2 > gdb.out 2>&1 < /dev/null || fail "status $? with gdb"
[ "$(grep -c '^\[0\] #0 .*bcr_enlist' gdb.out)" = 1 ] || fail "no backtrace of CCE 0"
for cce in 0 1 2; do
    has gdb.out "^\[$cce\] \[Inferior 1 (process [0-9]*) exited normally" || fail "CCE $cce did not end under gdb"
done
"$enl" -D batch:script --debug-ccs 0,2-9 "$SYS_CCE" enlist "$SYS_CCE" 2 > some.out 2>&1 < /dev/null || fail "status $?"
! has some.out '^\[1\]' || fail "CCE 1 had a debugger"
has some.out '^\[2\] \[Inferior 1' || fail "CCE 2 had no debugger"
# A script that does not run the program.
printf 'info files\n' > idle
"$enl" -D batch:idle "$SYS_CCE" > idle.out 2>&1 < /dev/null && fail "a program that was not run has status 0"
has idle.out "its debugger exited with status 0 before the program had called bcr_init" || fail "no word of why"

if [[ $(lldb -b -o run "$SYS_PLAIN" 2>&1 < /dev/null) == *[!_]plain* ]]; then
    printf 'breakpoint set -n bcr_enlist\nrun\nbt\ncontinue\n' > script
    "$enl" -d lldb -D batch:script --debug-ccs 0 "$SYS_CCE" enlist "$SYS_CCE" 2 > lldb.out 2>&1 < /dev/null ||
        fail "status $? with lldb"
    has lldb.out '^\[0\] .*frame #0: .*bcr_enlist' || fail "no backtrace by lldb"
    has lldb.out 'exited with status = 0' || fail "it did not end under lldb"
else
    echo "skip $test_name: there is no lldb that can run programs of this build"
fi
nothing_is_left
