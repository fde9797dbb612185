#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# layout_changes.sh COMPILER AWK -- that a change of what lies in shared memory changes the layout signature: the sources
# are copied, one of them is changed, the signature is made again.
set -euo pipefail
awk=$2
read -ra cc <<<"$1" # a cross compiler comes with flags
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fresh() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree"
    cp -r "$BCR_SOURCE_DIR"/{core,cells,cmake} "$scratch/tree/"
}

# The headers that a folder's CMakeLists.txt names.
headers() {
    sed -n "/^bcr_layout($1 /,/)/p" "$scratch/tree/$1/CMakeLists.txt" | grep -o 'bcri/[a-z0-9_]*\.h' |
        sed "s|^|$scratch/tree/$1/include/|"
}

signature() {
    local folder
    for folder in core cells; do
        # shellcheck disable=SC2046
        "$awk" -f "$scratch/tree/cmake/layout.awk" $(headers $folder) >"$scratch/layout_$folder.inc"
        [ -s "$scratch/layout_$folder.inc" ] || echo "no parts of $folder" >&2
    done
    cat >"$scratch/main.c" <<'C'
#include <stdio.h>
#include "bcri/signature.h"
int main(void) { printf("%08x\n", (unsigned)bcri_layout_signature()); return 0; }
C
    (cd "$scratch/tree" && "${cc[@]}" -std=gnu11 -o "$scratch/signature" -I"$scratch" -Icore/include -Icells/include \
        -DBCR_ASSERT_LEVEL=0 "$scratch/main.c" core/layout.c core/memory/heap_class.c cells/signature.c) >&2 &&
        "$scratch/signature"
}

# change WHAT FILE SED-EXPRESSION: the signature must be another.
change() {
    local got
    fresh
    sed -i -E "$3" "$scratch/tree/$2"
    if cmp -s "$scratch/tree/$2" "$BCR_SOURCE_DIR/$2"; then
        echo "$1: the change does not apply to $2 any more"
        failures=$((failures + 1))
    elif ! got=$(signature) || [ -z "$got" ] || [ "$got" = "$before" ]; then
        echo "$1: wanted another signature than $before, got '${got-}'"
        failures=$((failures + 1))
    fi
}

fresh
before=$(signature)
[ -n "$before" ] || exit 1

swap() { # two names, where they are declared
    echo "s/^( +.*[ ])$1;/\1swapped_away;/; s/^( +.*[ ])$2;/\1$1;/; s/swapped_away/$2/"
}

change "two fields of a region's header" core/include/bcri/region.h "$(swap capacity archtype)"
change "two fields of a trace record" core/include/bcri/record.h '/^struct bcri_trace_shm/,/^}/ { s/uint32_t cell;/X/; s/uint32_t bytes;/uint32_t cell;/; s/X/uint32_t bytes;/ }'
change "two fields of the record's bell" core/include/bcri/record.h "$(swap sleeping lock_sleepers)"
change "a field of a segment's entry, narrower" core/include/bcri/host.h 's/^    _Atomic uint64_t frees;/    _Atomic uint32_t frees;\n    uint32_t more;/'
change "a new field in place of padding" core/include/bcri/heap.h 's/^    uint32_t spare\[13\];/    uint32_t fresh;\n    uint32_t spare[12];/'
change "where a mark lies" core/include/bcri/heap.h 's/^(#define BCRI_HEAP_PAGE +)4096u/\18192u/'
change "the version" core/include/bcri/host.h 's/(LAYOUT_VERSION +)([0-9])u/\1\21u/'
change "the order of an ID's states" core/include/bcri/slot.h '/^enum bcri_slot_state/,/^}/ { s/SERVED/X/; s/FAILED/SERVED/; s/X/FAILED/ }'
change "a new operation in the trace" core/include/bcri/trace.h 's/^    BCRI_TRACE_GET,/    BCRI_TRACE_NEW,\n&/'
change "a heap class" core/memory/heap_class.c 's/ROW\(64, 1, 42\)/ROW(64, 1, 41)/'
change "two fields of a cell" cells/include/bcri/cell.h "$(swap list_first list_last)"
change "a flag of cells" cells/include/bcri/cell.h 's/(CELL_OWNERDEAD +)2u/\116u/'
change "a new journal operation" core/include/bcri/record.h 's/^    BCRI_OP_TAKE,/    BCRI_OP_NEW,\n&/'
change "larger headers" cells/include/bcri/cell.h 's/(BCRI_HEADER_BYTES +)256u/\1512u/'
change "two words of the journal" core/include/bcri/record.h "$(swap put_held take_epoch)"
change "what a journal says of a hold" core/include/bcri/journal.h 's/BCRI_HELD_NOT = 0,/BCRI_HELD_NOT = 4,/'
change "the kinds of a transaction's stores" core/include/bcri/tx.h 's/BCRI_REDO_COUNT = 2/BCRI_REDO_COUNT = 3/'

# What is no change of the layout is none of the signature.
fresh
sed -i '1a /* struct bcri_comment_shm { uint32_t field; }; */' "$scratch/tree/core/include/bcri/record.h"
sed -i 's|^    bool own;|&\n    int one_more;|; s/<= 128, "a place/<= 256, "a place/' \
    "$scratch/tree/cells/include/bcri/lookup.h"
after=$(signature)
if [ "$after" != "$before" ]; then
    echo "a comment and a private struct: wanted $before, got $after"
    failures=$((failures + 1))
fi

if [ $failures -ne 0 ]; then
    echo "FAIL layout_changes: $failures"
    exit 1
fi
echo "ok layout_changes"
