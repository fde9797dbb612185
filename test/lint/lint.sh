# SPDX-License-Identifier: MIT
# Sourced by the lint scripts. A script calls `complain` for each breach and ends with `finish`.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C

: "${BCR_SOURCE_DIR:=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)}"
cd "$BCR_SOURCE_DIR"

lint_name=lint_$(basename "$0" .sh)
lint_breaches=0

complain() {
    echo "$*"
    lint_breaches=$((lint_breaches + 1))
}

finish() {
    if [ "$lint_breaches" -gt 0 ]; then
        echo "FAIL $lint_name: $lint_breaches"
        exit 1
    fi
    echo "ok $lint_name"
}

skip() {
    echo "skip $lint_name: $*"
    exit 77
}

# The files of the tree that match one of the patterns given, build folders and the repository's own left out.
# find, not git: a tree unpacked from an archive, or owned by another user, is checked too.
tree_files() {
    local pattern wanted=()
    for pattern in "$@"; do
        wanted+=(-o -name "$pattern")
    done
    find . -type d \( -name .git -o -name 'build*' \) -prune -o -type f \( "${wanted[@]:1}" \) -print |
        sed 's|^\./||' | sort
}

# The routines of the public headers, one prototype a line, without attributes.
public_prototypes() {
    local header
    for header in core/include/bcr.h core/include/bcr/program.h core/include/bcr/types.h core/include/bcr/error.h; do
        if [ -f "$header" ]; then
            # Comments go first: they contain examples.
            sed -e 's|/\*.*\*/||g' -e '/\/\*/,/\*\//d' -e '/^#/d' "$header"
        fi
    done | tr '\n' ' ' | grep -oE 'BCR_API[^;{]*\([^;]*\);' | sed -E 's/BCR_API +//; s/ +/ /g; s/__attribute__.*/;/'
}
