#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The models of test/spin and the code: test/spin/steps lists, for each model, the functions and enums that it has, and what
# those do to memory that others see, in order. Who changes that is told here which model to look at.
#
#   models.sh --write    writes the list anew, after the models have been looked at (its first three columns stay)
source "$(dirname "$0")/lint.sh"

list=test/spin/steps
now() { # FILE NAME
    [ -f "$1" ] && awk -v name="$2" -f test/lint/steps.awk "$1"
}

if [ "${1-}" = --write ]; then
    written=$(mktemp)
    while IFS= read -r line; do
        if [[ $line == '#'* || -z $line ]]; then
            echo "$line"
            continue
        fi
        IFS='|' read -r model file name _ <<<"$line"
        echo "$model|$file|$name|$(now "$file" "$name")"
    done <"$list" >"$written"
    cat "$written" >"$list"
    rm "$written"
    exit 0
fi

declare -A named=()
while IFS='|' read -r model file name steps; do
    [[ $model == '#'* || -z $model ]] && continue
    named[$model]=1
    [ -f "test/spin/$model" ] || complain "$list: there is no model $model"
    got=$(now "$file" "$name") || true
    if [ -z "$got" ]; then
        complain "$list: $file has no $name, which $model models"
    elif [ "$got" != "$steps" ]; then
        complain "$file: $name does other steps than $model was made for; look at the model, then run test/lint/models.sh --write"
        echo "    was: $steps"
        echo "    is:  $got"
    fi
done <"$list"
for model in test/spin/*.pml test/spin/*.inc; do
    [ -n "${named[$(basename "$model")]-}" ] || complain "$list does not say what code $(basename "$model") has"
done
finish
