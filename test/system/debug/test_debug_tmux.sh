#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# enl -D tmux with real tmux and gdb. The person's terminal is a pane of another tmux.
source "$(dirname "$0")/common.sh"
need tmux
need_gdb
seen=
export LC_ALL=C.UTF-8 SYS_CHILD="exit 0"
outer="tmux -L outer -f /dev/null"
inner() { tmux -L "bcr-$seen" "$@"; }
end() {
    $outer capture-pane -p > screen.out 2> /dev/null || :
    $outer kill-server 2> /dev/null || :
    tmux -L "bcr-$seen" kill-server 2> /dev/null || :
    remove
}
panes() { [ "$(inner list-panes -a | wc -l)" = "$1" ]; }
runs() { # COMMAND: a process of this test whose command line begins so
    local process
    for process in $(marked); do
        [[ $(tr '\0' ' ' 2> /dev/null < "/proc/$process/cmdline") != "$1"* ]] || return 0
    done
    return 1
}
pane_shows() { inner capture-pane -p -t "$1" > pane.out && has pane.out "$2"; }

# In a terminal the session is shown at once; a CCE that is enlisted gets a pane; all is gone when the debuggers quit.
$outer new-session -d -x 120 -y 40 "bash --norc"
$outer send-keys "$enl -d 'gdb -nx' -D tmux $SYS_CCE enlist $SYS_CCE 2 2>&1; echo status-\$?" Enter
until_true screen '^(gdb)'
seen=$(program)
$outer send-keys run Enter
until_true panes 3
until_true pane_shows bcr:ccees-1.1 '^(gdb)'
until_true pane_shows bcr:ccees-1.2 '^(gdb)'
until_true screen 'CCE 1: .*CCE 2: \|CCE 2: '
for pane in 1 2; do inner send-keys -t bcr:ccees-1.$pane run Enter; done
for pane in 0 1 2; do until_true pane_shows bcr:ccees-1.$pane 'exited normally'; done
inner send-keys -t bcr:ccees-1.2 q Enter
inner send-keys -t bcr:ccees-1.1 q Enter
inner send-keys -t bcr:ccees-1.0 q Enter
until_true screen 'status-0'
[ ! -e "tmux-$(id -u)/bcr-$seen" ] || fail "the socket of tmux is left"

# Without a terminal the way to it is told; a window that is closed is the end of its CCE.
"$enl" -d 'gdb -nx' -D tmux "$SYS_CCE" pause > closed.out 2>&1 < /dev/null &
until_true has closed.out 'tmux -L bcr-.* attach shows the CCEs'
seen=$(program)
until_true pane_shows bcr:ccees-1.0 '^(gdb)'
inner send-keys -t bcr:ccees-1.0 run Enter
until_true pane_shows bcr:ccees-1.0 'Starting program'
inner kill-pane -t bcr:ccees-1.0
wait $! && fail "the end of a window is no end"

# enl is killed: nothing stays behind.
"$enl" -d 'gdb -nx' -D tmux "$SYS_CCE" pause > killed.out 2>&1 < /dev/null &
until_true has killed.out 'attach shows the CCEs'
seen=$(program)
until_true pane_shows bcr:ccees-1.0 '^(gdb)'
inner send-keys -t bcr:ccees-1.0 run Enter
until_true pane_shows bcr:ccees-1.0 'Starting program'
# When gdb is killed between its fork and the exec of the program, the kernel leaves the child to init, stopped for good.
until_true runs "$SYS_CCE pause"
kill -KILL $!
until_true nothing_but '^(sleep|grep|tr|bash|tmux -L outer)'

# Each of many gets its prompt (in ./check --all of 64).
count=8
[ -z "${BCR_TEST_FULL-}" ] || count=64
prompts() { # all of them
    local pane found=0
    for pane in $(inner list-panes -a -F '#{pane_id}'); do
        ! inner capture-pane -p -t "$pane" | grep -q '^(gdb)' || found=$((found + 1))
    done
    [ $found = $count ]
}
begun=${EPOCHREALTIME/./}
SYS_CHILD=pause "$enl" -d 'gdb -nx' -D tmux --debug-ccs 1-$count "$SYS_CCE" enlist "$SYS_CCE" $count pause > prompts.out 2>&1 < /dev/null &
until_true has prompts.out 'attach shows the CCEs'
seen=$(program)
until_true prompts
echo "prompts of $count CCEs under gdb: $(((${EPOCHREALTIME/./} - begun) / 1000)) ms"
"$enl" kill "$seen" > kill.out 2>&1
wait || :

# So many that no tile is left for each: the next window begins.
export SYS_CHILD=pause
"$enl" -d "$SYS_PLAIN" -D tmux true > other.out 2>&1 < /dev/null && fail "a debugger that ends at once is a start"
has other.out 'its debugger exited with status 0' || fail "no word of why"
printf '#!/bin/sh\n[ "$1" != --args ] || shift\nexec "$@"\n' > nodebugger
chmod +x nodebugger
"$enl" -d ./nodebugger -D tmux "$SYS_CCE" enlist "$SYS_CCE" 40 pause > many.out 2>&1 < /dev/null &
until_true has many.out 'attach shows the CCEs'
seen=$(program)
until_true panes 41
inner list-windows > windows.out
has windows.out ccees-2 || fail "41 panes in one window"
"$enl" kill "$(program)" > kill.out 2>&1
nothing_is_left '|tmux -L outer'
