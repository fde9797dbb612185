#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A tmux that does not answer does not hold up the end; one whose panes have all ended is started anew.
source "$(dirname "$0")/common.sh"
need tmux
need_gdb # where it cannot, enl -d is refused
export LC_ALL=C.UTF-8 SYS_CHILD="exit 0"
seen=
end() {
    for process in $(marked); do kill -KILL "$process" 2> /dev/null || :; done
    remove
}
server() { # the process of enl's tmux
    tmux -L "bcr-$seen" display-message -p '#{pid}'
}
windows() { # that of enl --windows
    local process
    for process in $(marked); do
        tr '\0' ' ' < "/proc/$process/cmdline" 2> /dev/null | grep -q "enl --windows $seen " || continue
        echo "$process"
    done
}
printf '#!/bin/sh\n[ "$1" != --args ] || shift\nexec "$@"\n' > nodebugger
chmod +x nodebugger
begin() { # a program that shows its CCEs in tmux
    rm -f run.out bcr.*.log # of the program before
    "$enl" -d ./nodebugger -D tmux ${which-} "$SYS_CCE" "$@" > run.out 2>&1 < /dev/null &
    root=$!
    until_true has run.out 'attach shows the CCEs'
    seen=$(program)
}
gone_server() { ! tmux -L "bcr-$seen" has-session; }
gone() { [ ! -e "tmux-$(id -u)/bcr-$seen" ]; }

# tmux is stopped: the program ends, and nothing of it is left.
begin pause
kill -STOP "$(server)"
timeout "${BCR_DEADLINE:-100}" "$enl" kill "$seen" > kill.out 2>&1
ends $root 137
nothing_is_left
gone || fail "the socket of tmux is left"

# enl --windows is stopped: enl does not wait for it much longer.
begin pause
kill -STOP "$(windows)"
timeout "${BCR_DEADLINE:-100}" "$enl" kill "$seen" > kill.out 2>&1
ends $root 137
nothing_is_left
gone || fail "the socket of tmux is left"

# All panes have ended, and the server of tmux with them; then the next CCE starts.
which="--debug-ccs 1,2"
begin enlist "$SYS_CCE" 1 wait from 2 enlist "$SYS_CCE" 1 out here exit 0
until_true gone_server
echo >&9
ends $root 0
[ "$(grep -c 'attach shows the CCEs' run.out)" = 2 ] || fail "the second CCE has no pane"
nothing_is_left
