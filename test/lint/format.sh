#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every C file is as clang-format leaves it. To mend: clang-format -i FILE.
source "$(dirname "$0")/lint.sh"

command -v clang-format >/dev/null || skip "clang-format is not installed"
# The first line of what it says of a file names the file and what to do; the rest shows the place.
unformatted=$(tree_files '*.c' '*.h' | tr '\n' '\0' |
    xargs -0 -P "$(nproc)" -n 32 clang-format --dry-run 2>&1 | grep -oE '^[^ :]+:[0-9]+:' | sort -u -t : -k 1,1 || true)
for place in $unformatted; do
    complain "$place run clang-format -i on this file"
done

finish
