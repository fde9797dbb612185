#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stands.sh RUNNER FOLDER -- what a test without end is doing, before check_run.c kills it: each process that descends from
# RUNNER, the stacks of its threads where gdb is there and may look, and the ends of the daemons' logs in FOLDER.
runner=$1 folder=$2
stacks=24 # processes whose stacks are shown: gdb takes a second for each on a busy machine

# descends PID: all that descend from it, but for this script and what it runs.
descends() {
    local child
    for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
        [ "$child" != $$ ] || continue
        echo "$child"
        descends "$child"
    done
}

show_process() {
    local pid=$1 line state
    line=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)
    state=$(sed -n 's/^State:\t*//p' "/proc/$pid/status" 2>/dev/null)
    echo "-- process $pid: ${line:-it has ended}${state:+, $state}"
    if [ -z "$line" ] || [ $((stacks -= 1)) -lt 0 ] || ! command -v gdb >/dev/null; then
        return
    fi
    timeout -s KILL 30 gdb -nx -q -batch -iex 'set debuginfod enabled off' -ex 'thread apply all bt 24' -p "$pid" \
        2>/dev/null </dev/null | grep -E '^(#|Thread )'
}

for pid in $(descends "$runner"); do show_process "$pid"; done
for log in "$folder"/bcr.*.log; do
    [ -f "$log" ] || continue
    echo "-- the end of ${log##*/}:"
    tail -n 20 "$log"
done
