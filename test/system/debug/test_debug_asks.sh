#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bcr_debug: where test_enl_debug does not reach. tmux, an X display, a debugger that is there already, a person at a CCE that is
# stopped, a host that comes late.
source "$(dirname "$0")/common.sh"
need tmux
need_gdb

# begin WORD...: starts enl with two members or more; pids has the process of each.
begin() {
    local members=$1 rank pid
    shift
    rm -f up
    "$enl" "$@" > run.out 2>&1 < /dev/null &
    root=$!
    pids=()
    for ((told = 0; told < members; told++)); do
        read -r -t 60 rank pid <&8 || fail "only $told members have come"
        pids[rank]=$pid
    done
}
state_is() { grep -q "^State:.$2" "/proc/$1/status"; }

# In tmux, which is chosen where there is no display. Its socket goes with it.
begin 2 --local 1 --per-host 1 --map cyclic -n 2 "$SYS_DEBUG" tell - 1 - ask
until_true has run.out 'tmux -L .* attach'
socket=$(sed -n 's/.*tmux -L \([^ ]*\) attach.*/\1/p' run.out)
in_tmux() { tmux -L "$socket" capture-pane -p > pane.out && has pane.out "$1"; }
until_true in_tmux '^(gdb)'
state_is "${pids[0]}" T || fail "the other CCE runs while gdb is in tmux"
tmux -L "$socket" send-keys quit Enter y Enter
ends $root 134
nothing_is_left
[ ! -e "tmux-$(id -u)/$socket" ] || fail "tmux's socket is left"

# Its enl is killed by a signal that ends the program; so the socket goes, too.
begin 2 --per-host 2 -n 2 "$SYS_DEBUG" tell tmux 1 - ask
until_true has run.out 'tmux -L .* attach'
socket=$(sed -n 's/.*tmux -L \([^ ]*\) attach.*/\1/p' run.out)
until_true in_tmux '^(gdb)'
kill -TERM $root
ends $root 143
nothing_is_left
[ ! -e "tmux-$(id -u)/$socket" ] || fail "tmux's socket is left after SIGTERM"

# On an X display, and on one that is not there.
if command -v Xvfb > /dev/null && command -v xterm > /dev/null && command -v xwininfo > /dev/null; then
    Xvfb -displayfd 5 -screen 0 800x600x24 -nolisten tcp 5> display > /dev/null 2>&1 &
    started=$!
    until_true test -s display
    display=:$(cat display)
    window() { xwininfo -display "$display" -root -tree > windows.out && has windows.out '"CCE pid:'; }
    DISPLAY=$display begin 2 --per-host 2 -n 2 "$SYS_DEBUG" tell - 1 - ask
    until_true window
    until_true state_is "${pids[1]}" t
    state_is "${pids[0]}" T || fail "the other CCE runs while gdb is in a window"
    xdebugger=$(sed -n 's/^TracerPid:.//p' "/proc/${pids[1]}/status")
    kill -KILL "$xdebugger"
    ends $root 134
    kill "$started"
    nothing_is_left
    begin 2 --per-host 2 -n 2 "$SYS_DEBUG" tell :94 1 - ask
    ends $root 134
    has run.out 'on X display :94' || fail "not said: there is no such display"
fi

# A CCE that runs under a debugger is stopped for that one, and the others go on.
mkfifo gate
exec 7<> gate
printf 'run\nbt\nshell head -c 1 gate > /dev/null\n' > script
begin 2 --per-host 2 -D batch:script --debug-ccs 1 -n 2 "$SYS_DEBUG" tell - 1 - ask
until_true has run.out 'CCE 1.* asks for a debugger: it is stopped for process'
until_true has run.out 'bcr_debug (where='
! state_is "${pids[0]}" T || fail "the other CCE is stopped, too"
kill -TERM $root
ends $root 143
nothing_is_left

# A person looks at another CCE meanwhile, which stays stopped when that debugger has gone, too.
printf 'shell touch up\nshell head -c 1 gate > /dev/null\n' > script
printf 'shell touch looks\nshell head -c 1 way > /dev/null\n' > looking
mkfifo way
exec 6<> way
begin 2 --per-host 2 -n 2 "$SYS_DEBUG" tell batch:script 1 - signal
"$enl" attach -d 'gdb -nx -batch -x looking' "$(program)" "pid:${pids[0]}" > attach.out 2>&1 < /dev/null &
attached=$!
until_true [ -e looks ]
kill -USR1 "${pids[1]}"
until_true [ -e up ]
echo >&6
ends $attached 0
until_true grep -q '^TracerPid:.0$' "/proc/${pids[0]}/status"
until_true state_is "${pids[0]}" T
echo >&7
ends $root 134
nothing_is_left

# A host comes up when all are stopped, since its startscript takes so long: it starts nothing.
printf '#!/bin/sh\n[ $4 = 1 ] || { touch reached && read _ < %s/way; }\n' "$scratch" > slow
printf '#!/bin/sh\ntouch has-started\n' > started
chmod +x slow started
printf '%s slots=2\nn1 local\n' "$(uname -n)" > machines
BCR_STARTSCRIPT=$scratch/slow begin 2 --hosts machines -n 2 "$SYS_DEBUG" tell batch:script 1 signal enlist
until_true [ -e reached ]
kill -USR1 "${pids[0]}"
until_true [ -e up ]
echo >&6
until_true has run.out 'CCE 7 (./started) on .* was not started: the program is ending'
[ ! -e has-started ] || fail "a host that came late has started a CCE"
echo >&7
ends $root 134
nothing_is_left
