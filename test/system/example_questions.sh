#!/bin/sh
# SPDX-License-Identifier: MIT
# example_questions.sh ENL RING -- answers ring's questions on a terminal, one of them wrongly at first.
set -eu

fail() {
    printf 'example_questions.sh: %s:\n%s\n' "$1" "$said" >&2
    exit 1
}

said=$(printf '2\n0\nmany\n1\n5\n' | script -q -e -c "'$1' '$2'" /dev/null) || fail "ring failed"
case $said in
*"not a number from 0 to 9"*"came home unharmed"*) ;;
*) fail "ring did not ask again, or did not run" ;;
esac
