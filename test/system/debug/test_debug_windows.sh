#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# enl -D DISPLAY with real X (Xvfb), xterm and gdb: one window for each CCE.
source "$(dirname "$0")/common.sh"
need Xvfb xterm xwininfo
need_gdb
export SYS_CHILD="exit 0"
Xvfb -displayfd 5 -screen 0 1600x1000x24 -nolisten tcp 5> display > /dev/null 2>&1 &
started=$!
until_true test -s display
display=:$(cat display)
windows() { [ "$(xwininfo -display "$display" -root -tree | grep -c '"CCE [0-9]*: ')" = "$1" ]; }
window() { xwininfo -display "$display" -root -tree | grep -q "\"CCE $1: sys_cce\""; }

# The windows' xterm also writes down what it shows: so the prompt's text is known.
cat > own-xterm << 'end'
#!/bin/bash
log=$SYS_MARK/shown.$$.out
while [ "$1" != -e ]; do args+=("$1"); shift; done
shift
exec xterm "${args[@]}" -e script -q -f -c "$(printf '%q ' "$@")" "$log"
end
chmod +x own-xterm
need script
shown() { cat shown.*.out 2> /dev/null | grep -q -e "$1"; }

# Each CCE in a window of its own; the text of the prompt; the end of all.
BCR_XTERMPATH=$scratch/own-xterm "$enl" -d 'gdb -nx -ex run' -D "$display" "$SYS_CCE" enlist "$SYS_CCE" 3 > run.out 2>&1 < /dev/null &
root=$!
until_true windows 4
for cce in 0 1 2 3; do until_true window $cce; done
until_true shown '(gdb) '
until_true shown 'exited normally'
"$enl" kill "$(program)" > kill.out 2>&1
ends $root 137
until_true windows 0
nothing_is_left

# A window that is closed is the end of its CCE, and of the program.
"$enl" -d 'gdb -nx' -D "$display" "$SYS_CCE" pause > closed.out 2>&1 < /dev/null &
root=$!
until_true windows 1
xterm=$(for process in $(marked); do grep -sqx 'xterm' "/proc/$process/comm" && echo "$process"; done || :)
kill -TERM "$xterm"
wait $root && fail "a program without its window has status 0"
nothing_is_left

# A display that is not there.
status=0
"$enl" -d 'gdb -nx' -D :4711 "$SYS_CCE" pause > none.out 2>&1 < /dev/null || status=$?
[ $status = 1 ] || fail "status $status without a display"
has none.out "no window came up for CCE 0 on X display :4711: is that display there" || fail "no word of why"

# enl is killed, in whatever state.
"$enl" -d 'gdb -nx -ex run' -D "$display" "$SYS_CCE" tell pause > killed.out 2>&1 < /dev/null &
root=$!
read -r _ <&8
kill -KILL $root
until_true windows 0
nothing_is_left
