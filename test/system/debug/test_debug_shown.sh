#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The commands that enl gives gdb: cells, regions, waits and handlers of a CCE, with and without symbols in libbcr.
source "$(dirname "$0")/common.sh"
need_gdb
: "${SYS_SHOWN:?run by ctest}"
[ "$(od -An -j4 -N1 -tu1 "$SYS_SHOWN" | tr -d ' ')" = 2 ] || skip "bcr-gdb.py reads 64-bit programs only"
[ -e "$(dirname "$enl")/bcr-gdb.py" ] || skip "the script is not beside this enl"
[[ $(gdb -q -nx -batch -ex 'python print(6 * 7)' 2>&1) == 42 ]] || skip "gdb has no Python"
cat > script << 'EOF'
break look_here
run
bcr ccs
bcr cells
bcr cell base + 2
bcr cell base
bcr region held
bcr region pending
bcr waits
bcr handlers
bt
EOF
cat > errors << 'EOF'
python
for line in ("bcr cells", "bcr cell", "bcr region 0x10", "bcr cell 12345"):
    try:
        gdb.execute(line)
    except gdb.error as error:
        print("error: %s" % error)
    if line == "bcr cells":
        gdb.execute("break look_here")
        gdb.execute("run")
try:
    gdb.execute("run")
except gdb.error as error:
    print("error: %s" % error)
end
EOF
look() { # PROGRAM: all is as sys_shown.c has made it
    "$enl" -d 'gdb -nx' -D batch:script "$1" > look.out 2>&1 < /dev/null || :
    sed -i 's/^\[0\] //' look.out
    has look.out '^CCE 0 *pid [0-9]* *alive *this one' || fail "bcr ccs"
    [ "$(grep -c '^CCE [0-9]* *pid' look.out)" = 1 ] || fail "bcr ccs shows the daemon, too"
    has look.out '^cell 3 *in/out *2 regions' || fail "bcr cells: cell 3"
    has look.out '^cell 1 *private *0 regions, 1 waiting request' || fail "bcr cells: cell 1"
    has look.out '^  0: 5 bytes at 0x[0-9a-f]*, 1 holder, from CCE 0: 66 69 72 73 74$' || fail "the first region"
    has look.out '^  1: 27 bytes at .* \.\.\.$' || fail "the second region"
    has look.out '^  waits: get by CCE 0' || fail "the request at cell 1"
    has look.out '^4 bytes at 0x[0-9a-f]*, 1 holder, from CCE 0: 68 65 6c 64$' || fail "bcr region held"
    has look.out '^no region yet: get at cell 1 of CCE 0' || fail "bcr region pending"
    has look.out '^get at cell 1 of CCE 0; ID 0x' || fail "bcr waits"
    has look.out '^it says that it waits for CCE 0: crecv type 5 .*\\n\\\\$' || fail "bcr waits: its note"
    has look.out '^CCE 0 .*this one, waits for CCE 0: crecv type 5 ' || fail "bcr ccs: its note"
    has look.out '^cell 4: watermark 1, requested 1 times' || fail "bcr handlers: its cell"
}
look "$SYS_SHOWN"
if [ "$(uname -m)" = x86_64 ]; then
    has look.out '^the handler of cell 4, suspended:' || fail "bcr handlers: the suspended one"
    has look.out '^#[0-9]* .*handler_waits' || fail "no backtrace of the suspended handler"
fi
[ "$(grep -c '^#0 .*look_here' look.out)" = 1 ] || fail "the thread's own registers are not as they were"

"$enl" -d 'gdb -nx' -D batch:errors "$SYS_SHOWN" > wrong.out 2>&1 < /dev/null || :
for sentence in 'The program is not being run' 'bcr cell takes the number' 'is not the ID of a region' \
    'has no cell 12345' 'A CCE is enlisted once'; do
    has wrong.out "error: .*$sentence" || fail "no word of: $sentence"
done

# Without any symbols of libbcr.
library=$(ldd "$SYS_SHOWN" | awk '$1 ~ /^libbcr/ { print $3 }')
if [ -n "$library" ] && command -v strip > /dev/null; then
    mkdir stripped
    strip -o "stripped/$(basename "$library")" "$library"
    export LD_LIBRARY_PATH=$scratch/stripped
    cp "$SYS_SHOWN" shown
    look ./shown
fi

# Stopped in the midst of a call: it is let on until that is over, by its journal and by the version of its cells.
cat > inside << 'EOF'
break bcr_cagrow
run
delete
python gdb.execute("set $rec = %#x" % Cce().record)
watch *(unsigned int *)($rec + 4)
continue
delete
p *(unsigned int *)($rec + 4) % 2
bcri-hold
p *(unsigned int *)($rec + 4) % 2
watch *(unsigned int *)($rec + 128)
continue
delete
p *(unsigned int *)($rec + 128) != 0
bcri-hold
p *(unsigned int *)($rec + 128) != 0
EOF
"$enl" -d 'gdb -nx' -D batch:inside "$SYS_SHOWN" > inside.out 2>&1 < /dev/null || :
for number in 1 3; do has inside.out "^\[0\] \\\$$number = 1$" || fail "it was not stopped in the midst of a call"; done
[ "$(grep -c '^\[0\] bcr: it was in the midst of a call, which is over now' inside.out)" = 2 ] || fail "it was not let on"
for number in 2 4; do has inside.out "^\[0\] \\\$$number = 0$" || fail "the call is not over"; done

# What does not get out of its call: attaching, and Ctrl-C, say whom it holds up. gdb makes up what the CCE would have written.
SYS_CHILD="tell pause" "$enl" "$SYS_CCE" enlist "$SYS_CCE" 1 tell pause > run.out 2>&1 < /dev/null &
for _ in 1 2 3; do
    read -r -t 60 first pid _ <&8
    [ "$first" != 0 ] || cce=$pid
done
name=$(program)
pretend() { # OPEN WAITS: the journal of CCE 0 is open; CCE 1 waits for it
    gdb -q -nx -batch -x "$(dirname "$enl")/bcr-gdb.py" -p "$cce" -ex 'python c = Cce()' \
        -ex 'python gdb.execute("set $rec = %#x" % c.record)' \
        -ex 'python gdb.execute("set $other = %#x" % [w for i, w in c.records() if w != c.record][-1])' \
        -ex "set *(int *)(\$rec + 128) = $1" \
        -ex "set *(int *)(\$other + 84) = $2 * ((*(int *)(\$rec + 32) & 0xffff) + 1)" > pretend.out 2>&1 < /dev/null
}
attach() { "$enl" attach -d 'gdb -nx' "$name" 0 > "$1" 2>&1 <<< 'p "at the prompt"'; }
pretend 3 1
attach held.out
has held.out 'bcr: this CCE is stopped in the midst of a call, and holds up CCE 1' || fail "no word of whom it holds up"
pretend 3 0
attach nobody.out
has nobody.out 'bcr: .* holds up whoever needs the same cell (nobody yet)' || fail "no word where nobody waits"
pretend 0 0
attach free.out
! has free.out 'bcr:' || fail "a CCE outside of calls holds up somebody"
"$enl" kill "$name" > kill.out 2>&1
wait || :
nothing_is_left
