#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Debuggers of CCEs on other hosts (two more daemons of this machine): real gdb, lldb, gdbserver and tmux.
source "$(dirname "$0")/common.sh"
need tmux gdbserver
need_gdb

export LC_ALL=C.UTF-8
outer="tmux -L outer -f /dev/null"
seen=
end() {
    $outer kill-server 2> /dev/null || :
    tmux -L "bcr-$seen" kill-server 2> /dev/null || :
    for process in $(marked); do kill -KILL "$process" 2> /dev/null || :; done
    remove
}
inner() { tmux -L "bcr-$seen" "$@"; }
pane_shows() { inner capture-pane -p -t "$1" > pane.out && has pane.out "$2"; }
traced() { ! grep -q '^TracerPid:.0$' "/proc/$1/status"; }
untraced() { ! traced "$1"; }
forget() { # what was told, and the logs, of programs that have ended
    while read -r -t 0 -u 8; do read -r _ <&8; done
    rm -f bcr.*
}
name_of_root() { local log; log=$(ls bcr.*.1.log); log=${log#bcr.}; echo "${log%.1.log}"; }

# Each CCE starts under a debugger of its own host.
printf 'run\n' > script
SYS_CHILD="exit 0" "$enl" --local 2 -D batch:script "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 \
    at local2 from 2 enlist "$SYS_CCE" 1 > batch.out 2>&1 < /dev/null || fail "status $? with gdb on three hosts"
for cce in 0 1 2; do
    has batch.out "^\[$cce\] \[Inferior 1 (process [0-9]*) exited normally" || fail "CCE $cce did not end under gdb"
done
if [[ $(lldb -b -o run "$SYS_PLAIN" 2>&1 < /dev/null) == *[!_]plain* ]]; then
    SYS_CHILD="exit 0" "$enl" --local 1 -d lldb -D batch:script --debug-ccs 1 "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 \
        > lldb.out 2>&1 < /dev/null || fail "status $? with lldb"
    has lldb.out '^\[1\] .*exited with status = 0' || fail "CCE 1 did not end under lldb"
fi
nothing_is_left

# A program that runs on two hosts: gdb, lldb and gdb's protocol reach its CCE 1 through the tree.
forget
SYS_CHILD="tell pause" "$enl" --local 2 "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 tell pause > run.out 2>&1 < /dev/null &
root=$!
for _ in 1 2 3; do # enlist's result and two lines of tell
    read -r -t 60 first pid _ <&8
    [ "$first" != 1 ] || cce=$pid
done
name=$(name_of_root)
"$enl" attach -d 'gdb -nx -batch -ex bt' "$name" 1 > attach.out 2>&1 < /dev/null || fail "attach: status $?"
has attach.out 'pause' || fail "no backtrace through the tree"
until_true untraced "$cce"
"$enl" attach -d 'gdb -nx -batch -ex bt' "$name" "pid:$cce@1" > attach.out 2>&1 < /dev/null || fail "attach: status $?"
has attach.out 'pause' || fail "no backtrace of a process named by its host"
until_true untraced "$cce"
gdb -q -nx -batch -ex "target remote | $enl gdb-pipe $name 1" -ex bt -ex detach > pipe.out 2>&1 < /dev/null ||
    fail "gdb-pipe: status $?"
has pipe.out 'pause' || fail "no backtrace through gdb-pipe and the tree"
until_true untraced "$cce"
if [[ $(lldb -b -o run "$SYS_PLAIN" 2>&1 < /dev/null) == *[!_]plain* ]]; then
    "$enl" attach -d "lldb -b -o 'thread backtrace' -o detach" "$name" 1 > lldb.out 2>&1 < /dev/null ||
        fail "attach with lldb: status $?"
    has lldb.out 'pause' || fail "no backtrace by lldb through the tree"
    until_true untraced "$cce"
fi
"$enl" attach -D server "$name" > lines.out 2>&1 < /dev/null
has lines.out "gdb-pipe $name pid:$cce@1'$" || fail "no line to paste for the other host"

refused 1 "CCE 1: no debugger: there is no program no-such.*; install it, or name another by -d (on host local1)" \
    attach -d no-such "$name" 1
refused 1 "CCE 7: it has ended" attach "$name" 7
refused 1 "CCE 7: it has ended" attach -D server "$name" 1 7
refused 1 "CCE 7@1: it has ended.*(on host local1)" attach "$name" 7@1
refused 1 "CCE 1@2: host 2 is not part of the program" attach "$name" 1@2 # not started: no CCE is there
refused 2 "by its ordinal, or by pid:" attach "$name" 1@

# In a terminal: what is typed arrives, Ctrl-C too, and the size of the window.
printf '#!/bin/sh\ntrap "stty size" WINCH\nstty size\nwhile :; do read -r x || sleep 0.1; [ "$x" != leave ] || exit 0; done\n' > sizes
chmod +x sizes
$outer new-session -d -x 120 -y 40 "bash --norc"
$outer send-keys "$enl attach -d ./sizes $name 1" Enter
until_true screen '^40 120'
$outer resize-window -x 100 -y 30
until_true screen '^30 100'
$outer send-keys leave Enter
until_true nothing_but '^(sleep|grep|tr|bash|tmux|[^ ]*sys_cce|[^ ]*enl --(local|child))'
afresh "$enl attach -d 'gdb -nx' $name 1; echo status-\$?"
until_true screen '^(gdb)'
traced "$cce" || fail "gdb has not attached"
refused 1 "CCE 1: process [0-9]* traces it already (on host local1)" attach "$name" 1
$outer send-keys continue Enter
until_true screen 'Continuing'
$outer send-keys C-c
until_true screen 'SIGINT'
$outer send-keys detach Enter q Enter
until_true screen 'status-0'
until_true untraced "$cce"

# The terminal closes, and gdb lets go; so it does when the command is killed.
afresh "$enl attach -d 'gdb -nx' $name 1"
until_true screen '^(gdb)'
$outer kill-server
until_true untraced "$cce"
"$enl" attach -d 'gdb -nx' "$name" 1 > killed.out 2>&1 <&8 &
command=$!
until_true traced "$cce"
kill -KILL $command
until_true untraced "$cce"
until_true nothing_but '^(sleep|grep|tr|bash|[^ ]*sys_cce|[^ ]*enl --(local|child))'
# Its helper is killed; the command ends with it, and gdb lets go.
helpers() {
    local process
    for process in $(marked); do
        ! [[ $(tr '\0' ' ' 2> /dev/null < "/proc/$process/cmdline") =~ ^enl\ --debug-host ]] || echo "$process"
    done
}
"$enl" attach -d 'gdb -nx' "$name" 1 > helper.out 2>&1 <&8 &
command=$!
until_true traced "$cce"
kill -KILL $(helpers)
wait $command || :
until_true untraced "$cce"
# A debugger that prints without end to a command that is stopped: others are served, and nothing is left.
printf '#!/bin/sh\nexec yes\n' > flood
chmod +x flood
mkfifo stuck
exec 7<> stuck
"$enl" attach -d ./flood "$name" 1 > stuck 2>&1 <&8 &
command=$!
read -r -t 60 _ <&7
kill -STOP $command
"$enl" attach -d 'gdb -nx -batch -ex bt' "$name" 1 > beside.out 2>&1 < /dev/null || fail "attach beside a flood: status $?"
has beside.out 'pause' || fail "a flood holds up others"
kill -KILL $command
exec 7>&-
until_true untraced "$cce"
until_true nothing_but '^(sleep|grep|tr|bash|[^ ]*sys_cce|[^ ]*enl --(local|child))'
# Its host's daemon ends: the command ends, with what it had.
"$enl" attach -d 'gdb -nx' "$name" 1 > gone.out 2>&1 <&8 &
command=$!
until_true traced "$cce"
kill -KILL $(for process in $(marked); do
    ! [[ $(tr '\0' ' ' 2> /dev/null < "/proc/$process/cmdline") =~ enl\ --child ]] || echo "$process"
done)
wait $command || :
wait $root || :
nothing_is_left

# A pane of tmux for a CCE of another host; the pane that is closed is the end of its CCE.
forget
SYS_CHILD="tell pause" "$enl" --local 1 -d 'gdb -nx' -D tmux --debug-ccs 1 "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 pause \
    > panes.out 2>&1 < /dev/null &
root=$!
until_true has panes.out 'tmux -L bcr-.* attach shows the CCEs'
seen=$(name_of_root)
until_true pane_shows bcr:ccees-1.0 '^(gdb)'
inner send-keys -t bcr:ccees-1.0 run Enter
first=
until [ "$first" = 1 ]; do read -r -t 60 first pid _ <&8; done
inner kill-pane -t bcr:ccees-1.0
status=0
wait $root || status=$?
[ $status != 0 ] || fail "the end of a pane is no end"
nothing_is_left

# Under gdbserver on another host.
forget
SYS_CHILD="exit 0" "$enl" --local 1 -D server --debug-ccs 1 "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 > server.out 2>&1 < /dev/null &
root=$!
until_true has server.out 'CCE 1 .* waits for a debugger: gdb -ex'
gdb -q -nx -batch -iex 'set sysroot /' -ex "target remote | $enl gdb-pipe $(name_of_root) 1" -ex 'break bcr_init' -ex continue -ex bt -ex delete -ex continue \
    > served.out 2>&1 < /dev/null || fail "gdb of a gdbserver on another host: status $?"
has served.out '^#0 .*bcr_init' || fail "no backtrace of a CCE that gdbserver started on another host"
ends $root 0
nothing_is_left

# The debugger is not there any more when the host needs it: a sentence with the host, and no CCE.
forget
printf '#!/bin/sh\nexec gdb "$@"\n' > gdb-here
chmod +x gdb-here
SYS_CHILD="exit 0" "$enl" --local 1 -d ./gdb-here -D batch:script --debug-ccs 1 "$SYS_CCE" tell wait at local1 enlist "$SYS_CCE" 1 \
    > missing.out 2>&1 < /dev/null &
root=$!
read -r -t 60 _ <&8
rm gdb-here
echo go >&9
ends $root 0
has missing.out 'CCE 1 .* on local1 was not started: .*gdb-here' || fail "no word of the host without a debugger"
nothing_is_left
