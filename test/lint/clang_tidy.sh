#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy with the checks of .clang-tidy over the library and the daemon.
source "$(dirname "$0")/lint.sh"

command -v clang-tidy >/dev/null || skip "clang-tidy is not installed"
[ -f "${BCR_BUILD_DIR-}/compile_commands.json" ] || skip "no compile_commands.json in the build folder"

# The analyzer follows paths through a function until it has seen so many states of it. With its default, 225,000, all takes
# eight times as long: ./check --all affords it.
limits=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=8000)
[ -z "${BCR_TEST_FULL-}" ] || limits=()

# Only files that this build compiles: the others have no command line.
tree_files '*.c' | grep -E '^(core|copydesc|transports|cells|handlers|enl|adapters)/' |
    while IFS= read -r file; do
        if grep -qF "\"$BCR_SOURCE_DIR/$file\"" "$BCR_BUILD_DIR/compile_commands.json"; then
            echo "$file"
        fi
    done |
    xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p "$BCR_BUILD_DIR" "${limits[@]}" --warnings-as-errors='*' 2>/dev/null ||
    complain "clang-tidy found the above"

finish
