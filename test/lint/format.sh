#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every C file is as clang-format leaves it. To mend: clang-format -i FILE.
source "$(dirname "$0")/lint.sh"

command -v clang-format >/dev/null || skip "clang-format is not installed"
while IFS= read -r file; do
    if ! clang-format --dry-run -Werror "$file" >/dev/null 2>&1; then
        clang-format --dry-run -Werror "$file" 2>&1 | grep -m 1 -E ':[0-9]+:' || true
        complain "$file: run clang-format -i on it"
    fi
done < <(tree_files '*.c' '*.h')

finish
