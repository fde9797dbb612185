#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy with the checks of .clang-tidy over the library and the daemon.
source "$(dirname "$0")/lint.sh"

command -v clang-tidy >/dev/null || skip "clang-tidy is not installed"
[ -f "${BCR_BUILD_DIR-}/compile_commands.json" ] || skip "no compile_commands.json in the build folder"

# What takes long is left to ./check --all: the analyzer, which follows paths through each function until it has seen 225,000
# states of it, and the check that looks at each name in each of the system's headers, a quarter of the rest.
left_out=()
if [ -z "${BCR_TEST_FULL-}" ]; then
    left_out=('--checks=-clang-analyzer-*,-bugprone-reserved-identifier')
    echo "skip a part of lint_clang_tidy: the static analyzer, and names that are reserved: ./check --all looks for them"
fi

# Only files that this build compiles: the others have no command line.
tree_files '*.c' | grep -E '^(core|copydesc|transports|cells|handlers|enl|adapters)/' |
    while IFS= read -r file; do
        if grep -qF "\"$BCR_SOURCE_DIR/$file\"" "$BCR_BUILD_DIR/compile_commands.json"; then
            echo "$file"
        fi
    done |
    xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p "$BCR_BUILD_DIR" "${left_out[@]}" --warnings-as-errors='*' 2>/dev/null ||
    complain "clang-tidy found the above"

finish
