# SPDX-License-Identifier: MIT
# Reading, applying and taking back the patches of this folder. Sourced by run and by test/lint/mutants.sh.
# shellcheck shell=bash

# A patch begins with lines of "Idea: ", "Mistake: " and "Tests: ", each of which may be continued by lines that begin
# with a space; the unified diff follows.
patch_head() { # FILE WORD
    awk -v word="$2:" '/^--- /{exit} index($0, word) == 1 {on = 1; print substr($0, length(word) + 2); next}
                       /^ / && on {print; next} {on = 0}' "$1" | tr -s ' \n' ' ' | sed 's/ $//'
}

patch_apply() { # TREE FILE [OPTION...]
    patch -d "$1" -p1 --fuzz=1 --forward --batch --no-backup-if-mismatch -r - "${@:3}" <"$2"
}

patch_take_back() { # TREE FILE
    patch -d "$1" -p1 --fuzz=1 --reverse --batch --no-backup-if-mismatch -r - <"$2"
}
