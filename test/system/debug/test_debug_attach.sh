#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# enl attach, gdb-pipe and -D server: programs that run, real gdb, gdbserver and tmux.
source "$(dirname "$0")/common.sh"
need tmux gdbserver
need_gdb
export LC_ALL=C.UTF-8
outer="tmux -L outer -f /dev/null"
end() {
    $outer kill-server 2> /dev/null || :
    for process in $(marked); do kill -KILL "$process" 2> /dev/null || :; done
    remove
}
near="gdb -q -nx -batch -iex 'set sysroot /'" # which reads no files through the protocol: seconds less
traced() { ! grep -q '^TracerPid:.0$' "/proc/$1/status"; }
untraced() { ! traced "$1"; }

# gdb in this terminal; it detaches, and the CCE goes on.
SYS_CHILD="tell pause" "$enl" "$SYS_CCE" enlist "$SYS_CCE" 1 tell pause > run.out 2>&1 < /dev/null &
root=$!
for _ in 1 2 3; do # enlist's result and two lines of tell
    read -r first pid _ <&8
    [ "$first" != 1 ] || cce=$pid
done
name=$(program)
$outer new-session -d -x 120 -y 40 "bash --norc"
$outer send-keys "$enl attach -d 'gdb -nx' $name 1; echo status-\$?" Enter
until_true screen '^(gdb)'
traced "$cce" || fail "gdb has not attached"
status=0
"$enl" attach "$name" 1 > twice.out 2>&1 < /dev/null || status=$?
[ $status = 1 ] || fail "status $status of a second debugger"
has twice.out "CCE 1: process [0-9]* traces it already" || fail "no word of the first debugger"
$outer send-keys detach Enter q Enter
until_true screen 'status-0'
until_true untraced "$cce"

# A signal ends enl attach: the terminal is as it was before.
afresh "stty > before.out; $enl attach -d 'gdb -nx' $name 1; stty > after.out"
until_true screen '^(gdb)'
attaching() { [[ $(tr '\0' ' ' < "/proc/$1/cmdline") =~ enl\ attach ]]; }
for process in $(marked); do
    ! attaching "$process" || kill -TERM "$process"
done
until_true test -s after.out
cmp before.out after.out || fail "the terminal is not as it was"
until_true untraced "$cce"

# Without a terminal gdb reads what there is, and quits at its end.
echo 'bt' > script
"$enl" attach -d 'gdb -nx -batch -x script' "$name" 1 > batch.out 2>&1 < /dev/null || fail "attach: status $?"
has batch.out 'pause' || fail "no backtrace of a script"
until_true untraced "$cce"
echo 'bt' | "$enl" attach -d 'gdb -nx' "$name" 1 > lines.out 2>&1 || fail "attach to lines: status $?"
has lines.out 'pause' || fail "no backtrace of a line"
until_true untraced "$cce"

# A debugger that is killed just when it has stopped the CCE leaves it running.
printf '#!/bin/sh\nfor word in "$@"; do pid=$word; done\nkill -STOP "$pid"\nkill -KILL $$\n' > killed
chmod +x killed
"$enl" attach -d "$PWD/killed" "$name" 1 > killed.out 2>&1 < /dev/null || :
goes_on() { grep -q '^State:[[:space:]]*[SR]' "/proc/$1/status"; }
until_true goes_on "$cce"

# The terminal closes: gdb lets go.
afresh "$enl attach -d 'gdb -nx' $name 1"
until_true screen '^(gdb)'
$outer kill-server
until_true untraced "$cce"

# By gdb's own protocol, through no port.
gdb -q -nx -batch -ex "target remote | $enl gdb-pipe $name 1" -ex bt -ex detach > pipe.out 2>&1 < /dev/null ||
    fail "gdb-pipe: status $?"
has pipe.out 'pause' || fail "no backtrace through gdb-pipe"
until_true untraced "$cce"
PATH=$(dirname "$enl"):$PATH "$enl" attach -D server "$name" > lines.out 2>&1
[ "$(grep -c "^gdb -ex 'target remote | enl gdb-pipe $name pid:[0-9]*'$" lines.out)" = 2 ] || fail "no lines to paste"

# The lines are for a shell, and the files for gdb and an editor, wherever this enl is.
odd="$scratch/a b'c\"d"
mkdir "$odd"
cp "$enl" "$odd/enl"
"$odd/enl" attach -D server "$name" 1 > odd.out 2>&1
sed "s|\$| -ex detach|; s|^gdb |$near |" odd.out > paste
bash paste > pipe.out 2>&1 < /dev/null || fail "the line pasted: status $?"
has pipe.out 'detached' || fail "the line pasted reaches no CCE"
until_true untraced "$cce"

