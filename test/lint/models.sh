#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The models of test/spin name the code that they model, in lines of their heads:
#
#    * Code: FILE name, name
#
# Here it is seen to that each model has such lines, and that what they name is there. Whoever changes one of these functions
# looks at the models that name it: grep -l NAME test/spin/*
source "$(dirname "$0")/lint.sh"

for model in test/spin/*.pml test/spin/*.inc; do
    count=0
    while read -r file names; do
        count=$((count + 1))
        if [ ! -f "$file" ]; then
            complain "$model names $file, which is not there"
            continue
        fi
        for name in ${names//,/ }; do
            grep -qw -- "$name" "$file" || complain "$model names $name of $file, which is not there"
        done
    done < <(sed -n 's/^ \* Code: \(.*\)$/\1/p' "$model" | sed 's/ *\*\/$//')
    [ $count -gt 0 ] || complain "$model does not say what code it models"
done
finish
