#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, first and twice, with every warning, as C99, C11 and C2x and as C++11, C++17 and C++20; each
# internal header compiles alone as C11.
source "$(dirname "$0")/lint.sh"

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror)
c_only=(-Wmissing-prototypes -Wstrict-prototypes)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# try COMPILER-AND-FLAGS... FILE HEADER
try() {
    local header=${!#} output
    if ! output=$("${@:1:$#-1}" 2>&1); then
        complain "$header: does not compile alone with: $1 $2"
        head -n 12 <<<"$output"
    fi
}

tree_files '*.h' | grep -E '^core/include/|^adapters/.*/include/' | grep -v '/bcri/' >"$scratch/public"
while IFS= read -r header; do
    # The file is made so that the header is all it contains, and a missing include guard is seen.
    printf '#include "%s"\n#include "%s"\nint main(void);\nint main(void) { return 0; }\n' \
        "$BCR_SOURCE_DIR/$header" "$BCR_SOURCE_DIR/$header" >"$scratch/alone.c"
    cp "$scratch/alone.c" "$scratch/alone.cc"
    for cc in gcc clang; do
        if command -v $cc >/dev/null; then
            for std in c99 c11 c2x; do
                try $cc -std=$std "${warnings[@]}" "${c_only[@]}" -Icore/include -fsyntax-only "$scratch/alone.c" "$header"
            done
        fi
    done
    for cxx in g++ clang++; do
        if command -v $cxx >/dev/null; then
            for std in c++11 c++17 c++20; do
                try $cxx -std=$std "${warnings[@]}" -Wold-style-cast -Icore/include -fsyntax-only "$scratch/alone.cc" "$header"
            done
        fi
    done
done <"$scratch/public"

# What is ored in programs: C++20 warns of two different enums there.
cat >"$scratch/ored.cc" <<'END'
#include <bcr/program.h>
int start();
int start()
{
    static const int list[] = {0, bcrT_INT, 1, 4, bcrT_CHAR | bcrT_END, 0, 0, (bcrT_NEST + 1) | bcrT_END, 2};
    bcr_startspec spec = {};
    spec.flags = bcr_start_team;
    return bcr_init(bcr_inorder | bcr_handlers | bcr_anystatus | bcr_isolate | bcr_passsignals, nullptr) | bcr_implemented |
           list[1] | bcr_watch(bcr_STARTED, bcr_start(&spec, nullptr)) | bcr_end(0, bcr_ALL);
}
END
for cxx in g++ clang++; do
    if command -v $cxx >/dev/null; then
        try $cxx -std=c++20 "${warnings[@]}" -Icore/include -fsyntax-only "$scratch/ored.cc" core/include/bcr/program.h
    fi
done

mapfile -t folders < <(find . -name 'build*' -prune -o -type d -name include -printf '-I%P\n' | sort)
while IFS= read -r header; do
    printf '#include "%s"\n#include "%s"\n' "$BCR_SOURCE_DIR/$header" "$BCR_SOURCE_DIR/$header" >"$scratch/alone.c"
    try gcc -std=c11 -D_GNU_SOURCE -DBCR_ASSERT_LEVEL=3 -Wall -Wextra -Werror "${folders[@]}" -fsyntax-only \
        "$scratch/alone.c" "$header"
done < <(tree_files '*.h' | grep -E 'include/(bcri|enl)/')

finish
