#!/bin/sh
# SPDX-License-Identifier: MIT
# example_questions.sh ENL RING -- answers ring's questions on a terminal, one of them wrong at first.
set -eu
said=$(printf '2\n0\nmany\n1\n5\n' | script -q -e -c "'$1' '$2'" /dev/null) || {
    echo "$said"
    exit 1
}
echo "$said" | grep -q 'came home unharmed' && [ "$(echo "$said" | grep -c 'largest region')" -eq 2 ] && exit 0
echo "$said"
exit 1
