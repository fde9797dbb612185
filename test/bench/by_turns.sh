# SPDX-License-Identifier: MIT
#
# by_turns.sh -- sourced by start.sh and push.sh, which have a folder $work: times functions of the shell by turns, so
# that what else the machine does slows all of them alike.

# by_turns ROUNDS FUNCTION...
by_turns() {
    local rounds=$1 one begin
    shift
    for _ in $(seq "$rounds"); do
        for one; do
            begin=$(date +%s%N)
            "$one" > "$work/said" 2>&1 || { echo "$one fails: $(tail -n 3 "$work/said")" && exit 1; }
            echo $((($(date +%s%N) - begin) / 1000)) >> "$work/$one.us"
        done
        rm -f "$work"/bcr.*
    done
}

# In ms.
median() { sort -n "$work/$1.us" | awk '{ all[NR] = $1 } END { printf "%.0f", (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2000 }'; }

# With the least and the most.
print_medians() {
    local one
    for one; do
        printf '%-6s %6s  (%s to %s)\n' "$one" "$(median "$one")" \
            "$(sort -n "$work/$one.us" | awk 'NR == 1 { printf "%.0f", $1 / 1000 }')" \
            "$(sort -n "$work/$one.us" | awk 'END { printf "%.0f", $1 / 1000 }')"
    done
}
