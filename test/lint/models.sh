#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The models of test/spin and the code that they model name each other, in comments:
#
#     * Code: FILE, FILE        in the head of a model
#     * Model: MODEL, MODEL     above each function of such a file that the model has as it is written there
#
# A comment moves with its function, so renaming a function changes nothing here. Each of the two without its partner is told.
source "$(dirname "$0")/lint.sh"

# FILE MODEL, a line each, as the models say it, and as the code says it.
as_models_say=$(for model in test/spin/*.pml test/spin/*.inc; do
    sed -n 's/^ \* Code: \(.*\)$/\1/p' "$model" | sed 's/ *\*\/$//' | tr -s ', ' '\n' | sed "/./s|\$| ${model##*/}|"
done | sort -u)
as_code_says=$(grep -rnE '^ *(/\*|\*) Model: ' core copydesc cells handlers enl --include='*.c' --include='*.h' 2>/dev/null |
    sed -E 's/^([^:]*):[0-9]+:.*Model: ([^*]*).*$/\1 \2/' | tr -d ',' |
    awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort -u)

for model in test/spin/*.pml test/spin/*.inc; do
    grep -q " ${model##*/}\$" <<<"$as_models_say" || complain "$model does not say what code it models (Code: FILE)"
done
while read -r file model; do
    complain "test/spin/$model names $file, where no function says \"Model: $model\""
done < <(comm -23 <(echo "$as_models_say") <(echo "$as_code_says"))
while read -r file model; do
    complain "$file says \"Model: $model\", and test/spin/$model does not name that file (Code: $file)"
done < <(comm -13 <(echo "$as_models_say") <(echo "$as_code_says"))
finish
