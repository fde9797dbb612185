#!/bin/sh
# SPDX-License-Identifier: MIT
# example_usage.sh PROGRAM [wrong arguments] -- the program says what is wrong and ends with status 2.
status=0
said=$("$@" 2>&1 >/dev/null) || status=$?
[ "$status" -eq 2 ] && [ -n "$said" ] && exit 0
echo "example_usage.sh: $* ended with status $status and said: $said" >&2
exit 1
