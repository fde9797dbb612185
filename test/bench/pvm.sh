#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# pvm.sh -- bench_pvm on Earl, and by turns on another PVM 3, if one is there:
#
#   bash test/bench/pvm.sh BUILD [--tiny | TURNS]
#
# The other one is Debian's (packages pvm, pvm-dev), below /usr, or below the folder that PVM_PEER names. Its pvmd runs for each turn
# alone, with a folder of its own for what it writes. Lines: what, the median of the turns on Earl, its lower quartile, the same of
# the other one, and the median of the ratios of turns, Earl's to the other's.
set -euo pipefail

build=$(cd "${1:?usage: bash pvm.sh BUILD [--tiny | TURNS]}" && pwd)
turns=${2:-7} rounds=5000 tasks=128
[ "${2-}" != --tiny ] || { turns=1 rounds=20 tasks=2; }
here=$(cd "$(dirname "$0")" && pwd)
peer=${PVM_PEER:-/usr} work=$(mktemp -d) daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true; rm -rf "$work"' EXIT

own=$build/test/bench/bench_pvm other=$work/bench_pvm
on_earl() { # that tasks were killed is said on stderr
    BCR_TEMPDIR=$work BCR_ENLISTPATH=$build/enl/enl EARL_EXEC=$build/adapters/earl/earl-exec \
        "$own" "$own" "$rounds" "$tasks" 2>"$work/said" || { cat "$work/said" >&2 && exit 1; }
}

libraries=
for folder in "$peer"/lib/*-linux-gnu "$peer"/lib64 "$peer"/lib; do
    [ -n "$libraries" ] || [ ! -e "$folder/libpvm3.so" ] || libraries=$folder
done
if [ ! -e "$peer/include/pvm3.h" ] || [ -z "$libraries" ] || [ ! -x "$peer/lib/pvm3/lib/pvmd" ]; then
    echo "skip the other PVM: there is none below $peer (Debian: pvm pvm-dev)"
    other=
elif ! cc -O2 -D_GNU_SOURCE -I "$peer/include" "$here/bench_pvm.c" -o "$other" -L "$libraries" "-Wl,-rpath,$libraries" \
    -lgpvm3 -lpvm3 -Wl,--unresolved-symbols=ignore-in-shared-libs 2>"$work/said"; then
    echo "skip the other PVM: no program can be made with it: $(head -n 1 "$work/said")"
    other=
fi

# Its server of groups is looked for below the root of a virtual machine.
root=$work/root
mkdir -p "$root/bin/LINUX64"
[ -z "$other" ] || ln -s "$peer/lib/pvm3/lib" "$root/lib"
[ -z "$other" ] || ln -s "$peer/lib/pvm3/lib/pvmgs" "$root/bin/LINUX64/pvmgs"
settings=("PVM_ROOT=$root" PVM_ARCH=LINUX64 "PVM_TMP=$work" PVM_ALLOW_ROOT=1 "HOME=$work" "LD_LIBRARY_PATH=$libraries")
on_other() {
    local status=0
    rm -f "$work/pvmd"
    env "${settings[@]}" "$root/lib/pvmd" >"$work/pvmd" 2>&1 &
    daemon=$!
    until [ -s "$work/pvmd" ]; do # it says where it listens
        kill -0 "$daemon" 2>/dev/null || { echo "pvmd has ended" >&2 && exit 1; }
        sleep 0.05
    done
    env "${settings[@]}" "$other" "$other" "$rounds" "$tasks" || status=$?
    { echo halt | env "${settings[@]}" "$root/lib/pvm"; } >/dev/null 2>&1 || true
    wait "$daemon" 2>/dev/null || true
    daemon=
    rm -f "$work"/pvm[dl].* "$work"/pvmtmp*
    [ "$status" = 0 ] || exit "$status"
}

for _ in $(seq "$turns"); do
    on_earl >>"$work/earl"
    [ -z "$other" ] || on_other >>"$work/other"
done
touch "$work/other"
awk -v turns="$turns" '
    { value[FILENAME, $1, ++count[FILENAME, $1]] = $2; if (!named[$1]++) names[++many] = $1 }
    function sorted(file, name, quarter,    list, i, k, held) {
        for (i = 1; i <= count[file, name]; i++) {
            held = value[file, name, i]
            for (k = i - 1; k >= 1 && list[k] > held; k--) list[k + 1] = list[k]
            list[k + 1] = held
        }
        return list[int((count[file, name] - 1) * quarter / 4) + 1]
    }
    END {
        for (n = 1; n <= many; n++) {
            line = sprintf("%-8s earl %g (%g)", names[n], sorted(ARGV[1], names[n], 2), sorted(ARGV[1], names[n], 1))
            if (count[ARGV[2], names[n]]) {
                for (i = 1; i <= turns; i++) {
                    value["ratio", names[n], i] = value[ARGV[1], names[n], i] / value[ARGV[2], names[n], i]
                    count["ratio", names[n]] = i
                }
                line = line sprintf("  other %g (%g)  ratio by turns %.3g", sorted(ARGV[2], names[n], 2),
                                    sorted(ARGV[2], names[n], 1), sorted("ratio", names[n], 2))
            }
            print line
        }
    }' "$work/earl" "$work/other"
