#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cppcheck over the whole tree, but for test/ without BCR_TEST_FULL. A finding that is none is answered where it stands:
# // cppcheck-suppress ID, and why.
source "$(dirname "$0")/lint.sh"

command -v cppcheck >/dev/null || skip "cppcheck is not installed"
commands=${BCR_BUILD_DIR-}/compile_commands.json
[ -f "$commands" ] || skip "no compile_commands.json in the build folder"

tests=all
if [ -z "${BCR_TEST_FULL-}" ]; then
    tests=none
    echo "skip a part of lint_cppcheck: the files of test/: ./check --all looks at them"
fi

# A file that several programs are made of is looked at once. The example of LFC's guide is as it was printed in 1999.
once=$(mktemp --suffix .json)
trap 'rm -f "$once"' EXIT
tests=$tests folder=$BCR_SOURCE_DIR/test/ awk 'BEGIN { RS = "\n},?\n" }
     ENVIRON["tests"] == "none" && index($0, "\"file\": \"" ENVIRON["folder"]) { next }
     match($0, /"file": "[^"]*"/) && !/examples\/lfc\// && !seen[substr($0, RSTART, RLENGTH)]++ {
         sub(/^\[\n/, ""); printf "%s%s\n}", n++ ? ",\n" : "[\n", $0 }
     END { print "\n]" }' "$commands" >"$once"

# gcc and the analyzer of clang-tidy follow uninitialized memory better: cppcheck takes a struct filled through a
# pointer to its member for one that is not. It does not know C11's _Noreturn, only the attribute. A test is a process of its own and may end with
# memory in hand; what LeakSanitizer says about it counts. The lists of sys/queue.h are macros that look like statements.
queue=$(echo '#include <sys/queue.h>' | cc -M -x c - | grep -oE '/[^ ]*/sys/queue\.h')
cppcheck --quiet --project="$once" '-D_Noreturn=__attribute__((noreturn))' "--include=$queue" -j "$(nproc)" --error-exitcode=1 --inline-suppr \
    --enable=warning,performance,portability --suppress=missingInclude --suppress=uninitvar --suppress=arrayIndexThenCheck \
    '--suppress=leakNoVarFunctionCall:*/test/*' '--suppress=memleak:*/test/*' \
    --template='{file}:{line}: {severity}: {message} [{id}]' >&2 ||
    complain "cppcheck found the above"

finish
