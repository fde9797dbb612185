#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang.sh COMPILER -- clang compiles every file of this build, which is COMPILER's, without a warning.
source "$(dirname "$0")/lint.sh"

compiler=$1
commands=${BCR_BUILD_DIR-}/compile_commands.json
command -v clang >/dev/null || skip "clang is not installed"
[ -f "$commands" ] || skip "no compile_commands.json in the build folder"

# The command lines of the build from behind the compiler's name, which a launcher may stand before. No code is made, since
# warnings are what is wanted.
lines=$(sed -n 's/^  "command": "\(.*\)",$/\1/p' "$commands" | sed -e 's/\\\(["\\]\)/\1/g')
[ -n "$lines" ] || complain "$commands has no command line"
cd "$BCR_BUILD_DIR"
others=$(grep -vF "$compiler " <<<"$lines" || true)
[ -z "$others" ] || complain "not of $compiler: $others"
# A file that is compiled with the same definitions for several targets is looked at once.
awk '{ key = $NF; for (i = 1; i < NF; i++) if ($i ~ /^-(D|std)/) key = key " " $i } !seen[key]++' <<<"$lines" |
    while IFS= read -r line; do
        printf '%s\0' "clang ${line#*"$compiler "} -Werror -O0 -g0 -fsyntax-only"
    done | xargs -0 -r -P "$(nproc)" -n 1 sh -c || complain "clang found the above"

finish
