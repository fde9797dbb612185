#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where no process may be traced, or a program has no symbols: a sentence, and the program is unharmed.
source "$(dirname "$0")/common.sh"
: "${SYS_NOPTRACE:?run by ctest}"
"$SYS_NOPTRACE" true || skip "there are no seccomp filters here"
need_gdb

forbidden="processes may not be traced here: ptrace: Operation not permitted; see /proc/sys/kernel/yama/ptrace_scope"
printf 'run\n' > script
status=0
"$SYS_NOPTRACE" "$enl" -D batch:script "$SYS_CCE" > session.out 2>&1 < /dev/null || status=$?
[ $status = 2 ] || fail "status $status of a session where nothing may be traced"
has session.out "$forbidden" || fail "no word of what forbids it"
status=0
SYS_EMULATED=1 "$SYS_NOPTRACE" "$enl" -D batch:script "$SYS_CCE" > emulated.out 2>&1 < /dev/null || status=$?
[ $status = 2 ] || fail "status $status of a session under an emulator"
has emulated.out "an emulator lets no process be traced: enl --wrap 'qemu-" || fail "no word of the way under an emulator"

# Of a program that runs: on the root's host, and on another.
forget() { while read -r -t 0 -u 8; do read -r _ <&8; done; }
SYS_CHILD="tell wait tell exit 0" "$SYS_NOPTRACE" "$enl" --local 1 "$SYS_CCE" at local1 enlist "$SYS_CCE" 1 tell wait exit 0 \
    > run.out 2>&1 < /dev/null &
root=$!
for _ in 1 2 3; do
    read -r -t 60 first pid _ <&8
    [ "$first" != 1 ] || cce=$pid
done
name=$(ls bcr.*.1.log)
name=${name#bcr.}
name=${name%.1.log}
refused() { # SENTENCE WORD...
    local sentence=$1 status=0
    shift
    "$enl" "$@" > refused.out 2>&1 < /dev/null || status=$?
    [ $status = 1 ] || fail "enl $* ended with status $status"
    has refused.out "$sentence" || fail "enl $* did not say: $sentence"
}
refused "CCE 0: $forbidden" attach -d 'gdb -nx' "$name" 0
refused "CCE 1: $forbidden.*(on host local1)" attach -d 'gdb -nx' "$name" 1
! command -v gdbserver > /dev/null || refused "CCE 0: $forbidden" gdb-pipe "$name" 0
forget
echo -n gg >&9
read -r -t 60 first pid _ <&8
[ "$first" = 1 ] && [ "$pid" = "$cce" ] || fail "the CCE is not as it was"
ends $root 0
# It has ended meanwhile.
refused "$name: no program of yours has that name" attach -d 'gdb -nx' "$name" 0

# Where there are no terminals to be had.
if command -v tmux > /dev/null && unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3' 2> /dev/null; then
    unshare -m sh -c "mount -t tmpfs none /dev && mknod /dev/null c 1 3 && exec '$enl' -D tmux -d gdb '$SYS_CCE'" > ptys.out 2>&1 < /dev/null &&
        fail "a session without terminals ended well"
    has ptys.out 'its debugger cannot have what it needs: posix_openpt: No such file or directory' || fail "no word of the missing terminal"
else
    echo "skip a part of $test_name: there is no tmux, or another /dev is for root"
fi

# Under an emulator, as the guide has it: each CCE has a socket, where gdb reaches its emulator.
emulator=qemu-$(uname -m)-static
if command -v "$emulator" > /dev/null && command -v gdb-multiarch > /dev/null && [ "$(timeout 20 "$emulator" "$SYS_PLAIN" 2> /dev/null)" = plain ]; then
    "$enl" --wrap "sh -c 'exec $emulator -g $scratch/cce.\$\$ \"\$0\" \"\$@\"'" "$SYS_CCE" exit 0 > emulator.out 2>&1 < /dev/null &
    root=$!
    until_true compgen -G 'cce.*'
    gdb-multiarch -q -nx -batch -iex 'set sysroot /' "$SYS_CCE" -ex "target remote $scratch/$(compgen -G 'cce.*')" \
        -ex 'break main' -ex continue -ex bt -ex delete -ex continue > gdb.out 2>&1 < /dev/null || fail "gdb-multiarch: status $?"
    has gdb.out '^#0 .*main' || fail "no backtrace of an emulated CCE"
    ends $root 0
else
    echo "skip a part of $test_name: there is no $emulator or no gdb-multiarch"
fi

# Without symbols.
command -v strip > /dev/null || { nothing_is_left; exit 0; }
strip -o stripped "$SYS_CCE"
printf 'run\nbt\n' > script
SYS_CHILD="exit 0" "$enl" -D batch:script ./stripped exit 0 > stripped.out 2>&1 < /dev/null || fail "status $? of a stripped program"
has stripped.out '^\[0\] \[Inferior 1 .* exited normally' || fail "a stripped program did not end under gdb"
nothing_is_left