refused 1 "CCE 7: it has ended" attach "$name" 7
refused 2 "by its ordinal, or by pid:" attach "$name" first
refused 1 "no debugger: there is no program no-such" attach -d no-such "$name" 1
refused 1 "CCE 7: it has ended" attach -D tmux "$name" 7
refused 1 "CCE 7: it has ended" attach -D server "$name" 1 7
refused 1 "nobody.1: no program of yours" attach -D server nobody.1 0
refused 2 "by its ordinal, or by pid:" attach -D server "$name" first
! command -v xterm > /dev/null || refused 1 "on X display :4711: is that display there" attach -D :4711 "$name" 1
kill -STOP $root
"$enl" attach "$name" > all.out 2>&1 < /dev/null &
all=$!
refused 1 ", is stopped: fg, kill -CONT or enl kill" attach "$name" 1
ends $all 1
has all.out "program $name: it does not answer; its daemon, process " || fail "no word of a stopped program"
kill -CONT $root
refused 1 "no program of yours has that name" attach nobody.1 0
refused 2 "attach to which program" attach
refused 2 "usage: enl gdb-pipe NAME CCE" gdb-pipe "$name"
"$enl" kill "$name" > kill.out 2>&1
ends $root 137
nothing_is_left

# A job's process that is no CCE.
ln -s "$enl" bcr-yod
./bcr-yod -quiet -sz 1 sh -c "echo \$\$ > '$SYS_TELL'; read -r _ < '$SYS_GO'" > run.out 2>&1 < /dev/null &
root=$!
read -r pid <&8
name=$(program)
"$enl" attach -d 'gdb -nx -batch' "$name" > plain.out 2>&1 < /dev/null || fail "a process that is no CCE: status $?"
has plain.out "Inferior 1 (process $pid) detached" || fail "gdb has not attached to what is no CCE"
until_true untraced "$pid"
gdb -q -nx -batch -iex 'set sysroot /' -ex "target remote | $enl gdb-pipe $name 0" -ex detach > pipe.out 2>&1 < /dev/null || :
has pipe.out "Inferior 1 (process $pid) detached" || fail "gdb-pipe reaches nothing that is no CCE"
until_true untraced "$pid"
echo go >&9
ends $root 0
nothing_is_left

# A program whose file was removed since it started has its names all the same.
cp "$SYS_CCE" ./program
"$enl" ./program tell pause > run.out 2>&1 < /dev/null &
root=$!
read -r first pid _ <&8
rm ./program
name=$(program)
echo 'bt' > script
"$enl" attach -d 'gdb -nx -batch -x script' "$name" 0 > removed.out 2>&1 < /dev/null || fail "removed: status $?"
has removed.out ' main (argc' || { cat removed.out; fail "no names of a program that was removed"; }
until_true untraced "$pid"
gdb -q -nx -batch -ex "target remote | $enl gdb-pipe $name 0" -ex "file target:/proc/$pid/exe" -ex bt -ex detach > removed.out 2>&1 \
    < /dev/null || fail "removed, gdb-pipe: status $?"
has removed.out "in gdb, file target:/proc/$pid/exe reads what runs" || { cat removed.out; fail "no word of a file that was removed"; }
has removed.out ' main (argc' || { cat removed.out; fail "no names through gdb-pipe"; }
"$enl" kill "$name" > kill.out 2>&1
ends $root 137
nothing_is_left

# -D server: the CCE waits for its debugger, and starts under it.
"$enl" -D server --debug-ccs 0 --vscode "$SYS_CCE" out hello exit 0 > server.out 2>&1 < /dev/null &
root=$!
until_true has server.out 'CCE 0 .* waits for a debugger: gdb -ex'
name=$(program)
file=$(echo bcr."$name".gdb)
has "$file" '^cce 0$' || fail "no command file"
has .vscode/launch.json "gdb-pipe - \${input:cce}" || fail "no launch.json"
gdb -q -nx -batch -iex 'set sysroot /' -x "$file" -ex 'break bcr_init' -ex continue -ex bt -ex delete -ex continue > served.out 2>&1 < /dev/null ||
    fail "gdb of -D server: status $?"
has served.out '^#0 .*bcr_init' || fail "no backtrace of a CCE that the server started"
ends $root 0
[ ! -e "$file" ] || fail "the command file is left"
has server.out '^\[0\] hello$' || fail "what the CCE printed is not labelled"
nothing_is_left

# The same where the path of enl has spaces and quotes.
rm -r .vscode
"$odd/enl" -D server --debug-ccs 0 --vscode "$SYS_CCE" exit 0 > odd-server.out 2>&1 < /dev/null &
root=$!
until_true has odd-server.out 'CCE 0 .* waits for a debugger: gdb -ex'
# Of the editor's file the text that gdb gets, as the interpreter of an editor reads it.
if command -v python3 > /dev/null; then
    python3 -c 'import json
print(json.load(open(".vscode/launch.json"))["configurations"][0]["customLaunchSetupCommands"][0]["text"])' > text
    grep -qF 'a b'\''c\\\"d/enl\" gdb-pipe' text || { cat text; fail "the file of the editor does not quote the path"; }
fi
gdb -q -nx -batch -iex 'set sysroot /' -x "bcr.$(program).gdb" -ex continue > served.out 2>&1 < /dev/null ||
    fail "gdb where the path has spaces: status $?"
ends $root 0

# The debugger leaves without a word: its CCE, which gdbserver had started, ends with it.
"$enl" -D server "$SYS_CCE" pause > left.out 2>&1 < /dev/null &
root=$!
until_true has left.out 'waits for a debugger'
gdb -q -nx -batch -iex 'set sysroot /' -ex "target remote | $enl gdb-pipe $(program) 0" -ex kill > gone.out 2>&1 < /dev/null || :
status=0
wait $root || status=$?
[ $status != 0 ] || fail "a CCE that its debugger has killed ended well"
nothing_is_left
