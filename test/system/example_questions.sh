#!/bin/sh
# SPDX-License-Identifier: MIT
# example_questions.sh ENL RING -- answers ring's questions on a terminal, one of them wrongly at first; the same from a
# pipe, where nobody can be asked again; and ring reads the file of machines that -m
# names, and no other.
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

said=$(printf '2\n0\n1\n5\n' | "$1" "$2") || fail "ring failed with its numbers from a pipe"
case $said in
*"came home unharmed"*) ;;
*) fail "ring did not run with its numbers from a pipe" ;;
esac
if said=$(printf '2\nmany\n' | "$1" "$2" 2>&1); then
    fail "ring ran with a wrong number from a pipe"
fi
case $said in
*'"many" is not a number from 0 to 9'*) ;;
*) fail "ring did not say which number is wrong" ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '# two\nlocalhost\nno.such.machine.invalid\n' >"$folder/machines"
said=$("$1" "$2" -m "$folder/machines" 2 0 1 5 2>&1) || fail "ring failed with a file whose first line is this machine"
said=$(cd "$folder" && "$1" "$2" 3 0 1 5 2>&1) || fail "ring read ./machines, which may be a hosts file"
if said=$("$1" "$2" -m "$folder/machines" 3 0 1 5 2>&1); then
    fail "ring did not read its file of machines"
fi
case $said in
*"enlist CCE 2 of the ring on machine no.such.machine.invalid"*) ;;
*) fail "ring did not say which machine is wrong" ;;
esac
